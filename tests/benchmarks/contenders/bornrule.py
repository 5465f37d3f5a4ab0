"""bornrule on SQLite."""

import sqlite3
from importlib.metadata import version
from typing import Any, ClassVar

import sqlalchemy
from bornrule.sql import BornClassifierSQL
from tables import Case

from contenders.base import Contender


class Bornrule(Contender):
    """Born's classifier in SQL: another model of categories and words, so its predictions need not be the same.

    The table is brought to SQLite untimed, texts as a row a word.
    """

    title = "bornrule on SQLite"
    rows: ClassVar = {"categorical": 10_000, "text": 5_000}
    lacks = "it knows no numbers"

    def __init__(self, database: str, case: Case) -> None:
        super().__init__(database, case)
        file = self.database.with_suffix(".sqlite")
        file.unlink(missing_ok=True)
        with sqlite3.connect(file) as sqlite:
            self._copy(sqlite, "source", ["id", "y", *case.category_columns], self.table)
            if case.tokens:
                words = f"SELECT id, unnest(string_split(text, ' ')) AS word FROM {self.table}"
                counts = f"(SELECT id, word, count(*) AS n FROM ({words}) GROUP BY ALL)"
                self._copy(sqlite, "words", ["id", "word", "n"], counts)
        self.engine = sqlalchemy.create_engine(f"sqlite:///{file}")
        features: list[Any] = [("source", "id", column) for column in case.category_columns]
        if case.tokens:
            features.append("SELECT id AS item, word AS feature, n AS weight FROM words")
        classes = "SELECT id AS item, y AS class, 1.0 AS weight FROM source"
        self.model = BornClassifierSQL(engine=self.engine, configs={"class": classes, "features": features})

    def _copy(self, sqlite: sqlite3.Connection, table: str, columns: list[str], relation: str) -> None:
        sqlite.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        rows = self.con.execute(f"SELECT {', '.join(columns)} FROM {relation}").fetchall()
        sqlite.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)
        sqlite.execute(f"CREATE INDEX of_{table} ON {table} (id)")

    @classmethod
    def version(cls) -> str:
        return f"bornrule {version('bornrule')} on SQLite {sqlite3.sqlite_version}"

    @classmethod
    def same(cls, case: Case) -> dict[str, Any] | None:
        return None

    def fit(self) -> None:
        if self.model.is_deployed():
            self.model.undeploy()
        self.model.fit("SELECT id AS item FROM source")
        self.model.deploy()

    def predict(self) -> None:
        self.predictions = self.model.predict("SELECT id AS item FROM source")

    def answers(self, options: dict[str, Any]) -> dict[str, Any]:
        return {"predictions": self.predictions.sort_index().to_numpy()}
