"""Rows of numbers as tables, and scores as dictionaries."""

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

import nbsql


def load(con: duckdb.DuckDBPyConnection, x: Any, y: Any, name: str = "rows", **more: Any) -> None:
    """A table of an id i, numbers x1, x2, ... and the class y."""
    columns = {f"x{j}": x[:, j - 1] for j in range(1, x.shape[1] + 1)}
    con.register("arrived", pa.table({"i": np.arange(len(x)), **columns, "y": y, **more}))
    con.execute(f"CREATE OR REPLACE TABLE {name} AS FROM arrived")


def scores(model: nbsql.Model, source: str) -> dict[int, dict[str, float]]:
    """ln p(x, c) by class, by the number of the row."""
    labels = sorted(model.classes)
    return {row[0]: dict(zip(labels, row[-len(labels) :], strict=True)) for row in model.joint_log_likelihood(source)}
