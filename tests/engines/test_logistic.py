"""Logistic regression, of two classes and of several, has DuckDB's weights and answers."""

from functools import partial

import pytest
from engines.places import LACKS, assert_same_rows
from engines.test_agreement import COLUMNS, explained, mail

import nbsql
import nbsql.learning.logistic

FEATURES = ["length", "links", "share", "replied", "Sender"]
method = partial(nbsql.Logistic, tolerance=1e-9)
CASES = {
    "several classes": {"features": FEATURES, "target": "label"},
    "two classes": {"features": ["length", "Sender", "flag"], "target": "replied", "families": {"flag": "bernoulli"}},
    "missing as a category": {"features": FEATURES, "target": "label", "nulls": "category", "weight": "weight"},
    "categories alone": {"features": ["Sender", "replied"], "target": "label", "method": method(penalty=2.0)},
    "numbers alone": {"features": ["length", "share"], "target": "replied", "method": method(penalty=0.01)},
    "counts": {
        "features": ["links", "flag", "share"],
        "target": "label",
        "families": {"bag": nbsql.Multinomial(["links", "flag"])},
    },
    "nothing but priors": {"features": [], "target": "label"},
}

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


def tables(both, count=200):
    for place in both:
        place.table("inbox", COLUMNS, mail(count, 1))


def near(found, expected):
    if isinstance(expected, float) and expected == expected and isinstance(found, float):
        return bool(found == pytest.approx(expected, rel=1e-7, abs=1e-8))  # where Newton's method ends
    return bool(found == expected or (found != found and expected != expected))


def assert_near(found, expected):
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert all(map(near, ours, theirs)), (ours, theirs)


@pytest.mark.parametrize("case", CASES)
def test_weights_agree(both, case):
    tables(both)
    models = [nbsql.fit(place.con, "inbox", name="m", id="id", **{"method": method(), **CASES[case]}) for place in both]
    assert models[0].classes == models[1].classes
    assert_near(*(sorted(model.linear().fetchall(), key=repr) for model in models))
    verbs = ("predict_proba", "joint_log_likelihood")
    ours = nbsql.load(both[0].con, "m")
    for verb in verbs:
        assert_near(*(sorted(getattr(model, verb)("inbox").fetchall(), key=repr) for model in (ours, models[1])))
    assert_near(*(explained(model, "SELECT * FROM inbox WHERE id < 20") for model in (ours, models[1])))
    judged = [model.evaluate("inbox") for model in (ours, models[1])]
    assert judged[0].accuracy == judged[1].accuracy
    assert judged[0].log_loss == pytest.approx(judged[1].log_loss, rel=1e-9)


def test_products_a_block_agree(both, layout):
    """As where they are too many for one statement; and where the search begins with a sample of the rows."""
    tables(both, 300)
    layout(logistic_sums=3, sample_rows=60)
    options = {"features": ["length", "Sender", "replied", "share"], "method": method()}
    models = [nbsql.fit(place.con, "inbox", target="label", id="id", **options) for place in both]
    assert_near(*(sorted(model.linear().fetchall(), key=repr) for model in models))


@pytest.mark.slow
def test_what_has_no_weights(place):
    columns = {"y": "VARCHAR", "a": "DOUBLE PRECISION", "b": "DOUBLE PRECISION"}
    place.table("t", columns, [("pq"[i % 7 > 2], i % 5, 2 * (i % 5) + 1) for i in range(70)])
    place.table("apart", columns, [("pq"[i % 2], i % 2 * 10 + i / 100, i % 3) for i in range(60)])
    lines = {
        "t": "the weight of 'b' is not determined: it is a sum of the other features; "
        "leave it out, or use a larger penalty, such as 0.5",
        "apart": "the features separate the classes of 'y', so that weights without a penalty have no bounds; "
        "use penalty=0.5, say",
    }
    for table, line in lines.items():
        with pytest.raises(nbsql.InputError) as caught:
            nbsql.fit(place.con, table, target="y", method=nbsql.Logistic(penalty=0), name="m")
        assert str(caught.value) == line
        assert nbsql.models(place.con) == []
        nbsql.fit(place.con, table, target="y", method="logistic")
    model = nbsql.fit(place.con, "t", target="y", method="logistic", name="m")
    with pytest.raises(nbsql.ModelError):
        model.update("t")


def test_the_program_that_a_user_writes(both):
    tables(both)
    models = [
        nbsql.fit(place.con, "inbox", target="replied", features=["length", "Sender"], method="logistic", name="m")
        for place in both
    ]
    row = {"length": 1000.0, "Sender": "friend"}
    if "predict_one" not in LACKS[both[0].engine]:
        answers = [model.predict_one(row) for model in models]
        assert answers[0]["prediction"] == answers[1]["prediction"]
        assert answers[0]["probability"] == pytest.approx(answers[1]["probability"], rel=1e-6)
    inline = both[0].run(models[0].sql("predict", "inbox", inline=True))
    assert_same_rows(sorted(inline, key=repr), sorted(models[0].predict("inbox").fetchall(), key=repr))


def test_a_logistic_model_comes_back_from_a_file(both, tmp_path):
    place = both[0]
    tables(both)
    model = nbsql.fit(place.con, "inbox", target="replied", features=["length", "Sender"], method="logistic", name="m")
    path = tmp_path / "m.parquet"
    model.export(path)
    found = nbsql.import_(place.con, path, name="found")
    for ours in (found, nbsql.load(place.con, "found")):
        assert sorted(ours.linear().fetchall(), key=repr) == sorted(model.linear().fetchall(), key=repr)
    assert_same_rows(*(sorted(each.predict_proba("inbox").fetchall()) for each in (found, model)))
    assert nbsql.models(place.con) == ["found", "m"]
