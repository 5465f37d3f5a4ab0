"""What is measured against what. Each contender prepares its data untimed, then fits and predicts as often as it is told."""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from typing import Any

import duckdb
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB
from sklearn.preprocessing import OrdinalEncoder
from tables import Case
from threadpoolctl import threadpool_limits

import nbsql

THREADS = 2
SAMPLE = 2_000
WORD = r"(?u)[^\W_]+"  # what nbsql.Text takes for a word


def connect(database: str) -> duckdb.DuckDBPyConnection:
    """An empty database in memory, for models and results, with the tables attached as `data`."""
    con = duckdb.connect(config={"threads": THREADS})
    con.execute(f"ATTACH '{database}' AS data (READ_ONLY)")
    return con


class Contender(ABC):
    """One side of a comparison."""

    def __init__(self, database: str, case: Case) -> None:
        self.case = case
        self.con = connect(database)
        self.table = f"data.main.{case.table}"

    @abstractmethod
    def fit(self) -> None:
        """Learn from the table."""

    @abstractmethod
    def predict(self) -> None:
        """Predict its rows."""

    def answers(self) -> dict[str, Any]:
        """Predictions of every row, posteriors of the first; untimed. None of a contender that predicts nothing."""
        return {}


class Scan(Contender):
    """The floor: every column is read and summed, nothing else.

    The class is summed too: DuckDB answers max() alone from the statistics of the table, without reading a row. For
    categories, max() is no tight floor, as most of its time goes into comparing texts.
    """

    def fit(self) -> None:
        case = self.case
        sums = ["sum(y)", *(f"sum({column})" for column in case.number_columns)]
        sums += [f"max({column})" for column in case.category_columns]
        sums += [f"sum(length({column}))" for column in case.text_columns]
        self.con.execute(f"SELECT {', '.join(sums)} FROM {self.table}").fetchall()

    predict = fit


class Nbsql(Contender):
    """nbsql, the model a schema, the predictions a table."""

    model: nbsql.Model

    def fit(self) -> None:
        families = {column: nbsql.Text() for column in self.case.text_columns}
        options = {"families": families, "method": self.case.method}
        self.model = nbsql.fit(self.con, self.table, target="y", id="id", name="model", replace=True, **options)

    def predict(self) -> None:
        query = self.model.predict(self.table)
        self.con.execute(f"CREATE OR REPLACE TABLE scored AS SELECT prediction, probability FROM ({query.sql})")

    def predict_all_columns(self) -> None:
        self.con.execute("DROP TABLE IF EXISTS scored")
        self.model.predict(self.table).create_table("scored")

    def answers(self) -> dict[str, Any]:
        predicted = self.model.predict(self.table).sql
        self.con.execute(f"CREATE OR REPLACE TABLE scored AS SELECT id, prediction FROM ({predicted})")
        predictions = self.con.execute("SELECT prediction FROM scored ORDER BY id").fetchnumpy()["prediction"]
        sample = f"SELECT * FROM {self.table} WHERE id < {SAMPLE}"
        columns = ", ".join(f"probability_{k}" for k in range(self.case.classes))
        posterior = self.con.execute(f"SELECT {columns} FROM ({self.model.predict_proba(sample).sql}) ORDER BY id").fetchnumpy()
        return {"predictions": np.asarray(predictions), "posterior": np.column_stack(list(posterior.values()))}


class Resident(Contender):
    """scikit-learn on arrays in memory, categories as integers; texts are strings in memory, and counting is timed.

    Its families cannot be mixed, so a mixed table takes one model a kind, and the sum of their scores less the extra priors.
    """

    def __init__(self, database: str, case: Case) -> None:
        super().__init__(database, case)
        self.prepare()

    def prepare(self) -> None:
        self.fetch()
        self.encode()

    def fetch(self) -> None:
        case = self.case
        columns = case.number_columns + case.category_columns + case.text_columns
        found = self.con.execute(f"SELECT y, {', '.join(columns)} FROM {self.table}").fetchnumpy()
        self.y = found["y"]
        self.numbers = np.column_stack([found[c] for c in case.number_columns]) if case.numbers else None
        self.raw = np.column_stack([found[c] for c in case.category_columns]) if case.categories else None
        self.texts = found["text"] if case.tokens else None

    def encode(self) -> None:
        """Categories as integers."""
        if self.raw is not None:
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

    def answers(self) -> dict[str, Any]:
        joint = self.joint()
        ranked = np.sort(joint, axis=1)
        head = joint[:SAMPLE]
        posterior = np.exp(head - head.max(axis=1, keepdims=True))
        return {
            "predictions": joint.argmax(axis=1),
            "margin": ranked[:, -1] - ranked[:, -2],
            "posterior": posterior / posterior.sum(axis=1, keepdims=True),
        }


class Fetching(Resident):
    """scikit-learn, with the way out of the database and the encoding of categories timed too."""

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


CONTENDERS: dict[str, type[Contender]] = {"scan": Scan, "nbsql": Nbsql, "resident": Resident, "fetching": Fetching}


def limited() -> None:
    """Hold every numeric library to the threads that DuckDB has."""
    os.environ["OMP_NUM_THREADS"] = str(THREADS)
    threadpool_limits(THREADS)
    warnings.simplefilter("ignore")
