"""What a person waits for in a new process: the import, the command line, a first fit, and a report.

    python tests/benchmarks/waits.py [--rounds 5] [--only WAIT ...] [--against FOLDER]

Seconds of the processors of the whole process, the least of the rounds, after one that fills the caches of the machine.
--against: another checkout of nbsql, measured in turns with this one, whose seconds are then divided by its own.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

ROWS = """SELECT if(hash(i) % 5 < 2, 'spam', 'ham') AS label, 'k' || (i % 7) AS sender, 'u' || (hash(i + 7) % 11) AS kind,
    hash(i + 1) % 1000 / 10 + hash(i) % 5 * 3 AS length, hash(i + 2) % 9 AS links, hash(i + 3) % 1000 / 77 AS hours,
    hash(i + 4) % 1000 / 13 + hash(i) % 5 AS words, hash(i + 5) % 2 = 0 AS replied FROM range({}) AS rows(i)"""
NUMBERS = ", ".join(f"hash(i + {j}) % 1000 / 10 AS x{j}" for j in range(20))
FIT = f"""import nbsql, duckdb
nbsql.fit(duckdb.connect(), "SELECT 'c' || (i % 3) AS y, {NUMBERS} FROM range(10000) AS t(i)", target="y")"""
REPORT = """import nbsql, duckdb, warnings; warnings.simplefilter("ignore"); con = duckdb.connect()
nbsql.fit(con, '{0}', target="label").report('{0}.html', source='{0}')"""
WAITS = {
    "import duckdb": ["-c", "import duckdb"],
    "import nbsql": ["-c", "import nbsql"],
    "import nbsql and a verb": ["-c", "from nbsql import fit"],
    "nbsql --version": ["-m", "nbsql", "--version"],
    "nbsql --help": ["-m", "nbsql", "--help"],
    "fit of 10,000 rows x 20 numbers": ["-c", FIT],
    "fit and report of 5,000 rows": ["-c", REPORT.format("5000.parquet")],
    "fit and report of 1,000,000 rows": ["-c", REPORT.format("1000000.parquet")],
}


def seconds(arguments: list[str], checkout: Path, folder: str) -> float:
    """Those of the processors in a process of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], env=environment, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=WAITS, default=[*WAITS])
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    checkouts = [Path(__file__).parents[2], *([options.against.resolve()] if options.against else [])]
    with tempfile.TemporaryDirectory(prefix="nbsql benchmark ") as folder:
        for rows in (5_000, 1_000_000):
            duckdb.execute(f"COPY ({ROWS.format(rows)}) TO '{folder}/{rows}.parquet'")
        for name in options.only:
            rounds = [[seconds(WAITS[name], each, folder) for each in checkouts] for _ in range(options.rounds + 1)][1:]
            least, *others = map(min, zip(*rounds, strict=True))
            print(f"{name}: {least:.3f} s{''.join(f', {least / other:.2f} of {other:.3f} s' for other in others)}", flush=True)


if __name__ == "__main__":
    main()
