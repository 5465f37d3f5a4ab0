"""ClickHouse's NAIVE_BAYES dictionary, in the embedded engine chdb."""

import json
import math
from typing import Any

import chdb
import numpy as np
from chdb.session import Session
from tables import Case

from contenders.base import SAMPLE, THREADS, Contender


class ClickHouse(Contender):
    """Words counted into a table, of which a dictionary makes the model. The texts are in a MergeTree table.

    Its words are what stands between blanks, so the same as nbsql's in texts of blanks and words.
    """

    title = "ClickHouse dictionary"
    rows = dict.fromkeys(("text", "vocabulary"), math.inf)
    precision = 1e-3  # its scores are in 32 bits
    lacks = "its dictionary classifies texts only"

    def __init__(self, database: str, case: Case) -> None:
        super().__init__(database, case)
        self.session = Session(str(self.database.with_suffix(".chdb")))
        self.session.query(f"SET max_threads = {THREADS}")
        self.session.query("CREATE DATABASE nb")
        columns = "assumeNotNull(id) AS id, toUInt32(assumeNotNull(y)) AS y, assumeNotNull(text) AS text"
        file = self.parquet()
        self.session.query(f"CREATE TABLE nb.source ENGINE = MergeTree ORDER BY id AS SELECT {columns} FROM file('{file}')")

    @classmethod
    def version(cls) -> str:
        return f"ClickHouse {chdb.engine_version} (chdb {chdb.__version__})"

    def fit(self) -> None:
        query = self.session.query
        query("DROP DICTIONARY IF EXISTS nb.model")
        query("DROP TABLE IF EXISTS nb.counts")
        query("""
            CREATE TABLE nb.counts ENGINE = MergeTree ORDER BY (class_id, ngram) AS
            SELECT ngram, y AS class_id, count() AS count
            FROM nb.source ARRAY JOIN naiveBayesNgrams(lowerUTF8(text), 1, 'token') AS ngram
            GROUP BY ngram, class_id
        """)
        priors = query("SELECT y, count() / sum(count()) OVER () FROM nb.source GROUP BY y", "JSONCompact")
        listed = ", ".join(f"({y}, {prior})" for y, prior in json.loads(str(priors))["data"])
        query(f"""
            CREATE DICTIONARY nb.model (ngram String, class_id UInt32, count UInt64)
            PRIMARY KEY ngram
            SOURCE(CLICKHOUSE(TABLE 'counts' DB 'nb'))
            LAYOUT(NAIVE_BAYES(class_attribute 'class_id' n 1 mode 'token' priors_mode 'explicit' priors [{listed}]))
            LIFETIME(0)
        """)
        query("SYSTEM RELOAD DICTIONARY nb.model")

    def predict(self) -> None:
        self.session.query("DROP TABLE IF EXISTS nb.scored")
        self.session.query("""
            CREATE TABLE nb.scored ENGINE = MergeTree ORDER BY tuple() AS
            SELECT scored.1 AS prediction, scored.2 AS probability
            FROM (SELECT naiveBayesClassifierWithProb('nb.model', lowerUTF8(text)) AS scored FROM nb.source)
        """)

    def answers(self, options: dict[str, Any]) -> dict[str, Any]:
        predicted = "SELECT naiveBayesClassifier('nb.model', lowerUTF8(text)) FROM nb.source ORDER BY id"
        predictions = np.array(str(self.session.query(predicted, "TSV")).split(), dtype=int)
        by_class = "arraySort(naiveBayesClassifierWithAllProbs('nb.model', lowerUTF8(text)))"
        sample = f"SELECT arrayMap(p -> p.2, {by_class}) FROM nb.source WHERE id < {SAMPLE} ORDER BY id"
        rows = json.loads(str(self.session.query(sample, "JSONCompact")))["data"]
        return {"predictions": predictions, "posterior": np.array([row[0] for row in rows], dtype=float)}

    def stop(self) -> None:
        self.session.close()
