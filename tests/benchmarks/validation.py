"""Judging a model, and keeping it up to date, side by side: what follows from the counts, and what it would take to fit anew.

    python tests/benchmarks/validation.py [--quick] [--rounds N] [--only KIND] [--rows N]

    folds   ten-fold cross-validation, against one fit and one prediction, and against scikit-learn's cross_val_score with the
            fetch from the same DuckDB file
    loo     leave-one-out, against one fit and one prediction, and against cross_val_score(cv=LeaveOneOut()), of which a few
            splits are measured and multiplied: one a row would take days
    sweep   ten-fold cross-validation of twenty pseudo-counts, against one fit and one prediction
    update  learning 1 % of the rows in addition, against fitting all of them; of the largest tables this alone

All acts of a table take turns in one process; figures are medians of the rounds, and ratios those of each round.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import duckdb
import numpy as np
from contenders import connect, limited
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.preprocessing import OrdinalEncoder
from tables import Case, create

import nbsql

LEFT_OUT = 20
LARGE = 10_000_000
ALPHAS = [10 ** (exponent / 5 - 2) for exponent in range(20)]
Acts = dict[str, Callable[[], object]]


def cases(*, quick: bool) -> list[Case]:
    rows = {
        "numeric": (200_000,) if quick else (200_000, 1_000_000, 5_000_000, 80_000_000),
        "categorical": (200_000,) if quick else (200_000, 1_000_000, 3_000_000, 40_000_000),
    }
    return [
        Case(kind, count, numbers=20 if kind == "numeric" else 0, categories=20 if kind == "categorical" else 0)
        for kind, counts in rows.items()
        for count in counts
    ]


def acts(con: duckdb.DuckDBPyConnection, case: Case) -> Acts:
    """What is measured on a table, by name."""
    table = f"data.main.{case.table}"
    few = f"SELECT * FROM {table} WHERE id % 100 = 0"
    rest = nbsql.fit(con, f"SELECT * FROM {table} WHERE id % 100 > 0", target="y", id="id", name="updated")
    con.execute(f"CREATE TABLE new AS {few}")

    def fit_and_predict() -> None:
        model = nbsql.fit(con, table, target="y", id="id", name="model", replace=True)
        con.execute(f"CREATE OR REPLACE TABLE scored AS SELECT prediction, probability FROM ({model.predict(table).sql})")

    def folds() -> None:
        nbsql.cross_validate(con, table, target="y", id="id", folds=10)

    def fetched() -> tuple[np.ndarray, np.ndarray]:
        columns = case.number_columns + case.category_columns
        found = con.execute(f"SELECT y, {', '.join(columns)} FROM {table}").fetchnumpy()
        inputs = np.column_stack([found[column] for column in columns])
        return OrdinalEncoder(dtype=np.int64).fit_transform(inputs) if case.categories else inputs, found["y"]

    def theirs(cv: object = 10) -> None:
        cross_val_score(CategoricalNB() if case.categories else GaussianNB(var_smoothing=0), *fetched(), cv=cv)

    def theirs_left_out() -> None:
        """Some of the splits of LeaveOneOut."""
        rows = np.arange(case.rows)
        theirs([(np.delete(rows, row), [row]) for row in range(0, case.rows, case.rows // LEFT_OUT)][:LEFT_OUT])

    measured: Acts = {
        "fit": lambda: nbsql.fit(con, table, target="y", id="id", name="model", replace=True),
        "update of 1 %": lambda: rest.update("new"),
    }
    if case.rows <= LARGE:
        measured["fit and predict"] = fit_and_predict
        measured["ten folds"] = folds
    if case.rows <= 1_000_000:
        measured["leave-one-out"] = lambda: nbsql.cross_validate(con, table, target="y", id="id", folds="loo")
    if case.rows <= (LARGE if case.numbers else 1_000_000):  # categories are texts, which are slow to fetch
        measured["cross_val_score with the fetch"] = theirs
    if case.rows <= 200_000:
        measured["sweep of 20 alphas"] = lambda: nbsql.sweep(con, table, target="y", id="id", alpha=ALPHAS, folds=10)
        measured["the fetch"] = fetched
        measured[f"cross_val_score of {LEFT_OUT} rows left out"] = theirs_left_out
    return measured


def ratios(seconds: dict[str, list[float]], rows: int) -> list[tuple[str, float]]:
    """The ratios that the targets are about, medians over the rounds."""
    some = f"cross_val_score of {LEFT_OUT} rows left out"
    all_rows = f"cross_val_score of all {rows:,} rows left out (extrapolated)"
    if some in seconds:
        both = zip(seconds[some], seconds["the fetch"], strict=True)
        seconds = {**seconds, all_rows: [fetch + (spent - fetch) * rows / LEFT_OUT for spent, fetch in both]}
    wanted = [
        ("ten folds : fit and predict", "ten folds", "fit and predict"),
        ("sweep of 20 alphas : fit and predict", "sweep of 20 alphas", "fit and predict"),
        ("cross_val_score with the fetch : ten folds", "cross_val_score with the fetch", "ten folds"),
        ("update of 1 % : fit", "update of 1 %", "fit"),
        ("leave-one-out : fit and predict", "leave-one-out", "fit and predict"),
        (f"{all_rows} : leave-one-out", all_rows, "leave-one-out"),
    ]
    return [
        (title, median(a / b for a, b in zip(seconds[over], seconds[under], strict=True)))
        for title, over, under in wanted
        if over in seconds
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the small tables only")
    parser.add_argument("--only", choices=("numeric", "categorical"), help="one kind of table only")
    parser.add_argument("--rows", type=int, help="tables of so many rows only")
    parser.add_argument("--rounds", type=int, default=3, help="how often each act takes its turn (default 3)")
    options = parser.parse_args()
    limited()
    for case in cases(quick=options.quick):
        if options.only not in (None, case.name) or options.rows not in (None, case.rows):
            continue
        with tempfile.TemporaryDirectory(prefix="nbsql benchmark ") as folder:
            database = str(Path(folder) / "table.duckdb")
            with duckdb.connect(database) as con:
                create(con, case)
            con = connect(database)
            measured = acts(con, case)
            seconds: dict[str, list[float]] = {name: [] for name in measured}
            for number in range(options.rounds):
                for name in measured if number % 2 == 0 else reversed(measured):
                    start = time.perf_counter()
                    measured[name]()
                    seconds[name].append(time.perf_counter() - start)
            con.close()
        print(f"\n{case.title}\n")
        for name, spent in seconds.items():
            print(f"  {name:<45} {median(spent):8.2f} s ({min(spent):.2f} to {max(spent):.2f})")
        for title, ratio in ratios(seconds, case.rows):
            print(f"  {title:<80} {ratio:8.3g}x", flush=True)


if __name__ == "__main__":
    main()
