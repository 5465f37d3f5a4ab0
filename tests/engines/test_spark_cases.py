"""The lists of the cases that CI runs name cases that there are, and the choice of them leaves nothing out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from engines import spark_cases
from engines.macros import branches, own_macros, watched
from engines.spark_runs import SparkRun
from jinja2 import Environment

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def cases() -> list[str]:
    """All tests on Spark and PostgreSQL, by file::name, as pytest finds them."""
    marks = ["-m", "spark or postgres"]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--collect-only", *marks, "-p", "no:cacheprovider", HERE]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=HERE.parents[1], check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return re.findall(rf"^tests/{HERE.name}/(\S+\.py::.*)$", done.stdout, re.MULTILINE)


@pytest.mark.slow  # finds all tests of this folder
def test_each_entry_of_a_list_is_one_case(cases: list[str]) -> None:
    for engine, reasons in (("spark", {"quick", "kept", "chosen"}), ("postgres", {"chosen"})):
        lines = spark_cases.LISTS[engine].read_text(encoding="utf-8").splitlines()
        entries = [line.split(maxsplit=1) for line in lines if not line.startswith("#")]
        assert len([case for case in cases if engine in case]) > 300
        assert [case for _, case in entries if cases.count(case) != 1] == []
        assert {why for why, _ in entries} == reasons
        assert len(entries) == len(spark_cases.listed(engine))
        assert 50 <= len(entries) <= 120  # of which CI takes minutes


@pytest.mark.xdist_group("grouped")
def test_what_is_grouped_shares_a_worker(request: pytest.FixtureRequest) -> None:
    """Else each worker starts all that a module's tests share, and says nothing of it."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        assert request.node.nodeid.endswith("@grouped"), (
            "this pytest does not work with this pytest-xdist: pip install '.[test]'"
        )


def test_the_choice_renders_what_all_cases_do() -> None:
    rendered = {"a": ["1", "2", "3"], "b": ["3", "4"], "c": ["1", "4", "5"], "d": ["5"], "kept": ["2"], "again": ["3"]}
    seconds = dict.fromkeys(rendered, 1.0) | {"c": 30.0}
    chosen = spark_cases.choose(rendered, seconds, ["kept"])
    assert set().union(*(rendered[case] for case in [*chosen, "kept"])) == {"1", "2", "3", "4", "5"}
    assert chosen == ["a", "b", "d"]
    assert spark_cases.choose({"a": ["1"], "kept": ["1", "2"]}, {"a": 1.0, "kept": 1.0}, ["kept"]) == []


def test_a_macro_that_no_case_renders_fails_a_run_of_all_cases(request: pytest.FixtureRequest) -> None:
    run = SparkRun(request.config)
    run.rendered = {case: [] for case in spark_cases.listed()}
    assert run.missing() == sorted(own_macros("spark"))
    assert _exit_status(run) == 0  # of the list alone, which is then chosen anew
    run.rendered["test_other.py::test_by_night[spark]"] = []
    assert _exit_status(run) == 1
    run.rendered["test_other.py::test_by_night[spark]"] = sorted(own_macros("spark"))
    assert _exit_status(run) == 0


def _exit_status(run: SparkRun) -> int:
    session = SimpleNamespace(exitstatus=0)
    run.pytest_sessionfinish(session)  # type: ignore[arg-type]
    return int(session.exitstatus)


TEMPLATE = """{% macro rows(n) %}
{% for i in range(n) -%}
  {%- if i == 0 -%} none {%- elif i == 1 %}one
  {% else -%}
    {{ i }} {% if i > 2 %}, {% endif %}
  {%- endif %}
{% endfor %}
{% endmacro %}
{{ rows(0) }}|{{ rows(2) }}|{{ rows(5) }}"""


def test_to_watch_a_macro_changes_no_white_space() -> None:
    environment = Environment(trim_blocks=True, lstrip_blocks=True, autoescape=True)
    seen: set[str] = set()
    environment.globals["nbsql"] = type("", (), {"record_branch": staticmethod(seen.add)})
    assert environment.from_string(watched("rows", TEMPLATE)).render() == environment.from_string(TEMPLATE).render()
    assert seen == {f"rows: {tag}" for tag in ("for i in range(n)", "if i == 0", "elif i == 1", "else", "if i > 2")}
    assert {name for _, name in branches("rows", TEMPLATE)} == seen


def test_the_macros_of_spark_are_known() -> None:
    names = own_macros("spark")
    assert len(names) > 100
    assert {"spark__lookup_join", "plain__output_column"} <= names
    assert "spark__ident" not in names  # a gate takes its place
