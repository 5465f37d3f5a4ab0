"""What fits into little memory: fit, predict and folds of each shape of table, under DuckDB's memory_limit.

    python tests/benchmarks/memory.py [--only SHAPE ...] [--quick] [--memory LIMIT] [--share F] [--folder FOLDER]

Writes each table in Parquet files under FOLDER (the folder for temporary files), larger than the limit when it is decoded, and
removes it at the end. An act has a process of its own, so that its peak is of it alone, and a folder for what DuckDB takes to
the disk. An act that memory does not suffice for is reported with the error, and the run ends with it. --quick takes a
hundredth of the rows, --share a part of them.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

import nbsql

FILES = 20
CLASSES = 5
SEED = 7
NOISE_ROUNDS = 2


@dataclass(frozen=True)
class Shape:
    """A table: so many rows, and columns of each kind. `acts` are what is measured of it."""

    rows: int
    numbers: int = 0
    categories: int = 0
    words: int = 0  # in a text
    vocabulary: int = 50_000
    acts: tuple[str, ...] = ("fit", "predict")

    @property
    def title(self) -> str:
        kinds = [f"{self.numbers:,} numbers"] * bool(self.numbers) + [f"{self.categories:,} categories"] * bool(self.categories)
        kinds += [f"a text of {self.words} of {self.vocabulary:,} words"] * bool(self.words)
        return f"{self.rows:,} rows x {', '.join(kinds)}"


SHAPES = {
    "numbers": Shape(20_000_000, numbers=20),
    "wide numbers": Shape(500_000, numbers=1_000),
    "wide categories": Shape(500_000, categories=1_000),
    "texts": Shape(4_000_000, words=60),
    "vocabulary": Shape(500_000, words=60, vocabulary=3_000_000),
    "folds": Shape(10_000_000, numbers=20, acts=("folds",)),
    "folds of categories": Shape(10_000_000, categories=20, acts=("folds",)),
    "folds of texts": Shape(1_000_000, words=60, acts=("folds",)),
}


def create(folder: Path, shape: Shape) -> None:
    """Files of a table: id, y, numbers of 32 bits that lean on the class, categories of 20 values, and a text."""
    uniform = [f"(hash(id, {i}) % 1000003) / 1000003.0 + (y * {i + 1} % 5) / 8.0" for i in range(shape.numbers)]
    columns = [f"CAST({x} AS FLOAT) AS x{i}" for i, x in enumerate(uniform)]
    columns += [f"'v' || (hash(id, {i}) + y * (hash(id, {i + 5000}) % 2)) % 20 AS c{i}" for i in range(shape.categories)]
    if shape.words:
        common, half = shape.vocabulary // 50, f"hash(id, i, {SEED}) % 2 = 0"  # half of the words are of the common ones
        word = f"hash(id, i) % (CASE WHEN {half} THEN {common} ELSE {shape.vocabulary} END)"
        columns.append(f"array_to_string(list_transform(range({shape.words}), lambda i: 'w' || {word}), ' ') AS text")
    step = -(-shape.rows // FILES)
    with duckdb.connect(config={"threads": 2, "memory_limit": "4GB"}) as con:
        for number, first in enumerate(range(0, shape.rows, step)):
            ids = f"range({first}, {min(first + step, shape.rows)}) AS t(id)"
            rows = f"SELECT id, CAST(hash(id) % {CLASSES} AS INTEGER) AS y FROM {ids}"
            file = folder / f"{number:03}.parquet"
            con.execute(f"COPY (SELECT id, y, {', '.join(columns)} FROM ({rows})) TO '{file}'")


class Spill(threading.Thread):
    """The most MiB that the files of a folder had together, looked at twenty times a second."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self.folder, self.most, self.ended = folder, 0.0, threading.Event()

    def run(self) -> None:
        while not self.ended.wait(0.05):
            self.most = max(self.most, size(self.folder))


def size(folder: Path) -> float:
    """MiB of the files of a folder."""
    return sum(blocks(file) for file in folder.rglob("*")) / 2048


def blocks(file: Path) -> int:
    """Of 512 bytes; a file that goes meanwhile has none."""
    try:
        return file.stat().st_blocks
    except FileNotFoundError:
        return 0


def measure(folder: Path, act: str, memory: str, work: Path) -> dict[str, Any]:
    """Seconds by the clock and of the processors of an act, the most MiB of the process and of the disk, or the error."""
    source = f"SELECT * FROM read_parquet('{folder}/*.parquet')"
    spilled = work / "spilled"
    database = work / "rows.duckdb"
    con = duckdb.connect(str(database), config={"threads": 2, "memory_limit": memory, "temp_directory": str(spilled)})
    spill = Spill(spilled)
    spill.start()
    start = time.perf_counter(), time.process_time()
    failed = None
    columns = [name for name, *_ in con.execute(f"DESCRIBE {source}").fetchall()]
    fitting: dict[str, Any] = {
        "target": "y",
        "id": "id",
        "families": {name: nbsql.Text() for name in columns if name == "text"},
    }
    try:
        if act == "fit":
            nbsql.fit(con, source, name="model", **fitting)
        elif act == "predict":
            query = nbsql.load(con, "model").predict(source)
            con.execute(f"COPY (SELECT id, prediction, probability FROM ({query.sql})) TO '{work / 'scored.parquet'}'")
        else:
            nbsql.cross_validate(con, source, folds=10, **fitting)
    except (nbsql.NbsqlError, duckdb.Error) as error:
        failed = str(error).splitlines()[0]
    spent = time.perf_counter() - start[0], time.process_time() - start[1]
    spill.ended.set()
    spill.join()
    con.close()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"act": act, "seconds": spent[0], "CPU": spent[1], "MiB": most, "spilled": spill.most, "failed": failed}


def in_process(folder: Path, act: str, memory: str, work: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, "--measure", str(folder), act, memory, str(work)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return {"act": act, "failed": f"the process ended with {done.returncode}"}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def row(shape: Shape, found: dict[str, Any]) -> str:
    if found["failed"]:
        cells = [found["failed"], "", "", ""]
    else:
        cells = [f"{found['seconds']:.1f}", f"{found['CPU']:.1f}", f"{found['MiB']:,.0f} MiB", f"{found['spilled']:,.0f} MiB"]
    return f"| {' | '.join([shape.title, found['act'], *cells])} |"


def run(names: list[str], share: float, memory: str, folder: Path | None) -> list[str]:
    """Print a row an act, and return what failed."""
    failed = []
    print("| table | act | seconds | of processors | peak memory | peak of spilled files |\n|---|---|---|---|---|---|")
    for name in names:
        shape = SHAPES[name]
        shape = Shape(**{**vars(shape), "rows": max(1_000, int(shape.rows * share))})
        with tempfile.TemporaryDirectory(prefix="nbsql_memory_", dir=folder) as made:
            table, work = Path(made) / "table", Path(made) / "work"
            table.mkdir()
            work.mkdir()
            create(table, shape)
            for act in shape.acts:
                found = in_process(table, act, memory, work)
                print(row(shape, found), flush=True)
                if found["failed"]:
                    failed.append(f"{name}, {act}: {found['failed']}")
                    break
                if name == names[-1] and act == shape.acts[-1]:
                    again = [in_process(table, act, memory, work)["CPU"] for _ in range(NOISE_ROUNDS)]
                    ratios = ", ".join(f"{spent / found['CPU']:.2f}" for spent in again)
                    print(f"\nThe noise: the last act again, its seconds of processors to those above: {ratios}")
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", nargs="+", choices=SHAPES, default=list(SHAPES), metavar="SHAPE", help=f"of {', '.join(SHAPES)}"
    )
    parser.add_argument("--quick", action="store_true", help="a hundredth of the rows")
    parser.add_argument("--share", type=float, default=1.0, help="that part of the rows")
    parser.add_argument("--memory", default="1GB", help="DuckDB's memory_limit (default 1GB)")
    parser.add_argument("--folder", type=Path, help="where the files are written")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        folder, act, memory, work = options.measure
        print(json.dumps(measure(Path(folder), act, memory, Path(work))))
        return
    failed = run(options.only, 0.01 if options.quick else options.share, options.memory, options.folder)
    if failed:
        raise SystemExit("\n".join(failed))


if __name__ == "__main__":
    main()
