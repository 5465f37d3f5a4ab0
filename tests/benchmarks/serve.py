"""What a row costs by `predict_one`, of the 14 columns of adult and of a text, in one thread and in four; and `auto` of adult.

    python tests/benchmarks/serve.py [--seconds 3] [--only one threads auto]

The folder of the data is that of NBSQL_DATA. `one`: the least and the median of a second's calls, by the clock. `threads`:
calls a second of four threads that share the model. `auto`: seconds by the clock, and of the processors.
"""

import argparse
import os
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Any

import duckdb

import nbsql

THREADS = 4
TABLES = {
    "adult": ("SELECT * EXCLUDE (split) FROM '{}/adult.csv.gz'", "income", {}),
    "sms": ("SELECT label, message FROM '{}/sms_spam.csv.gz'", "label", {"message": nbsql.Text()}),
}


def calls(model: nbsql.Model, row: dict[str, Any], seconds: float) -> list[float]:
    """The seconds that each call takes, one after another."""
    found, end = [], time.perf_counter() + seconds
    while not found or time.perf_counter() < end:
        start = time.perf_counter()
        model.predict_one(row)
        found.append(time.perf_counter() - start)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--only", nargs="+", default=["one", "threads", "auto"])
    options = parser.parse_args()
    warnings.simplefilter("ignore", nbsql.NbsqlWarning)
    con = duckdb.connect()
    for name, (query, target, families) in TABLES.items():
        con.execute(f"CREATE TABLE {name} AS {query.format(os.environ['NBSQL_DATA'])}")
        model = nbsql.fit(con, name, target=target, families=families, name=f"{name} model")
        first = con.execute(f"FROM {name} LIMIT 1")
        row = dict(zip([column[0] for column in first.description], first.fetchone() or (), strict=True))
        calls(model, row, 0.1)
        if "one" in options.only:
            taken = [1000 * each for each in calls(model, row, 1.0)]
            print(f"predict_one of {name}: {min(taken):.2f} ms, median {median(taken):.2f}", flush=True)
        if "threads" in options.only:
            with ThreadPoolExecutor(THREADS) as pool:
                counts = [*map(len, pool.map(calls, [model] * THREADS, [row] * THREADS, [options.seconds] * THREADS))]
            print(f"predict_one of {name}, {THREADS} threads: {sum(counts) / options.seconds:.0f} calls a second", flush=True)
    if "auto" in options.only:
        by_clock, of_processors = time.perf_counter(), time.process_time()
        nbsql.auto(con, "adult", target="income")
        seconds = time.perf_counter() - by_clock, time.process_time() - of_processors
        print(f"auto of adult: {seconds[0]:.1f} s, {seconds[1]:.1f} s of the processors", flush=True)


if __name__ == "__main__":
    main()
