"""Given log-likelihoods of any sign, and given means with covariance matrices: the scores are theirs."""

from math import inf, log

import duckdb
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import ComplementNB

import nbsql

HALF = {"a": 0.5, "b": 0.5}
LOGS = {
    "a": {"kind": {"u": 2.5, "v": -900.0}, "seen": {True: 1.0, False: -inf}},
    "b": {"kind": {"u": -1.5, "v": 800.0}, "seen": {True: 0.25, False: 3.0}},
}
ROWS = {"kind": ["v", "u", "u"], "seen": [True, True, False]}
NAMES = ("a", "b", "c", "d")


def scores(model, source):
    return np.array(model.joint_log_likelihood(source, columns=[]).fetchall(), dtype=float)


def test_log_likelihoods_are_added_as_they_are(con, tmp_path):
    model = nbsql.from_tables(con, priors=HALF, likelihoods=LOGS, logarithms=True, name="logs")
    expected = np.array([[-899, 800.25], [3.5, -1.25], [-inf, 1.5]]) + log(0.5)
    assert scores(model, ROWS) == pytest.approx(expected, abs=1e-9)
    explained = {row[1:4]: row[4] for row in model.explain("SELECT 'v' AS kind, TRUE AS seen")}
    assert explained["b", "kind", "v"] == 800
    con.execute("CREATE TABLE told AS SELECT class, feature, value, log_likelihood FROM logs.likelihoods")
    for source in ("told", "logs.likelihoods"):
        again = nbsql.from_tables(con, priors=HALF, likelihoods=source, logarithms=source != "told")
        assert scores(again, ROWS) == pytest.approx(expected, abs=1e-9)
    model.export(tmp_path / "logs.parquet")
    with duckdb.connect() as other:
        assert scores(nbsql.import_(other, tmp_path / "logs.parquet", name="n"), ROWS) == pytest.approx(expected, abs=1e-9)


def test_the_weights_of_another_library_are_log_likelihoods(con):
    chance = np.random.default_rng(5)
    x, y = chance.integers(0, 6, (80, 4)), chance.integers(0, 3, 80)
    estimator = ComplementNB().fit(x, y)
    words = dict(zip(NAMES, estimator.feature_log_prob_.T, strict=True))
    weights = {c: {"words": {word: column[c] for word, column in words.items()}} for c in range(3)}
    family = nbsql.Multinomial(list(NAMES))
    priors = dict.fromkeys(range(3), 1 / 3)
    model = nbsql.from_tables(con, priors=priors, likelihoods=weights, families={"words": family}, logarithms=True)
    found = scores(model, {name: x[:, place] for place, name in enumerate(NAMES)})
    assert np.abs(found - log(1 / 3) - estimator.predict_joint_log_proba(x)).max() < 1e-9
    assert (estimator.feature_log_prob_ > 0).all()


@pytest.mark.parametrize("options", [{}, {"shrinkage": 0.3}, {"variance": "sample"}, {"shrinkage": "ledoit-wolf"}])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.forms("shared")
def test_a_matrix_is_given_as_it_was_estimated(con, shared, options):
    rows = "SELECT ['a', 'b'][1 + i % 2] AS y, sin(i) + i % 2 AS a, cos(i * i) * (1 + i % 2) AS b FROM range(40) AS t(i)"
    families = {"ab": nbsql.MultivariateGaussian(["a", "b"], shared=shared, **options)}
    fitted = nbsql.fit(con, rows, target="y", features=[], families=families)
    given = nbsql.from_tables(con, priors=fitted.priors, likelihoods=fitted.likelihoods, families=fitted.families, target="y")
    asked = "SELECT 0.3 AS a, -1.5 AS b"
    found, wanted = (model.joint_log_likelihood(asked, columns=[]).fetchall()[0] for model in (given, fitted))
    assert found == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("shared", [False, True])
def test_covariance_matrices_are_discriminant_analysis(con, shared):
    x, y = load_iris(return_X_y=True)
    kind, options = (LinearDiscriminantAnalysis, {"solver": "lsqr"}) if shared else (QuadraticDiscriminantAnalysis, {})
    estimator = kind(store_covariance=True, **options).fit(x, y)
    matrices = [estimator.covariance_] * 3 if shared else estimator.covariance_
    likelihoods = {c: {NAMES: {"mean": estimator.means_[c], "covariance": matrices[c]}} for c in range(3)}
    priors = {c: float(p) for c, p in enumerate(estimator.priors_)}
    model = nbsql.from_tables(con, priors=priors, likelihoods=likelihoods, name="flowers")
    source = {name: x[:, place] for place, name in enumerate(NAMES)}
    found = np.array(model.predict_proba(source, columns=[]).fetchall())[:, 2:].astype(float)
    assert np.abs(found - estimator.predict_proba(x)).max() < 1e-9
    assert model.families["a, b, c, d"].shared is shared
    assert sum(row[4] == "x" for row in model.quadratic()) > 0
    again = nbsql.from_tables(con, priors=priors, likelihoods=model.likelihoods.df())
    assert scores(again, source) == pytest.approx(scores(model, source), abs=1e-9)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 2], [2, 1]], "the covariance matrix of {} is not positive definite; leave out what its other columns tell"),
        ([[1, 0.2], [0.3, 1]], "the covariance matrix of {} is not symmetric: 0.2 and 0.3"),
        ([[1]], "{} must have 2 means and a covariance matrix of 2 rows and columns"),
        (3, "{} must have 2 means and a covariance matrix of 2 rows and columns"),
        ([[1, inf], [inf, 1]], "the means and covariances of {} must be finite numbers"),
    ],
)
def test_what_is_no_covariance_matrix_is_refused(con, matrix, message, refused):
    likelihoods = {c: {("x", "z"): {"mean": [1, 2], "covariance": matrix}} for c in HALF}
    with refused(nbsql.InputError, message.format("feature 'x, z' of class 'a'")):
        nbsql.from_tables(con, priors=HALF, likelihoods=likelihoods)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("('x', 1, 2), ('[\"z\",\"x\"]', NULL, 0)", "{} lacks the mean and variance of 'z'"),
        ("('x', 1, 2), ('z', 1, 2)", "{} lacks the covariance of 'x' and 'z'"),
        ("('x', 1, 2), ('x', 1, 3)", "value 'x' of {} is given twice; give it once"),
        (
            "('x', 1, 2), ('z', 1, 2), ('[\"x\",\"z\"]', NULL, 0), ('w', 1, 2)",
            '{} has a value \'w\', which is none of its columns, nor a pair of them such as ["a","b"]',
        ),
    ],
)
def test_what_a_table_lacks_is_refused(con, rows, message, refused):
    told = f"SELECT 'a' AS class, 'xz' AS feature, * FROM (VALUES {rows}) AS t(value, mean, variance)"
    families = {"xz": nbsql.MultivariateGaussian(["x", "z"])}
    with refused(nbsql.InputError, message.format("feature 'xz' of class 'a'")):
        nbsql.from_tables(con, priors=HALF, likelihoods=told, families=families)


def test_what_is_no_log_likelihood_is_refused(con, refused):
    said = "likelihoods has no column 'log_likelihood', which logarithms=True reads; add it, or leave that out"
    with refused(nbsql.InputError, said):
        nbsql.from_tables(con, priors=HALF, likelihoods="SELECT 'a' AS class, 'x' AS feature, 'v' AS value", logarithms=True)
    told = "SELECT 'a' AS class, 'x' AS feature, 'v' AS value, 'inf'::DOUBLE AS log_likelihood"
    said = "the log-likelihood of value 'v' of feature 'x' of class 'a' is inf; it must be a number below infinity"
    with refused(nbsql.InputError, said):
        nbsql.from_tables(con, priors={"a": 1.0}, likelihoods=told)
    matrix = {"mean": [1, 2], "covariance": [[1, 0], [0, 1]]}
    said = "family 'joint' of 'xz' has no covariances; leave it out of families"
    with refused(nbsql.InputError, said):
        families = {"xz": nbsql.Joint(["x", "z"])}
        nbsql.from_tables(con, priors=HALF, likelihoods={c: {"xz": matrix} for c in HALF}, families=families)


def test_weights_are_no_probabilities_to_draw_from(con, refused):
    told = {name: {"x": {"u": 3.0, "v": -1.0}} for name in HALF}
    model = nbsql.from_tables(con, priors=HALF, likelihoods=told, logarithms=True, name="m")
    said = (
        "model 'm' cannot be sampled: 'x' was given as logarithms, which need not be of probabilities; "
        "give its likelihoods, or fit it without"
    )
    with refused(nbsql.InputError, said):
        model.sample(3)
