"""Rows drawn from discriminant analysis: numbers that vary together as the model says."""

import numpy as np
import pytest
from scipy import stats

import nbsql

# Columns that hang together, of very different sizes, one of them of whole numbers; a category beside them.
ROWS = """SELECT sin(i) + i % 3 AS a, 1e9 + 1e7 * (sin(i) + cos(i * i)) * (1 + i % 3) AS b, 1e-6 * cos(i * 7) AS c,
    i * 13 % 500 AS d, 'v' || i * 7 % 4 AS v, 'k' || (i % 3) // 2 AS y FROM range(300) AS r(i)"""
NUMBERS = ["a", "b", "c", "d"]
N = 40_000


def covariances(con, shared):
    """The mean and the covariance matrix of each class."""
    rows = con.execute(ROWS).df()
    of = {y: part[NUMBERS].to_numpy(dtype=float) for y, part in rows.groupby("y")}
    within = sum(np.cov(x.T, ddof=0) * len(x) for x in of.values()) / len(rows)
    return {y: (x.mean(axis=0), within if shared else np.cov(x.T, ddof=0)) for y, x in of.items()}


@pytest.mark.parametrize("method", ["lda", "qda"])
def test_numbers_vary_together_as_the_model_says(con, method):
    model = nbsql.fit(con, ROWS, target="y", method=method)
    con.execute(f"CREATE TABLE drawn AS {model.sample(N, seed=3).sql}")
    described = {row[0]: row[1] for row in con.execute(f"DESCRIBE {ROWS}").fetchall()}
    assert {row[0]: row[1] for row in con.execute("DESCRIBE drawn").fetchall()} == described
    drawn = con.execute("FROM drawn").df()
    for y, (mean, covariance) in covariances(con, method == "lda").items():
        x = drawn[drawn["y"] == y][NUMBERS].to_numpy(dtype=float)
        white = np.linalg.solve(np.linalg.cholesky(covariance), (x - mean).T)  # independent, of mean 0 and variance 1
        n = white.shape[1]
        assert np.abs(white.mean(axis=1)).max() < 4 / n**0.5
        assert np.abs(np.cov(white) - np.eye(len(NUMBERS))).max() < 4 * (2 / n) ** 0.5
        assert all(stats.kstest(z, stats.norm.cdf).pvalue > 1e-3 for z in white[:3])  # the last is of whole numbers
    again = nbsql.fit(con, "drawn", target="y", method=method)
    for one, other in zip(again.likelihoods, model.likelihoods, strict=True):
        assert one[:3] == other[:3]
        assert (one[3] is None) == (other[3] is None)
        assert one[3] is None or one[3] == pytest.approx(other[3], abs=0.02)


@pytest.mark.parametrize("method", ["lda", "qda"])
def test_the_factor_is_that_of_cholesky(con, method):
    """Of two models of one chance, x = m + L z and x' = m' + L' z: each row of one follows from that of the other."""
    exact = f"SELECT * REPLACE (CAST(d AS DOUBLE) AS d) FROM ({ROWS})"
    turned = f"SELECT -c * 1e6 AS a, a AS b, CAST(d AS DOUBLE) AS c, b / 1e8 AS d, v, y FROM ({ROWS})"
    rows, others = (
        nbsql.fit(con, source, target="y", method=method, exclude=["v"]).sample(50, seed=9).df() for source in (exact, turned)
    )
    assert list(rows["y"]) == list(others["y"])
    turn = np.array([[0, 0, -1e6, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 1e-8, 0, 0]])
    for y, (mean, covariance) in covariances(con, method == "lda").items():
        factor, other = np.linalg.cholesky(covariance), np.linalg.cholesky(turn @ covariance @ turn.T)
        z = np.linalg.solve(factor, (rows[rows["y"] == y][NUMBERS].to_numpy() - mean).T)
        expected = (turn @ mean)[:, None] + other @ z
        scale = np.sqrt(np.diag(turn @ covariance @ turn.T))[:, None]
        assert np.abs((others[others["y"] == y][NUMBERS].to_numpy().T - expected) / scale).max() < 1e-7


def test_the_same_seed_gives_the_same_rows(con):
    model = nbsql.fit(con, ROWS, target="y", method="qda", name="story")
    long = model.sample(300, seed=5).fetchall()
    assert model.sample(10, seed=5).fetchall() == long[:10]
    assert nbsql.load(con, "story").sample(300, seed=5).fetchall() == long
    assert model.sample(300, seed=6).fetchall() != long
    assert model.sample(0).fetchall() == []


def test_what_is_shrunk_or_lacks_numbers_is_drawn_as_it_is_estimated(con):
    con.execute("CREATE TABLE t (u DOUBLE, v DOUBLE, y VARCHAR)")
    con.execute("INSERT INTO t VALUES (1, 2, 'a'), (2, 5, 'a'), (3, NULL, 'a'), (NULL, NULL, 'b')")
    families = {"both": nbsql.MultivariateGaussian(["u", "v"], shared=False, shrinkage=0.5)}
    with pytest.warns(nbsql.NbsqlWarning, match="^2 rows without one of the numbers of 'both'"):
        model = nbsql.fit(con, "t", target="y", families=families, prior="uniform")
    drawn = model.sample(20_000, seed=1).df()
    expected = 0.5 * np.array([[0.25, 0.75], [0.75, 2.25]]) + 0.5 * 1.25 * np.eye(2)
    for y in ("a", "b"):  # a class without any has the moments of all others
        x = drawn[drawn["y"] == y][["u", "v"]].to_numpy()
        assert x.mean(axis=0) == pytest.approx([1.5, 3.5], abs=0.05)
        assert np.cov(x.T) == pytest.approx(expected, abs=0.05)
