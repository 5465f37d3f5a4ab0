"""What a small fit, an update, a fetched prediction and one row send to DuckDB: statements, those of the catalogue, and CPU.

    python tests/benchmarks/statements.py [--rounds 5] [--only CASE] [--against FOLDER] [--list] [--profile]

--against: another checkout of nbsql, measured in turns with this one, whose milliseconds are then divided by its own; and this
one once more, whose ratio is the machine's noise.
--profile: milliseconds of a processor by statement: parsing, planning, running and fetching it, and Python around them.
"""

import argparse
import itertools
import json
import os
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

import nbsql

HERE = Path(__file__)
REPETITIONS = 7  # of which the quickest counts
ROWS = 20  # that are predicted one by one in each
PLANNED = re.compile(r"(?:CREATE (?:TEMP )?TABLE \S+(?: \S+)* AS\n)?(?=SELECT|WITH)")  # what comes before the query of a table
CATALOGUE = re.compile(r"duckdb_\w+\(\)|current_\w+\(|information_schema")
SENDING = ("execute", "sql", "begin", "commit", "rollback", "fetchall")
ACTS = ("fit", "update", "predict", "predict as Arrow", "predict_one")
LEAST = 0.02  # statements of less than this share of an act are summed in its profile

MIXED = """CREATE TABLE source AS
    SELECT i AS id, if(hash(i) % 5 < 2, 'spam', 'ham') AS label, 'k' || (i % 7) AS sender, hash(i + 1) % 1000 / 10 AS length,
        hash(i + 2) % 9 AS links, 'word' || (i % 11) || ' foo bar' || (i % 5) AS body, hash(i + 3) % 4 AS plain,
        hash(i + 4) % 4 AS html, hash(i + 5) % 2 = 0 AS replied, 1.0 AS trust
    FROM range(10000) AS rows(i)"""

TEXTS = """CREATE TABLE source AS
    SELECT if(i % 3 = 0, 'spam', 'ham') AS label, string_agg('word' || (hash(i * 20 + j) % (1000 + i % 3 * 500)), ' ') AS body
    FROM range(10000) AS rows(i), range(20) AS words(j)
    GROUP BY i"""


def plain(numbers: int, categories: int, classes: int = 3) -> str:
    """A table of so many numbers and categories."""
    columns = [f"hash(i + {j}) % 1000 / 10 AS x{j}" for j in range(numbers)]
    columns += [f"'v' || (hash(i - {j}) % {j + 3}) AS v{j}" for j in range(categories)]
    return f"CREATE TABLE source AS SELECT 'c' || (i % {classes}) AS label, {', '.join(columns)} FROM range(10000) AS rows(i)"


# The table, by its name, and the options of the fit.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "mixed": (
        MIXED,
        {
            "target": "label",
            "id": "id",
            "weight": "trust",
            "families": {
                "sender": nbsql.Categorical(levels=["colleague"], nulls="category", unseen="smooth"),
                "links": "poisson",
                "body": nbsql.Text(stop_words=["the", "of"], ngrams=2),
                "parts": nbsql.Multinomial(["plain", "html"]),
            },
        },
    ),
    "10 numbers, 10 categories": (plain(10, 10), {"target": "label"}),
    "20 numbers": (plain(20, 0), {"target": "label"}),
    "20 numbers in 50 classes": (plain(20, 0, classes=50), {"target": "label"}),
    "20 categories": (plain(0, 20), {"target": "label"}),
    "texts of 20 words": (TEXTS, {"target": "label"}),
    "20 numbers by lda": (plain(20, 0), {"target": "label", "method": "lda"}),
}


@dataclass
class Sent:
    """A statement that was sent, and the milliseconds of a processor that it took, of them to be parsed and planned."""

    text: str
    sent: float
    fetched: float = 0.0
    parsed: float = 0.0
    planned: float = 0.0

    @property
    def total(self) -> float:
        return self.sent + self.fetched

    @property
    def run(self) -> float:
        return max(self.sent - self.parsed - self.planned, 0)


@contextmanager
def sent(*, twice: bool = False) -> Iterator[list[Sent]]:
    """The statements that are sent to any connection within, in their order; twice: each is parsed and planned before, too."""
    found: list[Sent] = []
    before = {name: getattr(duckdb.DuckDBPyConnection, name) for name in SENDING}

    def noting(name: str, send: Callable[..., Any]) -> Callable[..., Any]:
        def noted(connection: Any, *arguments: Any, **options: Any) -> Any:
            statement = arguments[0] if arguments else name.upper()
            text, is_made = str(getattr(statement, "query", statement)), not isinstance(statement, str)
            parts = prepared(connection, text, is_made=is_made) if twice and name != "fetchall" else (0.0, 0.0)
            start = time.process_time()
            answer = send(connection, *arguments, **options)
            taken = 1000 * (time.process_time() - start)
            if name == "fetchall":
                found[-1].fetched += taken
            else:
                found.append(Sent(text, taken, 0.0, *parts))
            return answer

        return noted

    def prepared(connection: Any, text: str, *, is_made: bool) -> tuple[float, float]:
        """The milliseconds to parse a statement, none if that was done before, and to plan it, if it is one that has a plan."""
        start = time.process_time()
        count = len(connection.extract_statements(text))
        parsed = 1000 * (time.process_time() - start)
        is_look = text.endswith("LIMIT 0")  # whether there is such a table, perhaps in vain
        if count > 1 or is_look or not PLANNED.match(text):
            return parsed, 0.0
        query = PLANNED.sub("", text, count=1)
        start = time.process_time()
        before["execute"](connection, f"PREPARE nbsql_profile AS {query}")
        planned = 1000 * (time.process_time() - start) - parsed
        before["execute"](connection, "DEALLOCATE nbsql_profile")
        return 0.0 if is_made else parsed, max(planned, 0.0)

    try:
        for name, send in before.items():
            setattr(duckdb.DuckDBPyConnection, name, noting(name, send))
        yield found
    finally:
        for name, send in before.items():
            setattr(duckdb.DuckDBPyConnection, name, send)


@contextmanager
def fitted(case: str) -> Iterator[tuple[duckdb.DuckDBPyConnection, dict[str, Callable[[], object]]]]:
    """A connection on which a model has been fitted, and the acts: each fit is of another name."""
    table, options = CASES[case]
    with duckdb.connect() as con, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        con.execute("SET threads = 1")
        con.execute(table)
        found = con.execute("FROM source LIMIT 1")
        names = [column[0] for column in found.description]
        row = dict(zip(names, found.fetchone() or (), strict=True))
        model, numbers = nbsql.fit(con, "source", name="first", **options), itertools.count(1)
        batches = itertools.count(100)  # the rows of updates, since a batch of as many rows as an older one is compared with it
        changing = nbsql.fit(con, "source", name="changing", **options)
        model.predict_one(row)
        yield (
            con,
            {
                "fit": lambda: nbsql.fit(con, "source", name=f"model {next(numbers)}", **options),
                "update": lambda: changing.update(f"FROM source LIMIT {next(batches)}"),
                "predict": lambda: model.predict("source").fetchall(),
                "predict as Arrow": lambda: model.predict("source").arrow(),
                "predict_one": lambda: model.predict_one(row),
            },
        )


def acts(case: str) -> dict[str, list[str]]:
    """The statements of a second fit of a process, of an update, of a prediction that is fetched, and of a row."""
    statements = {}
    with fitted(case) as (_, found):
        for act, run in found.items():
            with sent() as within:
                run()
            statements[act] = [statement.text for statement in within]
    return statements


def milliseconds(case: str) -> dict[str, float]:
    """The CPU of the quickest of each act, on one thread."""
    best = dict.fromkeys(ACTS, float("inf"))
    with fitted(case) as (_, found):
        for _ in range(REPETITIONS):
            for act, run in found.items():
                for _ in range(ROWS if act == "predict_one" else 1):
                    start = time.process_time()
                    run()
                    best[act] = min(best[act], 1000 * (time.process_time() - start))
    return best


def measured(folder: Path, case: str) -> dict[str, float]:
    """The same of a checkout, in a process of its own."""
    command = [sys.executable, str(HERE), "--measure", case]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return {act: float(value) for act, value in json.loads(answer).items()}


def profile(case: str) -> None:
    """Print where the time of each act goes: the least of what each statement took, and of its parts."""
    with fitted(case) as (_, found):
        for act, run in found.items():
            total, statements = float("inf"), list[Sent]()
            for number in range(2 * REPETITIONS):
                with sent(twice=number % 2 == 1) as within:
                    start = time.process_time()
                    run()
                    taken = 1000 * (time.process_time() - start)
                statements = statements or within
                for least, now in zip(statements, within, strict=True):
                    for part in ("sent", "fetched") if number % 2 == 0 else ("parsed", "planned"):
                        known = getattr(least, part) if number > 1 else float("inf")
                        setattr(least, part, min(known, getattr(now, part)))
                total = min(total, taken) if number % 2 == 0 else total
            table(f"{act} of {case}", total, statements)


def table(title: str, total: float, statements: list[Sent]) -> None:
    """Print the parts of an act, the statements that take little as one."""
    columns = ("total", "parsed", "planned", "run", "fetched")
    print(f"{title:<60}{'ms':>8}{''.join(f'{column:>8}' for column in columns[1:])}")
    small = [statement for statement in statements if statement.total < LEAST * total]
    rows = [(statement.text, [statement]) for statement in statements if statement not in small]
    for name, parts in [*rows, (f"{len(small)} smaller statements", small), ("all statements", statements)]:
        figures = (sum(getattr(part, column) for part in parts) for column in columns)
        print(f"  {' '.join(name.split())[:56]:<58}{''.join(f'{figure:8.1f}' for figure in figures)}")
    python = total - sum(statement.total for statement in statements)
    print(f"  {'Python around them':<58}{python:8.1f}\n  {'all':<58}{total:8.1f}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=CASES)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--measure", choices=CASES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure is not None:
        print(json.dumps(milliseconds(arguments.measure)))
        return
    ours = HERE.parents[2]
    for case in [arguments.only] if arguments.only else CASES:
        if arguments.profile:
            profile(case)
            continue
        folders = [ours, *([arguments.against, ours] if arguments.against else [])]
        rounds = [[measured(folder, case) for folder in folders] for _ in range(arguments.rounds)]
        for act, statements in acts(case).items():
            least, *others = (min(each[place][act] for each in rounds) for place in range(len(folders)))
            ratio = (
                f", {least / others[0]:.2f} of the other's {others[0]:.1f} ms (noise {others[1] / least:.2f})" if others else ""
            )
            asked = sum(bool(CATALOGUE.search(statement)) for statement in statements)
            print(f"{act} of {case}: {len(statements)} statements, {asked} of the catalogue, {least:.1f} ms of CPU{ratio}")
            for statement in statements if arguments.list else ():
                print("   ", " ".join(statement.split())[:120])


if __name__ == "__main__":
    main()
