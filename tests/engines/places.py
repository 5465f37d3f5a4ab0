"""An engine under test, seen alike whichever it is."""

import math
from decimal import Decimal

import pytest
from support.inserted import insert

ENGINES = ("duckdb", "postgres", "spark")

# What an engine does not have yet, and why. Each is refused with one line (test_refusals.py).
LACKS = {
    "duckdb": {"Query.to_spark": "DuckDB has no such thing"},
    "postgres": {"Query.to_spark": "PostgreSQL has no such thing", "Query.relation": "PostgreSQL has no such thing"},
    "spark": {
        "auto": "it asks hundreds of small questions, and a statement takes Spark a second",
        "predict_one": "a statement takes Spark too long for a row at a time",
        "predict_one_sql": "a statement takes Spark too long for a row at a time",
        "Query.relation": "a query is a DataFrame there",
    },
}

# How Spark calls the types of the tests.
_SPARK_TYPES = {
    "VARCHAR": "STRING",
    "VARCHAR[]": "ARRAY<STRING>",
    "DOUBLE PRECISION": "DOUBLE",
    "REAL": "FLOAT",
    "NUMERIC": "DECIMAL(18, 3)",
}


def ident(name):
    """As DuckDB and PostgreSQL quote it."""
    return '"' + name.replace('"', '""') + '"'


class Place:
    """A connection to an engine, and how tables are made there."""

    def __init__(self, engine, con):
        self.engine = engine
        self.con = con

    def __repr__(self):
        return self.engine

    def run(self, sql):
        if self.engine == "spark":
            return [tuple(row) for row in self.con.sql(sql).collect()]
        found = self.con.execute(sql)
        return found.fetchall() if self.engine == "duckdb" or found.description else []

    def table(self, name, columns, rows):
        """A new table; types are those that DuckDB and PostgreSQL know."""
        if self.engine == "spark":
            self._dataframe(columns, rows).write.saveAsTable(f"`{name}`")
            return
        listed = ", ".join(f"{ident(column)} {kind}" for column, kind in columns.items())
        self.run(f"CREATE TABLE {ident(name)} ({listed})")
        self.insert(ident(name), rows)

    def insert(self, table, rows):
        """Add rows to a table, whose name is SQL."""
        if self.engine == "duckdb":
            insert(self.con, table, rows)
        elif rows:
            marks = ", ".join(["%s"] * len(rows[0]))
            self.con.cursor().executemany(f"INSERT INTO {table.replace('%', '%%')} VALUES ({marks})", rows)

    def _dataframe(self, columns, rows):
        """A DataFrame; decimals are made of doubles there."""
        from pyspark.sql import functions, types

        kinds = [_SPARK_TYPES.get(kind, kind) for kind in columns.values()]
        read = ["DOUBLE" if kind.startswith("DECIMAL") else kind for kind in kinds]
        fields = [types.StructField(name, types._parse_datatype_string(kind)) for name, kind in zip(columns, read, strict=True)]
        real = [kind in ("DOUBLE", "FLOAT") for kind in read]
        values = [tuple(float(x) if r and type(x) is int else x for x, r in zip(row, real, strict=True)) for row in rows]
        frame = self.con.createDataFrame(values, types.StructType(fields)).coalesce(1)
        cast = {
            name: functions.col(f"`{name.replace('`', '``')}`").cast(kind)
            for name, kind in zip(columns, kinds, strict=True)
            if kind.startswith("DECIMAL")
        }
        return frame.withColumns(cast) if cast else frame


def same(found, expected):
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


def assert_same_rows(found, expected):
    """Rows in the same order, numbers to 1e-9."""
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert len(ours) == len(theirs)
        assert all(same(a, b) for a, b in zip(ours, theirs, strict=True)), (ours, theirs)
