"""How cost grows: with rows, columns, classes, categories and vocabulary; and what one row costs.

    python tests/benchmarks/shapes.py [--quick] [--only NAME] [--rounds N] [--seconds N] [--memory SIZE]

Makes its tables in a temporary folder. Every size is a process of its own with two threads and 4 GB (--memory), ended when it
takes longer than --seconds. Figures are the least of the rounds, planning included, predictions (prediction and probability)
written to a table; the last column is the cost of one row, column, class, value or word at the largest size over that at the
smallest.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import sklearn
from report import _table
from sklearn.naive_bayes import GaussianNB

import nbsql

ONE_ROW = 100  # calls of which the median is taken


@dataclass(frozen=True)
class Growth:
    """The sizes that something has, how many of them are quick, and the table of each: its rows and columns."""

    sizes: tuple[int, ...]
    quick: int
    rows: Callable[[int], int]
    columns: Callable[[int], list[str]]


def numbers(count: int, classes: int = 5) -> list[str]:
    return [f"hash(i, {j}) % 1000003 / 1000003.0e0 + i % {classes} * {j % 3} / 10e0 AS x{j}" for j in range(count)]


def categories(count: int, values: int = 20) -> list[str]:
    return [f"'v' || hash(i, {1_000_000 + j}) % {values} AS c{j}" for j in range(count)]


def words(vocabulary: int) -> list[str]:
    return [f"[format('w{{}}', hash(i, k) % {vocabulary}) FOR k IN range(30)] AS tokens"]


GROWTHS = {
    "rows of 20 numbers": Growth((100_000, 1_000_000, 10_000_000), 2, lambda n: n, lambda _: ["i % 5 AS y", *numbers(20)]),
    "rows of 20 categories": Growth((100_000, 1_000_000, 3_000_000), 2, lambda n: n, lambda _: ["i % 5 AS y", *categories(20)]),
    "numbers, 100,000 rows": Growth((100, 300, 1_000), 2, lambda _: 100_000, lambda n: ["i % 5 AS y", *numbers(n)]),
    "categories, 100,000 rows": Growth((100, 300, 1_000), 2, lambda _: 100_000, lambda n: ["i % 5 AS y", *categories(n)]),
    "numbers and as many categories, 100,000 rows": Growth(
        (100, 300, 1_000), 1, lambda _: 100_000, lambda n: ["i % 5 AS y", *numbers(n), *categories(n)]
    ),
    "classes, 50,000 rows of 20 numbers": Growth(
        (10, 100, 1_000), 2, lambda _: 50_000, lambda n: [f"i % {n} AS y", *numbers(20, n)]
    ),
    "classes, 50,000 rows of 20 categories": Growth(
        (10, 100, 1_000), 2, lambda _: 50_000, lambda n: [f"i % {n} AS y", *categories(20)]
    ),
    "values of a category, 2,000,000 rows": Growth(
        (10_000, 100_000, 1_000_000), 2, lambda _: 2_000_000, lambda n: ["i % 5 AS y", *categories(1, n)]
    ),
    "words, 100,000 bags of 30": Growth(
        (20_000, 200_000, 2_000_000), 2, lambda _: 100_000, lambda n: ["i % 5 AS y", *words(n)]
    ),
}


def measure(name: str, size: int, rounds: int, memory: str, folder: str) -> None:
    """Print the least seconds of a fit and of a prediction."""
    growth = GROWTHS[name]
    con = duckdb.connect(str(Path(folder) / "shapes.duckdb"), config={"threads": 2, "memory_limit": memory})
    con.execute(f"CREATE TABLE source AS SELECT {', '.join(growth.columns(size))} FROM range({growth.rows(size)}) AS t(i)")
    fits, predictions = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        model = nbsql.fit(con, "source", target="y", name="model", replace=True)
        fits.append(time.perf_counter() - start)
        start = time.perf_counter()
        con.execute(f"CREATE OR REPLACE TABLE scored AS SELECT prediction, probability FROM ({model.predict('source').sql})")
        predictions.append(time.perf_counter() - start)
    print(min(fits), min(predictions))


def in_process(name: str, size: int, options: argparse.Namespace) -> tuple[float, float] | str:
    """What `measure` printed, or why it printed nothing."""
    with tempfile.TemporaryDirectory(prefix="nbsql shapes ") as folder:
        command = [sys.executable, __file__, "--measure", name, str(size), str(options.rounds), options.memory, folder]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.seconds, check=False)
        except subprocess.TimeoutExpired:
            return f"over {options.seconds:g} s"
    if done.returncode != 0:
        return (done.stderr.strip().splitlines() or ["it was ended"])[-1][:80]
    fit, predict = map(float, done.stdout.split())
    return fit, predict


def growth_table(wanted: list[str], options: argparse.Namespace) -> None:
    rows = [["what grows", "act", "sizes", "seconds", "cost a unit, largest : smallest"]]
    for name in wanted:
        growth = GROWTHS[name]
        sizes = growth.sizes[: growth.quick] if options.quick else growth.sizes
        found = {}
        for size in sizes:
            print(f"{name}: {size:,} ...", file=sys.stderr, flush=True)
            found[size] = in_process(name, size, options)
        for act, place in (("fit", 0), ("predict", 1)):
            times = {size: times if isinstance(times, str) else times[place] for size, times in found.items()}
            shown = [value if isinstance(value, str) else f"{value:.2f}" for value in times.values()]
            first, last = times[sizes[0]], times[sizes[-1]]
            ratio = "" if isinstance(first, str) or isinstance(last, str) else f"{last / sizes[-1] / (first / sizes[0]):.2f}"
            rows.append([name, act, ", ".join(f"{size:,}" for size in sizes), ", ".join(shown), ratio])
    print("\n".join(_table(rows)))


def median_ms(call: Callable[[], object]) -> str:
    times = []
    for _ in range(ONE_ROW):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return f"{sorted(times)[ONE_ROW // 2] * 1e3:.2f} ({min(times) * 1e3:.2f} to {max(times) * 1e3:.2f})"


def one_row_table() -> None:
    """Milliseconds of the prediction of one row of 20 features, 5 classes."""
    rows = [["one row of 20 features, 5 classes", "first call", "predict_one", "its SQL, prepared", "predict", "scikit-learn"]]
    con = duckdb.connect(config={"threads": 2})
    for kind, columns in (("numbers", numbers(20)), ("categories", categories(20))):
        con.execute(
            f"CREATE OR REPLACE TABLE source AS SELECT 'c' || i % 5 AS y, {', '.join(columns)} FROM range(20000) AS t(i)"
        )
        con.execute("CREATE OR REPLACE TABLE single AS SELECT * EXCLUDE y FROM source LIMIT 1")
        model = nbsql.fit(con, "source", target="y", name="model", replace=True)
        found = con.execute("FROM single")
        row = dict(zip([column[0] for column in found.description or ()], found.fetchone() or (), strict=True))
        start = time.perf_counter()
        model.predict_one(row)
        first = f"{(time.perf_counter() - start) * 1e3:.1f}"
        con.execute(f"PREPARE row_{kind} AS {model.predict_one_sql()}")
        execute = f"EXECUTE row_{kind}({', '.join(map(repr, row.values()))})"
        query = model.predict("single")
        theirs = ""
        if kind == "numbers":
            data = con.execute("SELECT * EXCLUDE y FROM source").df().to_numpy()
            labels = con.execute("SELECT y FROM source").fetchnumpy()["y"]
            estimator, single = GaussianNB().fit(data, labels), data[:1]
            theirs = median_ms(lambda estimator=estimator, single=single: estimator.predict_proba(single))
        rows.append(
            [
                kind,
                first,
                median_ms(lambda model=model, row=row: model.predict_one(row)),
                median_ms(lambda execute=execute: con.execute(execute).fetchall()),
                median_ms(lambda query=query: query.fetchall()),
                theirs,
            ]
        )
    print("\n".join(_table(rows)))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the smaller sizes only")
    parser.add_argument("--only", help="what has this in its name only; 'one row' for that table")
    parser.add_argument("--rounds", type=int, default=3, help="how often each size is measured (default 3)")
    parser.add_argument("--seconds", type=float, default=600, help="the longest a size may take (default 600)")
    parser.add_argument("--memory", default="4GB", help="DuckDB's memory_limit (default 4GB)")
    parser.add_argument("--measure", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        name, size, rounds, memory, folder = options.measure
        measure(name, int(size), int(rounds), memory, folder)
        return
    print(f"nbsql {nbsql.__version__}, DuckDB {duckdb.__version__}, scikit-learn {sklearn.__version__}\n")
    wanted = [name for name in GROWTHS if options.only is None or options.only in name]
    if wanted:
        print(f"Seconds, least of {options.rounds} rounds, under {options.memory}:\n")
        growth_table(wanted, options)
    if options.only is None or options.only in "one row":
        print(f"\nMilliseconds, median of {ONE_ROW} calls (least to greatest):\n")
        one_row_table()


if __name__ == "__main__":
    main()
