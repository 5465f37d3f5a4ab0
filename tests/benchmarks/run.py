"""Fit and predict, side by side: nbsql, a bare scan of the same columns, and scikit-learn with and without the fetch.

    python tests/benchmarks/run.py [--quick] [--only KIND] [--rounds N] [--json FILE]

Makes its tables in a temporary folder. Every contender has a process and the same two threads; they take turns, so that
whatever else the machine does meets all of them. Figures are medians of the rounds, with the least and the greatest.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import sklearn
from report import print_report
from tables import Case, cases, create

import nbsql

HERE = Path(__file__).parent
ENOUGH = 60.0  # a contender that has used so many seconds on one act sits the later rounds out, after two
CONTENDERS = ("scan", "nbsql", "resident", "fetching")


class Worker:
    """A contender in its process, ready to act."""

    def __init__(self, contender: str, database: Path, case: Case) -> None:
        command = [sys.executable, str(HERE / "worker.py"), contender, str(database), json.dumps(asdict(case))]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")])}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self._answer()

    def _answer(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line:
            raise SystemExit("a contender stopped; its error is above")
        return line

    def tell(self, act: str) -> str:
        assert self.process.stdin is not None
        print(act, file=self.process.stdin, flush=True)
        return self._answer()

    def stop(self) -> None:
        self.process.communicate()


def measure(database: Path, case: Case, rounds: int) -> dict[str, Any]:
    """Seconds of every act and contender, a list with one number a round, and whether the answers agree."""
    workers = {name: Worker(name, database, case) for name in CONTENDERS}
    try:
        seconds: dict[str, dict[str, list[float]]] = {}
        for act in ("fit", "predict"):
            seconds[act] = {name: [] for name in CONTENDERS}
            for number in range(rounds):
                for name in CONTENDERS if number % 2 == 0 else reversed(CONTENDERS):
                    spent = seconds[act][name]
                    if len(spent) < 2 or sum(spent) < ENOUGH:
                        spent.append(float(workers[name].tell(act)))
        seconds["predict"]["nbsql, all columns"] = [
            float(workers["nbsql"].tell("predict_all_columns")) for _ in range(min(rounds, 3))
        ]
        found = {}
        for name in ("nbsql", "resident"):
            file = database.with_name(f"{name}.npz")
            workers[name].tell(f"answers {file}")
            found[name] = dict(np.load(file))
            file.unlink()
    finally:
        for worker in workers.values():
            worker.stop()
    return {
        "case": asdict(case),
        "title": case.title,
        "seconds": seconds,
        "agreement": agreement(found["nbsql"], found["resident"]),
    }


def agreement(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    """Rows that are predicted otherwise, those of them that are ties, and how far the posteriors of the sample are apart."""
    differ = ours["predictions"] != theirs["predictions"]
    return {
        "rows": len(differ),
        "otherwise": int(differ.sum()),
        "ties": int((differ & (theirs["margin"] < 1e-9)).sum()),
        "posterior": float(np.abs(ours["posterior"] - theirs["posterior"]).max()),
    }


def agrees(found: dict[str, Any]) -> bool:
    return found["otherwise"] == found["ties"] and found["posterior"] <= 1e-6


def machine() -> dict[str, Any]:
    return {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {_memory_gib():.0f} GiB",
        "python": platform.python_version(),
        "nbsql": nbsql.__version__,
        "duckdb": duckdb.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
    }


def _memory_gib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the small tables only")
    parser.add_argument("--only", choices=("numeric", "categorical", "text", "mixed", "lda"), help="one kind of table only")
    parser.add_argument("--rounds", type=int, default=5, help="how often each contender takes its turn (default 5)")
    parser.add_argument("--json", type=Path, help="write every figure to this file")
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory(prefix="nbsql benchmark ") as folder:
        for case in cases(quick=options.quick):
            if options.only in (None, case.name):
                print(f"{case.title} ...", file=sys.stderr, flush=True)
                database = Path(folder) / f"{case.table}.duckdb"
                with duckdb.connect(str(database)) as con:
                    create(con, case)
                results.append(measure(database, case, options.rounds))
                database.unlink()
    report = {**machine(), "rounds": options.rounds, "results": results}
    if options.json:
        options.json.write_text(json.dumps(report, indent=2))
    print_report(report)
    if not all(agrees(result["agreement"]) for result in results):
        raise SystemExit("the answers of nbsql and scikit-learn differ")


if __name__ == "__main__":
    main()
