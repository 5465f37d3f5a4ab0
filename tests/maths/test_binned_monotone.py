"""Bins that are merged until a class rises or falls from bin to bin, against scikit-learn's isotonic regression."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.isotonic import IsotonicRegression

import nbsql

Connection = duckdb.DuckDBPyConnection


def merged(x: Any, y: Any, weight: Any, edges: list[float]) -> tuple[float, ...]:
    """The edges that are left of some, in the direction of the greater information value, half a row added to each side."""
    found = []
    for rising in (True, False):
        bins = np.searchsorted(edges, x, side="right")
        n, of_class = (np.bincount(bins, weights=w, minlength=len(edges) + 1) for w in (weight, weight * y))
        there = np.flatnonzero(n)
        share = of_class[there] / n[there]
        fitted = IsotonicRegression(increasing=rising).fit_transform(np.arange(len(there)), share, sample_weight=n[there])
        kept = [edges[place - 1] for place, step in zip(there[1:], np.diff(fitted), strict=True) if abs(step) > 1e-12]
        bins = np.searchsorted(kept, x, side="right")
        of, rest = (np.bincount(bins, weights=w, minlength=len(kept) + 1) + 0.5 for w in (weight * y, weight * (1 - y)))
        p, q = of / of.sum(), rest / rest.sum()
        found.append((float(np.sum((p - q) * np.log(p / q))), tuple(kept)))
    return found[0][1] if found[0][0] >= found[1][0] else found[1][1]


@pytest.mark.parametrize("by", ["quantile", "width", "mdl", [0.5, 1, 1.5, 2, 3, 5, 6, 7, 8, 20, 30]])
def test_the_edges_are_those_of_isotonic_regression(con: Connection, by: Any) -> None:
    random = np.random.default_rng(3)
    x = random.integers(0, 1000, 1500) / 100
    weight = random.integers(0, 4, 1500) / 2
    targets = {"up": random.random(1500) < 0.5 + 0.3 * np.sin(x), "down": random.random(1500) < 0.9 - x / 15}
    con.register("frame", pd.DataFrame({"x": x, **targets, "w": weight}))
    con.execute("CREATE TABLE t AS FROM frame")
    for target, y in targets.items():
        binned = nbsql.Binned(bins=12, by=by) if isinstance(by, str) else nbsql.Binned(by=by)
        options: dict[str, Any] = {"target": target, "features": ["x"], "weight": "w"}
        candidates = nbsql.fit(con, "t", families={"x": binned}, **options).families["x"].edges  # type: ignore[attr-defined]
        family = nbsql.Binned(bins=12, by=by, monotone=True) if isinstance(by, str) else nbsql.Binned(by=by, monotone=True)
        model = nbsql.fit(con, "t", families={"x": family}, name="m", replace=True, **options)
        expected = merged(x, y.astype(float), weight, list(candidates))
        assert 1 < len(expected) < len(candidates) + (by == "mdl")
        assert model.families["x"].edges == pytest.approx(expected)  # type: ignore[attr-defined]
        assert nbsql.load(con, "m").families == model.families
        points = [line[10] for line in model.scorecard().lines if line[1] == "value"]
        assert points in (sorted(points), sorted(points, reverse=True))


def test_what_monotone_bins_refuse(con: Connection) -> None:
    con.execute("CREATE TABLE t AS SELECT i AS x, i % 3 AS three, i > 3 AS two FROM range(30) AS r(i)")
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.fit(con, "t", target="three", features=["x"], families={"x": nbsql.Binned(monotone=True)})
    assert str(caught.value) == (
        "monotone bins need a target of two classes, and this one has 3; leave out monotone, or fit one class against the rest"
    )
    with pytest.raises(nbsql.InputError, match=r"^monotone must be True or False, not 'up'$"):
        nbsql.Binned(monotone="up")  # type: ignore[arg-type]
    with pytest.raises(nbsql.InputError, match=r"which 'x' \(binned with monotone=True\) does not allow"):
        nbsql.cross_validate(
            con, "t", target="two", features=["x"], families={"x": nbsql.Binned(bins=3, monotone=True)}, folds="loo"
        )
