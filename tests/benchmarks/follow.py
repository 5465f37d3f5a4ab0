"""What it costs that a model follows a table: python tests/benchmarks/follow.py [rows]

Seconds of processors on DuckDB, in a file: to insert, update and delete rows of a table without and with a model that
follows it, in one statement and by one row at a time, and to learn them, by `refresh` and by `update`.
"""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import duckdb

import nbsql

ROWS = """
    SELECT
        i AS id, 'w' || hash(i) % 50 AS a, 'v' || hash(i + 1) % 9 AS b, hash(i + 2) % 1000 / 7 AS x, hash(i + 3) % 100 / 3 AS y,
        'word' || hash(i + 4) % 900 || ' and word' || hash(i + 5) % 700 AS message,
        CASE hash(i + 6) % 2 WHEN 0 THEN 'ham' ELSE 'spam' END AS label
    FROM range({}, {}) AS r(i)"""


def seconds(act: Callable[[], object]) -> float:
    before = os.times()
    act()
    after = os.times()
    return after.user + after.system - before.user - before.system


def main(rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder, duckdb.connect(Path(folder) / "shop.duckdb") as con:
        con.execute(f"CREATE TABLE inbox AS {ROWS.format(0, rows)}")
        con.execute(f"CREATE TABLE more AS {ROWS.format(rows, 2 * rows)}")
        con.execute("CREATE TABLE free AS FROM inbox")
        model = nbsql.fit(con, "inbox", target="label", name="spam", id="id", families={"message": "text"})
        model.follow("inbox")
        singles = [f"({10 * rows + i}, 'w1', 'v2', 1.5, 2.5, 'word1 and word2', 'ham')" for i in range(1000)]
        statements = {
            f"insert {rows:,} rows": ["INSERT INTO {} FROM more"],
            f"update {rows // 10:,} rows": [f"UPDATE {{}} SET x = x + 1 WHERE id < {rows // 10}"],
            f"delete {rows // 2:,} rows": [f"DELETE FROM {{}} WHERE id >= {rows} AND id % 2 = 0"],
            "insert 1,000 rows, one by one": [f"INSERT INTO {{}} VALUES {single}" for single in singles],
        }
        for name, texts in statements.items():
            spent = [
                seconds(lambda table=table, texts=texts: [con.execute(text.format(table)) for text in texts])
                for table in ("free", "inbox")
            ]
            learnt = seconds(model.refresh)
            print(f"{name:<32} {spent[0]:8.3f} s alone {spent[1]:8.3f} s followed {learnt:8.3f} s to learn")
        other = nbsql.fit(
            con, "SELECT * FROM free LIMIT 100000", target="label", name="other", id="id", families={"message": "text"}
        )
        print(f"{'update by as many rows':<32} {seconds(lambda: other.update('more')):8.3f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
