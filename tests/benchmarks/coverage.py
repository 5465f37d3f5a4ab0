"""How often sets of classes hold the true one, beside what was promised, on real tables.

    NBSQL_DATA=folder python tests/benchmarks/coverage.py [--cuts 20] [--rows 6000]

Each cut of a table is a third to learn, a third to calibrate on by "conformal" and a third to judge, by a hash of the row and
the cut. What is printed, for each coverage: the mean share of rows whose set holds their class, its standard error over the
cuts, the mean number of classes in a set, the share of empty sets, and the mean share that is held by sets of `by_class=True`.
"""

from __future__ import annotations

import argparse
import os
import warnings
from statistics import mean, stdev

import duckdb
from accuracy import TABLES

import nbsql

COVERAGES = (0.8, 0.9, 0.95)
ONLY = ("adult", "covtype", "bikes: season", "flights: late", "newsgroups")


def main() -> None:
    parser = argparse.ArgumentParser(description="How often sets of classes hold the true one.")
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--rows", type=int, default=6000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", nbsql.NbsqlWarning)
    print("| table | classes | promised | held | classes in a set | empty | held, `by_class=True` |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in ONLY:
        measure(name, arguments.rows, arguments.cuts)


def measure(name: str, rows: int, cuts: int) -> None:
    """Print the lines of a table."""
    table = TABLES[name]
    con = duckdb.connect()
    query = table.query.format(os.environ["NBSQL_DATA"])
    con.execute(f"CREATE TABLE t AS SELECT *, row_number() OVER () AS nb_row FROM ({query}) ORDER BY hash(nb_row) LIMIT {rows}")
    families = {table.text: nbsql.Text()} if table.text else {}
    found: dict[float, list[tuple[float, ...]]] = {coverage: [] for coverage in COVERAGES}
    classes = 0
    for cut in range(cuts):
        learnt, calibrated, judged = (f"FROM t WHERE hash(nb_row * 1000 + {cut}) % 3 = {part}" for part in range(3))
        model = nbsql.fit(
            con, learnt, target=table.target, exclude=["nb_row"], families=families, name="m", replace=True
        )  # fmt: skip
        model.calibrate(calibrated, method="conformal", folds=None)
        classes = len(model.classes)
        for coverage, shares in found.items():
            sets, by_class = (model.predict(judged, coverage=coverage, by_class=option).sql for option in (False, True))
            held = f"list_contains(prediction_set, {table.target})::INT"
            (one,) = con.execute(
                f"SELECT avg({held}), avg(len(prediction_set)), avg((len(prediction_set) = 0)::INT) FROM ({sets})"
            ).fetchall()
            (each,) = con.execute(f"SELECT avg({held}) FROM ({by_class})").fetchall()
            shares.append((*one, *each))
    for coverage, shares in found.items():
        held, size, empty, of_classes = (mean(column) for column in zip(*shares, strict=True))
        error = stdev(row[0] for row in shares) / cuts**0.5
        print(f"| {name} | {classes} | {coverage} | {held:.4f} ± {error:.4f} | {size:.2f} | {empty:.4f} | {of_classes:.4f} |")


if __name__ == "__main__":
    main()
