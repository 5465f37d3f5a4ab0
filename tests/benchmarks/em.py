"""What rows without a class teach: accuracy by the number of labelled texts, with and without expectation-maximisation.

    NBSQL_DATA=folder python tests/benchmarks/em.py [--cuts 3] [--only newsgroups]
    NBSQL_DATA=folder python tests/benchmarks/em.py --tolerances [--only sms]

The experiment of Nigam, McCallum, Thrun and Mitchell (Machine Learning 39, 2000), on other texts. Each cut of a table, by a
hash of the row and the cut, judges on a third. Of the rest so many texts of every class keep their class, and all others lose
it. What is printed, for each number of labelled texts of all classes: the mean accuracy on the third, with its standard error
over the cuts, of the labelled texts alone and with the others, by alpha and weight. It takes ten steps at most, and the
first 500 characters of every third text of newsgroups, which is quicker.

With --tolerances it is how far the posteriors of a fit are from those of a tolerance of 1e-12: the steps that each tolerance
takes from 30 labelled texts of every class, and the largest and the mean difference of a posterior over all texts.
"""

from __future__ import annotations

import argparse
import os
import warnings
from statistics import mean, stdev
from typing import Any

import duckdb

import nbsql

TABLES = {
    "newsgroups": "SELECT newsgroup AS y, left(text, 500) AS text FROM '{}/newsgroups_6.parquet' WHERE hash(text) % 3 = 0",
    "sms": "SELECT label AS y, message AS text FROM read_csv('{}/sms_spam.csv.gz')",
}
LABELLED = (3, 10, 30, 100)
STEPS = 10
TOLERANCES = (1e-5, 1e-8, 1e-12)  # the default first, and what counts as converged last
METHODS: dict[str, tuple[Any, float]] = {
    "alone, α = 1": ("naive", 1),
    "EM, α = 1": (nbsql.EM(iterations=STEPS), 1),
    "alone, α = 0.1": ("naive", 0.1),
    "EM, α = 0.1": (nbsql.EM(iterations=STEPS), 0.1),
    "EM of weight 0.1, α = 0.1": (nbsql.EM(weight=0.1, iterations=STEPS), 0.1),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="What rows without a class teach.")
    parser.add_argument("--cuts", type=int, default=3)
    parser.add_argument("--only", choices=list(TABLES))
    parser.add_argument("--tolerances", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", nbsql.NbsqlWarning)
    if arguments.tolerances:
        print("| texts | tolerance | steps | largest difference | mean difference |")
        print("| --- | --- | --- | --- | --- |")
        for name in [arguments.only] if arguments.only else TABLES:
            measure_tolerances(name)
        return
    print(f"| texts | with a class | without | {' | '.join(METHODS)} |")
    print("| --- " * (3 + len(METHODS)) + "|")
    for name in [arguments.only] if arguments.only else TABLES:
        with duckdb.connect() as con:
            load(con, name)
            for labelled in LABELLED:
                measure(con, name, labelled, arguments.cuts)


def load(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Make the table t of the texts, numbered."""
    query = TABLES[name].format(os.environ["NBSQL_DATA"])
    con.execute(f"CREATE TABLE t AS SELECT *, row_number() OVER () AS nb_row FROM ({query})")


def measure_tolerances(name: str) -> None:
    """Print a line for each tolerance: its steps, and how far its posteriors are from those of the last one."""
    with duckdb.connect() as con:
        load(con, name)
        place = "row_number() OVER (PARTITION BY y ORDER BY hash(nb_row))"
        con.execute(f"CREATE TABLE learnt AS SELECT CASE WHEN {place} <= 30 THEN y END AS y, text FROM t")
        steps: list[str] = []
        for number, tolerance in enumerate(TOLERANCES):
            method = nbsql.EM(tolerance=tolerance, iterations=1000)
            model = nbsql.fit(con, "learnt", target="y", families={"text": nbsql.Text()}, method=method)
            steps.append(model.batches.fetchall()[-1][2].split(", ")[-1].split()[0])
            model.predict_proba("t", columns=["nb_row"]).create_table(f"posteriors_{number}")
        for number, tolerance in enumerate(TOLERANCES[:-1]):
            sides = (f"(UNPIVOT posteriors_{side} ON COLUMNS('^probability_') INTO NAME class VALUE p)" for side in (number, 2))
            found = "SELECT max(abs(one.p - other.p)), avg(abs(one.p - other.p)) FROM {} AS one JOIN {} AS other".format(*sides)
            largest, average = con.execute(f"{found} USING (nb_row, class)").fetchall()[0]
            print(f"| {name} | {tolerance:g} | {steps[number]} | {largest:.2g} | {average:.2g} |", flush=True)


def measure(con: duckdb.DuckDBPyConnection, name: str, labelled: int, cuts: int) -> None:
    """Print the line of a number of labelled texts a class."""
    found: list[list[float]] = []
    rows = [0, 0]
    for cut in range(cuts):
        dealt = f"hash(hash(nb_row * 1000 + {cut}))"
        con.execute(f"CREATE OR REPLACE TABLE judged AS SELECT y, text FROM t WHERE {dealt} % 3 = 0")
        place = f"row_number() OVER (PARTITION BY y ORDER BY {dealt})"
        con.execute(
            f"CREATE OR REPLACE TABLE learnt AS SELECT CASE WHEN {place} <= {labelled} THEN y END AS y, text FROM t "
            f"WHERE {dealt} % 3 <> 0"
        )
        rows = [*con.execute("SELECT count(y), count(*) - count(y) FROM learnt").fetchall()[0]]
        accuracies = []
        for method, alpha in METHODS.values():
            model = nbsql.fit(con, "learnt", target="y", families={"text": nbsql.Text()}, method=method, alpha=alpha)
            accuracies.append(model.evaluate("judged").accuracy)
            model.drop()
        found.append(accuracies)
    shown = [f"{mean(each):.3f} ± {stdev(each) / cuts**0.5:.3f}" for each in zip(*found, strict=True)]
    print(f"| {name} | {rows[0]:,} | {rows[1]:,} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
