"""What a prediction by given probabilities costs beside one by the model that was fitted, of the same numbers and categories.

    python tests/benchmarks/given.py --rows 1000000 --rounds 5

Processor seconds, both in turns, the least of the rounds; and their ratio.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import duckdb

import nbsql

ROWS = """CREATE TABLE t AS
    SELECT ['a', 'b', 'c'][1 + i % 3] AS c, {numbers}, {categories}
    FROM range({rows}) AS r(i)"""
NUMBERS = ", ".join(f"(hash(i * 31 + {n}) % 1000) / 7.0 + i % 3 AS x{n}" for n in range(10))
CATEGORIES = ", ".join(f"'v' || (hash(i * 17 + {n}) % 20) AS k{n}" for n in range(5))
TABLES = {
    "10 numbers": [f"x{n}" for n in range(10)],
    "5 categories": [f"k{n}" for n in range(5)],
    "10 numbers and 5 categories": [*(f"x{n}" for n in range(10)), *(f"k{n}" for n in range(5))],
}


def seconds(act: Callable[[], object]) -> float:
    begun = time.process_time()
    act()
    return time.process_time() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    con = duckdb.connect(config={"threads": 1})
    con.execute(ROWS.format(numbers=NUMBERS, categories=CATEGORIES, rows=arguments.rows))
    whole = "SELECT max(prediction), sum(probability) FROM ({})"
    for name, features in TABLES.items():
        fitted = nbsql.fit(con, "t", target="c", features=features)
        given = nbsql.from_tables(con, priors=con.sql(fitted.priors.sql), likelihoods=con.sql(fitted.likelihoods.sql))
        queries = [model.predict("t").sql for model in (fitted, given)]
        sums = [con.execute(f"SELECT sum(probability) FROM ({query})").fetchall()[0][0] for query in queries]
        if abs(sums[0] - sums[1]) > 1e-6 * arguments.rows:
            raise SystemExit(f"the answers differ: {sums}")
        times: list[list[float]] = [[], []]
        for _ in range(arguments.rounds):
            for query, found in zip(queries, times, strict=True):
                found.append(seconds(lambda query=query: con.execute(whole.format(query))))
        least = [min(found) for found in times]
        print(f"{name}: fitted {least[0]:.2f} s, given {least[1]:.2f} s, ratio {least[1] / least[0]:.2f}", flush=True)


if __name__ == "__main__":
    main()
