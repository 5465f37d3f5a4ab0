"""Lookups that hold only the pairs of word and class that were met, beside the dense ones: a prototype in plain SQL.

    python tests/benchmarks/sparse_lookups.py

Seconds of the processors to make each from the same counts, and to sum the scores of texts by each: of a vocabulary most of
whose words one class has met, and of one whose words most classes have. A sparse score wants one more number a text, how many
of its words are known, which is measured apart.
"""

from __future__ import annotations

import time

import duckdb
from contenders import THREADS
from tables import case_of, create

CLASSES = 20
TABLES = {"vocabulary": (100_000, 4), "text": (100_000, 8)}  # rows, and one in how many of them is taken


def main() -> None:
    dense = ", ".join(f"ln((n_{k} + 1) / 100000.0) AS c_{k}" for k in range(CLASSES))
    counts = ", ".join(f"sum(CASE WHEN class = {k} THEN n ELSE 0 END) AS n_{k}" for k in range(CLASSES))
    sums = ", ".join(f"sum(c_{k}) AS j_{k}" for k in range(CLASSES))
    chosen = ", ".join(f"sum(d) FILTER (class = {k}) AS j_{k}" for k in range(CLASSES))
    tokens = "(SELECT r, unnest(words) AS value FROM texts)"
    by_pair = f"SELECT r, class, sum(d) AS d FROM {tokens} JOIN sparse USING (value) GROUP BY r, class"
    measured = {
        "dense lookups": f"CREATE TABLE dense AS SELECT value, {dense} FROM (SELECT value, {counts} FROM pairs GROUP BY value)",
        "sparse lookups": "CREATE TABLE sparse AS SELECT value, class, ln(n + 1) AS d FROM pairs",
        "scores by dense": f"CREATE TABLE by_dense AS SELECT r, {sums} FROM {tokens} JOIN dense USING (value) GROUP BY r",
        "scores by sparse": f"CREATE TABLE by_sparse AS SELECT r, {chosen} FROM ({by_pair}) GROUP BY r",
        "known words of each text": f"""
            CREATE TABLE known AS
            SELECT r, count(*) AS n FROM {tokens} JOIN (SELECT DISTINCT value FROM sparse) USING (value) GROUP BY r
        """,
    }
    for kind, (rows, part) in TABLES.items():
        case = case_of(kind, rows, CLASSES)
        with duckdb.connect(config={"threads": THREADS}) as con:
            create(con, case)
            con.execute(f"""
                CREATE TABLE texts AS
                SELECT row_number() OVER () AS r, y, string_split(text, ' ') AS words FROM {case.table} WHERE id % {part} = 0
            """)
            con.execute("""
                CREATE TABLE pairs AS
                SELECT value, y AS class, CAST(count(*) AS DOUBLE) AS n
                FROM (SELECT y, unnest(words) AS value FROM texts)
                GROUP BY value, y
            """)
            pairs, words = con.execute("SELECT count(*), count(DISTINCT value) FROM pairs").fetchall()[0]
            print(f"{rows // part:,} texts, {words:,} words in {CLASSES} classes, {pairs:,} pairs met")
            for name, statement in measured.items():
                start = time.process_time()
                con.execute(statement)
                print(f"  {time.process_time() - start:6.2f}  {name}", flush=True)


if __name__ == "__main__":
    main()
