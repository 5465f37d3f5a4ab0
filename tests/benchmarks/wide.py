"""What wide tables of few rows cost: `auto`, fits, predictions and folds, in seconds by the clock and of the processors.

    python tests/benchmarks/wide.py [--only auto fit] [--columns 125 500 2000 4000]

`auto` is of 200 columns of noise x 2,000 rows of two classes, and of the 64 pixels of scikit-learn's digits x 1,257 rows of
ten. Fits, predictions and five folds are of 72 rows of numbers of two classes, after a first fit, which compiles the macros.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Sequence

import duckdb
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

import nbsql

ROWS = 72


def timed(name: str, act: Callable[[], object], columns: int | None = None) -> None:
    """Print the seconds of an act, by the clock and of the processors, and per thousand columns."""
    by_clock, of_processors = time.perf_counter(), time.process_time()
    act()
    seconds = time.perf_counter() - by_clock, time.process_time() - of_processors
    per_column = "" if columns is None else f", {1000 * seconds[1] / columns:.2f} ms of a processor per column"
    print(f"{name}: {seconds[0]:.2f} s, {seconds[1]:.2f} s of the processors{per_column}", flush=True)


def noise(rows: int, columns: int) -> pd.DataFrame:
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.normal(size=(rows, columns)), columns=[f"x{number}" for number in range(columns)])
    return frame.assign(y=random.integers(0, 2, rows))


def table_of(frame: pd.DataFrame) -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.register("frame", frame)
    con.execute("CREATE TABLE t AS FROM frame")
    return con


def of_auto() -> None:
    digits = load_digits(as_frame=True).frame.rename(columns={"target": "y"}).iloc[:1257]
    for name, frame in (("200 columns of noise x 2,000 rows", noise(2_000, 200)), ("digits", digits)):
        con = table_of(frame)
        timed(f"auto of {name}", lambda con=con: print(nbsql.auto(con, "t", target="y").lines()[0]))  # type: ignore[misc]


def of_width(columns: int, acts: Sequence[str]) -> None:
    con = table_of(noise(ROWS, columns))
    nbsql.fit(con, "SELECT y, x0 FROM t", target="y").predict("t").fetchall()
    size = f"{ROWS} rows x {columns:,} numbers"
    if "fit" in acts:
        timed(f"fit of {size}", lambda: nbsql.fit(con, "t", target="y", name="wide", replace=True), columns)
    if "predict" in acts:
        model = nbsql.fit(con, "t", target="y")
        timed(f"predict of {size}", lambda: model.predict("t").fetchall(), columns)
    if "folds" in acts:
        timed(f"five folds of {size}", lambda: nbsql.cross_validate(con, "t", target="y", folds=5), columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--only", nargs="+", default=["auto", "fit", "predict", "folds"])
    parser.add_argument("--columns", nargs="+", type=int, default=[125, 500, 1_000, 2_000, 4_000])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", nbsql.NbsqlWarning)
    if "auto" in arguments.only:
        of_auto()
    for columns in arguments.columns if set(arguments.only) - {"auto"} else []:
        of_width(columns, arguments.only)


if __name__ == "__main__":
    main()
