"""What every contender is: something that prepares its data untimed, then fits and predicts as often as it is told."""

import math
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import numpy as np
from tables import Case
from threadpoolctl import threadpool_limits

THREADS = int(os.environ.get("NBSQL_THREADS", "2"))
SAMPLE = 2_000
WORD = r"(?u)[^\W_]+"  # what nbsql.Text takes for a word
WIDE = ("wide_numbers", "wide_categories", "classes")
EVERY = dict.fromkeys(("numeric", "categorical", "text", "vocabulary", "mixed", "lda", *WIDE), math.inf)


def connect(database: str) -> duckdb.DuckDBPyConnection:
    """An empty database in memory, for models and results, with the tables attached as `data`."""
    con = duckdb.connect(config={"threads": THREADS})
    con.execute(f"ATTACH '{database}' AS data (READ_ONLY)")
    return con


class Contender(ABC):
    """One side of a comparison."""

    title: ClassVar[str]
    rows: ClassVar[Mapping[str, float]] = EVERY  # the most rows that it is asked for, by the kind of table
    precision: ClassVar[float] = 1e-9  # two classes so near to each other are a tie
    lacks: ClassVar[str] = ""  # why it is not asked for the other kinds

    def __init__(self, database: str, case: Case) -> None:
        self.case = case
        self.database = Path(database)
        self.con = connect(database)
        self.table = f"data.main.{case.table}"

    @classmethod
    def missing(cls) -> str | None:
        """Why it cannot run on this machine, None if it can."""
        return None

    @classmethod
    def version(cls) -> str:
        """What it is, with its version."""
        return cls.title

    @classmethod
    def declines(cls, case: Case) -> str | None:
        """Why it is not measured on a table, None if it is."""
        if case.name not in cls.rows:
            return cls.lacks
        return f"measured up to {cls.rows[case.name]:,} rows" if case.rows > cls.rows[case.name] else None

    @classmethod
    def same(cls, case: Case) -> dict[str, Any] | None:
        """The options of nbsql by which its model is the same as this one, None for another model."""
        return {}

    @abstractmethod
    def fit(self) -> None:
        """Learn from the table."""

    @abstractmethod
    def predict(self) -> None:
        """Predict its rows, with the probability of what is predicted."""

    def answers(self, options: dict[str, Any]) -> dict[str, Any]:
        """Predictions of every row and posteriors of the first, by id; untimed. None of what predicts nothing."""
        return {}

    def stop(self) -> None:
        """End what it has started."""
        self.con.close()

    def parquet(self) -> Path:
        """The table as a Parquet file, for those who read that."""
        file = self.database.with_suffix(".parquet")
        if not file.exists():
            self.con.execute(f"COPY (SELECT * FROM {self.table} ORDER BY id) TO '{file}'")
        return file


def posterior(joint: np.ndarray) -> np.ndarray:
    """Probabilities of joint log-likelihoods, a row a row."""
    likelihood = np.exp(joint - joint.max(axis=1, keepdims=True))
    return likelihood / likelihood.sum(axis=1, keepdims=True)


def limited() -> None:
    """Hold every numeric library to the threads that DuckDB has."""
    for name in ("OMP_NUM_THREADS", "POLARS_MAX_THREADS"):
        os.environ[name] = str(THREADS)
    threadpool_limits(THREADS)
    warnings.simplefilter("ignore")
