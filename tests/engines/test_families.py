"""Families that look at the rows before they count them, and the best words of a text, are DuckDB's."""

import random

import pytest
from engines.places import assert_same_rows
from engines.test_agreement import assert_agreement

import nbsql

COLUMNS = {"id": "INTEGER", "y": "VARCHAR", "body": "VARCHAR", "x": "DOUBLE PRECISION", "k": "INTEGER", "c": "VARCHAR"}
WORDS = ["offer", "lunch", "monday", "the", "free", "report"]
TEST = "SELECT id, y, body, x, k + id % 2 AS k, c FROM t WHERE id < 30"

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.fixture
def tables(both):
    chance = random.Random(3)  # noqa: S311
    rows = []
    for i in range(150):
        body = " ".join(chance.choices(WORDS[: 3 + 3 * (i % 2)], k=i % 6))
        x = float("inf") if i == 9 else None if i % 13 == 12 else chance.gauss(i % 2 * 2, 1)
        rows.append((i, "ab"[i % 2], body, x, i % 5, None if i % 17 == 16 else "xyz"[i % 3]))
    for place in both:
        place.table("t", COLUMNS, rows)
    return both


CASES = {
    "bins": {"families": {"x": nbsql.Binned(bins=5), "k": nbsql.Binned(bins=3, by="width")}},
    "bins where the classes differ": {"families": {"x": nbsql.Binned(by="mdl"), "k": nbsql.Binned(by="mdl")}},
    "bins by both": {"families": {"x": nbsql.Binned(by="mdl and quantile"), "k": nbsql.Binned(3, by="mdl and quantile")}},
    "given edges": {"families": {"x": nbsql.Binned(by=[0, 1.5])}, "nulls": "category", "unseen": "smooth"},
    "densities": {"families": {"x": nbsql.Kernel(), "k": nbsql.Kernel(bandwidth=0.5, cells=64, alpha=0)}},
    "zeros counted apart": {"families": {"k": nbsql.ZeroInflated(), "x": nbsql.ZeroInflated(of="gaussian", alpha=0.5)}},
    "columns together": {"families": {"together": nbsql.Joint(["c", "k"])}},
    "columns together with gaps": {"families": {"together": nbsql.Joint(["c", "k"])}, "nulls": "category"},
    "all together": {"features": ["c", "k"], "method": "joint"},
    "a backoff": {"features": ["c", "k"], "method": nbsql.JointBayes(backoff="naive")},
    "a tree": {"method": "tan", "families": {"k": "categorical"}},
    "a tree with gaps": {"method": nbsql.TAN(shrinkage=2), "families": {"k": "categorical"}, "nulls": "category"},
    "several parents": {"method": nbsql.KDB(k=2, weighted=False), "families": {"k": "categorical"}, "nulls": "category"},
    "all pairs": {"method": nbsql.AODE(shrinkage=2), "families": {"k": "categorical"}, "nulls": "category"},
    "the best words": {"features": ["body"], "exclude": [], "families": {"body": nbsql.Text(best=3)}},
    "the best words of presence": {"exclude": ["x", "k", "c"], "families": {"body": nbsql.Text(best=4, event="bernoulli")}},
}


@pytest.mark.parametrize("case", CASES)
def test_families_agree(tables, case):
    assert_agreement(tables, "t", TEST, target="y", id="id", **{"exclude": ["body"], **CASES[case]})
    models = [nbsql.load(place.con, "m") for place in tables]
    for model in models:
        model.update("SELECT * FROM t WHERE id > 100")
    assert_same_rows(*(sorted(model.predict("t").fetchall()) for model in models))


def test_they_are_cross_validated_alike(tables):
    families = {"x": nbsql.Kernel(), "body": nbsql.Text(best=3), "k": nbsql.Binned(bins=3)}
    found = [nbsql.cross_validate(place.con, "t", target="y", fold="c", exclude=["id"], families=families) for place in tables]
    assert_same_rows(*(each.folds.fetchall() for each in found))
    families = {"c": nbsql.Conditional("k", shrinkage=1), "k": "categorical"}
    options = {"target": "y", "fold": "part", "exclude": ["id", "body", "x"], "families": families}
    found = [nbsql.cross_validate(place.con, "SELECT *, id % 3 AS part FROM t", **options) for place in tables]
    assert_same_rows(*(each.folds.fetchall() for each in found))
    for weight in (None, "id"):
        options = {"target": "y", "exclude": ["id", "body"], "weight": weight}
        assert_same_rows(*(nbsql.dependence(place.con, "t", **options).fetchall() for place in tables))


def test_pairs_tell_classes_apart_alike(tables):
    options = {"target": "y", "exclude": ["id", "body", "x"], "families": {"k": "categorical"}}
    models = [nbsql.fit(place.con, "t", method="aode", **options) for place in tables]
    assert_same_rows(*(sorted(model.discrimination(*sorted(model.classes)[:2]).fetchall()) for model in models))


def test_rows_are_drawn_of_them(tables):
    families = {"x": nbsql.Kernel(), "together": nbsql.Joint(["c", "k"])}
    for place in tables:
        model = nbsql.fit(place.con, "t", target="y", exclude=["id", "body"], families=families)
        rows = model.sample(300, seed=1).fetchall()
        names = model.sample(1).columns
        ((low, high),) = place.run("SELECT min(x), max(x) FROM t WHERE x < 1e9")
        x, pair = names.index("x"), (names.index("c"), names.index("k"))
        assert all(low - 3 < row[x] < high + 3 for row in rows)
        assert {(row[pair[0]], row[pair[1]]) for row in rows} <= set(place.run("SELECT c, k FROM t WHERE c IS NOT NULL"))


def test_bins_are_cut_where_the_classes_differ(both):
    """Cuts within cuts, of three classes, with weights and values that repeat."""
    chance = random.Random(8)  # noqa: S311
    rows = []
    for i in range(400):
        x = round(chance.uniform(0, 10), 1)
        kind = "abc"[int(x) % 3] if chance.random() < 0.9 else chance.choice("abc")
        rows.append((i, kind, chance.choice([1.0, 2.0, 0.5]), x))
    for place in both:
        place.table("t", {"id": "INTEGER", "y": "VARCHAR", "w": "DOUBLE PRECISION", "x": "DOUBLE PRECISION"}, rows)
    for weight in (None, "w"):
        options = {"exclude": ["w"], "weight": weight} if weight is None else {"weight": weight}
        models = [
            nbsql.fit(place.con, "t", target="y", id="id", families={"x": nbsql.Binned(by="mdl")}, **options) for place in both
        ]
        ours, theirs = (model.families["x"].edges for model in models)
        assert ours == pytest.approx(theirs, rel=1e-12)
        assert len(ours) > 5


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_bins_are_cut_where_all_rows_weigh_less_than_two(place):
    """By hand: a cut that tells all, of rows that weigh N <= 2, takes log2(3^2 - 2) - 2 = 0.8 bits and saves N."""
    rows = [(i % 2, i % 2, 1 / 16, 1 / 32) for i in range(16)]
    place.table("t", {"y": "INTEGER", "x": "DOUBLE PRECISION", "one": "DOUBLE PRECISION", "half": "DOUBLE PRECISION"}, rows)
    options = {"target": "y", "features": ["x"], "families": {"x": nbsql.Binned(by="mdl")}}
    models = [nbsql.fit(place.con, "t", weight=weight, **options) for weight in ("one", "half")]
    assert [model.families["x"].edges for model in models] == [(0.5,), ()]


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_numbers_and_weights_that_no_whole_number_holds_agree(both):
    """On Spark a floor is a whole number of 64 bits, which larger ones overflow."""
    rows = [(i, "ab"[i % 2], float(i), 1e19 * i, 1e20) for i in range(12)]
    columns = {"id": "INTEGER", "y": "VARCHAR", "x": "DOUBLE PRECISION", "large": "DOUBLE PRECISION", "w": "DOUBLE PRECISION"}
    options = {"target": "y", "id": "id", "families": {"x": "kernel", "large": "poisson"}, "weight": "w"}
    found = []
    for place in both:
        place.table("large", columns, rows)
        place.table("far", columns, [(1, "a", 1e25, 1e25, 1.0), (2, "a", -1e25, 0.0, 1.0)])
        model = nbsql.fit(place.con, "large", **options)
        found.append(sorted(model.predict_proba("far").fetchall()))
    assert_same_rows(*found)
