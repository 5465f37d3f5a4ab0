"""Predictions that cost least: held against numpy, and worked by hand."""

import numpy as np
import pandas as pd
import pytest

import nbsql


@pytest.fixture
def model(con, form):
    con.execute("""CREATE TABLE data AS SELECT i, ['low', 'mid', 'high'][i * i % 7 % 3 + 1] AS risk,
        'level ' || i % 5 AS a, CAST(i % 11 + i * i % 7 % 3 AS DOUBLE) AS b FROM range(200) AS t(i)""")
    return nbsql.fit(con, "data", target="risk", id="i", name="risks")


COSTS = {
    ("low", "mid"): 1.0, ("low", "high"): 2.5, ("low", "low"): -0.25,
    ("mid", "low"): 3.0, ("mid", "high"): 0.5,
    ("high", "low"): 20.0, ("high", "mid"): 4.0,
}  # fmt: skip


def test_the_class_of_least_expected_cost_is_predicted(model):
    labels = ["high", "low", "mid"]
    matrix = np.array([[COSTS.get((a, b), 0.0) for b in labels] for a in labels])
    found = model.predict("data", costs=COSTS).df().sort_values("i")
    proba = model.predict_proba("data").df().sort_values("i")
    p = proba[[f"probability_{label}" for label in labels]].to_numpy()
    expected = p @ matrix
    chosen = expected.argmin(axis=1)
    assert found["prediction"].tolist() == [labels[number] for number in chosen]
    assert found["expected_cost"].to_numpy() == pytest.approx(expected.min(axis=1), rel=1e-12, abs=1e-12)
    assert found["probability"].to_numpy() == pytest.approx(p[np.arange(len(p)), chosen], rel=1e-12)
    assert (found["prediction"] != proba["prediction"]).any()
    assert list(found.columns) == ["i", "risk", "a", "b", "prediction", "probability", "expected_cost"]


@pytest.mark.parametrize("weight", [None, "i"])
def test_what_predictions_cost_is_that_of_numpy(model, weight):
    labels = ["high", "low", "mid"]
    matrix = np.array([[COSTS.get((a, b), 0.0) for b in labels] for a in labels])
    found = model.evaluate("data", costs=COSTS, weight=weight)
    rows = model.predict("data", costs=COSTS).df().sort_values("i")
    w = rows["i"].to_numpy() if weight else np.ones(len(rows))
    pairs = zip(rows["risk"], rows["prediction"], strict=True)
    paid = [matrix[labels.index(actual), labels.index(chosen)] for actual, chosen in pairs]
    assert found.cost == pytest.approx(np.average(paid, weights=w), rel=1e-12)
    assert found.expected_cost == pytest.approx(np.average(rows["expected_cost"], weights=w), rel=1e-12)
    assert found.accuracy == pytest.approx(np.average(rows["risk"] == rows["prediction"], weights=w), rel=1e-12)
    assert found.to_dict()["cost"] == found.cost
    assert [name for name, _ in found.summary()][-2:] == ["cost", "expected cost"]
    assert "cost" not in model.evaluate("data", weight=weight).to_dict()


def test_rows_that_the_model_does_not_know_or_cannot_explain_cost_nothing(con, form):
    model = nbsql.fit(con, "FROM (VALUES ('a', 'x', 1), ('b', 'y', 2)) AS t(a, b, y)", target="y", alpha=0)
    rows = "FROM (VALUES ('a', 'x', 1), ('a', 'x', 2), ('a', 'y', 1), ('b', 'y', 9)) AS t(a, b, y)"
    found = model.evaluate(rows, costs={(2, 1): 7, (1, 2): 7})
    assert (found.cost, found.expected_cost) == (3.5, 0.0)
    assert (found.rows, found.unknown, found.unexplained) == (4, 1, 1)


def test_the_forms_of_costs_say_the_same(model):
    nested = {}
    for (actual, predicted), cost in COSTS.items():
        nested.setdefault(actual, {})[predicted] = cost
    frame = pd.DataFrame(nested).T.fillna(0.0)  # actual by predicted
    expected = sorted(model.predict("data", costs=COSTS).fetchall())
    for costs in (nested, frame):
        assert sorted(model.predict("data", costs=costs).fetchall()) == expected


def test_without_a_price_a_mistake_costs_1(model):
    costed = sorted(model.predict("data", costs={}).fetchall())
    plain = sorted(model.predict("data").fetchall())
    assert [row[:-2] for row in costed] == [row[:-1] for row in plain]
    assert [row[-1] for row in costed] == pytest.approx([1 - row[-1] for row in plain], abs=1e-12)


def test_of_equal_costs_the_smaller_label_wins(con):
    model = nbsql.fit(con, "SELECT unnest(['b', 'b', 'a', 'a']) AS y, TRUE AS x", target="y")
    for costs, prediction in (({}, "a"), ({("a", "b"): 3, ("b", "a"): 3}, "a"), ({("b", "a"): 1.001}, "b")):
        ((_, found, probability, cost),) = model.predict("SELECT TRUE AS x", costs=costs)
        assert found == prediction
        assert probability == pytest.approx(0.5, rel=1e-12)
        assert cost == pytest.approx(0.5 * (3 if len(costs) == 2 else 1), rel=1e-12)


def test_a_row_that_no_class_can_explain_has_no_prediction(con, form):
    model = nbsql.fit(con, "FROM (VALUES ('a', 'x', 1), ('b', 'y', 2)) AS t(a, b, y)", target="y", alpha=0)
    found = model.predict("SELECT 'a' AS a, 'y' AS b UNION ALL SELECT 'a', 'x'", costs={(1, 2): 3}).fetchall()
    assert sorted(found, key=str) == [("a", "x", 1, 1.0, 0.0), ("a", "y", None, None, None)]


def test_a_frame_comes_back_in_its_order(con, model):
    frame = con.sql("FROM data ORDER BY hash(i)").df()
    assert model.predict(frame, costs=COSTS).df()["i"].tolist() == frame["i"].tolist()


def test_names_of_any_kind(con, form):
    nasty = ["it's", 'a "b"; --', "nbsql"]
    con.execute(
        'CREATE TABLE t AS SELECT $1[i % 3 + 1] AS y, i % 3 AS "labels", i % 2 AS "matrix" FROM range(30) AS t(i)', [nasty]
    )
    model = nbsql.fit(con, "t", target="y", families={"labels": "categorical"})
    found = model.predict("t", costs={(nasty[0], nasty[1]): -1e3}).fetchall()
    assert {row[0]: row[3] for row in found} == {nasty[0]: nasty[1], nasty[1]: nasty[1], nasty[2]: nasty[1]}


FORMS = "costs are {(actual, predicted): cost}, {actual: {predicted: cost}}, or a pandas DataFrame of actual by predicted"
NUMBER = "the cost of predicting 'mid' where 'low' is right must be a finite number"


@pytest.mark.slow
def test_errors_are_one_line_and_change_nothing(model, refused):
    for source, costs, message in [
        ("data", {("low", "hihg"): 1}, "the costs name a class 'hihg', which the model does not know; did you mean 'high'?"),
        ("data", {1: {"low": 1}}, "the costs name a class 1, which the model does not know; the classes are {classes}"),
        ("data", {("low", "mid"): float("nan")}, f"{NUMBER}, not nan"),
        ("data", {("low", "mid"): "x"}, f"{NUMBER}, not 'x'"),
        ("data", [1, 2], f"{FORMS}, not list"),
        ("data", {"low": 1}, f"{FORMS}, and 'low' is no pair of classes"),
        (
            "SELECT *, 1 AS expected_cost FROM data",
            {},
            "the query has a column 'expected_cost' already, which predict with costs adds; "
            "choose what comes back by columns=[...]",
        ),
        (
            "SELECT 1 AS b",
            {},
            "no column 'a' in the query, a feature of model 'risks'; its columns are 'b'; "
            "if it is not known there, add it: SELECT *, NULL AS a FROM ...",
        ),
    ]:
        with refused(nbsql.InputError, message.replace("{classes}", ", ".join(map(repr, sorted(model.classes))))):
            model.predict(source, costs=costs)
