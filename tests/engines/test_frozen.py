"""A model of one engine, written as a standalone scorer for another, gives its own answers there."""

import math

import pytest
from engines.places import assert_same_rows

import nbsql
import nbsql.queries.standalone.terms
from nbsql.plan import VERBS

COLUMNS = {
    "id": "INTEGER", "y": "VARCHAR", "sky": "VARCHAR", "warm": "BOOLEAN", "wind": "DOUBLE PRECISION",
    "wait": "DOUBLE PRECISION", "calls": "INTEGER", "days": "INTEGER", "w1": "INTEGER", "w2": "INTEGER",
}  # fmt: skip
ROWS = [
    (1, "yes", "it's", True, 1.5, 0.5, 3, 0, 1, 0),
    (2, "yes", "back\\slash", False, 2.5, 2.25, 1, 4, 0, 3),
    (3, "no", "it's", True, -3.0, 9.0, 0, 2, 2, 2),
    (4, "no", "☃", None, 4.75, None, 7, None, 5, 1),
    (5, "no", None, False, None, 1.25, None, 1, 0, 0),
    (6, "maybe", "☃", True, 1e-200, 30.0, 12, 6, 1, 1),
    (7, "maybe", "other", True, float("nan"), -1.0, 2, -1, None, 1),
    (8, "maybe", "other", False, float("inf"), 0.25, 2, 1, 0, 1),
]
FAMILIES = {
    "sky": nbsql.Categorical(nulls="category"),
    "wait": "lognormal",
    "calls": "poisson",
    "days": "geometric",
    "words": nbsql.Multinomial(["w1", "w2"]),
}


def answers(place, sql):
    return sorted(tuple(row) for row in place.run(sql))


@pytest.mark.parametrize("alpha", [1.0, 0.0])
@pytest.mark.parametrize("levels", [24, 0])
def test_the_scorer_for_every_engine(both, layout, alpha, levels):
    layout(case_values=levels)
    for place in both:
        place.table("rows", COLUMNS, ROWS)
    source = "SELECT * FROM rows WHERE wait IS NULL OR wait > 0"
    for maker in both:
        model = nbsql.fit(maker.con, source, target="y", id="id", name="m", families=FAMILIES, alpha=alpha)
        agree(model, maker, both)


def agree(model, maker, places):
    """Hold what the scorers of a model say on both engines against its own answers."""
    for verb in ("predict_proba", "joint_log_likelihood", "log_evidence"):
        added = 5 if verb == "predict_proba" else 3 if verb == "joint_log_likelihood" else 1
        expected = answers(maker, model.sql(verb, "rows"))
        for place in places:
            found = answers(place, model.sql(verb, "rows", dialect=place.engine))
            assert len(found) == len(expected)
            for ours, theirs in zip(expected, found, strict=True):
                assert ours[0] == theirs[0]
                assert [*map(near, ours[-added:])] == [*theirs[-added:]]


PAIRED = {
    "sky": nbsql.Categorical(nulls="category"), "warm": "categorical", "wind": nbsql.Binned(by=[2]), "w1": "categorical",
}  # fmt: skip
OTHERS = {
    # Most engines refuse the logarithm of a number of 0 or less, and no class explains one.
    "numbers outside a gamma": ("SELECT * FROM rows WHERE calls > 0", {"families": {"calls": "gamma"}}),
    "aode": ("rows", {"features": [*PAIRED], "families": PAIRED, "method": "aode", "alpha": 0}),
    "kdb": ("rows", {"features": [*PAIRED], "families": PAIRED, "method": nbsql.KDB(k=2, weighted=False), "alpha": 0}),
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_scorers_for_every_engine(both, case):
    source, options = OTHERS[case]
    for place in both:
        place.table("rows", COLUMNS, ROWS)
    for maker in both:
        agree(nbsql.fit(maker.con, source, target="y", id="id", name="m", **options), maker, both)


def test_the_statistics_for_every_engine(both):
    for place in both:
        place.table("rows", COLUMNS, ROWS)
    source = "SELECT *, id * 0.25 AS times FROM rows WHERE wait IS NULL OR wait > 0"
    for maker in both:
        model = nbsql.fit(maker.con, source, target="y", id="id", name="m", families=FAMILIES, weight="times")
        expected = {row[1:4]: row[4:7] for row in model.statistics.fetchall()}
        for place in both:
            found = {row[:3]: row[3:] for row in map(tuple, place.run(model.sql("statistics", source, dialect=place.engine)))}
            assert found.keys() == expected.keys()
            for cell, numbers in expected.items():
                assert [*map(near, numbers)] == [*found[cell]], cell


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_a_query_with_the_model_in_it(place):
    place.table("rows", {**COLUMNS, "note": "VARCHAR"}, [(*row, f"it is {row[1]} and {row[2]}") for row in ROWS])
    families = {**FAMILIES, "note": nbsql.Text(unseen="smooth"), "days": nbsql.Binned(bins=2)}
    source = "SELECT * FROM rows WHERE wait IS NULL OR wait > 0"
    model = nbsql.fit(place.con, source, target="y", id="id", name="m", families=families)
    queries = {verb: model.sql(verb, source, inline=True) for verb in VERBS}
    expected = {verb: place.run(model.sql(verb, source)) for verb in VERBS}
    model.drop()
    for verb, query in queries.items():
        assert_same_rows(sorted(place.run(query), key=repr), sorted(expected[verb], key=repr))
        assert len(expected[verb]) >= 7


def near(value):
    return pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) and math.isfinite(value) else value
