"""Leave-one-out of discriminant analysis: the answers of a fit without each row, by an update of rank one."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.metrics import log_loss
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from support.algebra import refitted

import nbsql

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")

Connection = duckdb.DuckDBPyConnection
near = pytest.approx

# Numbers of different sizes, some missing; a class that has them in one row alone and one that has none; weights, some 0.
ROWS = """SELECT i, [NULL, 'a', 'b'][1 + i % 3] AS c, 1e6 + 100 * sin(i * i) + 30 * y AS u,
    CASE WHEN i NOT IN (3, 17) AND y < 3 AND (y < 2 OR i = 11) THEN cos(i * 3) * 1e-3 + sin(i * i) * 5e-4 END AS v,
    sin(i * 5) * (1 + y) AS x, hash(i) % 4 / 2 AS w, 'k' || y AS y
    FROM (SELECT i, CASE WHEN i IN (7, 11, 13) THEN 2 WHEN i IN (4, 20) THEN 3 ELSE i % 2 END AS y FROM range(24) AS r(i))"""


@pytest.mark.parametrize("data", [load_iris, load_wine])
@pytest.mark.parametrize("method", ["lda", "qda"])
def test_it_is_that_of_scikit_learn(con: Connection, data: Any, method: str) -> None:
    x, y = data(return_X_y=True)
    keep = np.arange(len(y)) % 7 != 0  # so that the priors differ
    x, y = x[keep], y[keep]
    con.register("flowers", {**{f"x{j}": x[:, j] for j in range(x.shape[1])}, "y": y})
    shared = method == "lda"
    model = LinearDiscriminantAnalysis(solver="lsqr") if shared else QuadraticDiscriminantAnalysis(store_covariance=True)
    fitted = model.fit(x, y)
    population = shared or np.allclose(fitted.covariance_[0], np.cov(x[y == 0].T, ddof=0), rtol=1e-9)  # before 1.8: sample
    columns = [f"x{j}" for j in range(x.shape[1])]
    family = nbsql.MultivariateGaussian(columns, shared=shared, variance="population" if population else "sample")
    found = nbsql.cross_validate(con, "flowers", target="y", folds="loo", families={"all": family})
    theirs = cross_val_predict(model, x, y, cv=LeaveOneOut(), method="predict_proba")
    loss = log_loss(y, np.clip(theirs, 2.0**-52, 1 - 2.0**-52))
    for judged in (found, found.evaluation):
        assert judged.accuracy == near(float((theirs.argmax(axis=1) == y).mean()), abs=1e-12)
        assert judged.log_loss == near(loss, rel=1e-9)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    ("options", "weight"),
    [({"variance": "sample"}, None), ({}, "w"), ({"impute": True}, None)],
)
def test_every_row_is_predicted_as_by_the_model_of_all_others(
    con: Connection, shared: bool, options: dict[str, Any], weight: str | None
) -> None:
    imputed = "WHERE y < 'k2'" if "impute" in options else ""  # a class of imputed numbers alone has no inverse
    con.execute(f"CREATE TABLE t AS FROM ({ROWS}) {imputed}")
    family = nbsql.MultivariateGaussian(["u", "v"], shared=shared, **options)
    given: dict[str, Any] = {"target": "y", "weight": weight, "families": {"both": family}, "exclude": [] if weight else ["w"]}
    own = nbsql.cross_validate(con, "t", fold="i", **given)
    given["exclude"] = [*given["exclude"], "i"]
    found = nbsql.cross_validate(con, "t", folds="loo", **given)
    assert (found.rows, found.accuracy) == (own.rows, near(own.accuracy, abs=1e-12))
    assert found.log_loss == near(own.log_loss, rel=1e-9)
    assert found.evaluation.log_loss == near(own.log_loss, rel=1e-9)


@pytest.mark.parametrize("method", ["lda", "qda"])
def test_it_is_a_fit_without_each_row(con: Connection, method: str) -> None:
    con.execute(f"CREATE TABLE t AS SELECT i, u, x, c, y FROM ({ROWS}) WHERE y < 'k2' AND i < 12")
    found = nbsql.cross_validate(con, "t", target="y", exclude=["i"], folds="loo", method=method)
    accuracy, loss = refitted(con, "t", "i", play="y", method=method)
    assert (found.accuracy, found.log_loss) == (near(accuracy), near(loss, rel=1e-9))


def test_a_class_without_an_inverse_has_no_say(con: Connection) -> None:
    """Three rows of two numbers have an inverse and two have none, so that a fit of them would be refused."""
    rows = [(0, 0, "a"), (1, 0, "a"), (0, 1, "a"), (2, 2, "b"), (3, 2, "b"), (2, 3, "b"), (3, 5, "b"), (4, 1, "b")]
    con.execute("CREATE TABLE t (u DOUBLE, v DOUBLE, y VARCHAR)")
    con.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    expected = 0.0
    for i, (*numbers, y) in enumerate(rows):
        joint = {}
        for label in ("a", "b"):
            others = np.array([row[:2] for j, row in enumerate(rows) if row[2] == label and j != i], dtype=float)
            d, cov = np.array(numbers) - others.mean(axis=0), np.cov(others.T, ddof=0)
            says = -0.5 * (np.linalg.slogdet(2 * np.pi * cov)[1] + d @ np.linalg.solve(cov, d)) if len(others) > 2 else 0.0
            joint[label] = np.log(len(others) / 7) + says
        expected += np.logaddexp(joint["a"], joint["b"]) - joint[y]
    found = nbsql.cross_validate(con, "t", target="y", folds="loo", method="qda")
    assert found.log_loss == near(expected / 8, rel=1e-9)


def test_an_outlier_takes_few_digits_with_it(con: Connection) -> None:
    outlier = "sin(i * i) + CASE WHEN i = 5 THEN 1e4 ELSE 0 END"
    con.execute(f"CREATE TABLE t AS SELECT i, {outlier} AS u, cos(i) AS v, i % 2 AS y FROM range(20) AS r(i)")
    for method in ("lda", "qda"):
        found = nbsql.cross_validate(con, "t", target="y", exclude=["i"], folds="loo", method=method)
        own = nbsql.cross_validate(con, "t", target="y", fold="i", method=method)
        assert found.log_loss == near(own.log_loss, rel=1e-7)


# A number so far out that a matrix is all that row's, one such in each class, and one as far that is not alone.
FAR = """SELECT i, sin(i * i) + CASE i WHEN 5 THEN {far} ELSE 0 END AS u,
    cos(i) - CASE WHEN i = 8 THEN {far} WHEN i IN (11, 13) THEN 1e3 ELSE 0 END AS v,
    CASE WHEN i <> 3 THEN 1 + i % 3 / 2 END AS w, i % 2 AS y FROM range(24) AS r(i)"""


# How far out, by the decade: the ends in CI, those between by `pytest -m nightly`, when leave-one-out of matrices has changed.
@pytest.mark.parametrize("far", [1e5, *(pytest.param(far, marks=pytest.mark.nightly) for far in (1e6, 1e7)), 1e8])
@pytest.mark.parametrize("method", ["lda", "qda"])
def test_a_row_that_a_matrix_is_made_of(con: Connection, method: str, far: float) -> None:
    con.execute(f"CREATE TABLE t AS SELECT i, u, v, y FROM ({FAR.format(far=far)})")
    found = nbsql.cross_validate(con, "t", target="y", exclude=["i"], folds="loo", method=method)
    accuracy, loss = refitted(con, "t", "i", play="y", method=method)
    assert (found.accuracy, found.log_loss) == (near(accuracy), near(loss, rel=1e-9))
    assert found.evaluation.log_loss == near(loss, rel=1e-9)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    ("options", "weight"), [({"variance": "sample"}, None), ({"variance": "sample"}, "w"), ({"impute": True}, None)]
)
def test_such_rows_of_other_options(con: Connection, shared: bool, options: dict[str, Any], weight: str | None) -> None:
    missing = "CASE WHEN i <> 7 THEN v END AS v"
    con.execute(f"CREATE TABLE t AS SELECT * REPLACE ({missing}) FROM ({FAR.format(far=1e7)}) WHERE i <> 3")
    family = nbsql.MultivariateGaussian(["u", "v"], shared=shared, **options)
    given: dict[str, Any] = {"target": "y", "weight": weight, "families": {"both": family}}
    given["exclude"] = [] if weight else ["w"]
    own = nbsql.cross_validate(con, "t", fold="i", **given)
    given["exclude"] = [*given["exclude"], "i"]
    found = nbsql.cross_validate(con, "t", folds="loo", **given)
    assert (found.accuracy, found.log_loss) == (near(own.accuracy), near(own.log_loss, rel=1e-9))
    swept = nbsql.sweep(con, "t", folds="loo", **{**given, "prior": ["empirical", "uniform"]})
    assert near(own.log_loss, rel=1e-9) in [row[-1] for row in swept.ranking.fetchall()]


def test_too_many_such_rows(con: Connection, refused: Any) -> None:
    """Three of the four rows of a class are on a line."""
    con.execute(
        "CREATE TABLE t AS SELECT i % 4 AS u, CASE WHEN i % 4 = 3 THEN i + 1 END AS v, i // 4 AS y FROM range(204) AS r(i)"
    )
    con.execute("UPDATE t SET v = u + y WHERE v IS NULL")
    line = "folds='loo' counts anew without each row that alone spans a direction of 'qda', and t has 51 of them; use folds=10"
    with refused(nbsql.InputError, line):
        nbsql.cross_validate(con, "t", target="y", folds="loo", method="qda")


def test_sweeps_and_calibrations_take_it(con: Connection) -> None:
    con.execute(f"CREATE TABLE t AS SELECT u, x, c, y FROM ({ROWS}) WHERE y < 'k2'")
    swept = nbsql.sweep(con, "t", target="y", folds="loo", method="lda", alpha=[1, 5], prior=["empirical", "uniform"])
    for row, setting in zip(swept.ranking.fetchall(), swept.settings, strict=True):
        own = nbsql.cross_validate(
            con, "t", target="y", folds="loo", method="lda", alpha=setting["alpha"], prior=setting["prior"]
        )
        assert row[4:] == (near(own.accuracy), near(own.log_loss, rel=1e-9))
    found = nbsql.fit(con, "t", target="y", method="lda").calibrate("t", folds="loo")
    assert found.log_loss == near(nbsql.cross_validate(con, "t", target="y", folds="loo", method="lda").log_loss, rel=1e-9)
