"""What acts take that a person waits for: a row, `auto`, wide tables of few rows, a table that is followed, a search.

    python tests/benchmarks/acts.py [--only one threads auto fit predict folds follow search] [--columns 125 500 2000 4000]

Seconds by the clock and of the processors. `one`: a row by `predict_one`, of the 14 columns of adult and of a text, the least
and the median of a second's calls; `threads`: calls a second of four threads that share the model; the folder of the data is
that of NBSQL_DATA. `auto` is of 200 columns of noise x 2,000 rows of two classes, of the 64 pixels of scikit-learn's digits x
1,257 rows of ten, and of adult. `fit`, `predict` and `folds` are of 72 rows of numbers of two classes, after a first fit, which
compiles the macros. `follow` changes a table of a file without and with a model that follows it, in one statement and row by
row, and learns the rows, by `refresh` and by `update`. `search` is the exact sweep of `NaiveBayesCV` beside `GridSearchCV` over
the same settings and folds, of the same estimator, and of scikit-learn's own pipeline of encoded categories.
"""

import argparse
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import nbsql
from nbsql.sklearn import NaiveBayesClassifier, NaiveBayesCV

THREADS, SECONDS, ROWS = 4, 3.0, 72
TABLES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "adult": ("SELECT * EXCLUDE (split) FROM '{}/adult.csv.gz'", "income", {}),
    "sms": ("SELECT label, message FROM '{}/sms_spam.csv.gz'", "label", {"message": nbsql.Text()}),
}
INBOX = """
    SELECT
        i AS id, 'w' || hash(i) % 50 AS a, 'v' || hash(i + 1) % 9 AS b, hash(i + 2) % 1000 / 7 AS x, hash(i + 3) % 100 / 3 AS y,
        'word' || hash(i + 4) % 900 || ' and word' || hash(i + 5) % 700 AS message,
        CASE hash(i + 6) % 2 WHEN 0 THEN 'ham' ELSE 'spam' END AS label
    FROM range({}, {}) AS r(i)"""
CHANGED = 100_000  # rows


def spent(act: Callable[[], object]) -> tuple[float, float]:
    """The seconds of an act, by the clock and of the processors."""
    by_clock, of_processors = time.perf_counter(), time.process_time()
    act()
    return time.perf_counter() - by_clock, time.process_time() - of_processors


def timed(name: str, act: Callable[[], object], columns: int | None = None) -> None:
    """Print them, and those per thousand columns."""
    by_clock, of_processors = spent(act)
    per_column = "" if columns is None else f", {1000 * of_processors / columns:.2f} ms of a processor per column"
    print(f"{name}: {by_clock:.2f} s, {of_processors:.2f} s of the processors{per_column}", flush=True)


def calls(model: nbsql.Model, row: dict[str, Any], seconds: float) -> list[float]:
    """The seconds that each call takes, one after another."""
    found, end = [], time.perf_counter() + seconds
    while not found or time.perf_counter() < end:
        found.append(spent(lambda: model.predict_one(row))[0])
    return found


def of_one_row(only: list[str]) -> None:
    con = duckdb.connect()
    for name, (query, target, families) in TABLES.items():
        con.execute(f"CREATE TABLE {name} AS {query.format(os.environ['NBSQL_DATA'])}")
        model = nbsql.fit(con, name, target=target, families=families, name=f"{name} model")
        first = con.execute(f"FROM {name} LIMIT 1")
        row = dict(zip([column[0] for column in first.description], first.fetchone() or (), strict=True))
        calls(model, row, 0.1)
        if "one" in only:
            taken = [1000 * each for each in calls(model, row, 1.0)]
            print(f"predict_one of {name}: {min(taken):.2f} ms, median {median(taken):.2f}", flush=True)
        if "threads" in only:
            with ThreadPoolExecutor(THREADS) as pool:
                counts = [*map(len, pool.map(calls, [model] * THREADS, [row] * THREADS, [SECONDS] * THREADS))]
            print(f"predict_one of {name}, {THREADS} threads: {sum(counts) / SECONDS:.0f} calls a second", flush=True)


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
    query, target, _ = TABLES["adult"]
    adult = duckdb.sql(query.format(os.environ["NBSQL_DATA"])).df().rename(columns={target: "y"})
    for name, frame in {"200 columns of noise x 2,000 rows": noise(2_000, 200), "digits": digits, "adult": adult}.items():
        with table_of(frame) as con:
            timed(f"auto of {name}", lambda con=con: print(nbsql.auto(con, "t", target="y").lines()[0]))  # type: ignore[misc]


def of_width(columns: int, only: list[str]) -> None:
    con = table_of(noise(ROWS, columns))
    nbsql.fit(con, "SELECT y, x0 FROM t", target="y").predict("t").fetchall()
    model = nbsql.fit(con, "t", target="y") if "predict" in only else None
    acts: dict[str, Callable[[], object]] = {
        "fit": lambda: nbsql.fit(con, "t", target="y", name="wide", replace=True),
        "predict": lambda: model and model.predict("t").fetchall(),
        "folds": lambda: nbsql.cross_validate(con, "t", target="y", folds=5),
    }
    for name in (name for name in acts if name in only):
        timed(f"{name} of {ROWS} rows x {columns:,} numbers", acts[name], columns)


def of_following() -> None:
    rows = CHANGED
    with tempfile.TemporaryDirectory() as folder, duckdb.connect(Path(folder) / "shop.duckdb") as con:
        con.execute(f"CREATE TABLE inbox AS {INBOX.format(0, rows)}; CREATE TABLE more AS {INBOX.format(rows, 2 * rows)}")
        con.execute("CREATE TABLE free AS FROM inbox")
        options: dict[str, Any] = {"target": "label", "id": "id", "families": {"message": "text"}}
        model = nbsql.fit(con, "inbox", name="spam", **options)
        model.follow("inbox")
        singles = [f"({10 * rows + i}, 'w1', 'v2', 1.5, 2.5, 'word1 and word2', 'ham')" for i in range(1000)]
        statements = {
            f"insert {rows:,} rows": ["INSERT INTO {} FROM more"],
            f"update {rows // 10:,} rows": [f"UPDATE {{}} SET x = x + 1 WHERE id < {rows // 10}"],
            f"delete {rows // 2:,} rows": [f"DELETE FROM {{}} WHERE id >= {rows} AND id % 2 = 0"],
            "insert 1,000 rows, one by one": [f"INSERT INTO {{}} VALUES {single}" for single in singles],
        }
        for name, texts in statements.items():
            for table, how in (("free", "alone"), ("inbox", "followed")):
                timed(f"{name}, {how}", lambda table=table, texts=texts: [con.execute(each.format(table)) for each in texts])  # type: ignore[misc]
            timed("    to learn them", model.refresh)
        other = nbsql.fit(con, "SELECT * FROM free LIMIT 100000", name="other", **options)
        timed("update by as many rows", lambda: other.update("more"))


def of_searching(count: int = 4_000, rounds: int = 3) -> None:
    random = np.random.default_rng(0)
    labels = random.integers(3, size=count)
    columns: dict[str, Any] = {f"x{n}": random.normal(labels, 3, size=count) for n in range(5)}
    for n in range(10):
        values = (random.integers(40, size=count) + labels * (n % 3)) % 40
        columns[f"k{n}"] = np.char.add("v", values.astype(str)).astype(object)
    frame = pd.DataFrame(columns)
    categories = frame[[name for name in frame if name.startswith("k")]]
    alphas, grid = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0], {"cv": 5, "scoring": "neg_log_loss"}
    encoded = make_pipeline(OrdinalEncoder(), CategoricalNB(min_categories=40))
    ours, by_grid = NaiveBayesCV(alphas=alphas, cv=5), GridSearchCV(NaiveBayesClassifier(), {"alpha": alphas}, **grid)
    by_theirs = GridSearchCV(encoded, {"categoricalnb__alpha": alphas}, **grid)
    searches: dict[str, Callable[[], Any]] = {
        "NaiveBayesCV": lambda: ours.fit(frame, labels),
        "GridSearchCV(NaiveBayesClassifier())": lambda: by_grid.fit(frame, labels),
        "NaiveBayesCV of the categories": lambda: ours.fit(categories, labels),
        "GridSearchCV(CategoricalNB()) of the categories": lambda: by_theirs.fit(categories, labels),
    }
    times = [[spent(search)[1] for search in searches.values()] for _ in range(rounds)]
    for name, column in zip(searches, zip(*times, strict=True), strict=True):
        print(f"{name}: {median(column):.2f} s of the processors")
    for one, other in ((0, 1), (2, 3)):
        print(f"{list(searches)[other]} took {median(row[other] / row[one] for row in times):.1f} times as long")


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    names = ["one", "threads", "auto", "fit", "predict", "folds", "follow", "search"]
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--columns", nargs="+", type=int, default=[125, 500, 1_000, 2_000, 4_000])
    arguments = parser.parse_args()
    only = arguments.only
    warnings.simplefilter("ignore", nbsql.NbsqlWarning)
    if {"one", "threads"} & {*only}:
        of_one_row(only)
    if "auto" in only:
        of_auto()
    for columns in arguments.columns if {"fit", "predict", "folds"} & {*only} else []:
        of_width(columns, only)
    if "follow" in only:
        of_following()
    if "search" in only:
        of_searching()


if __name__ == "__main__":
    main()
