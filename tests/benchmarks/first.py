"""What a process pays once: processor milliseconds of an import, of its first fit and prediction, and of the next of each.

    python tests/benchmarks/first.py [--rounds 5] [--uncached]

A process of its own a round, of which the quickest of each part counts; the table has 1,000 rows of two columns. What Python
and nbsql keep compiled is made before the rounds; --uncached: nothing is kept, as on a machine's first time or under
PYTHONDONTWRITEBYTECODE.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile

PARTS = ("import duckdb", "import nbsql", "first fit", "next fit", "first prediction", "next prediction")
ROUND = """
import json, time
taken = []
def part(act):
    start = time.process_time()
    answer = act()
    taken.append(1000 * (time.process_time() - start))
    return answer
duckdb, nbsql = (part(lambda: __import__(name)) for name in ("duckdb", "nbsql"))
con = duckdb.connect()
con.execute("SET threads = 1")
con.execute("CREATE TABLE t AS SELECT i % 2 AS y, i % 7 * 0.1 AS x, i % 3 AS z FROM range(1000) AS r(i)")
model = [part(lambda: nbsql.fit(con, "t", target="y", name=name)) for name in "ab"][0]
for _ in range(2):
    part(lambda: model.predict("t").fetchall())
print(json.dumps(taken))
"""


def round_of(environment: dict[str, str]) -> list[float]:
    output = subprocess.run([sys.executable, "-c", ROUND], env=environment, check=True, capture_output=True, text=True).stdout
    found: list[float] = json.loads(output)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--uncached", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kept = {"PYTHONDONTWRITEBYTECODE": "1" if arguments.uncached else "", "PYTHONPYCACHEPREFIX": folder}
        environment = {**os.environ, **kept}
        round_of(environment)
        rounds = [round_of(environment) for _ in range(arguments.rounds)]
    for part, taken in zip(PARTS, zip(*rounds, strict=True), strict=True):
        print(f"{part:18}{min(taken):8.0f} ms of a processor")


if __name__ == "__main__":
    main()
