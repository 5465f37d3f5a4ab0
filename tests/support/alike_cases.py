"""Costly cases that run no line and render no branch of a macro that the other cases of their folder do not: they are left to
the night, and to whoever changes what they are about.

Most cases are cheap, and CI runs them. Of those that take more than the average, each that is another way through the code is
run by CI, too, and one of several that go the same ways. Which ones those are, is not guessed: it is recorded,
with the seconds that processors spend on each, and few cases are chosen that go all the ways. The list is written anew by

    pip install coverage
    pytest -m "not nightly and not (spark or dbt or postgres)" --record-cases=cases.jsonl
    PYTHONPATH=tests python -m support.alike_cases cases.jsonl

The record of some tests may be added to that of others; the choice for a folder needs a record of all its cases. Of a folder
of `MANY_CASES` everybody runs no more than the first and the last case of a test, or of its form of scoring.
"""

from __future__ import annotations

import fcntl
import importlib
import json
import os
import sys
from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from engines.macros import Recorder
from engines.spark_cases import choose

LIST = Path(__file__).with_name("alike_cases.txt")
ROOT = Path(__file__).parents[2]
_LEAST_CASES = 20  # of a folder in the record, below which it is not chosen anew: some of its tests were tried by themselves
_HEADER = """\
# Costly cases that run no line of nbsql/ and render no branch of a macro that other cases of their folder do not: they are run
# by `pytest -m nightly`. alike_cases.py chooses them.
"""

MANY_CASES = {
    f"tests/{folder}" for folder in ("cli", "engines", "exchange", "judging", "learning", "maths", "models", "report")
}
MANY_CASES |= {"tests/robustness", "tests/scoring"}


def thinned(cases: Sequence[str], most: int = 2) -> set[str]:
    """Of the cases of a test those that everybody leaves to CI: all but a few, spread evenly from the first to the last."""
    if len(cases) <= most:
        return set()
    return {*cases} - {cases[number * (len(cases) - 1) // (most - 1)] for number in range(most)}


def listed() -> set[str]:
    """The cases that are left to the night, by their ids."""
    return {line for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#")}


class CaseRecord:
    """A plugin: it writes what each case ran and rendered, and how long it took, to a file."""

    def __init__(self, file: str) -> None:
        coverage: Any = importlib.import_module("coverage")

        self.file = Path(file)
        self.lines = coverage.Coverage(data_file=None, source=[str(ROOT / "nbsql")], config_file=False)
        self.recorder = Recorder(everywhere=True)
        self.started = 0.0
        self.cases: dict[str, dict[str, Any]] = {}

    def pytest_collection_finish(self) -> None:
        self.lines.start()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.started = _seconds()
        self.recorder.start()
        self.lines.switch_context(_case(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        report = yield
        if call.when == "call" and report.passed:
            seconds = round(_seconds() - self.started, 3)
            self.cases[_case(item)] = {"seconds": seconds, "rendered": sorted(self.recorder.seen)}
        return report

    def pytest_sessionfinish(self) -> None:
        self.lines.stop()
        data = self.lines.get_data()
        ran: dict[str, list[str]] = defaultdict(list)
        for name in data.measured_files():
            for line, cases in data.contexts_by_lineno(name).items():
                for case in cases:
                    ran[case].append(f"{Path(name).relative_to(ROOT)}:{line}")
        with self.file.open("a", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # each worker has a record of what it ran
            for case, record in self.cases.items():
                record["rendered"] += ran[case]
                file.write(json.dumps({"case": case, **record}) + "\n")


def _case(item: pytest.Item) -> str:
    """The id of a case, without the worker that pytest-xdist has added to it."""
    group = item.get_closest_marker("xdist_group")
    return item.nodeid if group is None else item.nodeid.removesuffix(f"@{group.args[0]}")


def _seconds() -> float:
    """What processors have spent on this process and on what it has waited for, however busy the machine is."""
    return sum(os.times()[:4])


def alike(records: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """The cases of a folder, by their ids, that cost more than the average and go no way that the others do not.

    Of each test a case is left, as it asserts what no other does.
    """
    average = sum(record["seconds"] for record in records.values()) / len(records)
    costs = {case: record["seconds"] / average for case, record in records.items()}
    cheap = {case for case, cost in costs.items() if cost <= 1}
    left = records.keys() - cheap
    ways = {case: [*record["rendered"], case.partition("[")[0]] for case, record in records.items()}
    return left - {*choose(ways, costs, cheap)}


def write(path: str) -> None:
    """Choose by a record, and say what that comes to."""
    with Path(path).open(encoding="utf-8") as file:
        records = {record["case"]: record for record in map(json.loads, file)}
    folders: dict[str, dict[str, Any]] = defaultdict(dict)
    for case, record in records.items():
        folders[case.partition("::")[0].rpartition("/")[0]][case] = record
    left = listed()
    for folder, cases in sorted(folders.items()):
        if len(cases) < _LEAST_CASES:
            continue
        found = alike(cases)
        left = (left - cases.keys()) | found
        spent, saved = (sum(cases[case]["seconds"] for case in of) for of in (cases, found))
        print(f"{folder}: {len(found)} of {len(cases)} cases are left to the night, which took {saved:.0f} of {spent:.0f} s")
    LIST.write_text(_HEADER + "".join(f"{line}\n" for line in sorted(left)), encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1])
