"""The forms of scoring against each other, around the limits in nbsql/rendering/layout.py where one gives way to the next.

    python tests/benchmarks/plans.py [--must] [--only TEXT] [--rounds N] [--seconds N]

Each shape is predicted, into a table, in each form that can take it: wide, a column a class and one star of joins; blocks,
the same with categories in stars of block_joins; listed, the same with categories in lists; long, a row a class, with its
categories in stars; long and listed. Every figure is a process of its own with two threads, ended when it takes too long: the
least seconds of processors of the rounds, planning included, and in brackets that over the least of its row. * is the form
that nbsql chooses.
--must: only the shapes that must work, in the form that nbsql chooses, by the clock, with the greatest memory.
"""

import argparse
import resource
import subprocess
import sys
import time
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import duckdb

import nbsql
from nbsql.rendering.renderer import Renderer

ALL = 10**9
WIDE = {"wide_classes": ALL, "wide_terms": ALL}
FORMS = {
    "chosen": {},
    "wide": {**WIDE, "star_joins": ALL},
    "blocks": {**WIDE, "star_joins": 0, "few_values": -1},
    "listed": {**WIDE, "star_joins": 0, "few_values": ALL},
    "long": {"wide_classes": 0, "star_joins": ALL},
    "long, listed": {"wide_classes": 0, "star_joins": 0, "few_values": ALL},
}
MEMORY = "4GB"


@dataclass(frozen=True)
class Shape:
    """A table: so many classes, categories of so many values, numbers and rows."""

    classes: int
    categories: int
    values: int
    numbers: int
    rows: int

    @property
    def title(self) -> str:
        parts = [f"{self.numbers:,} numbers"] * bool(self.numbers)
        parts += [f"{self.categories:,} categories of {self.values:,} values"] * bool(self.categories)
        return f"{self.classes:,} classes, {' and '.join(parts) or 'nothing'}, {self.rows:,} rows"

    @property
    def forms(self) -> list[str]:
        return ["wide", "long"] if not self.categories else list(FORMS)[1:]


MUST = (
    Shape(300, 20, 20, 20, 50_000),
    Shape(1_000, 4, 20, 4, 20_000),
    Shape(5, 500, 20, 0, 50_000),
    Shape(5, 0, 0, 1_000, 50_000),
    Shape(5, 0, 0, 0, 50_000),
)
SHAPES = (
    *(Shape(5, 60, values, 0, 50_000) for values in (20, 1_000)),
    *(Shape(100, 60, values, 0, 10_000) for values in (20, 1_000)),
    *(Shape(5, 200, values, 0, 20_000) for values in (20, 1_000)),
    *(Shape(5, 20, values, 0, rows) for values in (20, 1_000) for rows in (10_000, 1_000_000)),
    Shape(5, 1_000, 20, 0, 20_000),
    *(Shape(classes, 20, 20, 0, 10_000) for classes in (20, 100, 1_000)),
    *(Shape(5, 0, 0, numbers, rows) for numbers, rows in ((20, 200_000), (100, 50_000), (200, 50_000), (1_000, 10_000))),
    *(Shape(classes, 0, 0, 20, 10_000) for classes in (20, 100, 200, 1_000)),
    *(Shape(classes, 20, 20, 20, 10_000) for classes in (100, 300)),
    *(Shape(5, 200, values, 200, 10_000) for values in (20, 1_000)),
)


def create(con: duckdb.DuckDBPyConnection, shape: Shape) -> None:
    """The table `source`: y, categories, numbers that lean on the class."""
    columns = [f"'v' || hash(id, {i}) % {shape.values} AS c{i}" for i in range(shape.categories)]
    columns += [
        f"hash(id, {1000 + i}) % 1000003 / 1000003.0e0 + CAST(y * {i % 3} AS DOUBLE) / 10 AS x{i}" for i in range(shape.numbers)
    ]
    con.execute(f"""
        CREATE TABLE source AS
        SELECT {", ".join(["y", *columns])}
        FROM (SELECT id, CAST(hash(id) % {shape.classes} AS INTEGER) AS y FROM range({shape.rows}) AS ids(id)) AS labelled
    """)


def measure(form: str, shape: Shape, rounds: int) -> None:
    """Print seconds: of processors of a prediction, by the clock of the fit and of it; and the greatest memory in MiB."""
    for name, value in FORMS[form].items():
        Renderer.layout = replace(Renderer.layout, **{name: value})
    con = duckdb.connect(config={"threads": 2, "memory_limit": MEMORY})
    create(con, shape)
    start = time.perf_counter()
    model = nbsql.fit(con, "source", target="y", name="model")
    fit, times, clocks = time.perf_counter() - start, [], []
    for _ in range(rounds):
        start, spent = time.perf_counter(), time.process_time()
        con.execute(f"CREATE OR REPLACE TABLE scored AS SELECT prediction, probability FROM ({model.predict('source').sql})")
        times.append(time.process_time() - spent)
        clocks.append(time.perf_counter() - start)
    assert con.execute("SELECT count(prediction) FROM scored").fetchall() == [(shape.rows,)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{min(times):.3f} {fit:.2f} {min(clocks):.2f} {peak}")


def in_process(form: str, shape: Shape, options: argparse.Namespace) -> list[str] | str:
    """What `measure` printed, or why it printed nothing."""
    command = [sys.executable, str(Path(__file__)), "--measure", form, *map(str, astuple(shape)), str(options.rounds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"over {options.seconds:.0f} s"
    if done.returncode == 0:
        return done.stdout.split()
    error = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "killed"
    return "out of memory" if "Out of Memory" in error else error[:60]


def chosen(shape: Shape) -> str:
    """The form that nbsql chooses. Its numbers, which no row lacks, are no terms."""
    layout = Renderer.layout
    many, few = shape.categories > layout.star_joins, shape.values <= layout.few_values
    terms = shape.classes * (shape.categories if many and not few else 0)
    if shape.classes > layout.wide_classes or terms > layout.wide_terms:
        return "long, listed" if many and few else "long"
    return "wide" if not many else "listed" if few else "blocks"


def cell(found: list[str] | str, least: float) -> str:
    """The seconds of a form, and how many times the least they are; or why there are none."""
    return found if isinstance(found, str) else f"{found[0]} ({float(found[0]) / least:.2f})"


def compared(shape: Shape, options: argparse.Namespace) -> list[str]:
    """A cell a form."""
    found = {form: in_process(form, shape, options) for form in shape.forms}
    least = min((float(each[0]) for each in found.values() if isinstance(each, list)), default=0)
    texts = {form: cell(each, least) for form, each in found.items()}
    return [f"{texts.get(form, '')}{' *' * (form == chosen(shape))}" for form in list(FORMS)[1:]]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--must", action="store_true", help="only the shapes that must work, as nbsql plans them")
    parser.add_argument("--only", default="", help="shapes that have this in their title only")
    parser.add_argument("--rounds", type=int, default=3, help="predictions of which the least is taken (default 3)")
    parser.add_argument("--seconds", type=float, default=300, help="when to give a form up (default 300)")
    parser.add_argument("--measure", nargs=7, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        form, *sizes, rounds = options.measure
        measure(form, Shape(*map(int, sizes)), int(rounds))
        return
    titles = ["fit", "predict", "MiB"] if options.must else list(FORMS)[1:]
    print("| shape | " + " | ".join(titles) + " |")
    print("|" + "---|" * (1 + len(titles)))
    for shape in MUST if options.must else SHAPES:
        if options.only not in shape.title:
            continue
        if options.must:
            found = in_process("chosen", shape, options)
            cells = [found, "", ""] if isinstance(found, str) else found[1:]
        else:
            cells = compared(shape, options)
        print(f"| {shape.title} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
