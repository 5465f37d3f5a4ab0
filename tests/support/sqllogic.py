"""Runs the tests of an extension of DuckDB (test/sql/*.test): statements that succeed or fail, and queries with their rows."""

from pathlib import Path

import duckdb
import pytest


def run(con: duckdb.DuckDBPyConnection, path: Path) -> int:
    """Run the records of a file on a connection that has the extension, and return how many there were."""
    records = [record for record in path.read_text(encoding="utf-8").split("\n\n") if record.strip()]
    ran = 0
    for record in records:
        lines = [line for line in record.strip().splitlines() if not line.startswith("#")]
        if not lines or lines[0].startswith("require "):
            continue
        (kind, *arguments), body = lines[0].split(), "\n".join(lines[1:])
        sql, _, expected = body.partition("\n----\n")
        ran += 1
        if (kind, arguments) == ("statement", ["ok"]):
            con.execute(sql)
        elif (kind, arguments) == ("statement", ["error"]):
            with pytest.raises(duckdb.Error) as caught:
                con.execute(sql).fetchall()
            assert expected in str(caught.value), sql
        elif kind == "query" and arguments[1:] in ([], ["rowsort"]):
            rows = con.execute(f"SELECT CAST(columns(*) AS VARCHAR) FROM ({sql.rstrip(';')}) AS rows").fetchall()
            found = ["\t".join("NULL" if value is None else value for value in row) for row in rows]
            assert (sorted(found) if arguments[1:] else found) == expected.splitlines(), sql
            assert all(len(row) == len(arguments[0]) for row in rows), sql
        else:
            raise ValueError(f"{path}: {lines[0]}")
    return ran
