"""Clusters: every engine finds DuckDB's where rows differ much, and divides them by the same posteriors."""

import random

import pytest

import nbsql

COLUMNS = {"id": "INTEGER", "v": "VARCHAR", "x": "DOUBLE PRECISION", "events": "INTEGER", "words": "VARCHAR"}
OPTIONS = {"id": "id", "families": {"v": "categorical", "events": "poisson", "words": "text"}}

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.mark.nightly
def test_clusters_agree(both):
    """The start is by the hash of an engine; where it ends is the same to the tolerance of the search."""
    chance = random.Random(4)  # noqa: S311
    rows = []
    for i in range(60):
        group = min(i * 7 % 6, 2)
        v = None if i % 11 == 0 else "ab"[group > 0] if i % 5 else "c"
        x = None if i % 13 == 0 else 20 * group + chance.gauss(0, 1)
        rows.append((i, v, x, 3 * group + i % 3, f"w{group} and w{i % 4}"))
    method = nbsql.Clusters(3, starts=2, tolerance=1e-13)
    found = []
    for place in both:
        place.table("t", COLUMNS, rows)
        model = nbsql.fit(place.con, "t", target=None, name="m", method=method, **OPTIONS)
        found.append(sorted(model.predict_proba("t", columns=["id"]).fetchall()))
    for one, other in zip(*found, strict=True):
        assert one[:2] == other[:2]
        assert one[2:] == pytest.approx(other[2:], abs=1e-6)
