"""Bins that are merged until a class rises or falls from bin to bin, against scikit-learn's isotonic regression."""

import numpy as np
import pandas as pd
import pytest
from sklearn.isotonic import IsotonicRegression
from support.inserted import insert

import nbsql


def merged(x, y, weight, edges, trend=True):
    """The edges that are left of some, by the trend of the greatest information value, half a row added to each side.

    Up to a number of bins the share rises, and falls from there: all of them, none of them, or as many as suit.
    """
    bins = np.searchsorted(edges, x, side="right")
    n, of_class = (np.bincount(bins, weights=w, minlength=len(edges) + 1) for w in (weight, weight * y))
    there = np.flatnonzero(n)
    share, n = of_class[there] / n[there], n[there]
    tops = {True: [len(n), 0], "rising": [len(n)], "falling": [0], "peak": range(len(n), -1, -1)}[trend]
    best = (-1, ())
    for top in tops:
        fitted = share.copy()
        for part, rising in ((slice(0, top), True), (slice(top, None), False)):
            if len(share[part]):
                line = IsotonicRegression(increasing=rising)
                fitted[part] = line.fit_transform(np.arange(len(share[part])), share[part], sample_weight=n[part])
        kept = [edges[place - 1] for place, step in zip(there[1:], np.diff(fitted), strict=True) if abs(step) > 1e-12]
        bins = np.searchsorted(kept, x, side="right")
        of, rest = (np.bincount(bins, weights=w, minlength=len(kept) + 1) + 0.5 for w in (weight * y, weight * (1 - y)))
        p, q = of / of.sum(), rest / rest.sum()
        value = float(np.sum((p - q) * np.log(p / q)))
        if value > best[0] + 1e-12:
            best = (value, tuple(kept))
    return best[1]


@pytest.mark.few
@pytest.mark.parametrize("by", ["quantile", "width", "mdl", [0.5, 1, 1.5, 2, 3, 5, 6, 7, 8, 20, 30]])
def test_the_edges_are_those_of_isotonic_regression(con, by):
    random = np.random.default_rng(3)
    x = random.integers(0, 1000, 1500) / 100
    weight = random.integers(0, 4, 1500) / 2
    targets = {"up": random.random(1500) < 0.5 + 0.3 * np.sin(x), "down": random.random(1500) < 0.9 - x / 15}
    con.register("frame", pd.DataFrame({"x": x, **targets, "w": weight}))
    con.execute("CREATE TABLE t AS FROM frame")
    for target, y in targets.items():
        binned = nbsql.Binned(bins=12, by=by) if isinstance(by, str) else nbsql.Binned(by=by)
        options = {"target": target, "features": ["x"], "weight": "w"}
        candidates = nbsql.fit(con, "t", families={"x": binned}, **options).families["x"].edges
        family = nbsql.Binned(bins=12, by=by, monotone=True) if isinstance(by, str) else nbsql.Binned(by=by, monotone=True)
        model = nbsql.fit(con, "t", families={"x": family}, name="m", replace=True, **options)
        expected = merged(x, y.astype(float), weight, list(candidates))
        assert 1 < len(expected) < len(candidates) + (by == "mdl")
        assert model.families["x"].edges == pytest.approx(expected)
        assert nbsql.load(con, "m").families == model.families
        points = [line[10] for line in model.scorecard().lines if line[1] == "value"]
        assert points in (sorted(points), sorted(points, reverse=True))


@pytest.mark.parametrize("trend", ["rising", "falling", "peak"])
def test_a_trend_that_is_asked_for(con, trend):
    random = np.random.default_rng(8)
    x = random.integers(0, 1000, 1500) / 100
    hump = random.random(1500) < 0.3 + 0.5 * np.sin(x / 3)
    con.register("frame", pd.DataFrame({"x": x, "y": hump}))
    edges = [0.5, 1, 1.5, 2, 3, 4, 5, 6, 6.5, 7, 8, 9]
    family = nbsql.Binned(by=edges, monotone=trend)
    model = nbsql.fit(con, "FROM frame", target="y", families={"x": family}, name="m")
    expected = merged(x, hump.astype(float), np.ones(1500), edges, trend)
    assert 1 < len(expected) < len(edges) or trend == "falling"
    found = model.families["x"]
    assert found.edges == pytest.approx(expected)
    assert found.monotone == trend
    assert nbsql.load(con, "m").families == model.families


def test_a_peak_by_hand(con):
    """The shares 1/4, 3/4, 1/2, 3/4, 1/4: the third is pooled with the fourth or the second, by the tie the higher top."""
    shares = [1, 3, 2, 3, 1]
    rows = [(place, place_row < share) for place, share in enumerate(shares) for place_row in range(4)]
    con.execute("CREATE TABLE t (x INTEGER, y BOOLEAN)")
    insert(con, "t", rows)
    family = nbsql.Binned(by=[0.5, 1.5, 2.5, 3.5], monotone="peak")
    found = nbsql.fit(con, "t", target="y", families={"x": family}).families["x"]
    assert found.edges == (0.5, 2.5, 3.5)  # (3 + 2) / 8 of the second and third, then 3/4, then 1/4


def test_what_monotone_bins_refuse(con):
    con.execute("CREATE TABLE t AS SELECT i AS x, i % 3 AS three, i > 3 AS two FROM range(30) AS r(i)")
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.fit(con, "t", target="three", features=["x"], families={"x": nbsql.Binned(monotone=True)})
    assert str(caught.value) == (
        "monotone bins need a target of two classes, and this one has 3; leave out monotone, or fit one class against the rest"
    )
    with pytest.raises(nbsql.InputError, match=r"^monotone must be True, False, 'rising', 'falling' or 'peak', not 'up'$"):
        nbsql.Binned(monotone="up")
    with pytest.raises(nbsql.InputError, match=r"which 'x' \(binned with monotone=True\) does not allow"):
        nbsql.cross_validate(
            con, "t", target="two", features=["x"], families={"x": nbsql.Binned(bins=3, monotone=True)}, folds="loo"
        )
