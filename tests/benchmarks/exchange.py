"""What a GaussianNB counted in DuckDB from Parquet costs beside one that scikit-learn fits, with the fetch of the rows.

    python tests/benchmarks/exchange.py --rows 1000000 --rounds 3

Processor seconds of the whole process, both in turns, the least of the rounds; and their ratio.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from sklearn.naive_bayes import GaussianNB

import nbsql
from nbsql.sklearn import to_sklearn

NUMBERS = [f"x{n}" for n in range(20)]
ROWS = "COPY (SELECT i % 5 AS c, {numbers} FROM range({rows}) AS r(i)) TO '{path}' (FORMAT parquet)"


def seconds(act: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.process_time()
    found = act()
    return time.process_time() - begun, found


def counted(path: str) -> Any:
    families: Any = {name: nbsql.Gaussian(smoothing=1e-9) for name in NUMBERS}
    with duckdb.connect() as con:
        return to_sklearn(nbsql.fit(con, path, target="c", families=families))


def fetched(path: str) -> Any:
    with duckdb.connect() as con:
        columns = con.sql(f"FROM '{path}'").fetchnumpy()
    return GaussianNB().fit(np.column_stack([columns[name] for name in NUMBERS]), columns["c"])


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.parquet")
        numbers = ", ".join(f"(hash(i * 31 + {n}) % 100000) / 7.0 + i % 5 AS x{n}" for n in range(20))
        duckdb.connect().execute(ROWS.format(numbers=numbers, rows=arguments.rows, path=path))
        times: dict[str, list[float]] = {"counted": [], "fetched": []}
        for _ in range(arguments.rounds):
            spent, ours = seconds(lambda: counted(path))
            times["counted"].append(spent)
            spent, theirs = seconds(lambda: fetched(path))
            times["fetched"].append(spent)
    np.testing.assert_allclose(ours.theta_, theirs.theta_, rtol=1e-9)
    np.testing.assert_allclose(ours.var_, theirs.var_, rtol=1e-9)
    least = {name: min(found) for name, found in times.items()}
    print(
        f"{arguments.rows:,} rows x 20 numbers: counted in DuckDB {least['counted']:.2f} s, scikit-learn with the fetch "
        f"{least['fetched']:.2f} s, ratio {least['counted'] / least['fetched']:.3f}"
    )


if __name__ == "__main__":
    main()
