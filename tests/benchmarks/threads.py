"""Calls of predict_one a second by one handle that threads share, beside the same calls in turns on one connection.

    python tests/benchmarks/threads.py [--calls 800] [--columns 14]

The threads of DuckDB are set to 1, as for a service. Each number is of the quicker of two rounds.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable
from typing import Any

import duckdb

import nbsql

THREADS = (1, 2, 4, 8)


def calls_per_second(threads: int, calls: int, ask: Callable[[dict[str, Any]], Any], rows: list[dict[str, Any]]) -> float:
    ready = threading.Barrier(threads + 1)

    def work(first: int) -> None:
        ask(rows[first])  # prepares its statement
        ready.wait()
        for call in range(calls // threads):
            ask(rows[(first * 31 + call) % len(rows)])

    workers = [threading.Thread(target=work, args=(first,)) for first in range(threads)]
    for worker in workers:
        worker.start()
    ready.wait()
    start = time.perf_counter()
    for worker in workers:
        worker.join()
    return calls // threads * threads / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=800)
    parser.add_argument("--columns", type=int, default=14)
    arguments = parser.parse_args()
    con = duckdb.connect()
    con.execute("SET threads = 1")
    columns = [
        f"'v' || (i * {n + 3} + i % 3) % {n + 4} AS c{n}" if n % 2 else f"sin(i * {n + 1}) + i % 3 AS c{n}"
        for n in range(arguments.columns)
    ]
    con.execute(f"CREATE TABLE t AS SELECT i % 3 AS y, {', '.join(columns)} FROM range(3000) AS r(i)")
    model = nbsql.fit(con, "t", target="y", name="m")
    found = con.execute("SELECT * EXCLUDE y FROM t LIMIT 200")
    names = [column[0] for column in found.description]
    rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    turn = threading.Lock()

    def in_turns(row: dict[str, Any]) -> Any:
        with turn:
            return model._answer(row, None)

    print(f"{'threads':>7}  {'shared handle':>14}  {'in turns':>9}")
    for threads in THREADS:
        both = [
            max(calls_per_second(threads, arguments.calls, ask, rows) for _ in range(2))
            for ask in (model.predict_one, in_turns)
        ]
        print(f"{threads:7}  {both[0]:12.0f}/s  {both[1]:7.0f}/s")


if __name__ == "__main__":
    main()
