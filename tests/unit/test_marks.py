"""By day each case is run in one form and few on Spark; by night everything is run."""

import os
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.marks import ELSEWHERE, FORMS, mark

TESTS = Path(__file__).parents[1]


class Case:
    def __init__(self, file, test, /, *fixtures, marks=(), forms=(), **params):
        self.path, self.fixturenames, self.marks, self.forms = TESTS / file, fixtures, [*marks], forms
        self.nodeid = f"tests/{file}::{test}[{'-'.join(map(str, params.values()))}]"
        self.callspec = SimpleNamespace(params=params)

    def get_closest_marker(self, name):
        if name == "forms":
            return SimpleNamespace(args=self.forms) if self.forms else None
        return name if name in self.marks else None

    def add_marker(self, added):
        self.marks.append(added if isinstance(added, str) else added.name)


def by_day(cases):
    mark(cases)
    return [case for case in cases if "nightly" not in case.marks]


def test_each_case_has_one_form_by_day_and_all_have_their_turn():
    cases = [
        Case("maths/test_a.py", f"test_{n}", form=form, alpha=alpha) for n in range(20) for alpha in (0, 1) for form in FORMS
    ]
    chosen = by_day(cases)
    assert len({(case.nodeid.partition("[")[0], case.callspec.params["alpha"]) for case in chosen}) == len(chosen) == 40
    assert {case.callspec.params["form"] for case in chosen} == {*FORMS}
    again = by_day([Case("maths/test_a.py", "test_3", form=form, alpha=1) for form in reversed(FORMS)])
    assert [case.nodeid for case in again] == [
        case.nodeid for case in chosen if "test_3[" in case.nodeid and "-1]" in case.nodeid
    ]


def test_forms_of_other_things_are_all_run():
    cases = [Case("cli/test_a.py", "test_outputs", form=form) for form in ("csv", "json")]
    assert by_day(cases) == cases


def test_a_mark_names_other_parameters_that_are_forms():
    cases = [
        Case("models/test_a.py", "test_types", forms=("kind", "norm"), kind=kind, norm=norm, alpha=alpha)
        for kind in ("DATE", "TIME") for norm in (None, "l2") for alpha in range(20)
    ]  # fmt: skip
    chosen = [case.callspec.params for case in by_day(cases)]
    assert sorted(params["alpha"] for params in chosen) == [*range(20)]
    assert {(params["kind"], params["norm"]) for params in chosen} == {(k, n) for k in ("DATE", "TIME") for n in (None, "l2")}


def test_one_engine_runs_by_day_what_is_written_for_others():
    cases = [Case("scoring/test_a.py", f"test_{n}", elsewhere=engine) for n in range(20) for engine in ELSEWHERE]
    assert Counter(case.nodeid.partition("[")[0] for case in by_day(cases)) == Counter(
        f"tests/scoring/test_a.py::test_{n}" for n in range(20)
    )


def test_spark_is_asked_the_first_case_of_a_daily_test_beside_what_is_of_spark_alone():
    cases = [
        Case("engines/test_a.py", f"test_{n}", marks=("daily",) * (n == 1), place=place, seed=seed)
        for n in range(3) for seed in range(5) for place in ("duckdb", "postgres", "spark")
    ]  # fmt: skip
    alone = [Case("engines/test_a.py", f"test_spark_{n}", "spark") for n in range(2)]
    chosen = by_day([*cases, *alone])
    assert [case for case in chosen if "spark" in case.marks] == [cases[17], *alone]
    assert sorted(case.nodeid.partition("[")[0][-1] for case in chosen if "postgres" in case.marks) == ["0", "1", "2"]
    assert [case for case in chosen if {"spark", "postgres"}.isdisjoint(case.marks)] == cases[::3]
    elsewhere = Case("golden/test_a.py", "test_a", dialect="spark")
    assert by_day([elsewhere]) == [elsewhere]
    assert elsewhere.marks == []


def test_a_project_of_dbt_is_built_on_one_engine_by_day_by_one_worker():
    cases = [
        Case("dbt/test_a.py", f"test_{n}", marks=("dbt",), project=engine)
        for n in range(3)
        for engine in ("duckdb", "postgres")
    ]
    assert len({case.callspec.params["project"] for case in by_day(cases)}) == 1
    assert all("xdist_group" in case.marks for case in cases)


def test_of_few_a_plain_run_tries_one_case_and_ci_a_fourth_on_each_engine():
    cases = [
        Case("engines/test_a.py", "test_few", marks=("few",), place=place, seed=seed)
        for seed in range(9) for place in ("duckdb", "postgres")
    ]  # fmt: skip
    chosen = by_day(cases)
    assert Counter(case.callspec.params["place"] for case in chosen) == {"duckdb": 3, "postgres": 1}
    assert sorted(case.callspec.params["place"] for case in chosen if "slow" not in case.marks) == ["duckdb", "postgres"]
    one_more = [Case("engines/test_a.py", "test_few", marks=("few",), place="duckdb", seed=seed) for seed in range(10)]
    before, after = ({case.nodeid for case in found if "postgres" not in case.marks} for found in (chosen, by_day(one_more)))
    assert len(after) == 3
    assert len(before & after) >= 2


@pytest.mark.xdist_group("grouped")
def test_what_is_grouped_shares_a_worker(request):
    """Else each worker starts all that a module's tests share, and says nothing of it."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        assert request.node.nodeid.endswith("@grouped"), (
            "this pytest does not work with this pytest-xdist: pip install '.[test]'"
        )
