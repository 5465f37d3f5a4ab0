"""What privacy costs: accuracy and log loss of models whose counts are shared with noise, or without those of few rows.

    NBSQL_DATA=folder python tests/benchmarks/private_counts.py [--draws 10] [--only mushroom]

Two thirds of each table, by a hash of the row, are learnt, and the others judge. Categories have the values of the whole table
as levels, as if they were known of a code book, and numbers are cut at round edges. The noise is drawn anew for each of so many
files, by the secure generator: the figures differ a little from run to run. The three sites hold a third of the rows each, of
different people, and so spend the whole epsilon each; their files are merged.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import warnings
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import duckdb

import nbsql

TABLES = {
    "adult": ("SELECT * EXCLUDE (split, fnlwgt) FROM '{}/adult.csv.gz'", "income"),
    "mushroom": ("SELECT * FROM '{}/mushroom.csv.gz'", "class"),
}
EDGES = {
    "age": [25, 30, 35, 40, 45, 50, 55, 60, 65],
    "education_num": [7, 9, 10, 11, 13, 14],
    "capital_gain": [1, 3000, 5000, 7000, 15000],
    "capital_loss": [1, 1500, 1800, 2000],
    "hours_per_week": [20, 35, 40, 41, 50, 60],
}
SHARED: list[dict[str, Any]] = [
    {},
    {"least": 10},
    {"least": 100},
    *({"epsilon": epsilon} for epsilon in (10, 1, 0.3, 0.1, 0.03, 0.01)),
]


def main() -> None:
    parser = argparse.ArgumentParser(description="What privacy costs.")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--only", choices=list(TABLES))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", nbsql.NbsqlWarning)
    print("| table | rows | shared with | accuracy | log loss | accuracy of 3 sites |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in [arguments.only] if arguments.only else TABLES:
        query, target = TABLES[name]
        with duckdb.connect() as con:
            con.execute(f"CREATE TABLE t AS {query.format(os.environ['NBSQL_DATA'])}")
            con.execute("CREATE TABLE dealt AS SELECT *, hash(row_number() OVER ()) AS h FROM t")
            con.execute("CREATE TABLE judged AS SELECT * EXCLUDE h FROM dealt WHERE h % 3 = 0")
            con.execute("CREATE TABLE learnt AS SELECT * FROM dealt WHERE h % 3 > 0")
            measure(con, name, target, arguments.draws)


def measure(con: duckdb.DuckDBPyConnection, name: str, target: str, draws: int) -> None:
    """Print the lines of a table."""
    options = declared(con, target)
    models = [nbsql.fit(con, "SELECT * EXCLUDE h FROM learnt", name="whole", **options)]
    for site in range(3):
        rows = f"SELECT * EXCLUDE h FROM learnt WHERE h // 3 % 3 = {site}"
        models.append(nbsql.fit(con, rows, name=f"site_{site}", **options))
    rows = con.execute("SELECT count(*) FROM learnt").fetchall()[0][0]
    for sharing in SHARED:
        found = [once(con, models, sharing) for _ in range(draws if "epsilon" in sharing else 1)]
        shown = [f"{mean(each):.4f}" + (f" ± {stdev(each):.4f}" if len(each) > 1 else "") for each in zip(*found, strict=True)]
        said = ", ".join(f"{option} {value}" for option, value in sharing.items()) or "all counts"
        print(f"| {name} | {rows:,} | {said} | {' | '.join(shown)} |", flush=True)


def declared(con: duckdb.DuckDBPyConnection, target: str) -> dict[str, Any]:
    """The options of a fit that names all classes, values and edges."""
    families: dict[str, Any] = {}
    for column, kind, *_ in con.execute("DESCRIBE t").fetchall():
        values = [
            row[0]
            for row in con.execute(f'SELECT DISTINCT "{column}" FROM t WHERE "{column}" IS NOT NULL ORDER BY 1').fetchall()
        ]
        if column == target:
            classes = values
        elif column in EDGES:
            families[column] = nbsql.Binned(by=EDGES[column])
        elif kind != "BOOLEAN":
            families[column] = nbsql.Categorical(levels=values)
    return {"target": nbsql.Target(target, classes), "families": families, "prior": "smoothed"}


def once(con: duckdb.DuckDBPyConnection, models: list[nbsql.Model], sharing: dict[str, Any]) -> list[float]:
    """Accuracy and log loss of one file of the whole, and the accuracy of three files of sites."""
    with tempfile.TemporaryDirectory() as folder:
        read = []
        for number, model in enumerate(models):
            model.export(Path(folder) / f"{number}.parquet", **sharing)
            read.append(nbsql.import_(con, Path(folder) / f"{number}.parquet"))
    whole, sites = read[0].evaluate("judged"), nbsql.merge(con, read[1:])
    found = [whole.accuracy, whole.log_loss, sites.evaluate("judged").accuracy]
    for model in (*read, sites):
        model.drop()
    return found


if __name__ == "__main__":
    main()
