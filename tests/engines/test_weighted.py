"""Weighted features on each engine, whose folds are by a hash of its own, so that weights differ a little."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from engines.places import Place
from engines.test_agreement import COLUMNS, mail

import nbsql

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.mark.parametrize("per", ["feature", "class and feature"])
def test_each_contribution_has_its_weight(both: tuple[Place, Place], per: Any) -> None:
    options: dict[str, Any] = {"target": "label", "id": "id", "features": ["length", "links", "replied", "Sender"]}
    losses = []
    for place in both:
        place.table("inbox", COLUMNS, mail(200, 1))
        if place.engine == "spark":
            with pytest.raises(nbsql.NotSupportedError, match=r"^method='weighted' is not available on Spark yet"):
                nbsql.fit(place.con, "inbox", name="m", method=nbsql.Weighted(per=per), **options)
            return
        model = nbsql.fit(place.con, "inbox", name="m", method=nbsql.Weighted(per=per), **options)
        naive = nbsql.fit(place.con, "inbox", name="n", families=model.families, **options)
        weights = model.state.engine.query_macro("weights_of_features", model.state.relations["weights"])
        found, expected = (
            {(row[0], row[2], row[3]): row[-1] for row in each.explain("inbox").fetchall()} for each in (model, naive)
        )
        first = sorted(model.classes)[0]
        if per == "feature":
            of_feature = {feature: least for feature, least, most in weights if least == most}
            assert sorted(of_feature) == sorted(feature.name for feature in model.state.spec.features)
            for row, label, feature in expected:
                if feature is not None:
                    ratio = expected[row, label, feature] - expected[row, first, feature]
                    gap = found[row, label, feature] - found[row, first, feature]
                    assert gap == pytest.approx(of_feature[feature] * ratio, abs=1e-9)
        losses.append(model.evaluate("inbox").log_loss)
    assert losses[0] == pytest.approx(losses[1], rel=0.02)


def test_a_search_that_begins_with_a_sample_ends_at_the_same_weights(place: Place, layout: Callable[..., None]) -> None:
    if place.engine == "spark":
        pytest.skip("weighted features are refused on Spark")
    place.table("inbox", COLUMNS, mail(200, 1))
    options: dict[str, Any] = {"target": "label", "id": "id", "method": nbsql.Weighted(penalty=1)}
    found = []
    for rows in (50_000, 40):
        layout(sample_rows=rows)
        model = nbsql.fit(place.con, "inbox", features=["length", "links", "Sender"], **options)
        scored = model.joint_log_likelihood("SELECT * FROM inbox WHERE id < 20", columns=["id"])
        found.append({row[0]: row[-1] for row in scored.fetchall()})
    assert found[0] == pytest.approx(found[1], abs=1e-6)


def test_a_pair_is_found_and_scored_on_each_engine(place: Place) -> None:
    if place.engine == "spark":
        pytest.skip("weighted features are refused on Spark")
    rows = [(i, [1, 2, 3, None][i % 4], "uvw"[i // 4 % 3], i // 12 % 2 == 0) for i in range(300)]
    told = [(i, n, b, c, "yes" if ((n or 0) > 1) == (b == "u") else "no") for i, n, b, c in rows]
    place.table("pairs", {"id": "INTEGER", "n": "INTEGER", "b": "VARCHAR(9)", "c": "BOOLEAN", "y": "VARCHAR(9)"}, told)
    model = nbsql.fit(place.con, "pairs", target="y", id="id", name="m", method=nbsql.Weighted(pairs=3))
    assert [name for name in model.families if "&" in name] == ["n & b"]
    assert model.evaluate("SELECT * FROM pairs WHERE n IS NOT NULL").log_loss < 0.05
    scored = {row[0]: row[-1] for row in model.predict("pairs").fetchall()}
    parts = dict.fromkeys(scored, 0.0)
    for _, row, label, *_, contribution in model.explain("pairs").fetchall():
        parts[row] += contribution if label == "yes" else -contribution
    assert [max(p, 1 - p) for p in (1 / (1 + math.exp(-gap)) for gap in parts.values())] == pytest.approx([*scored.values()])
    one = model.predict_one({"n": 1, "b": "u", "c": True})
    row = next((i for i, n, b, c, _ in told if (n, b, c) == (1, "u", True)))
    assert one["probability"] == pytest.approx(scored[row], rel=1e-9)
