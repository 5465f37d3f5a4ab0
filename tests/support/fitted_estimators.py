"""The fitted estimators and pipelines that are exchanged: a matrix of names, and what maps of each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler

ROWS = 300
WORDS = r"(?u)\b\w+\b"
_WORDS = ["Free", "prize", "lunch", "Ünïcode", "a", "meet_ing", "won't", "2026", "x"]


def _table() -> pd.DataFrame:
    """Numbers of several sizes, counts, yes and no, categories of several types, a text, and labels."""
    rng = np.random.default_rng(7)
    table = pd.DataFrame(
        {
            "height": rng.normal(5, 3, ROWS),
            "income": rng.normal(1e6, 10, ROWS),
            "width": rng.gamma(2, 2, ROWS),
            "visits": rng.integers(0, 7, ROWS),
            "clicks": rng.integers(0, 4, ROWS),
            "calls": rng.integers(0, 9, ROWS),
            "paid": rng.integers(0, 2, ROWS),
            "known": rng.integers(0, 2, ROWS),
            "colour": rng.choice(["red", "green", "blue"], ROWS),
            "flag": rng.integers(0, 2, ROWS).astype(bool),
            "code": rng.integers(0, 4, ROWS),
            "note": [" ".join(rng.choice(_WORDS, 6)) for _ in range(ROWS)],
        }
    )
    high = table["height"] + rng.normal(0, 2, ROWS) > 5
    table["kind"] = np.where(high, "high", np.where(table["colour"] == "red", "low", "middle"))
    table["y"] = np.where(high, "yes", "no")
    return table


TABLE = _table()
NUMBERS = ["height", "income", "width"]
COUNTS = ["visits", "clicks", "calls"]
FLAGS = ["paid", "known"]
LEVELS = ["colour", "flag", "code"]
MIXED = ["height", "income", "code", "colour", "flag"]


def _mixed(*, sparse: bool = True) -> Any:
    return ColumnTransformer(
        [
            ("standard", StandardScaler(), ["height", "income"]),
            ("range", MinMaxScaler(), ["code"]),
            ("levels", OneHotEncoder(sparse_output=sparse), ["colour", "flag"]),
        ]
    )


def _everything() -> Any:
    return ColumnTransformer(
        [
            ("words", TfidfVectorizer(), "note"),
            ("standard", StandardScaler(), ["height"]),
            ("levels", OneHotEncoder(drop="first"), ["colour", "flag"]),
        ],
        remainder="passthrough",
    )


@dataclass(frozen=True)
class Case:
    """One fitted estimator.

    Args:
        make: it, not yet fitted.
        columns: that it reads; one text column as a name.
        target: the column of its classes.
        counts: whether it comes as counts, so that the model goes on learning.
        back: the estimator that the model becomes again; None: none.
        partial: whether `partial_fit` learns as one fit of all rows does, so that it is what an update equals.
    """

    make: Callable[[], Any]
    columns: list[str] | str
    target: str = "kind"
    counts: bool = False
    back: str | None = "LogisticRegression"
    partial: bool = True

    def fit(self, rows: pd.DataFrame) -> Any:
        """The estimator, fitted on some rows."""
        return self.make().fit(rows[self.columns], rows[self.target])


CASES: dict[str, Case] = {
    "GaussianNB": Case(GaussianNB, NUMBERS, counts=True, back="GaussianNB", partial=False),
    "GaussianNB, priors": Case(
        lambda: GaussianNB(priors=[0.5, 0.3, 0.2], var_smoothing=1e-3), NUMBERS, counts=True, back="GaussianNB", partial=False
    ),
    "StandardScaler, GaussianNB": Case(
        lambda: make_pipeline(StandardScaler(), GaussianNB()), NUMBERS, "y", counts=True, back="GaussianNB", partial=False
    ),
    "MinMaxScaler, StandardScaler, GaussianNB": Case(
        lambda: make_pipeline(MinMaxScaler(), StandardScaler(), GaussianNB()),
        NUMBERS,
        counts=True,
        back="GaussianNB",
        partial=False,
    ),
    "ColumnTransformer, GaussianNB": Case(lambda: make_pipeline(_mixed(sparse=False), GaussianNB()), MIXED, back=None),
    "MultinomialNB": Case(lambda: MultinomialNB(alpha=0.5), COUNTS, counts=True, back="MultinomialNB"),
    "MultinomialNB, an alpha a column": Case(
        lambda: MultinomialNB(alpha=[0.5, 1, 2], fit_prior=False), COUNTS, counts=True, back="MultinomialNB"
    ),
    "ComplementNB": Case(ComplementNB, COUNTS, counts=True, back="ComplementNB"),
    "ComplementNB, norm": Case(lambda: ComplementNB(norm=True), COUNTS, counts=True, back="ComplementNB"),
    "BernoulliNB": Case(BernoulliNB, FLAGS, counts=True, back="BernoulliNB"),
    "BernoulliNB, class_prior": Case(
        lambda: BernoulliNB(alpha=0.1, class_prior=[0.2, 0.3, 0.5]), FLAGS, counts=True, back="BernoulliNB"
    ),
    "BernoulliNB, binarize": Case(lambda: BernoulliNB(binarize=5), ["height", "visits"], counts=True, back=None),
    "StandardScaler, BernoulliNB": Case(
        lambda: make_pipeline(StandardScaler(), BernoulliNB(alpha=0.5)), NUMBERS, "y", counts=True, back=None
    ),
    "CategoricalNB": Case(lambda: CategoricalNB(min_categories=9), ["visits", "code"], counts=True, back="CategoricalNB"),
    "OrdinalEncoder, CategoricalNB": Case(
        lambda: make_pipeline(OrdinalEncoder(), CategoricalNB()), LEVELS, counts=True, back="CategoricalNB"
    ),
    "OneHotEncoder, BernoulliNB": Case(lambda: make_pipeline(OneHotEncoder(), BernoulliNB()), LEVELS),
    "OneHotEncoder, MultinomialNB": Case(lambda: make_pipeline(OneHotEncoder(), MultinomialNB()), LEVELS),
    "LinearDiscriminantAnalysis": Case(LinearDiscriminantAnalysis, NUMBERS),
    "LinearDiscriminantAnalysis, shrinkage": Case(
        lambda: LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"), ["height", "width"], "y"
    ),
    "ColumnTransformer, LinearDiscriminantAnalysis": Case(
        lambda: make_pipeline(_mixed(sparse=False), LinearDiscriminantAnalysis()), MIXED, "y"
    ),
    "QuadraticDiscriminantAnalysis": Case(QuadraticDiscriminantAnalysis, NUMBERS, back="QuadraticDiscriminantAnalysis"),
    "StandardScaler, QuadraticDiscriminantAnalysis": Case(
        lambda: make_pipeline(StandardScaler(), QuadraticDiscriminantAnalysis(reg_param=0.1)),
        NUMBERS,
        "y",
        back="QuadraticDiscriminantAnalysis",
    ),
    "LogisticRegression": Case(lambda: LogisticRegression(max_iter=2000), ["height", "width", "visits"]),
    "StandardScaler, LogisticRegression": Case(lambda: make_pipeline(StandardScaler(), LogisticRegression()), NUMBERS, "y"),
    "ColumnTransformer, LogisticRegression": Case(lambda: make_pipeline(_mixed(), LogisticRegression()), MIXED),
    "CountVectorizer, MultinomialNB": Case(
        lambda: make_pipeline(CountVectorizer(), MultinomialNB()), "note", counts=True, back="MultinomialNB"
    ),
    "CountVectorizer(min_df, ngram_range), ComplementNB": Case(
        lambda: make_pipeline(CountVectorizer(min_df=20, ngram_range=(1, 2)), ComplementNB()),
        "note",
        counts=True,
        back="ComplementNB",
    ),
    "CountVectorizer(lowercase=False), BernoulliNB": Case(
        lambda: make_pipeline(CountVectorizer(lowercase=False, token_pattern=WORDS), BernoulliNB()),
        "note",
        "y",
        counts=True,
        back="BernoulliNB",
    ),
    "CountVectorizer(analyzer='char'), MultinomialNB": Case(
        lambda: make_pipeline(CountVectorizer(analyzer="char", ngram_range=(1, 2)), MultinomialNB()),
        "note",
        counts=True,
        back="MultinomialNB",
    ),
    "CountVectorizer(analyzer='char_wb'), BernoulliNB": Case(
        lambda: make_pipeline(CountVectorizer(analyzer="char_wb", ngram_range=(2, 4), binary=True), BernoulliNB()),
        "note",
        counts=True,
        back="BernoulliNB",
    ),
    "CountVectorizer(binary), MultinomialNB": Case(
        lambda: make_pipeline(CountVectorizer(binary=True), MultinomialNB()), "note"
    ),
    "CountVectorizer(stop_words), LogisticRegression": Case(
        lambda: make_pipeline(CountVectorizer(stop_words=["free"]), LogisticRegression()), "note", "y"
    ),
    "TfidfVectorizer, MultinomialNB": Case(lambda: make_pipeline(TfidfVectorizer(), MultinomialNB()), "note"),
    "TfidfVectorizer(norm=None), ComplementNB": Case(
        lambda: make_pipeline(TfidfVectorizer(norm=None), ComplementNB(norm=True)), "note"
    ),
    "TfidfVectorizer, BernoulliNB": Case(
        lambda: make_pipeline(TfidfVectorizer(), BernoulliNB()), "note", counts=True, back="BernoulliNB"
    ),
    "TfidfVectorizer, LogisticRegression": Case(
        lambda: make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression()), "note"
    ),
    "TfidfVectorizer(use_idf=False), LogisticRegression": Case(
        lambda: make_pipeline(TfidfVectorizer(use_idf=False), LogisticRegression()), "note", "y"
    ),
    "CountVectorizer, TfidfTransformer, LogisticRegression": Case(
        lambda: make_pipeline(CountVectorizer(), TfidfTransformer(), LogisticRegression()), "note", "y"
    ),
    "ColumnTransformer of words, numbers and categories": Case(
        lambda: make_pipeline(_everything(), LogisticRegression(max_iter=5000)),
        ["height", "width", "colour", "flag", "note"],
        back=None,
    ),
}

_SCALED = make_pipeline(StandardScaler(), LogisticRegression())

CALIBRATED: dict[str, Case] = {
    "CalibratedClassifierCV, sigmoid": Case(lambda: CalibratedClassifierCV(_SCALED, ensemble=False), NUMBERS, "y"),
    "CalibratedClassifierCV, isotonic": Case(
        lambda: CalibratedClassifierCV(LinearDiscriminantAnalysis(), method="isotonic", ensemble=False), NUMBERS, "y"
    ),
    "CalibratedClassifierCV, temperature": Case(
        lambda: CalibratedClassifierCV(_SCALED, method="temperature", ensemble=False), NUMBERS
    ),
    "CalibratedClassifierCV, temperature of two classes": Case(
        lambda: CalibratedClassifierCV(_SCALED, method="temperature", ensemble=False), NUMBERS, "y"
    ),
}


def table_of_what_maps() -> list[str]:
    """The lines of the table of docs/how-to/scikit-learn.md."""
    lines = ["| in scikit-learn | comes as | goes back as |", "| --- | --- | --- |"]
    for name, case in CASES.items():
        kind = "counts" if case.counts else "means and covariances" if "Quadratic" in name else "weights"
        lines.append(f"| {name} | {kind} | {case.back or 'no estimator'} |")
    return [
        *lines,
        *(f"| {name} | weights, and a calibration | {case.back}, without it |" for name, case in CALIBRATED.items()),
    ]
