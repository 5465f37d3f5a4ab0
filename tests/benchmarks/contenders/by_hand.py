"""The SQL that somebody would write by hand for one table, with nothing in it for missing, unseen or infinite values."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import numpy as np

from contenders.base import SAMPLE, Contender, posterior


class ByHand(Contender):
    """Numbers by parameters written into the query, categories by a star of inner joins with small tables."""

    title = "SQL by hand"
    rows = dict.fromkeys(("numeric", "categorical", "classes"), math.inf)
    lacks = "written for numbers, and for categories"

    @classmethod
    def version(cls) -> str:
        return f"SQL by hand on DuckDB {duckdb.__version__}"

    def fit(self) -> None:
        if self.case.numbers:
            moments = "".join(f", avg({column}), var_pop({column})" for column in self.case.number_columns)
            self.classes = self.con.execute(f"SELECT y, count(*){moments} FROM {self.table} GROUP BY y ORDER BY y").fetchall()
        else:
            self.classes = self.con.execute(f"SELECT y, count(*) FROM {self.table} GROUP BY y ORDER BY y").fetchall()
            for column in self.case.category_columns:
                self.con.execute(self._lookup(column))

    def _lookup(self, column: str) -> str:
        counts = "".join(f", count(*) FILTER (y = {y}) AS n_{y}" for y, _ in self.classes)
        scores = "".join(f", ln((n_{y} + 1) / (sum(n_{y}) OVER () + count(*) OVER ())) AS j_{y}" for y, _ in self.classes)
        return f"""
            CREATE OR REPLACE TABLE of_{column} AS
            SELECT value{scores} FROM (SELECT {column} AS value{counts} FROM {self.table} GROUP BY value)
        """

    def predict(self) -> None:
        self.con.execute(f"CREATE OR REPLACE TABLE scored AS {self.scored()}")

    def scored(self, also: str = "") -> str:
        """The query of prediction, probability and other columns."""
        rows = sum(row[1] for row in self.classes)
        joints = [f"{math.log(row[1] / rows)!r} + {self._score(*row)}" for row in self.classes]
        names = [f"j_{y}" for y, *_ in self.classes]
        joins = "".join(f" JOIN of_{column} ON of_{column}.value = {column}" for column in self.case.category_columns)
        cases = " ".join(f"WHEN {name} = highest THEN {y}" for name, (y, *_) in zip(names, self.classes, strict=True))
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

    def _score(self, y: int, n: int, *moments: float) -> str:
        if not moments:
            return " + ".join(f"of_{column}.j_{y}" for column in self.case.category_columns)
        means, variances = moments[::2], moments[1::2]
        constant = -sum(math.log(2 * math.pi * variance) for variance in variances) / 2
        terms = zip(self.case.number_columns, means, variances, strict=True)
        return " + ".join([repr(constant), *(f"({x} - {m!r}) * ({x} - {m!r}) * {-0.5 / v!r}" for x, m, v in terms)])

    def answers(self, options: dict[str, Any]) -> dict[str, Any]:
        query = self.scored(f", id, [{', '.join(f'j_{y}' for y, *_ in self.classes)}] AS joints")
        predictions = self.con.execute(f"SELECT prediction FROM ({query}) ORDER BY id").fetchnumpy()["prediction"]
        found = self.con.execute(f"SELECT joints FROM ({query}) WHERE id < {SAMPLE} ORDER BY id").fetchall()
        return {"predictions": predictions, "posterior": posterior(np.array([row[0] for row in found]))}
