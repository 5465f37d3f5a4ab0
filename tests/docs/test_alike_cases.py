"""The list of the cases that everybody leaves to CI names cases that there are, and never all of a test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter

import pytest
from support.alike_cases import LIST, ROOT, listed


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
    tests, all_tests = (Counter(case.partition("[")[0] for case in of) for of in (left, cases))
    assert [test for test, count in tests.items() if count == all_tests[test]] == []
