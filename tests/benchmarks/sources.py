"""What a fit of categories costs by the kind of source: a table, and what is read in place or copied first.

    python tests/benchmarks/sources.py --rows 2000000 --rounds 3
    python tests/benchmarks/sources.py --rows 100000 --categories 300 --files 20 --only Parquet --rereads 1000

Seconds by the clock and of the processors, the least of the rounds, in which the sources take turns. --rereads is the most
categories for which Parquet files are read for each rather than copied (nbsql/rendering/layout.py).
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb

import nbsql
from nbsql.rendering.renderer import Renderer

CATEGORY = "'v' || hash(i * 31 + {0}) % {1} AS k{0}"
ROWS = "CREATE TABLE rows AS SELECT hash(i) % 5 AS label, {categories} FROM range({rows}) AS r(i)"


def sources(con: duckdb.DuckDBPyConnection, folder: Path, files: int) -> dict[str, Any]:
    for file in range(files):
        con.execute(f"COPY (FROM rows WHERE rowid % {files} = {file}) TO '{folder}/{file}.parquet'")
    con.execute("CREATE VIEW renamed AS SELECT *, k0 AS other FROM rows")
    files_of_rows = f"{folder}/*.parquet"
    return {
        "a table": "rows",
        "a SELECT that filters it": "FROM rows WHERE k1 <> 'v1'",
        "a view that renames": "renamed",
        "Parquet": files_of_rows,
        "a SELECT from Parquet": f"SELECT * FROM '{files_of_rows}' WHERE k1 <> 'v1'",
        "an Arrow table": con.sql("FROM rows").to_arrow_table(),
        "a pandas frame": con.sql("FROM rows").df(),
        "a Polars frame": con.sql("FROM rows").pl(),
        "a SELECT with a function": "SELECT * REPLACE (upper(k0) AS k0) FROM rows",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--categories", type=int, default=20)
    parser.add_argument("--files", type=int, default=1, help="Parquet files that hold the rows")
    parser.add_argument("--only", nargs="*", default=[], help="sources to measure, such as Parquet")
    parser.add_argument("--rereads", type=int, default=Renderer.layout.file_rereads)
    arguments = parser.parse_args()
    Renderer.layout = replace(Renderer.layout, file_rereads=arguments.rereads)
    categories = ", ".join(CATEGORY.format(n, 10 + n % 20) for n in range(arguments.categories))
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as con:
        con.execute(ROWS.format(categories=categories, rows=arguments.rows))
        taken: dict[str, list[tuple[float, float]]] = {}
        copied = {}
        kinds = sources(con, Path(folder), arguments.files)
        for _ in range(arguments.rounds):
            for kind, source in kinds.items():
                if arguments.only and kind not in arguments.only:
                    continue
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
