"""Kernel densities against scipy's, on the grid and off it."""

from math import log

import numpy as np
import pytest
from scipy import stats

import nbsql

pytestmark = pytest.mark.usefixtures("form")


@pytest.mark.parametrize("bandwidth", [None, 0.4])
def test_the_density_of_every_cell_is_that_of_scipy(con, data, bandwidth):
    frame = con.sql(f"SELECT petal_length AS x, species AS y FROM read_csv('{data}/iris.csv')").df()
    model = nbsql.fit(con, frame, target="y", families={"x": nbsql.Kernel(bandwidth=bandwidth, cells=200)}, alpha=0)
    family = model.families["x"]
    assert isinstance(family, nbsql.Kernel)
    assert family.low is not None
    assert family.width is not None
    middles = family.low + (np.arange(200) + 0.5) * family.width
    found = {(row[0], int(row[2])): row[3] for row in model.likelihoods}
    for label, rows in frame.groupby("y"):
        values = middles[np.floor((rows["x"].to_numpy() - family.low) / family.width).astype(int)]
        rule = "silverman" if bandwidth is None else bandwidth / values.std(ddof=1)
        density = stats.gaussian_kde(values, rule)(middles)
        np.testing.assert_allclose([found[label, cell] for cell in range(200)], density, rtol=1e-9, atol=1e-300)


def test_a_weight_counts_as_so_many_rows_in_the_grid_too(con):
    con.execute("CREATE TABLE once AS SELECT sin(i * i) * 3 AS x, i % 2 AS y, 1 + i % 3 AS w FROM range(9) AS t(i)")
    con.execute("CREATE TABLE copies AS SELECT once.* FROM once, range(3) AS t(k) WHERE k < w")
    weighted, copied = (
        nbsql.fit(con, source, target="y", features=["x"], families={"x": nbsql.Kernel(cells=32)}, weight=weight).families["x"]
        for source, weight in (("once", "w"), ("copies", None))
    )
    assert isinstance(weighted, nbsql.Kernel)
    assert isinstance(copied, nbsql.Kernel)
    assert (weighted.low, weighted.width) == pytest.approx((copied.low, copied.width), rel=1e-12)
    halves = "SELECT unnest([4.0, 6.0]) AS x, unnest(['a', 'b']) AS y, 0.5 AS w"  # one row in all, which has no deviation
    assert nbsql.fit(con, halves, target="y", families={"x": "kernel"}, weight="w").predict_one({"x": 6})["prediction"] == "b"


def test_a_fine_grid_is_close_to_the_density_itself(con, data, joint):
    frame = con.sql(f"SELECT petal_length AS x, species AS y FROM read_csv('{data}/iris.csv')").df()
    model = nbsql.fit(con, frame, target="y", families={"x": nbsql.Kernel(cells=2000)}, alpha=0)
    ours = np.array([list(row.values()) for row in joint(model, frame[["x"]])])
    for column, (_, rows) in enumerate(frame.groupby("y")):
        expected = stats.gaussian_kde(rows["x"], "silverman")(frame["x"]) / 3
        np.testing.assert_allclose(np.exp(ours[:, column]), expected, rtol=0.05, atol=1e-3)


def test_missing_numbers_far_ones_and_classes_without_any(con, joint):
    rows = "FROM (VALUES ('a', 1.0), ('a', 2.0), ('b', NULL), ('b', 'nan'::DOUBLE)) AS t(y, x)"
    model = nbsql.fit(con, rows, target="y", families={"x": nbsql.Kernel(bandwidth=1, cells=10)}, name="kept")
    assert nbsql.load(con, "kept").families == model.families
    family = model.families["x"]
    assert (family.low, family.width) == (-2, pytest.approx(0.7))
    for value in ("NULL", "'nan'", "'inf'"):
        assert joint(model, f"SELECT {value}::DOUBLE AS x") == [{"a": log(0.5), "b": log(0.5)}]
    (inside,) = joint(model, "SELECT 1.5 AS x")
    densities = [stats.norm.pdf(middle - 1.85) for middle in (-2 + 0.7 * 4.5, -2 + 0.7 * 5.5)]
    assert inside == {"a": pytest.approx(log(0.5) + log((sum(densities) + 1 / 7) / 3)), "b": pytest.approx(log(0.5) - log(7))}
    assert joint(model, "SELECT 1e9 AS x") == joint(model, "SELECT 4.9 AS x")
    assert joint(model, "SELECT -1e9 AS x") == joint(model, "SELECT -1.9 AS x")


def test_a_sample_has_the_density(con):
    con.execute("CREATE TABLE t AS SELECT sin(i) * 3 + (i % 2) * 8 AS x, 'k' AS y FROM range(500) AS r(i)")
    with pytest.warns(nbsql.NbsqlWarning):
        model = nbsql.fit(con, "t", target="y", families={"x": nbsql.Kernel(cells=256)}, alpha=0)
    drawn = np.array([row[0] for row in model.sample(5000, seed=4)])
    kernel = stats.gaussian_kde(con.execute("SELECT x FROM t").fetchnumpy()["x"], "silverman")
    assert stats.kstest(drawn, np.vectorize(lambda x: kernel.integrate_box_1d(-np.inf, x))).statistic < 0.03
