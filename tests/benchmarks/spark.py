"""How the cost of a model grows with the rows on Spark, and where the time goes.

    python tests/benchmarks/spark.py [--rows 1000000 5000000 20000000] [--cores 2] [--memory 4g] [--rounds 2]

Makes tables of ten numbers, five categories of twenty values and a class of five, as Parquet in a folder that is deleted again,
and prints Markdown: seconds, the least of the rounds, of reading all columns once, of a fit and of a prediction whose rows are
thrown away; and of the largest table the statements of the fit that take longest.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbsql

NUMBERS = [f"x{i}" for i in range(10)]
CATEGORIES = [f"c{i}" for i in range(5)]


def session_of(cores: int, memory: str, home: Path) -> Any:
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": memory,
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.local.dir": str(home),
    }
    builder = SparkSession.builder.master(f"local[{cores}]").appName("nbsql")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def make(spark: Any, name: str, rows: int) -> None:
    """A table whose numbers and categories lean on the class."""
    numbers = ", ".join(f"randn({i}) + class * {0.1 * (i + 1):.1f} AS {x}" for i, x in enumerate(NUMBERS))
    categories = ", ".join(
        f"concat('v', CAST(floor(rand({100 + i}) * 15 + class) AS INT)) AS {c}" for i, c in enumerate(CATEGORIES)
    )
    spark.sql(
        f"CREATE TABLE {name} USING PARQUET AS SELECT concat('class ', class) AS y, {numbers}, {categories} "
        f"FROM (SELECT CAST(floor(rand(7) * 5) AS INT) AS class FROM range({rows})) AS classes"
    )


def least(act: Callable[[], object], rounds: int) -> float:
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        act()
        found.append(time.perf_counter() - start)
    return min(found)


def steps(spark: Any, source: str) -> dict[str, float]:
    """The seconds of a fit, by statement; the last goes on until the end, and questions count for the statement before."""
    from nbsql.engines.spark.engine import Spark

    marks: list[tuple[str, float]] = [("before the scan", time.perf_counter())]
    engine = Spark(spark, watch=lambda name: marks.append((name, time.perf_counter())))
    nbsql.fit(engine, source, target="y", name="m", replace=True)
    marks.append(("", time.perf_counter()))
    taken: dict[str, float] = defaultdict(float)
    for (name, start), (_, end) in pairwise(marks):
        taken[name] += end - start
    return taken


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 5_000_000, 20_000_000])
    arguments.add_argument("--cores", type=int, default=2)
    arguments.add_argument("--memory", default="4g")
    arguments.add_argument("--rounds", type=int, default=2)
    given = arguments.parse_args()
    home = Path(tempfile.mkdtemp(prefix="nbsql"))
    spark = session_of(given.cores, given.memory, home)
    sums = ", ".join([*(f"sum({x})" for x in NUMBERS), *(f"max({c})" for c in CATEGORIES), "max(y)"])
    try:
        print("| rows | scan | fit | fit, a million rows | predict | predict, a million rows |")
        print("| --- | --- | --- | --- | --- | --- |")
        for rows in sorted(given.rows):
            table = f"rows_{rows}"
            make(spark, table, rows)

            def scan(table: str = table) -> None:
                spark.sql(f"SELECT {sums} FROM {table}").collect()

            def fit(table: str = table) -> None:
                nbsql.fit(spark, table, target="y", name="m", replace=True)

            def predict(table: str = table) -> None:
                nbsql.load(spark, "m").predict(table).dataframe.write.format("noop").mode("overwrite").save()

            seconds = [least(act, given.rounds) for act in (scan, fit, predict)]
            millions = rows / 1e6
            print(
                f"| {rows:,} | {seconds[0]:.2f} | {seconds[1]:.2f} | {seconds[1] / millions:.2f} "
                f"| {seconds[2]:.2f} | {seconds[2] / millions:.2f} |",
                flush=True,
            )
        print(f"\nWhere the time of a fit of {rows:,} rows goes:\n\n| statement | seconds |\n| --- | --- |")
        for name, taken in sorted(steps(spark, table).items(), key=lambda item: -item[1])[:10]:
            print(f"| {name} | {taken:.2f} |")
    finally:
        spark.stop()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
