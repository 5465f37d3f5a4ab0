"""What each verb costs beside a prediction of the same rows: seconds of the processors, the least of the rounds.

    python tests/benchmarks/verbs.py [--rows 100000] [--rounds 3] [--only KIND] [--against FOLDER]

The answers become temporary tables, which are dropped. --against: another checkout of nbsql, measured in turns with this one,
whose seconds are divided by its own; and this one once more, whose ratio is the machine's noise.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
from tables import case_of, create

import nbsql

HERE = Path(__file__)
KINDS = ("numeric", "categorical", "mixed")


def acts(con: duckdb.DuckDBPyConnection, kind: str, rows: int, folder: str) -> dict[str, Callable[[], object]]:
    """The verbs of models of a table, of which each is fitted first."""
    case = case_of(kind, rows)
    create(con, case)
    families = {column: nbsql.Text() for column in case.text_columns}
    options: dict[str, Any] = {"target": "y", "id": "id", "families": families}
    table = case.table
    model = nbsql.fit(con, table, name="model", **options)
    found: dict[str, Callable[[], object]] = {
        "fit": lambda: nbsql.fit(con, table, **options),
        "predict": lambda: model.predict(table),
        "predict_proba": lambda: model.predict_proba(table),
        "log_evidence": lambda: model.log_evidence(table),
        "explain": lambda: model.explain(table),
        "evaluate": lambda: model.evaluate(table).to_dict(),
        "evaluate, ROC curve": lambda: model.evaluate(table).roc,
        "evaluate, intervals": lambda: model.evaluate(table).intervals,
        "review": lambda: model.review(table, 20),
        "monitor": lambda: model.monitor(table),
        "impute": lambda: model.impute(table),
        "dependence": lambda: model.dependence(table),
        "ten folds": lambda: nbsql.cross_validate(con, table, folds=10, **options),
        "report": lambda: model.report(f"{folder}/report.html", source=table),
    }
    if not case.text_columns:
        found["leave-one-out"] = lambda: nbsql.cross_validate(con, table, folds="loo", **options)
    if kind == "categorical":
        for method in ("tan", "aode", "kdb"):
            other = nbsql.fit(con, table, name=method, method=method, **options)
            found |= {
                f"fit by {method}": lambda method=method: nbsql.fit(con, table, method=method, **options),  # type: ignore[misc]
                f"predict by {method}": lambda other=other: other.predict(table),  # type: ignore[misc]
            }
    return found


def seconds(kind: str, rows: int) -> dict[str, float]:
    """The seconds of the processors that each verb takes, its answer included."""
    found = {}
    with duckdb.connect() as con, tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, act in acts(con, kind, rows, folder).items():
            start = time.process_time()
            answer = act()
            if isinstance(answer, nbsql.Query):
                con.execute(f"CREATE TEMP TABLE answer AS {answer.sql}")
            found[name] = time.process_time() - start
            con.execute("DROP TABLE IF EXISTS temp.answer")
    return found


def measured(folder: Path, kind: str, rows: int) -> dict[str, float]:
    """The same of a checkout, in a process of its own."""
    command = [sys.executable, str(HERE), "--measure", "--only", kind, "--rows", str(rows)]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    return {name: float(value) for name, value in json.loads(answer).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(seconds(arguments.only, arguments.rows)))
        return
    ours = HERE.parents[2]
    folders = [ours, *([arguments.against, ours] if arguments.against else [])]
    for kind in [arguments.only] if arguments.only else KINDS:
        rounds = [[measured(folder, kind, arguments.rows) for folder in folders] for _ in range(arguments.rounds)]
        print(f"{case_of(kind, arguments.rows).title}: seconds, and divided by those of predict")
        least = [{name: min(each[place][name] for each in rounds) for name in rounds[0][0]} for place in range(len(folders))]
        for name, taken in least[0].items():
            ratios = [taken / other[name] for other in least[1:]]
            beside = f", {ratios[0]:.2f} of the other's (noise {ratios[1]:.2f})" if ratios else ""
            print(f"  {name:<22}{taken:8.2f}{taken / least[0]['predict']:8.1f}{beside}", flush=True)


if __name__ == "__main__":
    main()
