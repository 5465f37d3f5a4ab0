"""Rows that do not fit into memory: what a row of Parquet files costs, however many there are.

    python tests/benchmarks/scale.py [--quick] [--rows N ...] [--memory LIMIT] [--rounds N] [--folder FOLDER] [--json FILE]

Writes 20 numeric columns in files of a million rows under FOLDER (the folder for temporary files), removed at the end: 100
million rows take 8 GB, and scored, with all of their columns, some 10 GB more. Each size is fitted and predicted in a process
of its own under the memory limit, after a bare scan; sizes take turns. What a row costs is compared with the first size.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import duckdb

import nbsql

FILE_ROWS = 1_000_000
COLUMNS = [f"x{i}" for i in range(20)]
CLASSES = 5
ACTS = ("scan", "fit", "predict into Parquet", "predict into a table")
CLOCKS = ("seconds", "CPU")


def create(folder: Path, rows: int) -> None:
    """Files of a table: id, y, and numbers that lean on the class, of 32 bits, which Parquet does not make smaller."""
    numbers = ", ".join(
        f"CAST((hash(id, {i}) % 1000003) / 1000003.0 + ((y * {i + 1}) % {CLASSES}) / 8.0 + {10 * i} AS FLOAT) AS {x}"
        for i, x in enumerate(COLUMNS)
    )
    with duckdb.connect(config={"threads": 2, "memory_limit": "2GB"}) as con:
        for number, first in enumerate(range(0, rows, FILE_ROWS)):
            ids = f"SELECT id, CAST(hash(id) % {CLASSES} AS INTEGER) AS y FROM range({first}, {first + FILE_ROWS}) AS t(id)"
            part = f"SELECT id, y, {numbers} FROM ({ids}) WHERE id < {rows}"
            con.execute(f"COPY ({part}) TO '{file(folder, number)}' (FORMAT parquet)")


def file(folder: Path, number: int) -> Path:
    return folder / f"{number:06}.parquet"


def measure(folder: Path, rows: int, memory: str) -> dict[str, Any]:
    """Seconds of every act on the first rows, by the clock and of the processors, and the most MiB that the process had."""
    files = [str(file(folder, number)) for number in range(-(-rows // FILE_ROWS))]
    source = f"SELECT * FROM read_parquet({files}) WHERE id < {rows}"
    database, scored = folder / "scored.duckdb", folder / "scored.of.parquet"
    con = duckdb.connect(str(database), config={"threads": 2, "memory_limit": memory})
    spent: dict[str, dict[str, float]] = {clock: {} for clock in CLOCKS}

    def timed(act: str, run: Callable[[], Any]) -> Any:
        clock, processors = time.perf_counter(), time.process_time()
        answer = run()
        spent["seconds"][act] = time.perf_counter() - clock
        spent["CPU"][act] = time.process_time() - processors
        return answer

    try:
        sums = ", ".join(f"sum({column})" for column in ["y", *COLUMNS])
        timed("scan", lambda: con.execute(f"SELECT {sums} FROM ({source})").fetchall())
        model = timed("fit", lambda: nbsql.fit(con, source, target="y", id="id", name="model"))
        query = model.predict(source)
        copy = f"COPY (SELECT id, prediction, probability FROM ({query.sql})) TO '{scored}' (FORMAT parquet)"
        timed("predict into Parquet", lambda: con.execute(copy))
        timed("predict into a table", lambda: query.create_table("scored"))
        for relation in (f"read_parquet('{scored}')", "scored"):
            counts = con.execute(f"SELECT count(*), count(prediction), max(id) FROM {relation}").fetchall()
            assert counts == [(rows, rows, rows - 1)]
    finally:
        con.close()
        database.unlink()
        scored.unlink(missing_ok=True)
    return {"rows": rows, **spent, "MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}


def in_process(folder: Path, rows: int, memory: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "--measure", str(folder), str(rows), memory]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout))


def print_report(found: list[dict[str, Any]], memory: str) -> None:
    """Medians by size and act: seconds, those of the processors, and both a row as ratios to the first size."""
    sizes = list(dict.fromkeys(run["rows"] for run in found))
    least = sizes[0]
    print(f"| rows | act | seconds | of processors | a row, to {least:,} rows | of processors | peak memory, limit {memory} |")
    print("|---|---|---|---|---|---|---|")
    for rows in sizes:
        runs, first = ([run for run in found if run["rows"] == size] for size in (rows, least))
        peak = f"{max(run['MiB'] for run in runs):,} MiB"
        for act in ACTS:
            seconds = [f"{median(run[clock][act] for run in runs):.2f}" for clock in CLOCKS]
            pairs = list(zip(runs, first, strict=True))
            ratios = [median(a[clock][act] / b[clock][act] for a, b in pairs) * least / rows for clock in CLOCKS]
            print(f"| {' | '.join([f'{rows:,}', act, *seconds, *(f'{ratio:.2f}' for ratio in ratios), peak])} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a million and two million rows under 200MB, once")
    parser.add_argument("--rows", type=int, nargs="+", help="sizes (default 1000000 10000000 100000000)")
    parser.add_argument("--memory", help="DuckDB's memory_limit (default 1GB)")
    parser.add_argument("--rounds", type=int, help="how often each size takes its turn (default 3)")
    parser.add_argument("--folder", type=Path, help="where the files are written")
    parser.add_argument("--json", type=Path, help="write every figure to this file")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        folder, rows, memory = options.measure
        print(json.dumps(measure(Path(folder), int(rows), memory)))
        return
    sizes = options.rows or ([1_000_000, 2_000_000] if options.quick else [1_000_000, 10_000_000, 100_000_000])
    memory = options.memory or ("200MB" if options.quick else "1GB")
    rounds = options.rounds or (1 if options.quick else 3)
    found = []
    with tempfile.TemporaryDirectory(prefix="nbsql_scale_", dir=options.folder) as folder:
        create(Path(folder), max(sizes))
        for number in range(rounds):
            for rows in sizes if number % 2 == 0 else reversed(sizes):
                found.append(in_process(Path(folder), rows, memory))
                print(f"{rows:,} rows, round {number + 1}", file=sys.stderr, flush=True)
    found.sort(key=lambda run: sizes.index(run["rows"]))
    if options.json:
        options.json.write_text(json.dumps(found, indent=2), encoding="utf-8")
    print_report(found, memory)


if __name__ == "__main__":
    main()
