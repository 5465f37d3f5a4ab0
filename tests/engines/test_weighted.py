"""A model of weighted features has DuckDB's weights and answers."""

from __future__ import annotations

from typing import Any

import pytest
from engines.places import Place
from engines.test_agreement import COLUMNS, mail
from engines.test_logistic import assert_near

import nbsql

CASES: dict[str, dict[str, Any]] = {
    "several classes": {"target": "label", "features": ["length", "links", "share", "replied", "Sender"]},
    "two classes, by class": {
        "target": "replied",
        "features": ["length", "Sender"],
        "method": nbsql.Weighted(per="class and feature"),
    },
}

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.mark.parametrize("case", CASES)
def test_weights_of_features_agree(both: tuple[Place, Place], case: str) -> None:
    for place in both:
        place.table("inbox", COLUMNS, mail(200, 1))
    options = {"method": "weighted", "id": "id", "name": "m", "families": {"share": "gaussian"}, **CASES[case]}
    if "share" not in options["features"]:
        del options["families"]
    models = [nbsql.fit(place.con, "inbox", **options) for place in both]
    for verb in ("predict_proba", "joint_log_likelihood"):
        assert_near(*(sorted(getattr(model, verb)("inbox").fetchall(), key=repr) for model in models))
