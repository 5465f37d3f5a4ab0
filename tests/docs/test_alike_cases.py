"""The list of the cases that are left to the night names cases that there are, and never all of a test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter

import pytest
from support.alike_cases import LIST, ROOT, alike, listed, thinned


@pytest.mark.slow
def test_each_entry_is_a_case_of_a_test_that_has_others() -> None:
    left = listed()
    files = sorted({case.partition("::")[0] for case in left})
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--collect-only", "-m", "", "-p", "no:cacheprovider", *files]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    cases = {*re.findall(r"^tests/\S+\.py::.*$", done.stdout, re.MULTILINE)}
    assert left - cases == set(), f"{LIST.name} names what there is not: take it out, or choose anew"
    left_out, all_cases = (Counter(case.partition("[")[0] for case in of) for of in (left, cases))
    assert [test for test, count in left_out.items() if count == all_cases[test]] == []


def test_what_is_left_out_is_costly_and_goes_the_ways_of_others() -> None:
    records = {
        "a.py::cheap[one]": {"seconds": 0.1, "rendered": ["1", "2"]},
        "a.py::cheap[alike]": {"seconds": 3.0, "rendered": ["1", "2"]},
        "a.py::other[one]": {"seconds": 2.0, "rendered": ["1", "3"]},
        "a.py::other[slower]": {"seconds": 4.0, "rendered": ["2", "3"]},
        **{f"a.py::cheap[{i}]": {"seconds": 0.1, "rendered": ["1"]} for i in range(9)},
        "b.py::alone": {"seconds": 5.0, "rendered": ["1"]},
    }
    assert alike(records) == {"a.py::cheap[alike]", "a.py::other[slower]"}  # and of no test all


def test_of_many_cases_the_first_and_the_last_are_left() -> None:
    cases = [f"test[{number}]" for number in range(9)]
    assert sorted({*cases} - thinned(cases)) == ["test[0]", "test[8]"]
    assert thinned(cases, most=3) == {*cases} - {"test[0]", "test[4]", "test[8]"}
    assert thinned(cases[:2]) == set()
