"""The forms of scoring against each other, around the limits in nbsql/rendering/layout.py where one gives way to the next.

    python tests/benchmarks/plans.py [--must] [--rows N] [--seconds N]

wide: a column a class and one star of joins. blocks: the same, categories in stars of block_joins. long: a row a class.
Every figure is a process of its own, fit and predict (into a table, planning included), ended when it takes too long.
--must: only the shapes that must work, in the form that nbsql chooses.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb

import nbsql
from nbsql.rendering.renderer import Renderer

MUST = ((5, 500, 0, 50_000), (300, 20, 20, 50_000), (5, 0, 1_000, 50_000), (1_000, 4, 4, 20_000), (5, 0, 0, 50_000))
FORMS = {
    "chosen": {},
    "wide": {"wide_classes": 10**9, "wide_terms": 10**9, "star_joins": 10**9},
    "blocks": {"wide_classes": 10**9, "wide_terms": 10**9, "star_joins": 0, "few_values": -1},
    "long": {"wide_classes": 0},
}
MEMORY = "8GB"


def shapes(rows: int) -> Iterator[tuple[int, int, int, int]]:
    """Classes, categorical columns, numeric columns, rows."""
    for classes in (5, 20, 50, 100, 200):
        yield classes, 20, 0, rows
        yield classes, 0, 20, rows
        yield classes, 10, 10, rows
    for categories in (40, 80, 160, 500):
        yield 5, categories, 0, rows
    for numbers in (50, 100, 300, 1_000):
        yield 5, 0, numbers, rows


def create(con: duckdb.DuckDBPyConnection, classes: int, categories: int, numbers: int, rows: int) -> None:
    """The table `source`: y, categories of 20 values, numbers that lean on the class."""
    columns = [f"'v' || hash(id, {i}) % 20 AS c{i}" for i in range(categories)]
    columns += [
        f"(hash(id, {1000 + i}) % 1000003) / 1000003.0 + CAST(y * {i % 3} AS DOUBLE) / 10 AS x{i}" for i in range(numbers)
    ]
    con.execute(f"""
        CREATE TABLE source AS
        SELECT {", ".join(["y", *columns])}
        FROM (SELECT id, CAST(hash(id) % {classes} AS INTEGER) AS y FROM range({rows}) AS ids(id)) AS labelled
    """)


def measure(form: str, classes: int, categories: int, numbers: int, rows: int) -> None:
    """Print the seconds of a fit and of a prediction, and the greatest memory of the process in MiB."""
    for name, value in FORMS[form].items():
        Renderer.layout = replace(Renderer.layout, **{name: value})
    con = duckdb.connect(config={"threads": 2, "memory_limit": MEMORY})
    create(con, classes, categories, numbers, rows)
    start = time.perf_counter()
    model = nbsql.fit(con, "source", target="y", name="model")
    fitted = time.perf_counter()
    model.predict("source").create_table("scored")
    scored = time.perf_counter()
    assert con.execute("SELECT count(prediction) FROM scored").fetchall() == [(rows,)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{fitted - start:.2f} {scored - fitted:.2f} {peak}")


def in_process(form: str, shape: tuple[int, ...], seconds: float) -> str:
    """What `measure` printed, or why it printed nothing."""
    command = [sys.executable, str(Path(__file__)), "--measure", form, *map(str, shape)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"over {seconds:.0f} s"
    if done.returncode == 0:
        fit, predict, peak = done.stdout.split()
        return f"{fit} + {predict} s, {peak} MiB"
    error = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "killed"
    return "out of memory" if "Out of Memory" in error else error[:60]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--must", action="store_true", help="only the shapes that must work, as nbsql plans them")
    parser.add_argument("--rows", type=int, default=50_000, help="rows of the tables (default 50000)")
    parser.add_argument("--seconds", type=float, default=60, help="when to give a form up (default 60)")
    parser.add_argument("--measure", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        form, *shape = options.measure
        measure(form, *map(int, shape))
        return
    forms = ("chosen",) if options.must else ("wide", "blocks", "long")
    print("| classes | categories | numbers | rows | " + " | ".join(f"{form}: fit + predict" for form in forms) + " |")
    print("|" + "---|" * (4 + len(forms)))
    for shape in MUST if options.must else shapes(options.rows):
        cells = [in_process(form, shape, options.seconds) if form != "blocks" or shape[1] else "" for form in forms]
        print("| " + " | ".join([*(f"{size:,}" for size in shape), *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
