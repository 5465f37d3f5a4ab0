"""Every engine watches a model as DuckDB does: with the model's counts as the reference, and with rows."""

from __future__ import annotations

from typing import Any

import pytest
from engines.places import Place, assert_same_rows
from engines.test_agreement import COLUMNS, mail

import nbsql

FAMILIES: dict[str, Any] = {
    "links": "poisson",
    "Sender": nbsql.Text(tfidf=True),
    "numbers": nbsql.MultivariateGaussian(["length", "share"]),
}


@pytest.mark.parametrize("reference", [None, "inbox"])
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_watched_models_agree(both: tuple[Place, Place], reference: str | None) -> None:
    found = []
    for place in both:
        place.table("inbox", COLUMNS, mail(200, 1))
        later = [(*row[:1], "new" if row[0] % 13 == 12 else row[1], *row[2:]) for row in mail(90, 2)]
        place.table("later", COLUMNS, later)
        model = nbsql.fit(place.con, "inbox", target="label", name="m", exclude=["id", "day", "weight"], families=FAMILIES)
        found.append(model.monitor("later", by="day", reference=reference, weight="weight"))
    ours, theirs = (query.fetchall() for query in found)
    assert found[0].columns == found[1].columns
    assert_same_rows(ours, theirs)  # in one order
    assert {row[0] for row in ours} == {"2026-01-01", "2026-01-02", "2026-01-03", None}


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_segments_agree(both: tuple[Place, Place]) -> None:
    found = []
    for place in both:
        place.table("inbox", COLUMNS, mail(200, 1))
        model = nbsql.fit(place.con, "inbox", target="label", name="m", features=["links", "Sender"], segment_by="flag")
        found.append(model.monitor("SELECT * FROM inbox WHERE id > 90", by="day", reference="inbox").fetchall())
    assert_same_rows(*found)
