"""How sure the numbers of an evaluation are: against scipy, and against the definition of DeLong et al. row by row."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import numpy as np
import pytest
from judging.test_evaluate import Oracle, rows
from scipy import stats

import nbsql

CLOSE: dict[str, Any] = {"rel": 1e-9, "abs": 1e-12}
Z = stats.norm.ppf(0.975)

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


def intervals_of(evaluation: nbsql.Evaluation) -> dict[tuple[Any, str], tuple[Any, ...]]:
    return {(label, metric): numbers for label, metric, *numbers in evaluation.intervals}  # type: ignore[misc]


def delong(positive: np.ndarray, p: np.ndarray) -> tuple[float, float]:
    """The area, and its standard error: what share of the other side each row beats, pair by pair."""
    here, there = p[positive], p[~positive]
    wins = (here[:, None] > there[None, :]) + 0.5 * (here[:, None] == there[None, :])
    error = wins.mean(1).var(ddof=1) / len(here) + wins.mean(0).var(ddof=1) / len(there)
    return float(wins.mean()), math.sqrt(error)


@pytest.mark.parametrize("classes", [2, 3])
def test_intervals_are_those_of_wilson_and_delong(con: duckdb.DuckDBPyConnection, classes: int) -> None:
    source = rows(classes)
    model = nbsql.fit(con, source, target="label", exclude=["i", "w"], name="m")
    evaluation = model.evaluate(source)
    oracle, found = Oracle(model, source), intervals_of(evaluation)
    y, prediction = np.array(oracle.y), np.array(oracle.prediction)
    shares = {(None, "accuracy"): (y == prediction)}
    for label in oracle.labels:
        shares[label, "precision"] = (y == prediction)[prediction == label]
        shares[label, "recall"] = (y == prediction)[y == label]
    for key, right in shares.items():
        value, error, low, high = found.pop(key)
        wilson = stats.binomtest(int(right.sum()), len(right)).proportion_ci(method="wilson")
        assert (value, low, high) == pytest.approx((right.mean(), wilson.low, wilson.high), **CLOSE)
        assert error == pytest.approx(math.sqrt(value * (1 - value) / len(right)), **CLOSE)
    areas = {label: delong(*oracle.one(label)) for label in oracle.labels}
    if classes == 2:
        areas[None] = areas[oracle.labels[1]]
    for label, (area, error) in areas.items():
        low, high = max(area - Z * error, 0), min(area + Z * error, 1)
        assert found.pop((label, "roc_auc")) == pytest.approx((area, error, low, high), **CLOSE)
    true = oracle.p[np.arange(len(y)), [oracle.labels.index(label) for label in y]]
    squares = (oracle.p**2).sum(1) - true**2 + (1 - true) ** 2
    for metric, losses in (("log_loss", -np.log(true)), ("brier", squares / (2 if classes == 2 else 1))):
        mean, error = losses.mean(), stats.sem(losses)
        assert found.pop((None, metric)) == pytest.approx((mean, error, max(mean - Z * error, 0), mean + Z * error), **CLOSE)
        assert getattr(evaluation, metric) == pytest.approx(mean, **CLOSE)
    assert not found


def test_a_weight_counts_as_so_many_rows(con: duckdb.DuckDBPyConnection) -> None:
    source = rows(3)
    model = nbsql.fit(con, source, target="label", exclude=["i", "w"], name="m")
    weighed = intervals_of(model.evaluate(source, weight="w"))
    copied = intervals_of(model.evaluate(f"SELECT source.* FROM ({source}) AS source, range(w)"))
    assert weighed.keys() == copied.keys()
    for key, numbers in weighed.items():
        assert numbers == pytest.approx(copied[key], **CLOSE)


def test_one_row_of_a_class_says_nothing_of_how_sure_an_area_is(con: duckdb.DuckDBPyConnection) -> None:
    model = nbsql.fit(con, "SELECT i % 2 AS y, i AS x FROM range(10) AS t(i)", target="y", name="m")
    found = intervals_of(model.evaluate("SELECT i // 4 AS y, i AS x FROM range(5) AS t(i)"))
    assert found[1, "roc_auc"][0] == 1.0
    assert found[1, "roc_auc"][1:] == [None, None, None]
    alone = intervals_of(model.evaluate("SELECT 0 AS y, 0 AS x"))
    assert alone[None, "log_loss"][1:] == [None, None, None]
    assert (0, "roc_auc") not in alone
    assert alone[None, "accuracy"][0] in (0.0, 1.0)
