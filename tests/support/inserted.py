"""Rows for a table of DuckDB, by a statement a few hundred: `executemany` plans one a row, a quarter of a millisecond each."""

from collections.abc import Iterable, Sequence
from typing import Any

import duckdb

_ROWS = 250  # of a statement


def insert(con: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows into a table, whose name is SQL."""
    left = list(rows)
    while left:
        some, left = left[:_ROWS], left[_ROWS:]
        marks = f"({', '.join('?' * len(some[0]))})"
        con.execute(f"INSERT INTO {table} VALUES {', '.join([marks] * len(some))}", [value for row in some for value in row])
