"""Categories in columns of 0 and 1, which `auto` takes as one category each."""

import pandas as pd
import pytest
from support.nearly import near

import nbsql
from nbsql.engines.connect import opened
from nbsql.learning.one_hot import categories_of_flags
from nbsql.spec.options import Options

TABLE = """
CREATE TABLE t AS
SELECT
  CASE WHEN (a = 0 AND b < 2) OR (a > 0 AND b = 3) OR u < 0.1 THEN 'yes' ELSE 'no' END AS y,
  'deep_colour_' || ['red', 'green', 'dark_blue'][(a + 1)::INT] AS deep_colour,
  'size' || b AS size,
  b + u AS amount
FROM (SELECT i, hash(i) % 3 AS a, hash(i, 1) % 4 AS b, (hash(i, 2) % 1000) / 1000 AS u FROM range(800) AS r(i))
"""


def encoded(con, kind, *, drop_first=False):
    """The table with a column for each value of its two categories."""
    frame = con.execute("FROM t").df()
    flags = [
        pd.get_dummies(frame[name], dtype=kind).set_axis(sorted(frame[name].unique()), axis=1).iloc[:, int(drop_first) :]
        for name in ("deep_colour", "size")
    ]
    return pd.concat([frame[["y", "amount"]], *flags], axis=1)


def groups(con, query, **options):
    with opened(con) as engine:
        found = categories_of_flags(engine, engine.source(query), Options.of("y", options))
    return {name: columns for name, (columns, _) in found.items()}


@pytest.mark.nightly
def test_auto_of_flags_is_auto_of_the_categories(con):
    con.execute(TABLE)
    frame, methods = encoded(con, bool), ["naive", nbsql.KDB(2)]
    found = nbsql.auto(con, frame, target="y", methods=methods)
    usual = nbsql.auto(con, "SELECT y, amount, deep_colour, size FROM t", target="y", methods=methods)
    assert list(found.derive) == ["deep_colour", "size"]
    assert found.exclude == [name for name in frame if "_" in name or "size" in name]
    assert [row[1] for row in found.ranking] == [row[1] for row in usual.ranking]
    assert [row[2] for row in found.ranking] == near([row[2] for row in usual.ranking])
    ours, theirs = found.best().predict_proba(frame).df(), usual.best().predict_proba("t").df()
    assert sorted(ours["probability_yes"]) == near(sorted(theirs["probability_yes"]))
    by_hand = nbsql.fit(
        con, frame, target="y", families=found.families, exclude=found.exclude, derive=found.derive, method=found.method
    )
    assert sorted(by_hand.predict_proba(frame).df()["probability_yes"]) == near(sorted(ours["probability_yes"]))
    assert "one category, size: 'size0', 'size1', 'size2', 'size3'" in str(found)


@pytest.mark.nightly
def test_the_first_value_may_be_left_out(con):
    con.execute(TABLE)
    found = nbsql.auto(con, encoded(con, int, drop_first=True), target="y", methods=["naive"])
    assert list(found.derive) == ["deep_colour", "size"]
    rows = "VALUES (0, 0, 0), (0, 1, 0), (NULL, 0, 0)"  # of a missing value nobody knows whether it is the first
    values = con.execute(f"SELECT {found.derive['size']} FROM ({rows}) AS rows(size1, size2, size3)").fetchall()
    assert values == [("none",), ("size2",), (None,)]
    assert "'none'" not in nbsql.auto(con, encoded(con, int), target="y", methods=["naive"]).derive["size"]


@pytest.mark.parametrize(
    ("columns", "options", "expected"),
    [
        ("i % 3 = 0 AS x_a, i % 3 = 1 AS x_b, i % 3 = 2 AS x_c", {}, {"x": ["x_a", "x_b", "x_c"]}),
        ("(i % 2)::INT AS is_a, 1 - (i % 2)::INT AS is_b", {}, {"is": ["is_a", "is_b"]}),
        ("i % 4 = 0 AS x_a, i % 4 = 1 AS x_b, i % 4 = 2 AS x_c", {}, {"x": ["x_a", "x_b", "x_c"]}),
        ("i % 4 = 0 AS x_a, i % 4 = 1 AS x_b", {}, {"x": ["x_a", "x_b"]}),
        ("i = 4 AS x_a, i = 5 AS x_b, i = 6 AS x_c", {}, {}),  # of which chance would not have made two in a row
        ("i % 3 = 0 AS x_a, i % 3 < 2 AS x_b, i % 3 = 2 AS x_c", {}, {}),  # two in a row
        ("i % 3 = 0 AS x_a, i % 3 = 1 AS x_b, CASE WHEN i <> 7 THEN i % 3 = 2 END AS x_c", {}, {}),  # a missing value
        ("2 * (i % 2) AS x_a, 1 - (i % 2) AS x_b", {}, {}),  # another number than 0 and 1
        ("i % 2 = 0 AS a, i % 2 = 1 AS b", {}, {}),  # no common beginning
        ("i % 2 = 0 AS x_a, i % 2 = 1 AS x_b, i AS x", {}, {}),  # another column has that name
        ("i % 2 = 0 AS x_a, i % 2 = 1 AS x_b", {"derive": {"X": "i"}}, {}),
        ("i % 2 = 0 AS x_a, i % 2 = 1 AS x_b", {"families": {"x_*": "bernoulli"}}, {}),
        ("i % 2 = 0 AS x_a, i % 2 = 1 AS x_b", {"families": {"both": nbsql.Joint(["x_a", "amount"])}}, {}),
        ("i % 2 = 0 AS x_a, i % 2 = 1 AS x_b", {"exclude": "x_a"}, {}),
        ("i % 2 = 0 AS x_a, i % 2 = 1 AS x_b", {"features": ["x_a", "amount"]}, {}),
        ("i % 2 = 0 AS x_a, i % 2 = 1 AS x_b, i % 2 AS x_weight", {"weight": "x_weight"}, {"x": ["x_a", "x_b"]}),
        (
            "i % 2 = 0 AS x_a_1, i % 2 = 1 AS x_a_2, i % 3 = 0 AS x_b_1, i % 3 <> 0 AS x_b_2", {},
            {"x_a": ["x_a_1", "x_a_2"], "x_b": ["x_b_1", "x_b_2"]},
        ),
    ],
)  # fmt: skip
def test_what_is_a_category(con, columns, options, expected):
    query = f"SELECT i % 5 AS y, i / 7 AS amount, {columns} FROM range(400) AS r(i)"
    assert groups(con, query, **options) == expected


@pytest.mark.parametrize("kind", [int, float])
def test_numbers_may_be_flags(con, kind):
    con.execute(TABLE)
    frame = encoded(con, kind)
    assert groups(con, frame) == {"deep_colour": [*frame][2:5], "size": [*frame][5:]}


def test_no_rows_are_no_category(con):
    assert groups(con, "SELECT 1 AS y, true AS x_a, false AS x_b WHERE false") == {}


def test_a_column_of_folds_is_no_part_of_a_category(con):
    data = "SELECT i % 7 < 4 AS y, hash(i) % 9 AS n, i % 2 AS part_1, 1 - i % 2 AS part_2 FROM range(300) AS r(i)"
    found = nbsql.auto(con, data, target="y", methods=["naive"], fold="part_1")
    assert found.derive == {}


@pytest.mark.slow
def test_a_category_that_tells_nothing_is_left_out_in_silence(con, recwarn):
    data = """
    SELECT i % 2 AS y, (hash(i) % 100) / 10.0 + i % 2 AS x, a = 0 AS k_a, a = 1 AS k_b, a = 2 AS k_c
    FROM (SELECT i, hash(i, 5) % 3 AS a FROM range(900) AS r(i)) AS rows
    """
    found = nbsql.auto(con, data, target="y", methods=["naive"], families={"x": nbsql.Binned(by="mdl")})
    assert found.exclude[:1] == ["k"]
    assert [*found.best().families] == ["x"]
    assert not recwarn.list


def test_a_target_that_is_not_there_is_told_with_the_columns_that_are(con):
    con.execute("CREATE OR REPLACE TABLE t AS SELECT i % 2 AS y, i % 2 = 0 AS k_a, i % 2 = 1 AS k_b FROM range(90) AS r(i)")
    with pytest.raises(nbsql.InputError, match=r"^no column 'nope' in t; its columns are 'y', 'k_a', 'k_b'$"):
        nbsql.auto(con, "t", target="nope")
