"""Learning over joins against the joined table: fitting and scoring facts whose features live in a dimension.

    python tests/benchmarks/joins.py [--quick] [--rounds N] [--text] [--facts N --keys N]

    joins   nbsql.fit over nbsql.Join, which counts by key, and the scores of such a model
    view    the same over a view that joins the rows as they are read
    table   the same over a table of the joined rows, which is made first

The facts have a number and a category, the dimension twenty numbers and ten categories of 20 values, and with --text a text of
30 words. Acts take turns in one process; ratios are medians over the rounds of what the other takes to what joins take, in
seconds and in CPU seconds, which a busy machine does not change. That all three make the same model is checked.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

import duckdb
from contenders import THREADS, limited

import nbsql

SHAPES = [(1_000_000, 10_000), (5_000_000, 10_000), (5_000_000, 100_000), (5_000_000, 1_000_000)]
QUICK = [(200_000, 2_000)]
CLASSES = 2


def create(con: duckdb.DuckDBPyConnection, facts: int, keys: int, *, text: bool) -> None:
    """The tables `orders` and `customers`, and the view `wide` of both."""
    columns = [f"hash(i, {100 + j}) % 100003 / 1000 AS x{j}" for j in range(20)]
    columns += [f"'v' || hash(i, {200 + j}) % 20 AS c{j}" for j in range(10)]
    if text:
        words = ", ".join(f"'w' || hash(i, {300 + j}) % 2000" for j in range(30))
        columns.append(f"concat_ws(' ', {words}) AS note")
    con.execute(f"CREATE TABLE customers AS SELECT i AS customer_id, {', '.join(columns)} FROM range({keys}) AS t(i)")
    con.execute(f"""
        CREATE TABLE orders AS
        SELECT hash(i, 1) % {CLASSES} AS y, CAST(hash(i, 2) % {keys} AS BIGINT) AS customer_id,
            hash(i, 3) % 1000 / 10 AS amount, 'c' || hash(i, 4) % 8 AS channel
        FROM range({facts}) AS t(i)
    """)
    con.execute("""
        CREATE VIEW wide AS
        SELECT orders.*, customers.* EXCLUDE (customer_id)
        FROM orders LEFT JOIN customers ON customers.customer_id = orders.customer_id
    """)


class Acts:
    """What is measured: a fit, and predictions written to a table."""

    def __init__(self, con: duckdb.DuckDBPyConnection, *, text: bool) -> None:
        self.con = con
        self.families = {"note": nbsql.Text()} if text else {}
        self.models: dict[str, nbsql.Model] = {}

    def fit(self, kind: str) -> None:
        if kind == "joins":
            joins = [nbsql.Join("customers", on="customer_id")]
            self.models[kind] = nbsql.fit(self.con, "orders", target="y", joins=joins, families=self.families)
            return
        if kind == "table":
            self.con.execute("CREATE OR REPLACE TABLE made AS FROM wide")
        source = "made" if kind == "table" else "wide"
        self.models[kind] = nbsql.fit(self.con, source, target="y", exclude=["customer_id"], families=self.families)

    def predict(self, kind: str) -> None:
        source = {"joins": "orders", "view": "wide", "table": "made"}[kind]
        query = self.models[kind].predict(source).sql
        self.con.execute(
            f"CREATE OR REPLACE TABLE scored AS SELECT customer_id, amount, prediction, probability FROM ({query})"
        )

    def check(self) -> None:
        """Raise AssertionError unless the models have the same cells."""
        cells = [
            sorted((row[1:5], row[5:7]) for row in model.statistics.fetchall() if row[2] is not None)
            for model in self.models.values()
        ]
        for others in cells[1:]:
            for (counted, moments), (ours, others_moments) in zip(cells[0], others, strict=True):
                assert counted == ours
                for one, other in zip(moments, others_moments, strict=True):
                    assert one == other or abs(one - other) <= 1e-12 * max(abs(one), abs(other)), (counted, one, other)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small tables only")
    parser.add_argument("--text", action="store_true", help="with a text in the dimension")
    parser.add_argument("--rounds", type=int, default=3, help="how often each act takes its turn (default 3)")
    parser.add_argument("--facts", type=int, help="rows of the facts")
    parser.add_argument("--keys", type=int, help="rows of the dimension")
    options = parser.parse_args()
    limited()
    shapes = [(options.facts, options.keys)] if options.facts and options.keys else QUICK if options.quick else SHAPES
    print(
        "| facts | rows of the dimension | act | joins, s | view : joins | table : joins | CPU: view : joins | table : joins |"
    )
    print("| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for facts, keys in shapes:
        con = duckdb.connect(config={"threads": THREADS})
        create(con, facts, keys, text=options.text)
        acts = Acts(con, text=options.text)
        spent: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for number in range(options.rounds):
            kinds = ("joins", "view", "table") if number % 2 == 0 else ("table", "view", "joins")
            for act in (acts.fit, acts.predict):
                for kind in kinds:
                    start, cpu = time.perf_counter(), time.process_time()
                    act(kind)
                    took = time.perf_counter() - start, time.process_time() - cpu
                    spent.setdefault((act.__name__, kind), []).append(took)
        acts.check()
        con.close()
        for act_name in ("fit", "predict"):
            joins = spent[act_name, "joins"]
            ratios = [
                median(one[clock] / other[clock] for one, other in zip(spent[act_name, kind], joins, strict=True))
                for clock in (0, 1)
                for kind in ("view", "table")
            ]
            seconds = median(took for took, _ in joins)
            cells = [f"{facts:,}", f"{keys:,}", act_name, f"{seconds:.2f}", *(f"{ratio:.1f}" for ratio in ratios)]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
