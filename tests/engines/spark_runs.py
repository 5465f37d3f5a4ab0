"""Which tests run on Spark or PostgreSQL, and what they render; a plugin of pytest's. Which of them CI runs is in lists."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from engines.macros import Recorder, own_macros
from engines.spark_cases import LISTS, listed


def key(item: pytest.Item) -> str:
    """What a case is called in the list, whatever folder its file is in."""
    return f"{item.path.name}::{item.name}"


def is_case_on(engine: str, item: pytest.Item) -> bool:
    """Whether a test has cases on several engines, and this is that of the engine."""
    values: Mapping[str, Any] = getattr(getattr(item, "callspec", None), "params", {})
    here = item.path.is_relative_to(LISTS[engine].parent)
    return here and any(isinstance(value, str) and value == engine for value in values.values())


def on_spark(item: pytest.Item) -> bool:
    """Whether a test starts Spark."""
    named = "spark" in getattr(item, "fixturenames", ()) or item.get_closest_marker("spark") is not None
    return named or is_case_on("spark", item)


def mark(items: Iterable[pytest.Item]) -> None:
    """Mark the cases that are not quick as slow, and those that CI leaves out as nightly.

    One worker has a session, as starting and warming another costs as much as some ten cases; by night, when hardly anything
    else is run, two have one.
    """
    why = listed()
    nights = 0
    for item in items:
        if not on_spark(item):
            continue
        reason = why.get(key(item))
        item.add_marker("spark")
        if reason is None:
            nights += 1
            item.add_marker("nightly")
        item.add_marker(pytest.mark.xdist_group(f"spark{nights % 2}" if reason is None else "spark0"))
        if reason != "quick":
            item.add_marker("slow")


class SparkRun:
    """The plugin: it marks the cases and watches what they render."""

    def __init__(self, config: pytest.Config) -> None:
        self.controls = not hasattr(config, "workerinput")  # a worker reports to the process that does
        self.record = config.getoption("--record-macros")
        self.recorder = Recorder()
        self.rendered: dict[str, list[str]] = {}
        self.listed = listed().keys() | listed("postgres").keys()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        mark(items)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if self._engine(item) is not None:
            self.recorder.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        report = yield
        engine = self._engine(item)
        if report.skipped and key(item) in self.listed and os.environ.get("CI"):  # it is in the list for what it renders
            report.outcome = "failed"
            report.longrepr = f"{key(item)} is in the list of the cases that CI runs, and is skipped: {report.longrepr}"
        if call.when == "call" and report.passed and engine is not None:
            report.case, report.engine, report.rendered = key(item), engine, sorted(self.recorder.seen)
        return report

    def _engine(self, item: pytest.Item) -> str | None:
        """On which engine a test is watched; what PostgreSQL is asked costs so little that watching it is a good part."""
        if on_spark(item):
            return "spark"
        return "postgres" if self.record and is_case_on("postgres", item) else None

    def pytest_runtest_logreport(self, report: Any) -> None:
        if not self.controls or not hasattr(report, "case"):
            return
        if report.engine == "spark":
            self.rendered[report.case] = report.rendered
        if self.record:
            line = {
                "engine": report.engine,
                "case": report.case,
                "seconds": round(report.duration, 2),
                "rendered": report.rendered,
            }
            with Path(self.record).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    def missing(self) -> list[str]:
        """Macros for Spark that no case rendered, once all cases of the list have passed."""
        if not self.rendered or not listed().keys() <= self.rendered.keys():
            return []
        return sorted(own_macros("spark").difference(*self.rendered.values()))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A run of all cases fails where a macro is rendered by none; one of the list warns, and is then chosen anew."""
        if self.missing() and not self.rendered.keys() <= listed().keys():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        everywhere = not self.rendered.keys() <= listed().keys()
        for name in self.missing():
            kind, where = ("error", "no case on Spark") if everywhere else ("warning", f"no case of {LISTS['spark'].name}")
            terminalreporter.write_line(
                f"{kind}: {name} is rendered by {where}; record them, and choose anew", red=everywhere, yellow=not everywhere
            )
