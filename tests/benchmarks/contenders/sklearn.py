"""scikit-learn."""

from typing import Any

import numpy as np
import sklearn
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB
from sklearn.preprocessing import OrdinalEncoder
from tables import Case

from contenders.base import SAMPLE, WORD, Contender, posterior


class Resident(Contender):
    """scikit-learn on arrays in memory, categories as integers; texts are strings in memory, and counting is timed.

    Its families cannot be mixed, so a mixed table takes one model a kind, and the sum of their scores less the extra priors.
    """

    title = "scikit-learn, resident"
    coded = True  # whether DuckDB makes the integers, as nobody waits for them: to encode a hundred million texts takes minutes

    def __init__(self, database: str, case: Case) -> None:
        super().__init__(database, case)
        self.prepare()

    @classmethod
    def version(cls) -> str:
        return f"scikit-learn {sklearn.__version__} with numpy {np.__version__}"

    def prepare(self) -> None:
        self.fetch()
        self.encode()

    def fetch(self) -> None:
        case = self.case
        code = "CAST(substring({0}, 7) AS BIGINT) AS {0}" if self.coded else "{}"
        categories = [code.format(column) for column in case.category_columns]
        columns = case.number_columns + categories + case.text_columns
        found = self.con.execute(f"SELECT y, {', '.join(columns)} FROM {self.table}").fetchnumpy()
        self.y = found["y"]
        self.numbers = np.column_stack([found[c] for c in case.number_columns]) if case.numbers else None
        self.raw = np.column_stack([found[c] for c in case.category_columns]) if case.categories else None
        self.texts = found["text"] if case.tokens else None

    def encode(self) -> None:
        """Categories as integers."""
        if self.coded:
            self.categories, self.raw = self.raw, None
        elif self.raw is not None:
            if not hasattr(self, "encoder"):
                self.encoder = OrdinalEncoder(dtype=np.int64).fit(self.raw)
            self.categories = self.encoder.transform(self.raw)
            self.raw = None
        else:
            self.categories = None

    def fit(self) -> None:
        self.parts: list[Any] = []
        if self.case.method == "lda":
            self.parts.append(LinearDiscriminantAnalysis(solver="lsqr").fit(self.numbers, self.y))
        elif self.numbers is not None:
            self.parts.append(GaussianNB(var_smoothing=0).fit(self.numbers, self.y))
        if self.categories is not None:
            self.parts.append(CategoricalNB(alpha=1).fit(self.categories, self.y))
        if self.texts is not None:
            self.vectorizer = CountVectorizer(token_pattern=WORD)
            counts = self.vectorizer.fit_transform(self.texts)
            self.parts.append(MultinomialNB(alpha=1).fit(counts, self.y))

    def inputs(self) -> list[Any]:
        found = [inputs for inputs in (self.numbers, self.categories) if inputs is not None]
        return found + ([self.vectorizer.transform(self.texts)] if self.texts is not None else [])

    def joint(self) -> np.ndarray:
        if self.case.method == "lda":
            return np.asarray(self.parts[0].decision_function(self.numbers))
        priors = np.log(np.bincount(self.y) / len(self.y))
        scores = sum(part.predict_joint_log_proba(inputs) for part, inputs in zip(self.parts, self.inputs(), strict=True))
        return np.asarray(scores - (len(self.parts) - 1) * priors)

    def predict(self) -> None:
        if len(self.parts) == 1:
            self.predictions = self.parts[0].predict(self.inputs()[0])
        else:
            self.predictions = self.parts[0].classes_[self.joint().argmax(axis=1)]

    def answers(self, options: dict[str, Any]) -> dict[str, Any]:
        joint = self.joint()
        return {"predictions": joint.argmax(axis=1), "posterior": posterior(joint[:SAMPLE])}


class Fetching(Resident):
    """scikit-learn, with the way out of the database and the encoding of categories timed too."""

    title = "scikit-learn, with the fetch"
    coded = False

    def prepare(self) -> None:
        return

    def fit(self) -> None:
        self.__dict__.pop("encoder", None)
        self.fetch()
        self.encode()
        super().fit()

    def predict(self) -> None:
        self.fetch()
        self.encode()
        super().predict()
