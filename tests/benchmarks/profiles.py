"""Where the time goes, by DuckDB's own profiles: the statements of a fit and of an update, and the operators of a prediction.

    python tests/benchmarks/profiles.py [--only KIND] [--rows N] [--acts fit update predict]

A statement's time is in milliseconds by the clock; of those, what DuckDB took to bind it, to optimise it, to make a physical
plan, and the rest, which is parsing and running. An operator's time is that of all processors. A prediction stands beside the
SQL by hand, as the ratio of medians of alternating rounds, which are measured without profiles.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
from contenders import connect, limited
from contenders.by_hand import ByHand
from tables import Case, case_of, create

import nbsql
from nbsql.engines.duckdb.engine import DuckDB

KINDS = {"numeric": 5_000_000, "categorical": 3_000_000, "lda": 1_000_000}
ROUNDS = 5
LEAST = 0.02  # operators and statements of less than this share are summed


@dataclass(frozen=True)
class Statement:
    """What one statement took, in seconds."""

    name: str
    total: float
    bind: float
    optimise: float
    plan: float

    @property
    def rest(self) -> float:
        return self.total - self.bind - self.optimise - self.plan


@contextmanager
def profiled(con: duckdb.DuckDBPyConnection, folder: Path) -> Iterator[Callable[[], Any]]:
    """Profile statements; yields what reads the profile of the last."""
    output = folder / "profile.json"
    con.execute("PRAGMA enable_profiling = 'json'")
    con.execute(f"PRAGMA profiling_output = '{output}'")
    try:
        yield lambda: json.loads(output.read_text()) if output.exists() else None
    finally:
        con.execute("PRAGMA disable_profiling")


@contextmanager
def watched(profile: Callable[[], Any]) -> Iterator[list[Statement]]:
    """The statements that nbsql runs, in a list that fills."""
    found: list[Statement] = []
    run, rows = DuckDB.run, DuckDB.rows
    name = "a question"

    def named_run(engine: DuckDB, what: str, sql: str) -> None:
        nonlocal name
        name = what
        run(engine, what, sql)
        name = "a question"

    def timed_rows(engine: DuckDB, sql: str) -> list[tuple[Any, ...]]:
        start = time.perf_counter()
        answer = rows(engine, sql)
        total = time.perf_counter() - start
        last = profile()
        known = last is not None and last["query"]["sql"].strip() == sql.strip()  # DDL has no profile
        stages = (last[stage]["total_time"] if known else 0.0 for stage in ("planner", "optimizer", "physical_planner"))
        found.append(Statement(name, total, *stages))
        return answer

    DuckDB.run, DuckDB.rows = named_run, timed_rows  # type: ignore[method-assign]
    try:
        yield found
    finally:
        DuckDB.run, DuckDB.rows = run, rows  # type: ignore[method-assign]


def statements(act: Callable[[], object], profile: Callable[[], Any]) -> None:
    """Print what each statement of an act took."""
    start = time.perf_counter()
    with watched(profile) as found:
        act()
    total = time.perf_counter() - start
    print(f"{'':<34}{'ms':>8}{'bind':>8}{'optimise':>10}{'plan':>8}{'rest':>8}")
    small = [statement for statement in found if statement.total < LEAST * total]
    for row in [*(statement for statement in found if statement not in small), added(f"{len(small)} smaller ones", small)]:
        print(line(row))
    print(line(added("all statements", found)))
    print(f"{'with Python around them':<34}{1000 * total:8.1f}\n")


def added(name: str, parts: list[Statement]) -> Statement:
    sums = (sum(getattr(part, column) for part in parts) for column in ("total", "bind", "optimise", "plan"))
    return Statement(name, *sums)


def line(row: Statement) -> str:
    figures = (row.total, row.bind, row.optimise, row.plan, row.rest)
    cells = (f"{1000 * figure:{width}.1f}" for figure, width in zip(figures, (8, 8, 10, 8, 8), strict=True))
    return f"{row.name:<34}{''.join(cells)}"


def operators(profile: Any) -> Iterator[tuple[float, str]]:
    """Seconds of the processors and what for, of every operator from the result down to the scan."""
    for operator in profile["operator"] if "operator" in profile else profile.get("children", []):
        columns = operator["extra_info"].get("Projections", [])
        of = f" of {len(columns)} columns" if isinstance(columns, list) and columns else ""
        yield operator["timing"], operator["type"].replace("_", " ").capitalize() + of
        yield from operators(operator)


def predictions(con: duckdb.DuckDBPyConnection, case: Case, database: str, profile_folder: Path) -> None:
    """Print the operators of the ways to predict, and how long they take beside one another."""
    table = f"data.main.{case.table}"
    model = nbsql.fit(con, table, target="y", id="id", name="model", replace=True, method=case.method)
    by_hand = ByHand(database, case)
    ways: dict[str, tuple[duckdb.DuckDBPyConnection, str]] = {"nbsql": (con, model.predict(table).sql)}
    if ByHand.declines(case) is None:
        by_hand.fit()
        ways["SQL by hand"] = (by_hand.con, by_hand.scored())
    for name, (connection, query) in ways.items():
        ways[name] = (connection, f"CREATE OR REPLACE TABLE scored AS SELECT prediction, probability FROM ({query})")
        connection.execute(ways[name][1])
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(ROUNDS):
        for name in ways if number % 2 == 0 else reversed(ways):
            connection, statement = ways[name]
            start = time.perf_counter()
            connection.execute(statement)
            seconds[name].append(time.perf_counter() - start)
    least = min(ways, key=lambda name: median(seconds[name]))
    for name, (connection, statement) in ways.items():
        ratio = median(a / b for a, b in zip(seconds[name], seconds[least], strict=True))
        print(f"predict, {name}: {median(seconds[name]):.2f} s, {ratio:.2f}x the quickest; seconds of the processors:")
        with profiled(connection, profile_folder) as profile:
            connection.execute(statement)
            found = list(operators(profile()))
        total = sum(spent for spent, _ in found)
        for spent, what in found:
            if spent >= LEAST * total:
                print(f"  {spent:7.3f}  {what}")
        print(f"  {total:7.3f}  all\n")
    by_hand.con.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=KINDS, help="one kind of table only")
    parser.add_argument("--rows", type=int, help="so many rows")
    parser.add_argument("--acts", nargs="+", choices=("fit", "update", "predict"), default=("fit", "update", "predict"))
    options = parser.parse_args()
    limited()
    for kind, rows in KINDS.items():
        if options.only not in (None, kind):
            continue
        case = case_of(kind, options.rows or rows)
        with tempfile.TemporaryDirectory(prefix="nbsql benchmark ") as folder:
            database = str(Path(folder) / "table.duckdb")
            with duckdb.connect(database) as con:
                create(con, case)
            con = connect(database)
            print(f"\n{case.title}\n")
            table, fitting = f"data.main.{case.table}", {"target": "y", "id": "id", "method": case.method}
            model = nbsql.fit(con, table, name="warm", **fitting)
            con.execute(f"CREATE TABLE new AS SELECT * FROM {table} WHERE id % 100 = 0")
            with profiled(con, Path(folder)) as profile:
                if "fit" in options.acts:
                    print("fit")
                    statements(lambda: nbsql.fit(con, table, name="model", **fitting), profile)  # noqa: B023
                if "update" in options.acts:
                    print("update of 1 %")
                    statements(lambda: model.update("new"), profile)  # noqa: B023
            if "predict" in options.acts:
                predictions(con, case, database, Path(folder))
            con.close()


if __name__ == "__main__":
    main()
