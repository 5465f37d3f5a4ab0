"""What a small fit and a fetched prediction send to DuckDB: statements, questions of the catalogue among them, and CPU.

    python tests/benchmarks/statements.py [--rounds 5] [--against FOLDER] [--list]

--against: another checkout of nbsql, measured in turns with this one, whose milliseconds are then divided by its own.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

import nbsql

HERE = Path(__file__)
REPETITIONS = 7  # of which the quickest counts
CATALOGUE = re.compile(r"duckdb_\w+\(\)|current_\w+\(|information_schema")
SENDING = ("execute", "sql", "begin", "commit", "rollback")

MIXED = """CREATE TABLE source AS
    SELECT i AS id, if(hash(i) % 5 < 2, 'spam', 'ham') AS label, 'k' || (i % 7) AS sender, hash(i + 1) % 1000 / 10 AS length,
        hash(i + 2) % 9 AS links, 'word' || (i % 11) || ' foo bar' || (i % 5) AS body, hash(i + 3) % 4 AS plain,
        hash(i + 4) % 4 AS html, hash(i + 5) % 2 = 0 AS replied, 1.0 AS trust
    FROM range(10000) AS rows(i)"""
PLAIN = "CREATE TABLE source AS SELECT 'c' || (i % 3) AS label, {} FROM range(10000) AS rows(i)".format(
    ", ".join(f"hash(i + {j}) % 1000 / 10 AS x{j}, 'v' || (hash(i - {j}) % {j + 3}) AS v{j}" for j in range(10))
)

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
    "10 numbers, 10 categories": (PLAIN, {"target": "label"}),
}


@contextmanager
def sent() -> Iterator[list[str]]:
    """The statements that are sent to any connection within, in their order."""
    found: list[str] = []
    before = {name: getattr(duckdb.DuckDBPyConnection, name) for name in SENDING}

    def noting(name: str, send: Callable[..., Any]) -> Callable[..., Any]:
        def noted(connection: Any, *arguments: Any, **options: Any) -> Any:
            found.append(arguments[0] if arguments and isinstance(arguments[0], str) else name.upper())
            return send(connection, *arguments, **options)

        return noted

    try:
        for name, send in before.items():
            setattr(duckdb.DuckDBPyConnection, name, noting(name, send))
        yield found
    finally:
        for name, send in before.items():
            setattr(duckdb.DuckDBPyConnection, name, send)


def acts(case: str) -> dict[str, list[str]]:
    """The statements of a second fit of a process, and of a prediction that is fetched."""
    table, options = CASES[case]
    with duckdb.connect() as con, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        con.execute(table)
        nbsql.fit(con, "source", name="first", **options)
        with sent() as of_fit:
            model = nbsql.fit(con, "source", name="model", **options)
        with sent() as of_predict:
            model.predict("source").fetchall()
    return {"fit": of_fit, "predict": of_predict}


def milliseconds(case: str) -> dict[str, float]:
    """The CPU of the quickest fit and prediction, on one thread."""
    table, options = CASES[case]
    best = {"fit": float("inf"), "predict": float("inf")}
    with duckdb.connect() as con, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        con.execute("SET threads = 1")
        con.execute(table)
        for number in range(REPETITIONS):
            start = time.process_time()
            model = nbsql.fit(con, "source", name=f"model {number}", **options)
            middle = time.process_time()
            model.predict("source").fetchall()
            end = time.process_time()
            best = {"fit": min(best["fit"], middle - start), "predict": min(best["predict"], end - middle)}
    return {act: 1000 * seconds for act, seconds in best.items()}


def measured(folder: Path, case: str) -> dict[str, float]:
    """The same of a checkout, in a process of its own."""
    command = [sys.executable, str(HERE), "--measure", case]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return {act: float(value) for act, value in json.loads(answer).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--measure", choices=CASES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure is not None:
        print(json.dumps(milliseconds(arguments.measure)))
        return
    for case in CASES:
        folders = [HERE.parents[2], *([arguments.against] if arguments.against else [])]
        rounds = [[measured(folder, case) for folder in folders] for _ in range(arguments.rounds)]
        for act, statements in acts(case).items():
            ours, *others = (min(each[place][act] for each in rounds) for place in range(len(folders)))
            ratio = f", {ours / others[0]:.2f} of the other's {others[0]:.0f} ms" if others else ""
            asked = sum(bool(CATALOGUE.search(statement)) for statement in statements)
            print(f"{act} of {case}: {len(statements)} statements, {asked} of the catalogue, {ours:.0f} ms of CPU{ratio}")
            for statement in statements if arguments.list else ():
                print("   ", " ".join(statement.split())[:120])


if __name__ == "__main__":
    main()
