"""The SQL that somebody would write by hand for one table, with nothing in it for missing, unseen or infinite values."""

import math
from typing import Any

import duckdb
import numpy as np

from contenders.base import SAMPLE, Contender, posterior

JOINED = 40  # categories that a star of joins takes; more are unpivoted first, and their scores summed by row


class ByHand(Contender):
    """Parameters of numbers written into the query, categories by a star of inner joins, words by a join and sums by row."""

    title = "SQL by hand"

    @classmethod
    def version(cls) -> str:
        return f"SQL by hand on DuckDB {duckdb.__version__}"

    def fit(self) -> None:
        case = self.case
        self.classes = self.con.execute(f"SELECT y, count(*) FROM {self.table} GROUP BY y ORDER BY y").fetchall()
        self.joined = case.category_columns if case.categories <= JOINED else []
        self.unpivoted = case.category_columns[len(self.joined) :]
        self.numbers = {y: "0" for y, _ in self.classes}  # the terms of the numbers, by class
        if case.method == "lda":
            self.numbers = self._discriminants()
        elif case.numbers:
            self.numbers = self._densities()
        for column in self.joined:
            self._look_up(f"of_{column}", f"SELECT y, {column} AS value FROM {self.table}")
        if self.unpivoted:
            self._look_up("of_categories", self._cells("y"), "column_no, value", "column_no")
        if case.text_columns:
            self._look_up("of_words", f"SELECT y, {self._words()} AS value FROM {self.table}")

    def _densities(self) -> dict[int, str]:
        """The sums of the logarithms of normal densities."""
        moments = ", ".join(f"avg({column}), var_pop({column})" for column in self.case.number_columns)
        found = {}
        for y, *row in self.con.execute(f"SELECT y, {moments} FROM {self.table} GROUP BY y").fetchall():
            terms = list(zip(self.case.number_columns, row[::2], row[1::2], strict=True))
            constant = -sum(math.log(2 * math.pi * v) for _, _, v in terms) / 2
            found[y] = " + ".join([repr(constant), *(f"({x} - {m!r}) * ({x} - {m!r}) * {-0.5 / v!r}" for x, m, v in terms)])
        return found

    def _discriminants(self) -> dict[int, str]:
        """What the densities of a shared covariance matrix do not have in common, which is linear."""
        columns = self.case.number_columns
        centres = self.con.execute(f"SELECT {', '.join(columns)} FROM {self.table} LIMIT 1").fetchone()
        assert centres is not None
        numbers = ", ".join(f"{x} - {c!r} AS {x}" for x, c in zip(columns, centres, strict=True))
        sums = ", ".join(f"sum({x})" for x in columns)
        products = ", ".join(f"sum({x} * {z})" for i, x in enumerate(columns) for z in columns[i:])
        query = f"SELECT {sums}, {products} FROM (SELECT y, {numbers} FROM {self.table}) GROUP BY y ORDER BY y"
        found = np.array(self.con.execute(query).fetchall())
        size, n = len(columns), np.array([[count] for _, count in self.classes])
        means, squares = found[:, :size] / n, np.zeros((size, size))
        squares[np.triu_indices(size)] = found[:, size:].sum(axis=0)
        squares += np.triu(squares, 1).T - means.T @ (n * means)
        weights = np.linalg.solve(squares / n.sum(), means.T).T
        constants = -(weights * means).sum(axis=1) / 2 - weights @ np.array(centres)
        terms = [[f"{float(w)!r} * {x}" for w, x in zip(row, columns, strict=True)] for row in weights]
        return {y: " + ".join([repr(float(constants[i])), *terms[i]]) for i, (y, _) in enumerate(self.classes)}

    def _cells(self, column: str) -> str:
        """The categories that are unpivoted, beside a column of their rows."""
        numbers, values = f"range({len(self.unpivoted)})", f"[{', '.join(self.unpivoted)}]"
        return f"SELECT {column}, unnest({numbers}) AS column_no, unnest({values}) AS value FROM {self.table}"

    def _words(self) -> str:
        return f"unnest(string_split({self.case.text_columns[0]}, ' '))"

    def _look_up(self, name: str, values: str, keys: str = "value", parts: str = "1") -> None:
        """Create a table of the scores of values, which are smoothed by 1 within each of the parts."""
        counts = ", ".join(f"count(*) FILTER (y = {y}) AS n_{y}" for y, _ in self.classes)
        scores = ", ".join(f"ln((n_{y} + 1) / (sum(n_{y}) OVER part + count(*) OVER part)) AS j_{y}" for y, _ in self.classes)
        self.con.execute(f"""
            CREATE OR REPLACE TABLE {name} AS
            SELECT {keys}, {scores}
            FROM (SELECT {keys}, {counts} FROM ({values}) GROUP BY {keys}) WINDOW part AS (PARTITION BY {parts})
        """)

    def predict(self) -> None:
        self.con.execute(f"CREATE OR REPLACE TABLE scored AS {self.scored()}")

    def scored(self, also: str = "") -> str:
        """The query of prediction, probability and other columns."""
        rows = sum(count for _, count in self.classes)
        names = [f"j_{y}" for y, _ in self.classes]
        cases = " ".join(f"WHEN {name} = highest THEN {y}" for name, (y, _) in zip(names, self.classes, strict=True))
        joins = "".join(f" JOIN of_{column} ON of_{column}.value = {column}" for column in self.joined)
        summed = []
        if self.unpivoted:
            joins += self._sums("categories", self._cells("id"), "column_no, value")
            summed.append("categories")
        if self.case.text_columns:
            joins += self._sums("words", f"SELECT id, {self._words()} AS value FROM {self.table}", "value")
            summed.append("words")
        joints = [
            " + ".join([repr(math.log(count / rows)), self.numbers[y], *(f"{name}.j_{y}" for name in summed)])
            + "".join(f" + of_{column}.j_{y}" for column in self.joined)
            for y, count in self.classes
        ]
        return f"""
            SELECT CASE {cases} END AS prediction, 1 / ({" + ".join(f"exp({n} - highest)" for n in names)}) AS probability{also}
            FROM (
                SELECT *, greatest({", ".join(names)}) AS highest
                FROM (
                    SELECT id, {", ".join(f"{joint} AS {name}" for joint, name in zip(joints, names, strict=True))}
                    FROM {self.table}{joins}
                )
            )
        """

    def _sums(self, name: str, values: str, keys: str) -> str:
        """A join with the scores of several values a row, summed."""
        sums = ", ".join(f"sum(j_{y}) AS j_{y}" for y, _ in self.classes)
        return f" JOIN (SELECT id, {sums} FROM ({values}) JOIN of_{name} USING ({keys}) GROUP BY id) AS {name} USING (id)"

    def answers(self, options: dict[str, Any]) -> dict[str, Any]:
        query = self.scored(f", id, [{', '.join(f'j_{y}' for y, _ in self.classes)}] AS joints")
        predictions = self.con.execute(f"SELECT prediction FROM ({query}) ORDER BY id").fetchnumpy()["prediction"]
        found = self.con.execute(f"SELECT joints FROM ({query}) WHERE id < {SAMPLE} ORDER BY id").fetchall()
        return {"predictions": predictions, "posterior": posterior(np.array([row[0] for row in found]))}
