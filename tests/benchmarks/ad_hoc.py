"""What the page of plain SQL, `sql/ad_hoc.sql`, costs beside `nbsql.fit` and the model that it makes.

    python tests/benchmarks/ad_hoc.py --data FOLDER --rounds 5

Processor seconds of a fit and of a prediction of every row into a table, in turns, the medians of the rounds, and of
their ratios: of the flights that come with nbsql, and of the tables of FOLDER (NBSQL_DATA by default), if it has them.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median

import duckdb

import nbsql
from nbsql.rendering.renderer import macro_path

ROOT = Path(__file__).parents[2]
TABLES = {  # file -> target, columns of text, and columns that are no features
    "adult.csv.gz": ("income", [], ["split"]),
    "mushroom.csv.gz": ("class", [], []),
    "sms_spam.csv.gz": ("label", ["message"], ["id"]),
    "nycflights13_flights.parquet": ("origin", [], ["tailnum"]),
}


def seconds(act: Callable[[], object]) -> float:
    begun = time.process_time()
    act()
    return time.process_time() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("NBSQL_DATA"))
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", nbsql.NbsqlWarning)
    files = [(ROOT / "nbsql" / "data" / "flights.parquet", "origin", [], [])]
    if arguments.data is not None:
        files += [(Path(arguments.data) / name, *table) for name, table in TABLES.items()]
    print(f"DuckDB {duckdb.__version__}")
    print("| table | rows | act | plain SQL | nbsql | ratio |\n| --- | --- | --- | --- | --- | --- |")
    for file, target, texts, keys in files:
        measure(file, target, texts, keys, arguments.rounds)


def measure(file: Path, target: str, texts: list[str], keys: list[str], rounds: int) -> None:
    con = duckdb.connect()
    con.execute((macro_path() / "ad_hoc.sql").read_text(encoding="utf-8"))
    con.from_query(f"FROM '{str(file).replace(chr(39), chr(39) * 2)}'").create("t")
    families = {text: nbsql.Text() for text in texts}
    counted = f"CREATE OR REPLACE TABLE m AS FROM naive_bayes('t', '{target}', texts := {texts}, keys := {keys})"

    acts = {
        "fit": (
            lambda: con.execute(counted),
            lambda: nbsql.fit(con, "t", target=target, exclude=keys, families=families, name="model", replace=True),
        ),
        "predict": (
            lambda: con.execute("CREATE OR REPLACE TABLE said AS FROM naive_bayes_predict('m', 't')"),
            lambda: con.execute("CREATE OR REPLACE TABLE fitted AS FROM model.predict('t')"),
        ),
    }
    rows = con.execute("SELECT count(*) FROM t").fetchone()
    for act, pair in acts.items():
        times = [tuple(seconds(one) for one in pair) for _ in range(rounds)]
        plain, ours = (median(column) for column in zip(*times, strict=True))
        ratio = median(one / other for one, other in times)
        print(f"| {file.name} | {rows[0] if rows else 0:,} | {act} | {plain:.2f} | {ours:.2f} | {ratio:.2g} |", flush=True)


if __name__ == "__main__":
    main()
