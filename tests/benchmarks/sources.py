"""What a fit of twenty categories costs by the kind of source: a table, and what is read in place or copied first.

    python tests/benchmarks/sources.py --rows 2000000 --rounds 3

Seconds by the clock and of the processors, the least of the rounds, in which the sources take turns.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

import nbsql

CATEGORIES = ", ".join(f"'v' || hash(i * 31 + {n}) % {10 + n} AS k{n}" for n in range(20))
ROWS = "CREATE TABLE rows AS SELECT hash(i) % 5 AS label, {categories} FROM range({rows}) AS r(i)"


def sources(con: duckdb.DuckDBPyConnection, folder: Path) -> dict[str, Any]:
    con.execute(f"COPY rows TO '{folder}/rows.parquet'; CREATE VIEW renamed AS SELECT *, k0 AS other FROM rows")
    return {
        "a table": "rows",
        "a SELECT that filters it": "FROM rows WHERE k1 <> 'v1'",
        "a view that renames": "renamed",
        "a Parquet file": folder / "rows.parquet",
        "a SELECT from that": f"SELECT * FROM '{folder}/rows.parquet' WHERE k1 <> 'v1'",
        "an Arrow table": con.sql("FROM rows").to_arrow_table(),
        "a pandas frame": con.sql("FROM rows").df(),
        "a Polars frame": con.sql("FROM rows").pl(),
        "a SELECT with a function": "SELECT * REPLACE (upper(k0) AS k0) FROM rows",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as con:
        con.execute(ROWS.format(categories=CATEGORIES, rows=arguments.rows))
        taken: dict[str, list[tuple[float, float]]] = {}
        copied = {}
        kinds = sources(con, Path(folder))
        for _ in range(arguments.rounds):
            for kind, source in kinds.items():
                steps: list[str] = []
                begun = time.perf_counter(), time.process_time()
                with nbsql.watch(steps.append):
                    nbsql.fit(con, source, target="label")
                taken.setdefault(kind, []).append((time.perf_counter() - begun[0], time.process_time() - begun[1]))
                copied[kind] = "read the source once" in steps
    print("| source | copied first | seconds | of the processors |")
    print("| --- | --- | --- | --- |")
    for kind, rounds in taken.items():
        clock, processors = map(min, zip(*rounds, strict=True))
        print(f"| {kind} | {'yes' if copied[kind] else 'no'} | {clock:.2f} | {processors:.2f} |")


if __name__ == "__main__":
    main()
