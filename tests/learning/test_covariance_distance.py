"""What co-moments say of how far slices and classes are apart, against the formulas in numpy."""

from math import log

import numpy as np
import pandas
import pytest

import nbsql

near = pytest.approx


@pytest.fixture
def rows(con):
    """Three correlated numbers, far from 0, of three classes and two slices: numbers, class, slice."""
    rng = np.random.default_rng(3)
    y, s = rng.integers(0, 3, 500), np.arange(500) // 300
    x = rng.normal(size=(500, 3)) @ np.array([[1, 0.5, 0], [0, 2, 0.3], [0, 0, 0.7]]) + y[:, None] * [0.3, -0.5, 0.1]
    x = x * [1, 1e-3, 1e3] + [1e3, 0, -5] + s[:, None] * [0.5, 0, 200]
    con.register("frame", pandas.DataFrame({"y": y, "s": s, "a": x[:, 0], "b": x[:, 1], "c": x[:, 2]}))
    con.execute("CREATE TABLE t AS FROM frame")
    return x, y, s


def covariance(x):
    return np.atleast_2d(np.cov(x.T, bias=True))


def log_determinant(x):
    return float(np.linalg.slogdet(x)[1])


def divergence(old, new):
    """Of the normal distribution of `new` from that of `old`, in nats."""
    a, b, moved = covariance(old), covariance(new), new.mean(axis=0) - old.mean(axis=0)
    inverse = np.linalg.inv(a)
    return 0.5 * float(np.trace(inverse @ b) + moved @ inverse @ moved - len(moved) + log_determinant(a) - log_determinant(b))


@pytest.mark.parametrize(
    ("method", "name"), [("lda", "lda"), ("qda", "qda"), (nbsql.LDA(shrinkage=0.3), "lda"), (nbsql.QDA(shrinkage=1), "qda")]
)
def test_drift_is_the_divergence_of_the_column_that_moved_most(con, rows, method, name):
    x, _, s = rows
    model = nbsql.fit(con, "t", target="y", exclude=["s"], slice_by="s", method=method)
    for a, b in ((0, 1), (1, 0)):
        old, new = x[s == a], x[s == b]
        found = {row[0]: row[1:] for row in model.drift(a, b)}
        psi, kl, value, mean_a, mean_b = found[name]
        pairs = [(old[:, [j]], new[:, [j]]) for j in range(3)]
        one, other = max(pairs, key=lambda pair: divergence(*pair) + divergence(*reversed(pair)))
        assert kl == near(divergence(one, other), rel=1e-9)
        assert psi == near(divergence(one, other) + divergence(other, one), rel=1e-9)
        assert (value, mean_a, mean_b) == ("a", near(old[:, 0].mean()), near(new[:, 0].mean()))
    assert {row[0]: row[1] for row in model.drift(0, 0)}[name] == near(0, abs=1e-9)


def test_of_one_column_drift_and_relevance_are_those_of_a_number(con, rows):
    several = nbsql.fit(con, "t", target="y", features=["a"], slice_by="s", method="lda")
    one = nbsql.fit(con, "t", target="y", features=["a"], slice_by="s")
    (together,) = (row[1:3] for row in several.drift(0, 1) if row[0] == "lda")
    assert together == near(*(row[1:3] for row in one.drift(0, 1) if row[0] == "a"), rel=1e-9)
    (information, _, chi_square, _), (expected, _, square, _) = (m.relevance().fetchall()[0][1:5] for m in (several, one))
    assert (information, chi_square) == near((expected, square), rel=1e-9)


@pytest.mark.parametrize("method", ["lda", "qda"])
def test_relevance_is_by_the_lambda_of_wilks(con, rows, method):
    x, y, _ = rows
    within = sum(covariance(x[y == label]) * (y == label).mean() for label in range(3))
    total = covariance(x)
    model = nbsql.fit(con, "t", target="y", exclude=["s"], method=method)
    information = (log_determinant(total) - log_determinant(within)) / 2
    pillai = 3 - np.trace(np.linalg.inv(total) @ within)
    assert [row[:5] for row in model.relevance()] == [
        (method, near(information, rel=1e-9), None, near(500 * pillai, rel=1e-9), None)
    ]
    alone = nbsql.fit(con, "t", target="y", exclude=["s"]).relevance()
    assert model.relevance(values=True).fetchall() == [
        (method, name, 500, near(gain, rel=1e-9), near(chi, rel=1e-9))
        for name, gain, _, chi, *_ in sorted(alone, key=lambda row: -row[1])
    ]


@pytest.mark.slow
def test_classes_that_a_plane_holds_apart_and_columns_that_make_each_other_up(con):
    con.execute(
        "CREATE TABLE t AS SELECT i % 2 AS y, i // 100 AS s, i % 7 AS a, i % 5 + i % 2 AS b, a + b AS c FROM range(200) r(i)"
    )
    options = {"target": "y", "exclude": ["s", "c"], "slice_by": "s", "method": nbsql.LDA(shrinkage=0.1)}
    apart = nbsql.fit(con, "SELECT * REPLACE (y::INTEGER AS a) FROM t", **options)
    assert [row[:5] for row in apart.relevance()] == [("lda", near(log(2)), None, near(200), None)]
    options["exclude"] = ["s"]
    model = nbsql.fit(con, "t", **options)
    assert [row[:5] for row in model.relevance()] == [("lda", None, None, None, None)]
    assert [row[1] for row in model.relevance(values=True)] == ["b", "c", "a"]
    alone = nbsql.fit(con, "t", target="y", exclude=["s"], slice_by="s", families=dict.fromkeys("abc", "gaussian"))
    most = max((row for row in alone.drift(0, 1) if row[0] is not None), key=lambda row: row[1])
    (row,) = (row for row in model.drift(0, 1) if row[0] == "lda")
    assert row[1:4] == (near(most[1], rel=1e-9), near(most[2], rel=1e-9), most[0])
    model.update("SELECT 1::BIGINT AS y, 7 AS s, NULL::INTEGER AS a, 2 AS b, 3 AS c")
    assert [row[0] for row in model.drift(0, 7)] == [None]  # a slice without such rows


def test_the_best_features_may_share_a_covariance_matrix(con, rows):
    source = "SELECT *, 'k' || hash(a) % 3 AS noise FROM t"
    model = nbsql.fit(con, source, target="y", exclude=["s"], method="lda", features=nbsql.Best(1))
    assert list(model.families) == ["lda"]
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.fit(con, "t", target="y", method="lda", features=nbsql.Best(1, by="f_statistic"))
    assert str(caught.value) == (
        "'f_statistic' does not rank 'lda', which is multivariate_gaussian; rank by 'mutual_information', or leave it out"
    )
