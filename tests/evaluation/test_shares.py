"""The shares of the classes among rows without labels: against a computation in numpy, and what they were drawn by."""

import numpy as np
import pytest

import nbsql

LEARNT = """SELECT ['a', 'b', 'c'][k + 1] AS y, k + i * 37 % 101 / 40 AS x, (k + i % 4) // 2 AS z, i % 3 AS part
FROM (SELECT i, i * i % 7 % 3 AS k FROM range(900) AS t(i))"""
NEW = f"SELECT x, z, y AS truth FROM ({LEARNT}) WHERE y = 'a' OR part = 0"  # three times as many of class a


def shares_by_hand(priors, posteriors):
    """The steps of Saerens, Latinne and Decaestecker (2002)."""
    shares = priors
    for _ in range(10_000):
        masses = posteriors * shares / priors
        shares = (masses / masses.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"prior": "uniform"}, {"method": "logistic"}])
def test_the_shares_are_those_of_the_steps_in_numpy(form, con, options):
    con.execute(f"CREATE TABLE learnt AS {LEARNT}")
    model = nbsql.fit(con, "learnt", target="y", exclude=["part"], families={"z": "categorical"}, name="m", **options)
    for _ in ("own", "calibrated"):
        rows = model.class_shares(NEW)
        assert rows.columns == ["class", "prior", "posterior", "share"]
        assert [row[0] for row in rows] == ["a", "b", "c"]
        priors = np.array([row[1] for row in rows])
        posteriors = np.array([row[-3:] for row in model.predict_proba(NEW)])
        assert [row[2] for row in rows] == pytest.approx(posteriors.mean(axis=0), abs=1e-12)
        assert [row[3] for row in rows] == pytest.approx(shares_by_hand(priors, posteriors), abs=1e-6)
        model.calibrate("learnt", folds=None)


def test_shares_by_hand(con):
    """Of five rows three have the value a, and with the shares s and 1 - s its probability is 3/4 s + 1/4 (1 - s): s = 0.7."""
    model = nbsql.from_tables(
        con,
        priors={"u": 0.5, "v": 0.5},
        likelihoods={"u": {"x": {"a": 0.75, "b": 0.25}}, "v": {"x": {"a": 0.25, "b": 0.75}}},
        target="y",
    )
    rows = model.class_shares("SELECT unnest(['a', 'a', 'a', 'b', 'b']) AS x").fetchall()
    assert [row[3] for row in rows] == pytest.approx([0.7, 0.3], abs=1e-6)
    assert [row[2] for row in rows] == pytest.approx([0.55, 0.45], abs=1e-12)


def test_rows_that_nothing_explains_are_refused(con, refused):
    con.execute(f"CREATE TABLE learnt AS {LEARNT}")
    model = nbsql.fit(con, "learnt", target="y", exclude=["part"], name="m")
    message = "no row of the query that model 'm' can explain; there is nothing to estimate shares from"
    with refused(nbsql.InputError, message):
        model.class_shares("FROM learnt WHERE x < -100")


@pytest.mark.nightly
def test_shares_that_do_not_settle_are_said(con):
    rows = "SELECT i % 2 AS y, CASE WHEN i % 1000 < 500 + i % 2 * 2 THEN 'u' ELSE 'v' END AS x FROM range(10000) AS r(i)"
    model = nbsql.fit(con, rows, target="y")
    with pytest.warns(nbsql.NbsqlWarning, match="after 1000 steps, because its rows hardly tell the classes apart; estimate"):
        found = model.class_shares("SELECT 'u' AS x").fetchall()
    assert sum(row[-1] for row in found) == pytest.approx(1, abs=1e-9)
