"""Predictions over thresholds, and several a row: worked by hand, and held against numpy on the posteriors."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from math import log
from uuid import UUID

import numpy as np
import pytest

import nbsql
from nbsql import InputError

near = pytest.approx

# Both values of x are as frequent in every class, so that the posterior is the prior, in every row.
EVEN = "SELECT y, x FROM (SELECT unnest(['a', 'b', 'c', 'd']) AS y), (VALUES ('u'), ('v')) AS values_of(x)"
PRIOR = {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}


@pytest.fixture
def even(con):
    return nbsql.fit(con, EVEN, target="y", prior=PRIOR)


@pytest.fixture
def risks(con):
    con.execute("""CREATE TABLE data AS SELECT i, ['low', 'mid', 'high'][i * i % 7 % 3 + 1] AS risk,
        'level ' || i % 5 AS p, CAST(i % 11 + i * i % 7 % 3 AS DOUBLE) AS k FROM range(200) AS t(i)""")
    return nbsql.fit(con, "data", target="risk", id="i", name="risks")


@pytest.fixture
def model(form, risks):
    """The same in each form of scoring."""
    return risks


@pytest.mark.parametrize(
    ("thresholds", "prediction"),
    [
        ({"a": 0.39}, "a"),
        ({"a": 0.41}, "b"),  # the best of the others
        ({"a": 0.5, "b": 0.5}, "c"),
        ({"c": 0.19}, "c"),  # reached, though others are more probable
        ({"c": 0.15, "d": 0.05}, "c"),  # both are reached, and c is more probable
        ({"c": 0.25, "d": 0.09}, "d"),
        ({"d": 0}, "d"),
        ({"d": 1}, "a"),
        ({"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.5}, None),  # none is reached, and there is no other
        ({"a": 0.5, "b": 0.29, "c": 0.1, "d": 0.5}, "b"),
    ],
)
def test_thresholds_worked_by_hand(even, thresholds, prediction):
    ((x, found, probability),) = even.predict("SELECT 'u' AS x", thresholds=thresholds)
    assert (x, found) == ("u", prediction)
    assert probability == (None if prediction is None else near(PRIOR[prediction], rel=1e-12))


def posteriors(model, labels):
    proba = model.predict_proba("data").df().sort_values("i")
    return proba[[f"probability_{label}" for label in labels]].to_numpy()


def test_thresholds_are_those_of_numpy(model):
    labels = ["high", "low", "mid"]
    p = posteriors(model, labels)
    found = model.predict("data", thresholds={"low": 0.24, "high": 0.36}).df().sort_values("i")
    reached = np.where(p >= [0.36, 0.24, np.inf], p, -1)
    expected = np.where(reached.max(axis=1) >= 0, reached.argmax(axis=1), 2)
    assert found["prediction"].tolist() == [labels[number] for number in expected]
    assert found["probability"].to_numpy() == near(p[np.arange(len(p)), expected], rel=1e-12)
    assert set(expected) == {0, 1, 2}
    assert list(found.columns) == ["i", "risk", "p", "k", "prediction", "probability"]


def test_one_threshold_does_what_the_table_of_thresholds_says(risks):
    evaluation = risks.evaluate("data")
    columns = evaluation.thresholds.columns
    rows = [dict(zip(columns, row, strict=True)) for row in evaluation.thresholds if row[0] == "high"]
    for row in rows[::40]:
        if row["threshold"] is not None and 0 <= row["threshold"] <= 1:
            threshold = row["threshold"] * (1 - 1e-12)
            found = [r for r in risks.predict("data", thresholds={"high": threshold}) if r[-2] == "high"]
            assert len(found) == row["true_positives"] + row["false_positives"]
            assert sum(r[1] == "high" for r in found) == row["true_positives"]


@pytest.mark.parametrize("top_k", [1, 2, 3, 10])
def test_the_most_probable_classes_are_those_of_numpy(model, top_k):
    labels = ["high", "low", "mid"]
    p = posteriors(model, labels)
    found = model.predict("data", top_k=top_k).df().sort_values(["i", "rank"])
    order = np.argsort(-p, axis=1, kind="stable")[:, :top_k]
    assert found["prediction"].tolist() == [labels[number] for number in order.ravel()]
    assert found["probability"].to_numpy() == near(np.take_along_axis(p, order, axis=1).ravel(), rel=1e-12)
    assert found["rank"].tolist() == list(range(1, min(top_k, 3) + 1)) * len(p)
    assert list(found.columns) == ["i", "risk", "p", "k", "prediction", "probability", "rank"]


def test_the_first_of_them_is_the_prediction(model):
    first = sorted(row[:-1] for row in model.predict("data", top_k=2) if row[-1] == 1)
    for one, other in zip(first, sorted(model.predict("data").fetchall()), strict=True):
        assert one[:-1] == other[:-1]
        assert one[-1] == near(other[-1], rel=1e-12)


def test_ties_go_to_the_smaller_label(con, form):
    model = nbsql.fit(con, EVEN, target="y", prior={"a": 0.2, "b": 0.3, "c": 0.3, "d": 0.2})
    found = model.predict("SELECT 'v' AS x", top_k=4).fetchall()
    assert [(row[1], row[3]) for row in found] == [("b", 1), ("c", 2), ("a", 3), ("d", 4)]
    assert [row[1] for row in model.predict("SELECT 'v' AS x", thresholds={"d": 0.1, "a": 0.1})] == ["a"]


def test_a_row_that_no_class_can_explain(con, form):
    model = nbsql.fit(con, "FROM (VALUES ('a', 'x', 1), ('b', 'y', 2)) AS t(a, b, y)", target="y", alpha=0)
    rows = "SELECT 'a' AS a, 'y' AS b UNION ALL SELECT 'a', 'x'"
    assert sorted(model.predict(rows, thresholds={1: 0}), key=str) == [("a", "x", 1, 1.0), ("a", "y", None, None)]
    found = sorted(model.predict(rows, top_k=2), key=str)
    assert found == [("a", "x", 1, 1.0, 1), ("a", "x", 2, 0.0, 2), ("a", "y", None, None, 1)]


def test_a_frame_comes_back_in_its_order(con, model):
    frame = con.sql("FROM data ORDER BY hash(i)").df()
    assert model.predict(frame, thresholds={"low": 0.3}).df()["i"].tolist() == frame["i"].tolist()
    ranked = model.predict(frame, top_k=2).df()
    assert ranked["i"].tolist() == frame["i"].repeat(2).tolist()
    assert ranked["rank"].tolist() == [1, 2] * len(frame)


@pytest.mark.slow
def test_errors_are_one_line_and_change_nothing(risks, refused):
    for source, options, message in [
        (
            "data",
            {"thresholds": {"hihg": 0.5}},
            "the thresholds name a class 'hihg', which the model does not know; did you mean 'high'?",
        ),
        (
            "data",
            {"thresholds": {7: 0.5}},
            "the thresholds name a class 7, which the model does not know; the classes are {classes}",
        ),
        ("data", {"thresholds": {"low": 1.5}}, "the threshold of class 'low' must be a probability, from 0 to 1, not 1.5"),
        ("data", {"thresholds": {"low": "x"}}, "the threshold of class 'low' must be a probability, from 0 to 1, not 'x'"),
        ("data", {"thresholds": {"low": "0.5"}}, "the threshold of class 'low' must be a probability, from 0 to 1, not '0.5'"),
        (
            "data",
            {"costs": {("low", "high"): "5"}},
            "the cost of predicting 'high' where 'low' is right must be a finite number, not '5'",
        ),
        ("data", {"thresholds": 0.5}, "thresholds are {class: probability}, with at least one class, not 0.5"),
        ("data", {"thresholds": {}}, "thresholds are {class: probability}, with at least one class, not {}"),
        ("data", {"top_k": 0}, "top_k must be a whole number of at least 1, not 0"),
        ("data", {"top_k": True}, "top_k must be a whole number of at least 1, not True"),
        (
            "data",
            {"top_k": 1, "costs": {}},
            "predict takes one of costs, thresholds, top_k, coverage and certain, not costs and top_k",
        ),
        (
            "SELECT *, 1 AS rank FROM data",
            {"top_k": 1},
            "the query has a column 'rank' already, which predict with top_k adds; choose what comes back by columns=[...]",
        ),
        (
            "SELECT *, 1 AS probability FROM data",
            {"thresholds": {"low": 0.5}},
            "the query has a column 'probability' already, which predict with thresholds adds; "
            "choose what comes back by columns=[...]",
        ),
    ]:
        with refused(nbsql.InputError, message.replace("{classes}", ", ".join(map(repr, sorted(risks.classes))))):
            risks.predict(source, **options)


class Kind(Enum):
    BEE, ANT = "Bee", "ant"


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "labels", "given"),
    [
        ("BOOLEAN", "FALSE, TRUE", [["False", "true"], [np.bool_(False), np.bool_(True)]]),
        ("TINYINT", "-3, 12", [["-3", "12"], [-3.0, Decimal("12.0")], [np.int64(-3), np.uint8(12)]]),
        ("FLOAT", "-0.1, 0.1", [[-0.1, 0.1], ["-0.10", "0.1"], [-0.10000000149011612, 0.10000000149011612]]),
        ("DECIMAL(5, 2)", "-1.5, 2.25", [[-1.5, 2.25], ["-1.5", "2.250"], [Decimal("-1.500"), Decimal("2.25")]]),
        ("UUID", f"'{UUID(int=1)}', '{UUID(int=255)}'", [[UUID(int=1), str(UUID(int=255)).upper()]]),
        ("VARCHAR", f"'{UUID(int=1)}', '{UUID(int=255)}'", [[UUID(int=1), UUID(int=255)]]),
        ("ENUM('Bee', 'ant')", "'Bee', 'ant'", [[Kind.BEE, Kind.ANT], ["Bee", "ant"]]),
        ("DATE", "'1999-12-31', '2000-01-01'", [["1999-12-31", datetime(2000, 1, 1)], [date(1999, 12, 31), date(2000, 1, 1)]]),
        ("INTERVAL", "'1 day', '2 days'", [[timedelta(1), "2 days"]]),
    ],
)
def test_labels_are_given_as_texts_or_as_equal_values(con, kind, labels, given):
    con.execute(f"CREATE TABLE rows AS SELECT unnest([{labels}]::{kind}[]) AS y, unnest(['u', 'v']) AS g, s, s % 3 * 1.0 AS x "
        "FROM range(4) AS r(s)")  # fmt: skip
    low, high = con.execute("SELECT min(y), max(y) FROM rows").fetchall()[0]

    def answers(a, b):
        model = nbsql.fit(con, "rows", target="y", features=["g"], prior={a: 0.75, b: 0.25})
        components = nbsql.fit(con, "rows", target="y", features=["x"], method=nbsql.Mixture({a: 2})).components
        judged = model.evaluate("rows", by="s", costs={(a, b): 5})
        return [
            model.predict("rows", thresholds={a: 0.9, b: 0.1}).fetchall(),
            judged.cost,
            model.discrimination(a, b).fetchall(),
            model.scorecard(target=a, digits=2).table(),
            [row[:2] for row in components],
            judged.slices.compare(0, 1, label=a).fetchall(),
        ]

    expected = answers(low, high)
    for a, b in given:
        assert answers(a, b) == expected


def test_a_label_that_is_none_or_named_twice_is_refused(con, refused):
    model = nbsql.fit(con, "SELECT DATE '2024-01-01' + (i % 2)::INTEGER AS y, i * 1.0 AS x FROM range(9) AS t(i)", target="y")
    all_classes = "; the classes are datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)"
    closest = "; did you mean '2024-01-01'?"
    for label, hint in {"2024-13-01": closest, "January": all_classes, 1: all_classes}.items():
        with refused(nbsql.InputError, f"the thresholds name a class {label!r}, which the model does not know{hint}"):
            model.predict("SELECT 1.0 AS x", thresholds={label: 0.5})
    with refused(nbsql.InputError, f"the costs name a class 'x', which the model does not know{all_classes}"):
        model.predict("SELECT 1.0 AS x", costs={("x", date(2024, 1, 1)): 2})
    with refused(nbsql.InputError, "the thresholds name class '2024-01-01' twice, in two types; name it in one"):
        model.predict("SELECT 1.0 AS x", thresholds={date(2024, 1, 1): 0.5, "2024-01-01": 0.4})


def test_the_sql_of_an_evaluation_knows_the_costs(con):
    costs = {(True, False): 5}
    con.execute(
        "CREATE TABLE sky AS SELECT i % 3 = 0 AS wet, ['rain', 'sun'][2 - (i % 4 = 0)::INT] AS sky FROM range(24) AS t(i)"
    )
    model = nbsql.fit(con, "sky", target="wet", name="weather")
    found = model.evaluate("sky", costs=costs)
    assert con.execute(model.evaluate_sql("sky", table="cost", costs=costs)).fetchall() == [
        (near(found.cost), near(found.expected_cost))
    ]
    metrics = {
        name: value for label, name, value in con.execute(model.evaluate_sql("sky", costs=costs)).fetchall() if label is None
    }
    assert metrics["accuracy"] == near(found.accuracy)
    with pytest.raises(InputError) as refused:
        model.evaluate_sql("sky", table="cost")
    assert str(refused.value) == "the table 'cost' is of the costs of mistakes; say them, costs={actual: {predicted: cost}}"


def test_values_that_neither_of_two_classes_has_say_least_about_them(con):
    rows = "VALUES ('a', 'u', 90), ('a', 'v', 10), ('b', 'u', 1), ('b', 'v', 2), ('c', 'w', 50)"
    con.execute(f"CREATE TABLE t AS SELECT y, x FROM ({rows}) AS v(y, x, n), range(n)")
    found = nbsql.fit(con, "t", target="y").discrimination("a", "b").fetchall()
    assert [(value, n, other_n) for _, value, n, other_n, *_ in found] == [("v", 10, 2), ("u", 90, 1), ("w", 0, 0)]
    ratios = [log(11 / 3), log(91 / 2), log(1)]  # with one more row each: of w the ratio is that of the smoothing
    assert [row[-1] for row in found] == [pytest.approx(ratio - log(103 / 6), abs=1e-12) for ratio in ratios]
