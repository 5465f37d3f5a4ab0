"""Every engine watches a model as DuckDB does: with the model's counts as the reference, and with rows."""

import math

import pytest
from engines.places import assert_same_rows
from engines.test_agreement import COLUMNS, mail

import nbsql

FAMILIES = {"links": "poisson", "Sender": nbsql.Text(tfidf=True), "numbers": nbsql.MultivariateGaussian(["length", "share"])}


@pytest.mark.parametrize("reference", [None, "inbox"])
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_watched_models_agree(both, reference):
    found, summaries = [], []
    for place in both:
        place.table("inbox", COLUMNS, mail(200, 1))
        later = [(*row[:1], "new" if row[0] % 13 == 12 else row[1], *row[2:]) for row in mail(90, 2)]
        place.table("later", COLUMNS, later)
        model = nbsql.fit(place.con, "inbox", target="label", name="m", exclude=["id", "day", "weight"], families=FAMILIES)
        found.append(model.monitor("later", by="day", reference=reference, weight="weight"))
        summaries.append(model.monitor("later", by="day", reference=reference, weight="weight", summary=True).fetchall())
    assert_same_rows(*summaries)
    ours, theirs = (query.fetchall() for query in found)
    assert found[0].columns == found[1].columns
    assert_same_rows(ours, theirs)  # in one order
    assert {row[0] for row in ours} == {"2026-01-01", "2026-01-02", "2026-01-03", None}


def test_numbers_that_a_fit_refuses_or_leaves_out_agree(both):
    names = ["lognormal", "gamma", "beta", "exponential", "poisson", "zero_lognormal", "zero_gamma", "gaussian"]
    families = {name: name for name in names[:5]} | {
        f"zero_{name}": nbsql.ZeroInflated(of=name) for name in ("lognormal", "gamma")
    }
    odd = [0.0, -2.0, 1.0, math.nan, math.inf, -math.inf, 1e200, None]
    learnt = [
        (i % 2, *[0.1 + i % 7 / 10] * 4, float(i % 7), *[i % 3 * (1 + i % 5) / 2] * 2, i % 9 / 3)
        for i in range(60)
    ]  # fmt: skip
    later = [(0, *(3 * x if x < 0.3 else x for x in row)) for _, *row in learnt]
    later[: len(odd)] = [(0, *[x] * len(names)) for x in odd]
    found = []
    for place in both:
        for table, rows in (("learnt", learnt), ("later", later)):
            place.table(table, {"y": "INTEGER", **dict.fromkeys(names, "DOUBLE PRECISION")}, rows)
        model = nbsql.fit(place.con, "learnt", target="y", families=families)
        found.append([row for reference in (None, "learnt") for row in model.monitor("later", reference=reference).fetchall()])
    assert_same_rows(*found)
    assert all(row[4] is not None for row in found[0] if row[3] == "psi" and row[1])


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_segments_agree(both):
    found = []
    for place in both:
        place.table("inbox", COLUMNS, mail(200, 1))
        model = nbsql.fit(place.con, "inbox", target="label", name="m", features=["links", "Sender"], segment_by="flag")
        found.append(model.monitor("SELECT * FROM inbox WHERE id > 90", by="day", reference="inbox").fetchall())
    assert_same_rows(*found)
