"""What the report of a model costs: python tests/benchmarks/report_page.py [rows] [DATA], or report_page.py spark.

Seconds and bytes of the report of a table of 1,000,000 rows; the bytes of the library in each page; and, if DATA is the folder
of the public tables (`NBSQL_DATA`), seconds and bytes of the reports of three of them. `spark`: instead, panel by
panel, of a model of 20 features, 50 classes and 10,000 words on Spark.
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
from nbsql.report import PANELS
from nbsql.report.drawing import bundle, compress

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


def on_spark() -> None:
    """The seconds of Spark's processor that each panel takes, which are those of its planning and of its work."""
    from spark import session_of  # the benchmark beside this one

    sys.path.insert(0, str(Path(__file__).parents[1]))
    from support.large_table import large_table

    from nbsql.engines.spark.engine import Spark

    with tempfile.TemporaryDirectory() as folder:
        session = session_of(2, "6g", Path(folder))
        machine = Path(f"/proc/{session.sparkContext._gateway.proc.pid}/stat")  # of Java; such a file is Linux's
        session.sql(large_table("(SELECT CAST(id AS INT) AS i FROM range(10000)) AS t", text="STRING", double="DOUBLE"))
        marks: list[tuple[str, float]] = []

        def mark(task: str) -> None:
            if task in (*(panel.name for panel in PANELS), "fit and folds", "end"):
                ticks = sum(map(int, machine.read_text().rpartition(")")[2].split()[11:13]))
                marks.append((task, ticks / os.sysconf("SC_CLK_TCK")))
                print(*(f"{name}: {marks[-1][1] - start:.0f} s" for name, start in marks[-2:-1]), flush=True)

        mark("fit and folds")
        engine = Spark(session)
        engine.watch = mark
        model = nbsql.fit(engine, "large", target="y", families={"words": nbsql.Text()}, name="large_model")
        path = Path(folder) / "report.html"
        model.report(path, source="large", rows=4, folds=2)
        mark("end")
        seconds = marks[-1][1] - marks[0][1]
        print(f"together: {seconds:.0f} s of the processor, {path.stat().st_size:,} bytes", flush=True)
        session.stop()


def main(rows: int = 1_000_000, data: str | None = os.environ.get("NBSQL_DATA")) -> None:
    script = bundle()
    print(f"library: {len(script.encode()):,} bytes, {len(compress(script)):,} in a page")
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
    if sys.argv[1:] == ["spark"]:
        on_spark()
    else:
        main(*map(int, sys.argv[1:2]), *sys.argv[2:3])
