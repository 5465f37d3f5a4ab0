"""How many statements a small fit, an update, a prediction and one row send to DuckDB: most of what a small table costs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import statements

MOST = {
    "mixed": (27, 34, 3, 4, 1),
    "10 numbers, 10 categories": (26, 33, 3, 4, 1),
    "20 numbers": (23, 28, 3, 4, 1),
    "20 numbers in 50 classes": (23, 31, 3, 4, 1),
    "20 categories": (23, 31, 3, 4, 1),
    "20 numbers by lda": (26, 29, 3, 4, 1),
}


@pytest.mark.look
@pytest.mark.parametrize("case", statements.CASES)
def test_small_acts_send_few_statements(case: str) -> None:
    found = statements.acts(case)
    assert tuple(map(len, found.values())) == MOST[case]
    asked = [sum(bool(statements.CATALOGUE.search(each)) for each in sent) for sent in found.values()]
    assert asked == [1, 2, 1, 2, 0]
    assert found["fit"][-1] == "COMMIT"
