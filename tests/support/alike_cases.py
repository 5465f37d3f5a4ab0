"""Cases that run no line and render no branch of a macro that other cases of their test do not: everybody leaves them to CI.

A test of many cases is one of many values, and each of some families, verbs or sources is another way through the code. Which
ones are, is not guessed: it is recorded, with the seconds that each takes, and few cases are chosen that go all the ways. The
list is written anew by

    pip install coverage
    pytest -n 0 --record-cases=cases.jsonl
    PYTHONPATH=tests python -m support.alike_cases cases.jsonl

The record of some tests may be added to that of others. A case that is in no record is run by everybody.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from engines.macros import Recorder
from engines.spark_cases import choose

LIST = Path(__file__).with_name("alike_cases.txt")
ROOT = Path(__file__).parents[2]
_LEAST_CASES, _LEAST_SECONDS = 4, 1.0  # of a test, below which there is little to leave out
_HEADER = """\
# Cases that run no line of nbsql/ and render no branch of a macro that other cases of their test do not: CI runs them, and
# everybody who asks for `pytest -m slow`. alike_cases.py chooses them.
"""


def listed() -> set[str]:
    """The cases that are left to CI, by their ids."""
    return {line for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#")}


class CaseRecord:
    """A plugin: it writes what each case ran and rendered, and how long it took, to a file."""

    def __init__(self, file: str) -> None:
        import coverage

        self.file = Path(file)
        self.lines = coverage.Coverage(data_file=None, source=[str(ROOT / "nbsql")], config_file=False)
        self.recorder = Recorder(everywhere=True)
        self.cases: dict[str, dict[str, Any]] = {}

    def pytest_collection_finish(self) -> None:
        self.lines.start()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.recorder.start()
        self.lines.switch_context(item.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        report = yield
        if call.when == "call" and report.passed:
            self.cases[item.nodeid] = {"seconds": round(report.duration, 3), "rendered": sorted(self.recorder.seen)}
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
            for case, record in self.cases.items():
                record["rendered"] += ran[case]
                file.write(json.dumps({"case": case, **record}) + "\n")


def write(path: str) -> None:
    """Choose by a record, and say what that comes to."""
    records = {record["case"]: record for record in map(json.loads, Path(path).read_text(encoding="utf-8").splitlines())}
    tests: dict[str, list[str]] = defaultdict(list)
    for case in records:
        tests[case.partition("[")[0]].append(case)
    left = listed() - records.keys()
    for cases in tests.values():
        seconds = {case: records[case]["seconds"] for case in cases}
        if len(cases) >= _LEAST_CASES and sum(seconds.values()) >= _LEAST_SECONDS:
            left |= {*cases} - {*choose({case: records[case]["rendered"] for case in cases}, seconds, [])}
    LIST.write_text(_HEADER + "".join(f"{case}\n" for case in sorted(left)), encoding="utf-8")
    total, saved = (sum(record["seconds"] for case, record in records.items() if case in of) for of in (records, left))
    print(f"{len(left & records.keys())} of {len(records)} cases are left to CI, which took {saved:.0f} of {total:.0f} s")


if __name__ == "__main__":
    write(sys.argv[1])
