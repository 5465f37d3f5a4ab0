"""An engine under test, seen alike whichever it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import pytest

ENGINES = ("duckdb", "postgres")

# What an engine does not have yet, and why. Each is refused with one line (test_refusals.py).
LACKS: dict[str, dict[str, str]] = {
    "duckdb": {},
    "postgres": {
        "by='mdl' of 'wind'": "a recursive query of PostgreSQL's may read itself once only",
        "components": "k-means is written with lists",
        "inline=True": "the numbers of a frozen scorer are written as lists",
        "method='logistic'": "the weights are found with lists",
        "predict_one": "its numbers are met in lists",
        "predict_one_sql": "its numbers are met in lists",
        "Query.relation": "PostgreSQL has no such thing",
    },
}


def ident(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class Place:
    """A connection to an engine, and how tables are made there."""

    def __init__(self, engine: str, con: Any) -> None:
        self.engine = engine
        self.con = con

    def __repr__(self) -> str:
        return self.engine

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        found = self.con.execute(sql)
        return found.fetchall() if self.engine == "duckdb" or found.description else []

    def table(self, name: str, columns: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> None:
        """A new table; types are those that both engines know."""
        listed = ", ".join(f"{ident(column)} {kind}" for column, kind in columns.items())
        self.run(f"CREATE TABLE {ident(name)} ({listed})")
        mark = "?" if self.engine == "duckdb" else "%s"
        if rows:
            insert = f"INSERT INTO {ident(name)} VALUES ({', '.join([mark] * len(columns))})"
            self.con.cursor().executemany(
                insert.replace(ident(name), ident(name).replace("%", "%%") if mark == "%s" else ident(name)), rows
            )


def same(found: Any, expected: Any) -> bool:
    """Whether two values are the same, numbers to 1e-9."""
    if isinstance(found, Decimal):
        found = float(found)
    if isinstance(expected, Decimal):
        expected = float(expected)
    if isinstance(expected, float) and isinstance(found, (int, float)):
        if math.isinf(expected) or math.isnan(expected):
            return found == expected or (math.isnan(expected) and math.isnan(found))
        return bool(found == pytest.approx(expected, rel=1e-9, abs=1e-9))
    return bool(found == expected)


def assert_same_rows(found: Sequence[Sequence[Any]], expected: Sequence[Sequence[Any]]) -> None:
    """Rows in the same order, numbers to 1e-9."""
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert len(ours) == len(theirs)
        assert all(same(a, b) for a, b in zip(ours, theirs, strict=True)), (ours, theirs)
