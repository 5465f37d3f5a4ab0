"""A covariance matrix for each class as one more feature of the numbers of a weighted model."""

import duckdb
import numpy as np
import pytest
from learning.test_feature_weights import rows_with_folds, weights_of
from scipy.stats import multivariate_normal, norm
from sklearn.linear_model import LogisticRegression

import nbsql
from nbsql.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

# In the first class a and b grow together, in the second one grows as the other falls.
ROWS = """CREATE TABLE t AS
SELECT i AS id, a, if(y = 'u', 1, -1) * a / 2 + noise + i % 3 AS b, y
FROM (SELECT i, if(hash(i) % 5 < 2, 'u', 'v') AS y, hash(i, 1) % 1009 / 100.0 - 5 AS a, hash(i, 2) % 997 / 200.0 AS noise
    FROM range(240) AS r(i)) AS drawn"""
PLAIN = {"a": "gaussian", "b": "gaussian"}
OPTIONS = {"target": "y", "id": "id", "replace": True}


@pytest.fixture(scope="module")
def con():
    with duckdb.connect() as con:
        con.execute(ROWS)
        yield con


def matrix(*, shared=False):
    return nbsql.MultivariateGaussian(["a", "b"], shared=shared)


def log_ratios(known, rows, *, shared):
    """ln p(x | v) - ln p(x | u) of a, of b and of both, by the means and variances of the known rows."""
    groups = {label: known[known["y"] == label][["a", "b"]].to_numpy(float) for label in "uv"}
    covariances = {label: np.cov(values.T, bias=True) for label, values in groups.items()}
    if shared:
        pooled = sum(len(values) * covariances[label] for label, values in groups.items()) / len(known)
        covariances = dict.fromkeys("uv", pooled)
    x, terms = rows[["a", "b"]].to_numpy(float), {}
    for label, values in groups.items():
        alone = norm.logpdf(x, values.mean(axis=0), values.std(axis=0))
        together = multivariate_normal(values.mean(axis=0), covariances[label]).logpdf(x)
        terms[label] = np.column_stack([alone, together])
    return terms["v"] - terms["u"]


@pytest.mark.slow
@pytest.mark.parametrize("shared", [False, True])
def test_its_weight_and_its_score_are_those_of_logistic_regression(con, shared):
    families = {**PLAIN, "both": matrix(shared=shared)}
    model = nbsql.fit(con, "t", name="w", families=families, method=nbsql.Weighted(penalty=2), **OPTIONS)
    assert [*model.families] == ["a", "b", "both"]
    frame = rows_with_folds(con, model, "y", "t")
    x = np.zeros((len(frame), 3))
    for fold, rows in frame.groupby("nbsql_slice"):
        x[rows.index] = log_ratios(frame[frame["nbsql_slice"] != fold], rows, shared=shared)
    fitted = LogisticRegression(C=0.25, tol=1e-14, solver="newton-cholesky", max_iter=1000)
    fitted.fit(np.column_stack([x.sum(axis=1), x]), frame["y"] == "v")
    expected = fitted.coef_[0][0] + fitted.coef_[0][1:]
    weights = weights_of(model, con)
    assert [weights["v", name] for name in ("a", "b", "both")] == pytest.approx(expected, abs=1e-9)
    assert weights["v", "both"] > 0 or shared
    rows = con.execute("SELECT * FROM t ORDER BY id").df()
    gaps = log_ratios(rows, rows, shared=shared) @ expected + fitted.intercept_[0]
    scored = model.predict_proba("SELECT id, a, b FROM t ORDER BY id").fetchall()
    assert [np.log(v / u) for *_, u, v in scored] == pytest.approx(gaps, abs=1e-9)


@pytest.mark.slow
def test_no_square_has_a_weight_below_0(con):
    """Where the classes are drawn by lot, what the other folds say of a row is wrong more often than right."""
    con.execute(
        "CREATE OR REPLACE TABLE lots AS SELECT * REPLACE (if(hash(id, 7) % 2 = 0, 'u', 'v') AS y) FROM t WHERE id < 60"
    )
    method = nbsql.Weighted(penalty=0.01)
    without = nbsql.fit(con, "lots", name="without", families=PLAIN, method=method, **OPTIONS)
    model = nbsql.fit(con, "lots", name="w", families={**PLAIN, "both": matrix()}, method=method, **OPTIONS)
    found, expected = weights_of(model, con), weights_of(without, con)
    assert {found.pop((label, "both")) for label in "uv"} == {0}
    assert found == pytest.approx(expected, abs=1e-9)
    assert sorted(model.predict_proba("lots").fetchall()) == [
        pytest.approx(row, abs=1e-9) for row in sorted(without.predict_proba("lots").fetchall())
    ]


@pytest.mark.slow
@pytest.mark.parametrize("family", ["gaussian", "lognormal", "gamma"])
def test_no_density_has_a_weight_below_0_where_a_class_has_few_rows(family):
    """A class of two rows may have a variance near 0: with a weight below 0 it would win every number far from these."""
    numbers = ", ".join(f"1 + hash(i, {20 * k + 2}) % 997 / 200.0 AS x{k}" for k in range(1, 5))
    with duckdb.connect() as con:
        con.execute(f"""CREATE TABLE t AS SELECT if(i < 2, 'rare', if(hash(i, 2) % 2 = 0, 'u', 'v')) AS y, {numbers}
            FROM range(62) AS r(i)""")
        families = dict.fromkeys(("x1", "x2", "x3", "x4"), family)
        row = {**dict.fromkeys(families, 2.0), "x1": 900.0}
        model = nbsql.fit(con, "t", target="y", name="w", families=families, method="weighted")
        assert {*weights_of(model, con).values()} == {0}
        priors = {label: share for label, _, share, _ in model.priors.fetchall()}
        assert model.predict_one(row)["probabilities"] == pytest.approx(priors, abs=1e-9)


def test_weights_of_a_density_that_is_nearly_a_point_are_not_determined(con):
    rows = """SELECT if(i < 3, 'rare', if(hash(i, 0) % 2 = 0, 'u', 'v')) AS y, 1 + hash(i, 60) % 997 / 200.0 AS b,
        if(i < 3, 3 + i / 1e4, 1 + hash(i, 20) % 997 / 200.0) AS a FROM range(63) AS r(i)"""
    options = {"target": "y", "method": nbsql.Weighted(penalty=0.01)}
    message = "the weights are not determined: what features say of some rows is far more than of others; merge classes of "
    with pytest.raises(InputError, match=message + r"few rows, or use nbsql\.Gaussian\(floor=0\.01\) for numbers"):
        nbsql.fit(con, rows, families=PLAIN, **options)
    steady = dict.fromkeys("ab", nbsql.Gaussian(floor=0.01))
    assert nbsql.fit(con, rows, families=steady, **options).classes == ["u", "v", "rare"]


def test_a_matrix_has_one_weight(con):
    message = "per='class and feature' does not support 'both', which is multivariate_gaussian; cut numbers into bins, or "
    with pytest.raises(InputError, match=message):
        nbsql.fit(con, "t", families={"both": matrix()}, method=nbsql.Weighted(per="class and feature"), **OPTIONS)
