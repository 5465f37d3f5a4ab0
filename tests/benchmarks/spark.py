"""How the cost of a model grows with the rows on Spark, where the time goes, and what MLlib and a second worker take.

    python tests/benchmarks/spark.py [--rows 1000000 5000000 20000000] [--cores 2] [--memory 4g] [--rounds 2]
    python tests/benchmarks/spark.py --profile [--kinds numbers categories mixed] [...]
    python tests/benchmarks/spark.py --mllib [--kinds numbers categories] [...]
    python tests/benchmarks/spark.py --standalone [...]

Makes tables of ten numbers, five categories of twenty values and a class of five, as Parquet in a folder that is deleted again,
and prints Markdown: seconds, the least of the rounds, of reading all columns once, of a fit and of a prediction whose rows are
thrown away; and of the largest table the statements of the fit that take longest.

--profile: of each table the statements of a fit, in their order: seconds by the clock and of processors, the jobs that they
ran, and the classes that Spark compiled for them. The fits before it, one a round, have warmed the JVM.

--mllib: the same tables beside MLlib's NaiveBayes on the same session, in turns: the numbers alone (its Gaussian type), and the
categories alone (indicators of indexed values, in its multinomial type). MLlib's steps to index and to assemble are part of its
time, as nothing is fitted without them. Seconds by the clock, and of all processors as the JVM counts them, in which driver and
tasks are one; the last column is a prediction of nbsql's beside the same once more.

--standalone: the same fit and prediction on a cluster of one worker with one core, and then of two.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbsql

NUMBERS = [f"x{i}" for i in range(10)]
CATEGORIES = [f"c{i}" for i in range(5)]
KINDS = {"numbers": NUMBERS, "categories": CATEGORIES, "mixed": NUMBERS + CATEGORIES}


def session_of(master: str, memory: str, home: Path, tasks: int) -> Any:
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": memory,
        "spark.executor.memory": "1g",
        "spark.sql.shuffle.partitions": str(tasks),
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.local.dir": str(home),
    }
    builder = SparkSession.builder.master(master).appName("nbsql")
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


def throw_away(rows: Any) -> None:
    rows.write.format("noop").mode("overwrite").save()


def seconds(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def least(act: Callable[[], object], rounds: int) -> float:
    return min(seconds(act) for _ in range(rounds))


def in_turns(acts: dict[str, Callable[[], object]], rounds: int, processors: Callable[[], float]) -> dict[str, list[float]]:
    """Seconds by the clock and of the processors of each act, the least of the rounds of each, run one after another."""
    found: dict[str, list[list[float]]] = {name: [] for name in acts}
    for _ in range(rounds):
        for name, act in acts.items():
            before = processors()
            taken = seconds(act)
            found[name].append([taken, processors() - before])
    return {name: [min(column) for column in zip(*rows, strict=True)] for name, rows in found.items()}


def steps(spark: Any, source: str) -> dict[str, float]:
    """The seconds of a fit, by statement; the last goes on until the end, and questions count for the statement before."""
    from nbsql.engines.spark.engine import Spark

    marks: list[tuple[str, float]] = [("before the scan", time.perf_counter())]
    engine = Spark(spark)
    engine.watch = lambda name: marks.append((name, time.perf_counter()))
    nbsql.fit(engine, source, target="y", name="m", replace=True)
    marks.append(("", time.perf_counter()))
    taken: dict[str, float] = defaultdict(float)
    for (name, start), (_, end) in pairwise(marks):
        taken[name] += end - start
    return taken


@dataclass
class Spent:
    """What a part of a fit took."""

    clock: float = 0.0  # seconds
    processors: float = 0.0  # seconds of all processors of the JVM
    jobs: int = 0
    classes: int = 0  # that were generated and compiled

    def __add__(self, other: Spent) -> Spent:
        return Spent(*(one + another for one, another in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: Spent) -> Spent:
        return Spent(*(one - another for one, another in zip(astuple(self), astuple(other), strict=True)))


def spent(spark: Any) -> Spent:
    """What the session took up to now."""
    jobs = spark._jsc.sc().dagScheduler().numTotalJobs()
    compiled = spark._jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME().getCount()
    return Spent(time.perf_counter(), processor_seconds(spark), jobs, compiled)


def profile(spark: Any, source: str) -> dict[str, Spent]:
    """What each statement of a fit took, in their order, and last what it took between them."""
    from nbsql.engines.spark.engine import Spark

    found: dict[str, Spent] = defaultdict(Spent)
    within: list[Spent] = []  # what the statements within each statement that is running took

    class Profiled(Spark):
        @contextmanager
        def timed(self, name: str) -> Iterator[None]:
            start = spent(spark)
            within.append(Spent())
            try:
                with super().timed(name):
                    yield
            finally:
                taken = spent(spark) - start
                found[name] += taken - within.pop()
                if within:
                    within[-1] += taken

    start = spent(spark)
    nbsql.fit(Profiled(spark), source, target="y", name="m", replace=True)
    whole = spent(spark) - start
    between = whole - sum(found.values(), Spent())
    return {**found, "between the statements": between, "all": whole}


def profiles(spark: Any, rows: list[int], rounds: int, kinds: list[str]) -> None:
    for count in rows:
        make(spark, f"rows_{count}", count)
        for kind in kinds:
            view = view_of(spark, count, kind)
            for _ in range(rounds):
                nbsql_acts(spark, view)[0]()
            print(f"\nA fit of {count:,} rows, {kind}:\n\n| statement | clock | processors | jobs | compiled |")
            print("| --- | --- | --- | --- | --- |")
            for name, taken in profile(spark, view).items():
                by_time = f"{taken.clock:.2f} | {taken.processors:.2f}"
                print(f"| {name} | {by_time} | {taken.jobs} | {taken.classes} |", flush=True)


def processor_seconds(spark: Any) -> float:
    """Seconds of all processors that the JVM has taken, in which driver and tasks run."""
    return float(spark._jvm.java.lang.ProcessHandle.current().info().totalCpuDuration().get().toMillis()) / 1000


def view_of(spark: Any, rows: int, kind: str) -> str:
    """A view of the class and some columns of a table."""
    view = f"{kind}_{rows}"
    spark.table(f"rows_{rows}").select("y", *KINDS[kind]).createOrReplaceTempView(view)
    return view


def nbsql_acts(spark: Any, table: str, model: str = "m") -> tuple[Callable[[], object], Callable[[], object]]:
    """A fit of a table, and a prediction of its rows."""

    def fit() -> None:
        nbsql.fit(spark, table, target="y", name=model, replace=True)

    def predict() -> None:
        throw_away(nbsql.load(spark, model).predict(table).to_spark())

    return fit, predict


def mllib_acts(spark: Any, table: str, columns: list[str]) -> tuple[Callable[[], object], Callable[[], object]]:
    """The same by MLlib, of numbers or of categories; a prediction keeps what nbsql's keeps: all columns, and two more."""
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import OneHotEncoder, StringIndexer, VectorAssembler

    stages: list[Any] = [StringIndexer(inputCol="y", outputCol="label")]
    if columns == CATEGORIES:
        places, indicators = [f"{c}_place" for c in columns], [f"{c}_indicators" for c in columns]
        stages.append(StringIndexer(inputCols=columns, outputCols=places))
        stages.append(OneHotEncoder(inputCols=places, outputCols=indicators, dropLast=False))
        stages += [VectorAssembler(inputCols=indicators, outputCol="features"), NaiveBayes(modelType="multinomial")]
    else:
        stages += [VectorAssembler(inputCols=columns, outputCol="features"), NaiveBayes(modelType="gaussian")]
    fitted: list[Any] = [None]

    def fit() -> None:
        fitted[0] = Pipeline(stages=stages).fit(spark.table(table))

    def predict() -> None:
        throw_away(fitted[0].transform(spark.table(table)).select("y", *columns, "prediction", "probability"))

    return fit, predict


def grow(spark: Any, rows: list[int], rounds: int) -> None:
    sums = ", ".join([*(f"sum({x})" for x in NUMBERS), *(f"max({c})" for c in CATEGORIES), "max(y)"])
    print("| rows | scan | fit | fit, a million rows | predict | predict, a million rows |")
    print("| --- | --- | --- | --- | --- | --- |")
    table = ""
    for count in rows:
        table = f"rows_{count}"
        make(spark, table, count)

        def scan(table: str = table) -> None:
            spark.sql(f"SELECT {sums} FROM {table}").collect()

        scanned, fitted, predicted = (least(act, rounds) for act in (scan, *nbsql_acts(spark, table)))
        a_million = 1e6 / count
        found = (f"{count:,}", *(f"{x:.2f}" for x in (scanned, fitted, fitted * a_million, predicted, predicted * a_million)))
        print(f"| {' | '.join(found)} |", flush=True)
    print(f"\nWhere the time of a fit of {rows[-1]:,} rows goes:\n\n| statement | seconds |\n| --- | --- |")
    for name, taken in sorted(steps(spark, table).items(), key=lambda item: -item[1])[:10]:
        print(f"| {name} | {taken:.2f} |")


def beside_mllib(spark: Any, rows: list[int], rounds: int, kinds: list[str]) -> None:
    processors = partial(processor_seconds, spark)
    print("| rows | columns | act | nbsql | MLlib | ratio | nbsql, processors | MLlib, processors | ratio | nbsql again |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for count in rows:
        make(spark, f"rows_{count}", count)
        for kind in kinds:
            columns = KINDS[kind]
            view = view_of(spark, count, kind)
            ours, theirs = nbsql_acts(spark, view), mllib_acts(spark, view, columns)
            for place, act in enumerate(("fit", "predict")):
                acts = {"nbsql": ours[place], "MLlib": theirs[place]}
                if act == "predict":
                    acts["again"] = ours[place]
                found = in_turns(acts, rounds, processors)
                (clock, own), (clock_of_mllib, of_mllib) = found["nbsql"], found["MLlib"]
                again = f"{found['again'][1] / own:.2f}" if "again" in found else ""
                by_clock = f"{clock:.2f} | {clock_of_mllib:.2f} | {clock / clock_of_mllib:.2f}"
                by_processors = f"{own:.2f} | {of_mllib:.2f} | {own / of_mllib:.2f}"
                print(f"| {count:,} | {len(columns)} {kind} | {act} | {by_clock} | {by_processors} | {again} |", flush=True)


def one_worker_and_two(rows: list[int], memory: str, rounds: int) -> None:
    sys.path.append(str(Path(__file__).parent.parent))
    from engines.servers import cluster

    taken: dict[int, list[tuple[float, float]]] = {}
    for workers in (1, 2):
        home = Path(tempfile.mkdtemp(prefix="nbsql"))
        try:
            with cluster(workers, "1100m") as master:
                spark = session_of(master, memory, home, 4)
                try:
                    found = []
                    for count in rows:
                        make(spark, f"rows_{count}", count)
                        fit, predict = nbsql_acts(spark, f"rows_{count}")
                        found.append((least(fit, rounds), least(predict, rounds)))
                    taken[workers] = found
                finally:
                    spark.stop()
        finally:
            shutil.rmtree(home, ignore_errors=True)
    print("| rows | act | one worker | two workers | times faster |\n| --- | --- | --- | --- | --- |")
    for count, one, two in zip(rows, taken[1], taken[2], strict=True):
        for place, act in enumerate(("fit", "predict")):
            print(f"| {count:,} | {act} | {one[place]:.2f} | {two[place]:.2f} | {one[place] / two[place]:.2f} |")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 5_000_000, 20_000_000])
    arguments.add_argument("--cores", type=int, default=2)
    arguments.add_argument("--memory", default="4g")
    arguments.add_argument("--rounds", type=int, default=2)
    arguments.add_argument("--profile", action="store_true")
    arguments.add_argument("--mllib", action="store_true")
    arguments.add_argument("--kinds", nargs="+", choices=list(KINDS), default=["numbers", "categories"])
    arguments.add_argument("--standalone", action="store_true")
    given = arguments.parse_args()
    rows = sorted(given.rows)
    if given.standalone:
        one_worker_and_two(rows, given.memory, given.rounds)
        return
    home = Path(tempfile.mkdtemp(prefix="nbsql"))
    spark = session_of(f"local[{given.cores}]", given.memory, home, 2 * given.cores)
    try:
        if given.profile:
            profiles(spark, rows, given.rounds, given.kinds)
        elif given.mllib:
            beside_mllib(spark, rows, given.rounds, given.kinds)
        else:
            grow(spark, rows, given.rounds)
    finally:
        spark.stop()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
