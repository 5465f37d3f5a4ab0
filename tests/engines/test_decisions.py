"""Every engine decides as DuckDB does: at least cost, over thresholds, the first few; and labelled rows are as probable."""

import pytest
from engines.places import assert_same_rows
from engines.test_evaluation import COLUMNS, LABELS, rows

import nbsql

KINDS = ["texts", "two", "booleans", "numbers"]
OPTIONS = {"target": "y", "exclude": ["id", "weight"], "alpha": 0}

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.fixture(params=KINDS)
def models(request, both):
    type_, labels = LABELS[request.param]
    for place in both:
        place.table("train", {**COLUMNS, "y": type_}, rows(labels, 120, 1))
        place.table("test", {**COLUMNS, "y": type_}, rows(labels, 90, 2))
        place.table("stranger", COLUMNS, [(1, 0.5, "never", 1.0), (2, None, None, 1.0), (3, 1e9, "u", 0.0)])
    return [nbsql.fit(place.con, "train", name="m", **OPTIONS) for place in both]


def assert_alike(models, source, **options):
    ours, theirs = (model.predict(source, **options) for model in models)
    assert ours.columns == theirs.columns
    assert_same_rows(*(sorted(query.fetchall(), key=lambda row: (row[0], row[-1] or 0)) for query in (ours, theirs)))


@pytest.mark.parametrize("source", ["test", "SELECT * FROM test WHERE id < 9", "stranger"])
def test_decisions_agree(models, source):
    first, *_, last = models[0].classes
    assert_alike(models, source, costs={(first, last): 5, (last, last): -0.5, (last, first): 0.25})
    assert_alike(models, source, thresholds={last: 0.4})
    assert_alike(models, source, thresholds=dict.fromkeys(models[0].classes, 0.6))
    for top_k in (1, 2, 9):
        assert_alike(models, source, top_k=top_k)


def test_gaps_are_filled_alike(models):
    """Of a category, and of a number whose mean and deviation are told; beside rows without a class."""
    source = "SELECT id, CASE WHEN id % 3 > 0 THEN x END AS x, CASE WHEN id % 4 > 0 THEN sky END AS sky, y FROM test"
    for labelled in (False, True):
        ours, theirs = (model.impute(source, labelled=labelled) for model in models)
        assert ours.columns == theirs.columns == ["id", "x", "sky", "y", "deviation_x", "probability_sky"]
        assert_same_rows(*(sorted(query.fetchall(), key=lambda row: row[0]) for query in (ours, theirs)))
    assert_alike(models, "test", target="x", columns=["id"])
    assert_alike(models, "test", target="sky", top_k=2, columns=["id"])


def test_only_the_named_columns_come_back(models):
    first, *_, last = models[0].classes
    verbs = ("predict_proba", "joint_log_likelihood", "log_evidence")
    for columns in ([], ["id"]):
        assert_only(columns, [model.predict("test", columns=columns, costs={(first, last): 5}) for model in models])
        assert_only(columns, [model.predict("test", columns=columns, top_k=2) for model in models])
        for verb in verbs:
            assert_only(columns, [getattr(model, verb)("test", columns=columns) for model in models])
    scored = "SELECT *, 1 AS probability FROM test"
    assert_only(["id"], [model.predict(scored, columns=["id"]) for model in models])


def assert_only(columns, queries):
    ours, theirs = queries
    assert ours.columns == theirs.columns
    assert ours.columns[: len(columns)] == columns
    assert "u" not in ours.columns
    assert_same_rows(*(sorted(query.fetchall(), key=lambda row: repr([str(part)[:8] for part in row])) for query in queries))


@pytest.mark.parametrize("weight", [None, "weight"])
def test_costs_are_judged_alike(models, weight):
    first, *_, last = models[0].classes
    costs = {(first, last): 5, (last, first): 0.25}
    found = [model.evaluate("test", costs=costs, weight=weight) for model in models]
    numbers = [[(name, value) for name, value in evaluation.to_dict().items() if name != "classes"] for evaluation in found]
    assert_same_rows(*numbers)
    assert {"cost", "expected_cost"} <= {name for name, _ in numbers[0]}
    assert_same_rows(*(sorted(evaluation.confusion.fetchall(), key=repr) for evaluation in found))


def test_labelled_rows_are_as_probable(models):
    known = "SELECT * FROM test WHERE id % 17 <> 16 AND id % 29 <> 28 AND id % 2 = 0"
    for source in ("test", known):
        assert_same_rows(*([(model.log_likelihood(source, labelled=True),)] for model in models))
    ours, theirs = ([(model.log_likelihood(known, labelled=True, mean=True),)] for model in models)
    assert_same_rows(ours, theirs)
    assert -1e3 < ours[0][0] < 0


def test_ties_go_to_the_class_that_comes_first(both):
    for place in both:
        place.table(
            "t", {"x": "VARCHAR", "y": "VARCHAR"}, [("u", "b"), ("u", "B"), ("u", "ä"), ("v", "b"), ("v", "B"), ("v", "ä")]
        )
    models = [nbsql.fit(place.con, "t", target="y", name="m") for place in both]
    for options in ({"top_k": 3}, {"costs": {}}, {"thresholds": {"ä": 0.1, "b": 0.1}}, {"thresholds": {"ä": 0.5}}):
        assert_alike(models, "SELECT 1 AS id, 'u' AS x", **options)
