"""nbsql itself."""

from typing import Any

import duckdb
import numpy as np

import nbsql
from contenders.base import SAMPLE, Contender


class Nbsql(Contender):
    """The model a schema, the predictions a table."""

    title = "nbsql"
    model: nbsql.Model

    @classmethod
    def version(cls) -> str:
        return f"nbsql {nbsql.__version__} on DuckDB {duckdb.__version__}"

    def fit(self) -> None:
        self.model = self.fitted()

    def fitted(self, *, variance: str = "population", **options: Any) -> nbsql.Model:
        families: dict[str, nbsql.Family] = {column: nbsql.Text() for column in self.case.text_columns}
        if variance != "population":
            families |= {column: nbsql.Gaussian(variance=variance) for column in self.case.number_columns}
        return nbsql.fit(
            self.con,
            self.table,
            target="y",
            id="id",
            name="model",
            replace=True,
            families=families,
            method=self.case.method,
            **options,
        )

    def predict(self) -> None:
        query = self.model.predict(self.table)
        self.con.execute(f"CREATE OR REPLACE TABLE scored AS SELECT prediction, probability FROM ({query.sql})")

    def predict_all_columns(self) -> None:
        self.con.execute("DROP TABLE IF EXISTS scored")
        self.model.predict(self.table).create_table("scored")

    def answers(self, options: dict[str, Any]) -> dict[str, Any]:
        """Those of a model by options of another contender; the margin is what the best class is ahead of the next."""
        model = self.fitted(**options)
        columns = ", ".join(f"joint_log_likelihood_{k}" for k in range(self.case.classes))
        self.con.execute(f"""
            CREATE OR REPLACE TABLE scored AS
            SELECT id, ranked[1] - ranked[2] AS margin
            FROM (SELECT id, list_reverse_sort([{columns}]) AS ranked FROM ({model.joint_log_likelihood(self.table).sql}))
        """)
        margin = self.con.execute("SELECT margin FROM scored ORDER BY id").fetchnumpy()["margin"]
        predicted = model.predict(self.table).sql
        self.con.execute(f"CREATE OR REPLACE TABLE scored AS SELECT id, prediction FROM ({predicted})")
        predictions = self.con.execute("SELECT prediction FROM scored ORDER BY id").fetchnumpy()["prediction"]
        sample = f"SELECT * FROM {self.table} WHERE id < {SAMPLE}"
        columns = ", ".join(f"probability_{k}" for k in range(self.case.classes))
        found = self.con.execute(f"SELECT {columns} FROM ({model.predict_proba(sample).sql}) ORDER BY id").fetchnumpy()
        self.con.execute("DROP TABLE scored")
        return {
            "predictions": np.asarray(predictions),
            "margin": np.asarray(margin),
            "posterior": np.column_stack(list(found.values())),
        }


class Again(Nbsql):
    """The same once more: how far its ratio is from 1 is what the machine alone does to ratios."""

    title = "nbsql again: the noise"
