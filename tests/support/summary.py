"""What processors spent on a run of the tests, by what it started: its last lines say so."""

import os
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

# What tests start, whose seconds are told apart: the first mark that a test has.
_STARTED = {"spark": "Spark", "dbt": "dbt", "postgres": "PostgreSQL"}
_COUNTED = ("tests", "seconds", "by_test")
_LEAST = 60  # seconds, below which nobody asks where they went


class Summary:
    """A plugin: workers count what processors spend, and the process that they report to says it."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.tests: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self.by_test: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, Any, Any]:
        started = next((name for mark, name in _STARTED.items() if item.get_closest_marker(mark)), "others")
        # The last test of a worker ends its servers: what they spent is that of the tests before, and counted with them.
        running = started != "others" or nextitem is None
        before = _processor_seconds(running=running)
        done = yield
        spent = max(_processor_seconds(running=running) - before, 0)
        self.seconds[started] += spent  # type: ignore[assignment]
        self.by_test[item.nodeid] += spent  # type: ignore[assignment]
        self.tests[started] += 1
        return done

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        if hasattr(self.config, "workerinput"):
            output: dict[str, Any] = vars(self.config)["workeroutput"]
            output |= {name: dict(getattr(self, name)) for name in _COUNTED}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        said = getattr(node, "workeroutput", {})
        for name in _COUNTED:
            getattr(self, name).update(said.get(name, {}))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if (file := self.config.getoption("seconds")) is not None:
            files: Counter[str] = Counter()
            for test, seconds in self.by_test.items():
                files[test.partition("::")[0]] += seconds
            lines = [f"{seconds:.2f} {name}" for each in (files, self.by_test) for name, seconds in each.most_common()]
            Path(file).write_text("\n".join(lines) + "\n", encoding="utf-8")
        spent = sum(self.seconds.values())
        if spent >= _LEAST:
            terminalreporter.section("seconds of processors")
            for name, seconds in self.seconds.most_common():
                terminalreporter.write_line(f"{seconds:>5.0f} {name}, of {self.tests[name]} tests")
            terminalreporter.write_line(f"{spent:>5.0f} all, and what finding the tests took")


def _processor_seconds(*, running: bool) -> float:
    """Those that this process and what it has waited for have spent; and, on Linux, what it started and is running.

    To look at all that is running takes longer than many a test.
    """
    spent = os.times()
    total = spent.user + spent.system + spent.children_user + spent.children_system
    if not running:
        return total
    parents, seconds = {}, {}
    processes = Path("/proc").iterdir() if Path("/proc").is_dir() else ()
    for number in [int(each.name) for each in processes if each.name.isdecimal()]:
        try:
            fields = Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        parents[number] = int(fields[1])
        seconds[number] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return total + sum(seconds[process] for process in seconds if _descends(process, parents))


def _descends(process: int, parents: dict[int, int]) -> bool:
    while process in parents:
        process = parents[process]
        if process == os.getpid():
            return True
    return False
