"""What the report of a model costs: python tests/benchmarks/report_page.py [rows] [DATA].

Seconds and bytes of the report of a table of 1,000,000 rows; the bytes of the library in each page; and, if DATA is the folder
of the public tables (`NBSQL_DATA`), seconds and bytes of the reports of three of them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

import nbsql
from nbsql.report.drawing import bundle, packed

TABLES: dict[str, dict[str, Any]] = {
    "adult.csv.gz": {"target": "income", "exclude": ["fnlwgt", "split"]},
    "sms_spam.csv.gz": {"target": "label", "exclude": ["id"], "families": {"message": nbsql.Text()}},
    "covtype_20k.parquet": {"target": "cover_type", "families": {"wilderness_*": "bernoulli", "soil_*": "bernoulli"}},
}


def measure(con: duckdb.DuckDBPyConnection, title: str, table: str, folder: str, **options: Any) -> None:
    model = nbsql.fit(con, table, **options)
    path = Path(folder) / "report.html"
    start, wall = time.process_time(), time.monotonic()
    model.report(path, source=table, rows=4)
    seconds, waited = time.process_time() - start, time.monotonic() - wall
    print(f"{title}: {seconds:.1f} s of the processor, {waited:.1f} s by the clock, {path.stat().st_size:,} bytes", flush=True)


def main(rows: int = 1_000_000, data: str | None = os.environ.get("NBSQL_DATA")) -> None:
    script = bundle()
    print(f"library: {len(script.encode()):,} bytes, {len(packed(script)):,} in a page")
    with duckdb.connect() as con, tempfile.TemporaryDirectory() as folder:
        for file, options in TABLES.items() if data else ():
            name = file.partition(".")[0]
            con.execute(f"CREATE TABLE {name} AS FROM '{Path(str(data)) / file}'")
            ((count,),) = con.execute(f"SELECT count(*) FROM {name}").fetchall()
            measure(con, f"{name}, {count:,} rows", name, folder, **options)
        numbers = ", ".join(f"hash(i, {k}) % 1000 / 250.0 + i % 5 AS x{k}" for k in range(5))
        texts = ", ".join(f"'v' || (hash(i, {k}) % 20 + i % 5) AS c{k}" for k in range(10, 15))
        con.execute(f"CREATE TABLE large AS SELECT 'class ' || i % 5 AS y, {numbers}, {texts} FROM range({rows}) AS t(i)")
        measure(con, f"{rows:,} rows of ten features", "large", folder, target="y")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:3])
