"""How many statements a small fit and a fetched prediction send to DuckDB: their number is most of what a small table costs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import statements

MOST = {"mixed": (24, 3), "10 numbers, 10 categories": (23, 3)}


@pytest.mark.parametrize("case", statements.CASES)
def test_a_small_fit_and_a_prediction_send_few_statements(case: str) -> None:
    fit, predict = statements.acts(case).values()
    assert (len(fit), len(predict)) == MOST[case]
    assert sum(bool(statements.CATALOGUE.search(statement)) for statement in fit) == 4
    assert fit[-1] == "COMMIT"
