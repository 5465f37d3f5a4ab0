"""What a queue of rows to label saves: accuracy by the number of labelled rows, as they are chosen by the model or by chance.

    NBSQL_DATA=folder python tests/benchmarks/review.py [--cuts 5] [--only sms]

Each cut of a table, by a hash of the row and the cut, judges on 2,000 rows, and has a pool of 3,000 others, whose classes
nobody has told. A model learns 20 of them, one of each class at least; then, again and again, it is asked for 20 rows by
`Model.review`, which get their class, and learns these by `Model.update`. What is printed, for each number of labelled rows:
the mean accuracy on the 2,000 (of messages, which are mostly ham, the balanced accuracy), with its standard error over the
cuts, of rows by chance and of each queue; where a queue has fewer than 20 rows, the others come by chance.
"""

from __future__ import annotations

import argparse
import os
import warnings
from statistics import mean, stdev
from typing import Any

import duckdb

import nbsql

TEXT: dict[str, Any] = {"families": {"text": nbsql.Text()}}
TABLES: dict[str, tuple[str, dict[str, Any], str]] = {
    "sms": ("SELECT label AS y, message AS text FROM read_csv('{}/sms_spam.csv.gz')", TEXT, "balanced_accuracy"),
    "newsgroups": ("SELECT newsgroup AS y, left(text, 500) AS text FROM '{}/newsgroups_6.parquet'", TEXT, "accuracy"),
    "adult": ("SELECT * EXCLUDE (income, fnlwgt, split), income AS y FROM read_csv('{}/adult.csv.gz')", {}, "accuracy"),
}
FIRST, BATCH, LAST = 20, 20, 320
SHOWN = (20, 40, 80, 160, 320)
QUEUES = ("chance", "margin", "evidence", "novelty")


def main() -> None:
    parser = argparse.ArgumentParser(description="What a queue of rows to label saves.")
    parser.add_argument("--cuts", type=int, default=5)
    parser.add_argument("--only", choices=list(TABLES))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", nbsql.NbsqlWarning)
    print(f"| table | labelled | {' | '.join(QUEUES)} |")
    print("| --- " * (2 + len(QUEUES)) + "|")
    for name in [arguments.only] if arguments.only else TABLES:
        query, options, metric = TABLES[name]
        with duckdb.connect() as con:
            query = query.format(os.environ["NBSQL_DATA"])
            con.execute(f"CREATE TABLE t AS SELECT *, row_number() OVER () AS nb_row FROM ({query})")
            curves = {queue: [curve(con, cut, queue, options, metric) for cut in range(arguments.cuts)] for queue in QUEUES}
        for place, labelled in enumerate(SHOWN):
            found = ([each[place] for each in curves[queue]] for queue in QUEUES)
            shown = [f"{mean(each):.3f} ± {stdev(each) / len(each) ** 0.5:.3f}" for each in found]
            print(f"| {name} | {labelled} | {' | '.join(shown)} |", flush=True)


def curve(con: duckdb.DuckDBPyConnection, cut: int, queue: str, options: dict[str, Any], metric: str) -> list[float]:
    """The metric at each number of labelled rows that is shown."""
    dealt = f"hash(hash(nb_row * 1000 + {cut}))"
    con.execute(f"CREATE OR REPLACE TABLE dealt AS SELECT *, row_number() OVER (ORDER BY {dealt}) AS place FROM t")
    con.execute("CREATE OR REPLACE TABLE judged AS SELECT * EXCLUDE place FROM dealt WHERE place <= 2000")
    con.execute("CREATE OR REPLACE TABLE pool AS SELECT * FROM dealt WHERE place BETWEEN 2001 AND 5000")
    first = "row_number() OVER (PARTITION BY y ORDER BY place) > 1"
    answers = take(con, [row[0] for row in con.execute(f"SELECT nb_row FROM pool ORDER BY {first}, place").fetchmany(FIRST)])
    model = nbsql.fit(con, answers, target="y", id="nb_row", **options)
    found = []
    for labelled in range(FIRST, LAST + 1, BATCH):
        if labelled in SHOWN:
            found.append(getattr(model.evaluate("judged"), metric))
        asked = []
        if queue != "chance":
            rows = model.review("SELECT * EXCLUDE (y, place) FROM pool", BATCH, by=queue, columns=["nb_row"])  # type: ignore[arg-type]
            asked = [row[0] for row in rows]
        others = [row[0] for row in con.execute("SELECT nb_row FROM pool ORDER BY place").fetchmany(2 * BATCH)]
        model.update(take(con, [*asked, *(row for row in others if row not in asked)][:BATCH]))
    model.drop()
    return found


def take(con: duckdb.DuckDBPyConnection, rows: list[int]) -> str:
    """The rows with their classes, which leave the pool."""
    con.execute("CREATE OR REPLACE TABLE answers AS SELECT * EXCLUDE place FROM pool WHERE list_contains(?, nb_row)", [rows])
    con.execute("DELETE FROM pool WHERE list_contains(?, nb_row)", [rows])
    return "answers"


if __name__ == "__main__":
    main()
