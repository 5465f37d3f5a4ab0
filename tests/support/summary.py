"""What a run of the tests left out, and how that is run: its last lines say so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

# By the marks of a test, the first that it has: what it is, and the command that runs it.
_KINDS = {
    "nightly spark": ("cases on Spark that render no other SQL than those that CI runs", "pytest -m 'spark and nightly'"),
    "nightly": ("cases of what others hold, too, in more ways", "pytest -m 'nightly and not spark'"),
    "spark": ("other tests on Spark", "pytest -m 'spark and not nightly'"),
    "dbt": ("tests with dbt", "pytest -m dbt"),
    "postgres": ("tests on PostgreSQL", "pytest -m 'slow and postgres'"),
    "slow": ("other tests that take long", "pytest -m 'slow and not (spark or dbt or postgres)'"),
}


class Summary:
    """A plugin: the workers count what marks deselect, and the process that they report to says it."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.left_out: Counter[str] = Counter()

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        for item in items:
            kind = next((kind for kind in _KINDS if all(item.get_closest_marker(mark) for mark in kind.split())), None)
            if kind is not None:
                self.left_out[kind] += 1

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        if hasattr(self.config, "workerinput"):
            self.config.workeroutput["left_out"] = dict(self.left_out)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.left_out = self.left_out or Counter(getattr(node, "workeroutput", {}).get("left_out", {}))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self.left_out or self.config.getoption("keyword"):
            return
        terminalreporter.section("left out")
        for kind, (what, command) in _KINDS.items():
            if self.left_out[kind]:
                terminalreporter.write_line(f"{self.left_out[kind]:>5} {what}: {command}")
