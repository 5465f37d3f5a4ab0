"""Every engine judges a model as DuckDB does: the numbers, and every curve."""

import random

import pytest
from engines.places import assert_same_rows, same

import nbsql
from nbsql.evaluation.evaluation import TABLES

COLUMNS = {"id": "INTEGER", "x": "DOUBLE PRECISION", "sky": "VARCHAR", "weight": "DOUBLE PRECISION"}
LABELS = {
    "texts": ("VARCHAR", ["b", "B", "ä"]),
    "two": ("VARCHAR", ["no", "yes"]),
    "booleans": ("BOOLEAN", [False, True]),
    "numbers": ("INTEGER", [1, 2, 30]),
}


def rows(labels, count, seed, unknown=None):
    chance = random.Random(seed)  # noqa: S311
    found = []
    for row in range(count):
        number = chance.randrange(len(labels))
        label = None if row % 17 == 16 else unknown if unknown is not None and row % 13 == 12 else labels[number]
        x = chance.gauss(number, 1) if row % 5 else round(chance.gauss(number, 1))
        found.append((row, x * (100 if row % 29 == 28 else 1), chance.choice("uvw"), chance.choice([0.0, 1.0, 2.5]), label))
    return found


def in_order_of(table):
    """What the rows of a table of an evaluation are sorted by: the label, and what it counts by."""
    if table in ("confusion", "intervals", "comparison"):
        return lambda row: repr(row[:2])
    return lambda row: (repr(row[0]), float(row[1]))


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_evaluations_agree(both, kind, weight):
    type_, labels = LABELS[kind]
    found, compared = [], []
    for place in both:
        place.table("train", {**COLUMNS, "y": type_}, rows(labels, 120, 1))
        place.table("test", {**COLUMNS, "y": type_}, rows(labels, 90, 2, {"VARCHAR": "new", "INTEGER": 4}.get(type_)))
        model = nbsql.fit(place.con, "train", target="y", exclude=["id", "weight"], name="m", alpha=0)
        found.append(model.evaluate("test", weight=weight, bins=7))
        worse = nbsql.fit(place.con, "train", target="y", features=["sky"], name="worse")
        compared.append(model.compare(worse, "test", weight=weight).fetchall())
    ours, theirs = (evaluation.to_dict() for evaluation in found)
    classes = [evaluation.pop("classes") for evaluation in (ours, theirs)]
    assert all(same(ours[key], theirs[key]) for key in theirs), (ours, theirs)
    assert ours.keys() == theirs.keys()
    for one, other in zip(*classes, strict=True):
        assert all(same(one[key], other[key]) for key in other), (one, other)
    assert_same_rows(*(sorted(lines, key=in_order_of("comparison")) for lines in compared))
    for table in TABLES:
        queries = [getattr(evaluation, table) for evaluation in found]
        assert queries[0].columns == queries[1].columns
        assert_same_rows(*(sorted(query.fetchall(), key=in_order_of(table)) for query in queries))


def test_what_cannot_be_judged_is_refused(place):
    place.table("t", {"x": "VARCHAR", "y": "VARCHAR", "w": "INTEGER"}, [("u", "a", 1), ("v", "b", -1)])
    model = nbsql.fit(place.con, "t", target="y", features=["x"])
    lines = {
        ("SELECT x, w FROM t", None): "no column 'y' in the query, the target of the model; its columns are 'x', 'w'",
        ("SELECT * FROM t WHERE w > 9", None): "the query has no rows; there is nothing to evaluate",
        ("t", "w"): "1 value of the weight column 'w' is negative, NULL or not finite; weights must be at least 0",
    }
    for (source, weight), message in lines.items():
        with pytest.raises(nbsql.InputError) as caught:
            model.evaluate(source, weight=weight)
        assert str(caught.value) == message


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_slices_agree(both):
    """By a text that is NULL here and there, and a number: the worst first, the intervals, and two slices side by side."""
    found = []
    for place in both:
        lines = [(*row[:2], None if row[0] % 7 == 3 else row[2], row[0] % 2, row[4]) for row in rows(["no", "yes"], 90, 2)]
        place.table("test", {"id": "INTEGER", "x": "DOUBLE PRECISION", "Sky": "VARCHAR", "n": "INTEGER", "y": "VARCHAR"}, lines)
        model = nbsql.fit(place.con, "test", target="y", features=["x"], name="m")
        slices = model.evaluate("test", by=["Sky", "n"]).slices
        queries = (slices, slices.intervals, slices.compare((None, 1), ("v", 0)))
        found.append([(query.columns, query.fetchall()) for query in queries])
    for ours, theirs in zip(*found, strict=True):
        assert ours[0] == theirs[0]
        assert_same_rows(ours[1], theirs[1])


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_rows_that_a_connection_has_learnt_are_told(connect, engine):
    """Above the number of rows that are remembered, too, and whatever the types."""
    place = connect(engine)
    chance = random.Random(1)  # noqa: S311
    train, test = ([(row, chance.gauss(0, 1), chance.choice("uv"), 1.0, row % 2 == 1) for row in range(n)] for n in (3000, 300))
    columns = {**COLUMNS, "x": "NUMERIC", "y": "BOOLEAN"}
    place.table("train", columns, train)
    place.table("test", columns, test)
    model = nbsql.fit(place.con, "train", target="y", exclude=["id", "weight"], name="m")
    assert model.evaluate("test").share_learnt == 0
    with pytest.warns(nbsql.NbsqlWarning, match=r"has learnt about \d+% of these rows"):
        found = model.evaluate("SELECT CAST(x AS DOUBLE PRECISION) AS x, sky, y FROM train WHERE id < 1500")
    assert found.share_learnt == pytest.approx(1, abs=0.1)
