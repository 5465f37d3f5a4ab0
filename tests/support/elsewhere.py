"""Engines that no model lives in, one `pip install` away: what a standalone scorer says there of a table that DuckDB has."""

import decimal
import json
import math
import os
import sqlite3
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import duckdb
import pytest

Rows = list[dict[str, Any]]

_AFFINITY = {"BOOLEAN": "BOOLEAN", "DOUBLE": "REAL", "FLOAT": "REAL", "DATE": "DATE"}


class DuckDB:
    """The engine of the model itself, by the scorer that others run."""

    name = "duckdb"

    def __init__(self) -> None:
        self.connection: duckdb.DuckDBPyConnection

    def load(self, con: duckdb.DuckDBPyConnection, table: str) -> None:
        self.connection = con

    def rows(self, sql: str) -> Rows:
        return duckdb_rows(self.connection, sql)

    def close(self) -> None:
        pass


class SQLite:
    """Python's own."""

    name = "sqlite"

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:")

    def load(self, con: duckdb.DuckDBPyConnection, table: str) -> None:
        """Copy a table of DuckDB's. A NaN is a NULL there."""
        result = con.execute(f'FROM "{table}"')
        described, rows = result.description, result.fetchall()
        columns = [f'"{name.replace(chr(34), chr(34) * 2)}" {self._type(str(kind))}' for name, kind, *_ in described]
        self.connection.execute(f'DROP TABLE IF EXISTS "{table}"')
        self.connection.execute(f'CREATE TABLE "{table}" ({", ".join(columns)})')
        places = ", ".join("?" * len(columns))
        self.connection.executemany(f'INSERT INTO "{table}" VALUES ({places})', [[*map(_plain, row)] for row in rows])

    @staticmethod
    def _type(kind: str) -> str:
        if "INT" in kind:
            return "INTEGER"
        return "REAL" if kind.startswith("DECIMAL") else _AFFINITY.get(kind, "TEXT")

    def rows(self, sql: str) -> Rows:
        result = self.connection.execute(sql)
        names = [column[0] for column in result.description]
        return [dict(zip(names, row, strict=True)) for row in result]

    def close(self) -> None:
        self.connection.close()


class ClickHouse:
    """chDB, the engine of ClickHouse in a process."""

    name = "clickhouse"

    def __init__(self, folder: Path) -> None:
        from chdb.session import Session

        self.folder = folder
        self.session: Any = cast("Any", Session)(str(folder / "chdb"))
        self.session.query("CREATE DATABASE IF NOT EXISTS tests")
        self.session.query("USE tests")
        self.session.query("SET max_query_size = 10000000")

    def load(self, con: duckdb.DuckDBPyConnection, table: str) -> None:
        """Copy a table of DuckDB's."""
        file = self.folder / "table.parquet"
        con.execute(f"COPY \"{table}\" TO '{file}' (FORMAT parquet)").fetchall()
        self.session.query(f'DROP TABLE IF EXISTS "{table}"')
        self.session.query(f"CREATE TABLE \"{table}\" ENGINE = Memory AS SELECT * FROM file('{file}', Parquet)")

    def rows(self, sql: str) -> Rows:
        settings = "output_format_json_quote_64bit_integers = 0, output_format_json_quote_denormals = 1"
        text = str(self.session.query(f"{sql}\nSETTINGS {settings}", "JSONEachRow"))
        return [json.loads(line) for line in text.splitlines() if line]

    def close(self) -> None:
        self.session.close()


def _plain(value: Any) -> Any:
    if isinstance(value, decimal.Decimal):
        return float(value)
    return value if isinstance(value, (int, float, str, type(None))) else str(value)


def duckdb_rows(con: duckdb.DuckDBPyConnection, sql: str) -> Rows:
    result = con.execute(sql)
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def hold_together(found: Rows, expected: Rows, key: str, columns: list[str]) -> None:
    """Raise unless the columns of the rows are the same, numbers to 1e-9."""
    assert len(found) == len(expected)
    places = {row[key]: row for row in found}
    assert len(places) == len(found)
    for row in expected:
        for column in columns:
            ours, theirs = row[column], places[row[key]][column]
            assert _same(ours, theirs), f"{column} of {key} {row[key]}: {theirs!r}, not {ours!r}"


def _same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) and not isinstance(theirs, bool):
        theirs = -math.inf if theirs == "-inf" else theirs
        return isinstance(theirs, (int, float)) and (ours == theirs or math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9))
    return bool(ours == theirs)


Elsewhere = SQLite | ClickHouse | DuckDB


def opened(name: str, folder: Path) -> Elsewhere:
    """The engine of a dialect; the test that asks for one that is not installed is skipped, or fails in CI."""
    if name == "clickhouse":
        if find_spec("chdb") is None:
            reason = "pip install chdb to run what is written for ClickHouse"
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        return ClickHouse(folder)
    return SQLite() if name == "sqlite" else DuckDB()
