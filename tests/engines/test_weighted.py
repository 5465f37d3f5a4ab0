"""Weighted features on each engine, whose folds are by a hash of its own, so that weights differ a little."""

from __future__ import annotations

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
