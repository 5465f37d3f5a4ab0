"""Row weights: a weight w counts as w copies of the row, and a weight of 0 as no row at all."""

from functools import partial

import pytest

import nbsql

pytestmark = pytest.mark.usefixtures("form")


near = partial(pytest.approx, rel=1e-12, abs=1e-15)

# Every family at once, with missing values among them.
ROWS = """
  CREATE TABLE rows AS SELECT
    'class ' || i % 3 AS y,
    CASE WHEN i % 7 <> 0 THEN 'level ' || i * i % 5 END AS category,
    CASE WHEN i % 11 <> 0 THEN i % 4 = 1 END AS flag,
    CASE WHEN i % 13 <> 0 THEN ln(i + 1) * (i % 5) END AS number,
    CASE WHEN i % 9 <> 0 THEN i * 7 % 10 END AS events,
    i % 6 AS w1, i * 3 % 8 AS w2,
    ['t' || i % 4, 't' || i % 9] AS tokens,
    MAP {'m' || i % 3: i % 5, 'm' || i % 4 + 3: i % 2} AS counts,
    'word' || i % 5 || ' and word' || i % 7 AS note,
    'text' || i % 3 || ' or text' || i % 8 AS remark,
    i * 5 % 4 AS w
  FROM range(1, 200) AS numbers(i)"""
FAMILIES = {
    "events": "poisson",
    "words": nbsql.Multinomial(["w1", "w2"]),
    "note": nbsql.Text(ngrams=2),
    "remark": nbsql.Text(event="bernoulli"),
}
COPIES = "SELECT rows.* FROM rows, range(rows.w) AS copies(copy)"


def cells(model):
    """The statistics by class, feature and value."""
    return {row[1:4]: row[4:7] for row in model.statistics}


@pytest.mark.few
@pytest.mark.parametrize("kind", ["INTEGER", "DOUBLE", "DECIMAL(4, 2)", "HUGEINT"])
def test_whole_weights_count_and_score_as_copies(con, kind):
    con.execute(ROWS)
    weighted = nbsql.fit(con, f"SELECT * REPLACE (w::{kind} AS w) FROM rows", target="y", weight="w", families=FAMILIES)
    copied = nbsql.fit(con, COPIES, target="y", exclude=["w"], families=FAMILIES)
    found, expected = cells(weighted), cells(copied)
    assert {key: cell[0] for key, cell in found.items()} == {key: cell[0] for key, cell in expected.items()}
    for key, (_, mean, m2) in expected.items():
        assert found[key][1:] == (mean if mean is None else near(mean), m2 if m2 is None else near(m2))
    for ours, theirs in zip(weighted.joint_log_likelihood("rows"), copied.joint_log_likelihood("rows"), strict=True):
        assert ours[-3:] == near(theirs[-3:])


def test_levels_and_classes_of_weight_0_do_not_exist(con):
    source = """
      FROM (VALUES ('a', 'u', 1.0, ['s'], 2), ('b', 'v', 3.0, ['t'], 1), ('b', 'never', 1e6, ['nor this'], 0),
        ('ghost', 'u', 5.0, ['s'], 0)) AS rows(y, x, number, tokens, w)"""
    model = nbsql.fit(con, source, target="y", weight="w")
    assert sorted(model.classes) == ["a", "b"]
    assert {row[:2] for row in model.priors} == {("a", 2), ("b", 1)}
    assert {row[2] for row in model.likelihoods if row[1] == "x"} == {"u", "v"}
    assert {row[2] for row in model.likelihoods if row[1] == "tokens"} == {"s", "t"}
    assert {row[:2]: row[3] for row in model.likelihoods if row[2] == "u"} == near({("a", "x"): 3 / 4, ("b", "x"): 1 / 3})
    assert {row[0]: row[5] for row in model.likelihoods if row[1] == "number"} == {"a": 1.0, "b": 3.0}


def test_nan_of_weight_0_poisons_nothing(con):
    source = (
        "FROM (VALUES ('a', 1.0::DOUBLE, 1), ('a', 3.0, 1), ('a', 'nan', 0), ('b', 7.0, 1), ('b', '-inf', 0)) AS rows(y, x, w)"
    )
    model = nbsql.fit(con, source, target="y", weight="w")
    assert {row[0]: row[5] for row in model.likelihoods} == {"a": 2.0, "b": 7.0}


def test_fractional_weights_are_shares_of_a_row(con):
    source = "FROM (VALUES ('a', 'u', 1.0, 0.25), ('a', 'v', 5.0, 0.75), ('b', 'u', 2.0, 1.5)) AS rows(y, x, number, w)"
    model = nbsql.fit(con, source, target="y", weight="w", alpha=0.5)
    assert {row[0]: row[2] for row in model.priors} == near({"a": 1 / 2.5, "b": 1.5 / 2.5})
    assert {(row[0], row[2]): row[3] for row in model.likelihoods if row[1] == "x"} == near(
        {("a", "u"): 0.75 / 2, ("a", "v"): 1.25 / 2, ("b", "u"): 2 / 2.5, ("b", "v"): 0.5 / 2.5}
    )
    numbers = {row[0]: row[5:7] for row in model.likelihoods if row[1] == "number"}
    assert numbers["a"] == near((4.0, 0.25 * 9 + 0.75 * 1))
