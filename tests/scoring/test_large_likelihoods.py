"""Posteriors beside joint log-likelihoods so large that the logarithm of a sum of likelihoods would be lost in them."""

import math
from functools import partial
from itertools import product

import numpy as np
import pytest

import nbsql
from nbsql.sklearn import NaiveBayesClassifier

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

near = partial(pytest.approx, rel=1e-12, abs=1e-15)

TRAIN = "FROM (VALUES ('p', 0e0), ('p', 1e0), ('q', 0e0), ('q', 1e0), ('r', 50e0), ('r', 51e0)) AS t(y, x)"
# p and q have the same numbers. At -1e9 their joint log-likelihoods are -2e18, that of r is 2e11 lower. At -1e18 all are -2e36.
FAR, TIE = [0.5, 0.5, 0.0], [1 / 3] * 3
ROWS = "FROM (VALUES (1, 'p', -1e9), (2, 'q', -1e9), (3, 'r', -1e18), (4, 'r', 1e18)) AS t(id, y, x)"
LOG_LOSS = (math.log(2) + math.log(3)) / 2


@pytest.mark.few
@pytest.mark.parametrize(("size", "step"), [*product((1e13, -1e13, 1e16, -1e16), (0, 2)), *product((1e18, -1e18), (0, 128))])
def test_posteriors_of_scores_are_a_softmax_of_their_differences(con, size, step):
    """The scores are size, size + step and size + 2 step, exactly, in every face."""
    weights = [(label, name, "x", 1.0 if name == "x" else times) for times, label in enumerate("abc") for name in "xz"]
    columns = dict(zip(("class", "feature", "times", "weight"), zip(*weights, strict=True), strict=True))
    model = nbsql.from_weights(con, {**columns, "value": [None] * 6}, name="m", target="y")
    shares = [math.exp(-step * place) for place in (2, 1, 0)]
    expected = [share / sum(shares) for share in shares]
    con.execute("CREATE TABLE s AS SELECT 'a' AS y, $1::DOUBLE AS x, $2::DOUBLE AS z", [size, step])
    queries = [f"({model.sql('predict_proba', 's', inline=True)})", f"({model.sql('predict_proba', 's', dialect='duckdb')})"]
    for query in (model.predict_proba("s").sql, "FROM m.predict_proba('s')", *(f"FROM {each}" for each in queries)):
        assert list(con.execute(query).fetchall()[0][-3:]) == near(expected)
    assert list(model.predict_one({"x": size, "z": step})["probabilities"].values()) == near(expected)
    loss = -math.log(max(expected[0], 2**-52))
    assert model.evaluate("s").log_loss == near(loss)
    assert dict(con.execute("SELECT metric, value FROM m.evaluate('s')").fetchall())["log_loss"] == near(loss)


@pytest.fixture
def tied(con):
    con.execute(f"CREATE TABLE s AS {ROWS}")
    return nbsql.fit(con, TRAIN, target="y", name="m", families={"x": "gaussian"})


def test_every_verb_has_the_same_posteriors(con, tied):
    expected = [FAR, FAR, TIE, TIE]
    assert np.array([row[-3:] for row in tied.predict_proba("s")]) == near(np.array(expected))
    assert [row[-1] for row in tied.predict("s")] == near([1 / 2, 1 / 2, 1 / 3, 1 / 3])
    assert [list(tied.predict_one({"x": x})["probabilities"].values()) for x in (-1e9, -1e18)] == [near(FAR), near(TIE)]
    assert [row[-2] for row in tied.predict("s", top_k=3)] == near([value for row in expected for value in row])
    assert [row[-1] for row in tied.predict("s", costs={("p", "q"): 3})] == near([1 / 2, 1 / 2, 2 / 3, 2 / 3])
    assert [row[-2:] for row in tied.predict("s", thresholds={"q": 0.4})][:2] == [("q", near(0.5))] * 2
    assert sorted(row[-1] for row in tied.review("s", columns=["x"])) == ["p 33 %, q 33 %"] * 2 + ["p 50 %, q 50 %"]
    evaluation = tied.evaluate("s")
    assert evaluation.log_loss == near(LOG_LOSS)
    assert evaluation.brier == near((0.5 + 6 / 9) / 2)
    found = {row[3]: row[4] for row in tied.monitor("s") if row[2] is None}
    assert (found["expected_accuracy"], found["log_loss"]) == (near((1 / 2 + 1 / 3) / 2), near(LOG_LOSS))
    assert [row[2] for row in tied.class_shares("s")] == near(np.mean(expected, axis=0))
    assert [row[2:4] for row in tied.compare(tied, "s") if row[1] == "log_loss"] == [(near(LOG_LOSS),) * 2]


@pytest.mark.few
@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
def test_a_calibration_of_tied_classes_leaves_them_tied(con, tied, method):
    con.execute("CREATE TABLE later AS SELECT y, x + 20 * (i % 5) AS x FROM (" + TRAIN + "), range(20) AS r(i)")
    tied.calibrate("later", method=method, folds=None)
    p, q, r = zip(*(row[-3:] for row in tied.predict_proba("s", calibrated=True)), strict=True)
    assert p[:2] == near(q[:2])
    assert np.add(np.add(p, q), r) == near(np.ones(4))
    loss = -np.log(np.maximum([p[0], q[1], r[2], r[3]], 2**-52)).mean()
    assert tied.evaluate("s", calibrated=True).log_loss == near(loss)
    assert list(tied.predict_one({"x": -1e9})["probabilities"].values()) == near([p[0], q[0], r[0]])
    for method in ("conformal", "certain"):
        tied.calibrate("later", method=method, folds=None)
    assert [row[-1] for row in tied.predict("s", coverage=0.9)][:2] == [["p", "q"]] * 2
    assert [row[-1] for row in tied.predict("s", certain=0.5)][2:] == ["nothing known tells the classes apart"] * 2


def test_a_calibration_reads_log_posteriors(con, tied):
    """The lowest that a share of the true classes has: ln(1/3) of half of the rows, and ln(1/2) of the others."""
    tied.calibrate("s", method="conformal", folds=None)
    found = con.execute(
        "SELECT DISTINCT score FROM m.calibration WHERE class_no IS NULL AND score > -1e9 ORDER BY score"
    ).fetchall()
    assert found == [(near(math.log(1 / 3)),), (near(math.log(1 / 2)),)]


def test_many_classes_share_a_row(con):
    """In the long form, whose terms are computed twice."""
    train = "SELECT printf('c%03d', i % 102) AS y, (i // 102)::DOUBLE AS x FROM range(204) AS t(i)"
    model = nbsql.fit(con, train, target="y", families={"x": "gaussian"})
    for x in (1e9, -1e18):
        con.execute("CREATE OR REPLACE TABLE s AS SELECT 'c007' AS y, $1::DOUBLE AS x", [x])
        assert list(model.predict_proba("s").fetchall()[0][-102:]) == near([1 / 102] * 102)
        assert model.evaluate("s").log_loss == near(math.log(102))


def test_folds_are_scored_so(con):
    """Those of fold 1 by the numbers 0 and 1 of p and of q."""
    rows = ", ".join(f"('{y}', {x}::DOUBLE, {1 + (abs(x) < 2)})" for x, y in product((0, 1, -1e9, 1e18), "pq"))
    found = nbsql.cross_validate(
        con, f"FROM (VALUES {rows}) AS t(y, x, fold)", target="y", fold="fold", families={"x": "gaussian"}
    )
    assert {row[0]: row[4] for row in found.folds}["1"] == near(math.log(2))


@pytest.mark.slow
def test_a_row_alone_is_scored_so(con):
    """Without its row at -1e9, p has the numbers of q. The others are certain: beside -1e9, p has a deviation of 4e8."""
    rows = "('p', 0e0), ('p', 1e0), ('p', -1e9), ('q', 0e0), ('q', 1e0)"
    data = f"SELECT * FROM (VALUES {rows}) AS t(y, x)"
    found = nbsql.cross_validate(con, data, target="y", folds="loo", families={"x": nbsql.Gaussian(floor=0)})
    alone = [f"SELECT * FROM (VALUES {rows}) AS t(y, x) WHERE NOT (y = '{y}' AND x = {x})" for y, x in OWN]
    models = [nbsql.fit(con, each, target="y", families={"x": nbsql.Gaussian(floor=0)}) for each in alone]
    losses = [m.evaluate(f"SELECT '{y}' AS y, {x}::DOUBLE AS x").log_loss for m, (y, x) in zip(models, OWN, strict=True)]
    assert losses[2] == near(math.log(2))
    assert found.log_loss == near(sum(losses) / 5)


OWN = [("p", 0), ("p", 1), ("p", -1e9), ("q", 0), ("q", 1)]


def test_rows_without_a_class_are_counted_in_halves(con):
    """EM: in the first step, the row at -1e9 is p and q by half."""
    train = f"SELECT y, x FROM ({TRAIN}) UNION ALL SELECT NULL, -1e9"
    options = {"families": {"x": nbsql.Gaussian(floor=0)}, "method": nbsql.EM(iterations=1)}
    model = nbsql.fit(con, train, target="y", **options)
    assert {row[0]: row[1] for row in model.priors} == {"p": near(2.5), "q": near(2.5), "r": near(2)}


def test_the_estimator_agrees():
    x, y = np.array([[0.0], [1.0], [0.0], [1.0], [50.0], [51.0]]), list("ppqqrr")
    estimator = NaiveBayesClassifier().fit(x, y)
    assert estimator.predict_proba([[-1e9], [-1e18]]) == near(np.array([FAR, TIE]))
