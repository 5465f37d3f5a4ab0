"""Classes that are named before a row has them: their priors, their likelihoods, and what becomes of them."""

from datetime import date

import duckdb
import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB

import nbsql

DATA = (
    "SELECT * FROM (VALUES ('sun', 1.0, TRUE, 3, 'hot day', 'ham'), ('sun', 2.0, FALSE, 2, 'good day', 'ham'), "
    "('rain', 4.0, TRUE, 0, 'bad', 'spam'), ('rain', 7.0, TRUE, 1, 'wet day', 'spam')) AS t(sky, x, seen, links, said, y)"
)
MORE = "SELECT 'sun' AS sky, 3.0 AS x, TRUE AS seen, 2 AS links, 'good' AS said, 'other' AS y"
FAMILIES = {"links": "poisson", "said": "text"}
CLASSES = ["ham", "spam", "other"]
DECLARED = nbsql.Target("y", classes=CLASSES)


def priors(model):
    return {row[0]: pytest.approx(row[2], rel=1e-12) for row in model.priors}


@pytest.fixture
def model(con):
    return nbsql.fit(con, DATA, target=DECLARED, families=FAMILIES, prior="smoothed", name="m")


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("form", ["wide", "long"], indirect=True)
def test_a_class_without_rows_has_the_limit_of_smoothing(con, model):
    assert priors(model) == {"ham": 3 / 7, "spam": 3 / 7, "other": 1 / 7}
    likelihoods = {row[1:3]: row[3:] for row in model.likelihoods if row[0] == "other"}
    assert [likelihoods["sky", value][0] for value in ("sun", "rain")] == [0.5, 0.5]
    assert [likelihoods["seen", value][0] for value in ("true", "false")] == [0.5, 0.5]
    assert {likelihoods["said", word][0] for word in ("hot", "day", "good", "bad", "wet")} == {0.2}
    assert likelihoods["x", None][2:4] == (3.5, 5.25)
    assert likelihoods["links", None][4] == 1.5
    score = dict(zip(["ham", "other", "spam"], model.joint_log_likelihood(MORE, columns=[]).fetchall()[0], strict=True))[
        "other"
    ]
    normal = -0.5 * (np.log(2 * np.pi * 5.25) + 0.25 / 5.25)
    poisson = 2 * np.log(1.5) - 1.5 - np.log(2)
    assert score == pytest.approx(np.log([1 / 7, 0.5, 0.5, 0.2]).sum() + normal + poisson, abs=1e-12)
    con.execute(f"CREATE TABLE more AS {MORE}")
    assert con.sql("SELECT probability_other FROM m.predict_proba('more')").fetchall()[0][0] > 0


def test_categories_are_those_of_scikit_learn(con):
    chance = np.random.default_rng(3)
    x, y = chance.integers(0, 4, (60, 2)), chance.integers(0, 2, 60)
    estimator = CategoricalNB(class_prior=[1 / 3] * 3, min_categories=4).partial_fit(x, y, classes=[0, 1, 2])
    con.register("rows", {"a": x[:, 0].astype(str), "b": x[:, 1].astype(str), "y": y})
    model = nbsql.fit(con, "SELECT * FROM rows", target=nbsql.Target("y", classes=[2, 1, 0]), prior="uniform")
    found = np.array(model.predict_proba("SELECT a, b FROM rows ORDER BY a, b", columns=[]).fetchall())[:, 2:].astype(float)
    expected = estimator.predict_proba(x[np.lexsort((x[:, 1], x[:, 0]))])
    assert np.abs(np.sort(found, axis=0) - np.sort(expected, axis=0)).max() < 1e-9


@pytest.mark.slow
def test_it_learns_and_forgets_the_class(con, model):
    before = priors(model)
    model.update(MORE)
    assert priors(model) == priors(nbsql.fit(con, f"{DATA} UNION ALL {MORE}", target="y", families=FAMILIES, prior="smoothed"))
    model.forget(MORE)
    assert priors(model) == before
    assert sorted(nbsql.load(con, "m").classes) == sorted(CLASSES)


@pytest.mark.slow
def test_it_travels_and_merges(con, model, tmp_path, refused):
    model.export(tmp_path / "m.parquet")
    with duckdb.connect() as other:
        assert priors(nbsql.import_(other, tmp_path / "m.parquet", name="n")) == priors(model)
    assert priors(nbsql.merge(con, ["m", nbsql.merge(con, ["m"])], name="twice")) == {
        "ham": 5 / 11,
        "spam": 5 / 11,
        "other": 1 / 11,
    }
    nbsql.fit(con, DATA, target="y", families=FAMILIES, prior="smoothed", name="n")
    reason = "the classes of one are 'ham', 'other', 'spam', and of the other not named"
    with refused(nbsql.ModelError, f"model 'm' and model 'n' cannot be merged: {reason}"):
        nbsql.merge(con, ["m", "n"], name="both")


def test_given_and_empirical_priors(con):
    given = {"ham": 0.5, "spam": 0.25, "other": 0.25}
    assert priors(nbsql.fit(con, DATA, target=DECLARED, families=FAMILIES, prior=given)) == given
    said = "no row is 'other', whose empirical prior is 0; with prior='smoothed' or 'uniform' it is above"
    with pytest.warns(nbsql.NbsqlWarning) as caught:
        model = nbsql.fit(con, DATA, target=DECLARED, families=FAMILIES)
    assert [str(warning.message) for warning in caught] == [said]
    assert priors(model)["other"] == 0
    assert model.predict_proba(MORE, columns=[]).fetchall()[0][3] == 0


@pytest.mark.parametrize("prior", ["uniform", {0: 0.5, 1: 0.25, 2: 0.25}])
def test_it_is_calibrated_by_folds_and_judged(con, prior):
    con.execute("CREATE TABLE rows AS SELECT i % 2 AS y, sin(i) + i % 2 AS x, 'v' || i % 3 AS k FROM range(80) AS r(i)")
    model = nbsql.fit(con, "rows", target=nbsql.Target("y", classes=[0, 1, 2]), prior=prior)
    model.calibrate("rows", folds=4)
    for calibrated in (False, True):
        ((*_, zero, one, two),) = model.predict_proba("SELECT 0.2 AS x, 'v1' AS k", calibrated=calibrated).fetchall()
        assert zero + one + two == pytest.approx(1, abs=1e-12)
        assert min(zero, one, two) > 0
    assert 0.5 < model.evaluate("rows").accuracy < 1


@pytest.mark.slow
@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("form", ["wide", "long"], indirect=True)
@pytest.mark.parametrize("prior", ["uniform", {0: 0.5, 1: 0.25, 2: 0.25}])
def test_folds_know_classes_to_come(con, prior):
    con.execute(
        "CREATE TABLE rows AS SELECT i % 2 AS y, sin(i) + i % 2 AS x, 'v' || i % 3 AS k, i % 4 AS f FROM range(80) AS r(i)"
    )
    options = {"target": nbsql.Target("y", [0, 1, 2]), "prior": prior}
    losses, right = [], 0.0
    for fold in range(4):
        others = nbsql.fit(con, f"SELECT * EXCLUDE (f) FROM rows WHERE f <> {fold}", **options)
        found = others.evaluate(f"SELECT * EXCLUDE (f) FROM rows WHERE f = {fold}")
        losses.append(found.log_loss)
        right += found.accuracy / 4
    found = nbsql.cross_validate(con, "rows", fold="f", **options)
    assert found.log_loss == pytest.approx(np.mean(losses), abs=1e-12)
    assert (found.accuracy, found.evaluation.accuracy) == pytest.approx((right, right), abs=1e-12)
    assert found.evaluation.log_loss == pytest.approx(np.mean(losses), abs=1e-12)
    best = nbsql.sweep(con, "rows", fold="f", alpha=[0.5, 1], **options)
    assert best.ranking.fetchall()[0][-1] <= found.log_loss
    assert sorted(best.best().classes) == [0, 1, 2]


def test_counts_of_elsewhere_have_classes_to_come(con, model):
    again = nbsql.from_statistics(con, model.counts, target=DECLARED, families=FAMILIES, prior="smoothed")
    assert priors(again) == priors(model)
    assert again.predict_proba(MORE, columns=[]).fetchall()[0] == pytest.approx(
        model.predict_proba(MORE, columns=[]).fetchall()[0]
    )


def test_given_priors_of_numbers_are_known_to_folds(con):
    con.execute("CREATE TABLE rows AS SELECT i % 2 AS y, sin(i) + i % 2 AS x FROM range(80) AS r(i)")
    nbsql.fit(con, "rows", target="y", prior={0: 0.5, 1: 0.5}).calibrate("rows", folds=4)


@pytest.mark.parametrize(
    ("kind", "label", "other"), [("DATE", "2000-01-01", date(2001, 1, 1)), ("BOOLEAN", "true", False), ("DOUBLE", "1", 2.5)]
)
def test_labels_have_the_type_of_the_target(con, kind, label, other):
    data = f"SELECT CAST('{label}' AS {kind}) AS y, unnest(['u', 'v']) AS x"
    (value,) = con.sql(f"SELECT CAST('{label}' AS {kind})").fetchall()[0]
    model = nbsql.fit(con, data, target=nbsql.Target("y", classes=[other, value]), prior="uniform")
    assert model.classes == sorted([value, other])


@pytest.mark.slow
def test_what_is_no_class_is_refused(con, model, refused):
    query = "'y' of the query is 'spam' in some rows, which classes does not name"
    with refused(nbsql.InputError, f"{query}; name every class there may be, or leave the rows out"):
        nbsql.fit(con, DATA, target=nbsql.Target("y", classes=["ham"]), families=FAMILIES)
    with refused(
        nbsql.InputError, "'y' of the query is 'othr' in some rows, which classes does not name; did you mean 'other'?"
    ):
        model.update(MORE.replace("'other'", "'othr'"))
    with refused(nbsql.InputError, "classes must be a list of labels, not 'ham'"):
        nbsql.fit(con, DATA, target=nbsql.Target("y", classes="ham"))
    with refused(
        nbsql.InputError, "folds='loo' takes a class that loses its only row for gone, and classes keeps it; use folds=10"
    ):
        model.calibrate(DATA, folds="loo")
    with refused(nbsql.InputError, f"{query}; name every class there may be, or leave the rows out"):
        nbsql.cross_validate(con, DATA, target=nbsql.Target("y", classes=["ham"]), families=FAMILIES, folds=2)
    with refused(
        nbsql.InputError, "the query has cells of class 'spam', which classes does not name; name every class there may be"
    ):
        nbsql.from_statistics(con, model.counts, target=nbsql.Target("y", classes=["ham"]), families=FAMILIES)
    with refused(
        nbsql.InputError, "folds='loo' takes a class that loses its only row for gone, and classes keeps it; use folds=10"
    ):
        nbsql.cross_validate(con, DATA, target=DECLARED, families=FAMILIES, folds="loo")
    with pytest.raises(nbsql.InputError, match=r"classes must be labels of 'links', which is INTEGER: .*'many'"):
        nbsql.fit(con, DATA, target=nbsql.Target("links", classes=["many"]))
