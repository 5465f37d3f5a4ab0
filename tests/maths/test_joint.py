"""The plug-in Bayes classifier: shares of equal rows, held against counting them by hand; and joint columns among others."""

from collections import Counter
from contextlib import nullcontext
from math import inf, log

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.algebra import examples
from support.inserted import insert

import nbsql

pytestmark = pytest.mark.usefixtures("form")


# Ten days: on 3, yes; the joint of (hot, weak) and yes is 0.3 * 2/3, that of (hot, weak) and no is 0.7 * 1/7.
DAYS = """
  CREATE TABLE days AS FROM (VALUES
    ('hot', 'weak', 'yes'), ('hot', 'weak', 'yes'), ('mild', 'weak', 'yes'), ('hot', 'weak', 'no'), ('hot', 'strong', 'no'),
    ('hot', 'strong', 'no'), ('mild', 'strong', 'no'), ('mild', 'strong', 'no'), ('cool', NULL, 'no'), ('cool', NULL, 'no')
  ) AS days(temperature, wind, play)"""


def test_equal_rows_are_counted(con, joint):
    con.execute(DAYS)
    model = nbsql.fit(con, "days", target="play", method="joint", name="tennis")
    assert nbsql.load(con, "tennis").families == model.families
    found = model.predict_proba("SELECT 'hot' AS temperature, 'weak' AS wind").fetchall()
    assert found == [("hot", "weak", "yes", pytest.approx(2 / 3), pytest.approx(1 / 3), pytest.approx(2 / 3))]
    assert con.execute("FROM tennis.predict('days') WHERE wind IS NULL LIMIT 1").fetchall() == [("cool", None, "no", "no", 1.0)]
    shares = {"'hot', 'weak'": (0.1, 0.2), "'mild', 'weak'": (0, 0.1), "'cool', NULL": (0.2, 0)}
    for row, (no, yes) in shares.items():
        scores = joint(model, f"FROM (VALUES ({row})) AS t(temperature, wind)")
        expected = {
            label: pytest.approx(log(share), abs=1e-14) if share else -inf for label, share in [("no", no), ("yes", yes)]
        }
        assert scores == [expected]
    explained = [row[2:] for row in model.explain("SELECT 'hot' AS temperature, 'weak' AS wind") if row[2]]
    value = '["hot","weak"]'
    assert sorted(explained) == [("joint", value, pytest.approx(log(1 / 7))), ("joint", value, pytest.approx(log(2 / 3)))]
    assert {(row[0], row[2]): row[3] for row in model.likelihoods}["no", '["cool",null]'] == pytest.approx(2 / 7)


def test_a_row_never_seen_has_no_prediction(con):
    con.execute(DAYS)
    model = nbsql.fit(con, "days", target="play", method="joint")
    rows = "SELECT * FROM (VALUES ('cool', 'weak'), ('cold', 'weak'), ('hot', NULL), ('hot', 'NULL')) AS t(temperature, wind)"
    assert [row[2:] for row in model.predict(rows)] == [(None, None)] * 4
    assert [row[2] for row in model.log_evidence(rows)] == [-inf] * 4


def test_lists_of_values_are_told_apart(con):
    rows = """FROM (VALUES ('a,b', 'c', 1), ('a', 'b,c', 2), ('a"', ',"b', 3), ('a",', '"b', 4),
        (NULL, 'null', 5), ('null', NULL, 6), ('', 'x', 7), ('x', '', 8), ('line\nend', '\\', 9)) AS rows(u, v, y)"""
    model = nbsql.fit(con, rows, target="y", method="joint")
    assert sorted(row[2:] for row in model.predict(rows)) == [(n, n, 1.0) for n in range(1, 10)]


@examples(5)
@given(st.lists(st.tuples(*[st.sampled_from(["a", "b", None])] * 2, st.integers(0, 2), st.sampled_from("xyz")), min_size=1))
def test_the_posterior_is_the_share_of_the_class_among_equal_rows(rows):
    con = duckdb.connect()
    con.execute("CREATE TABLE rows (u VARCHAR, v VARCHAR, w INTEGER, y VARCHAR)")
    insert(con, "rows", rows)
    count, whole = Counter(rows), Counter(row[:3] for row in rows)
    with con, pytest.warns(nbsql.NbsqlWarning) if len({row[3] for row in rows}) == 1 or len(whole) == 1 else nullcontext():
        model = nbsql.fit(con, "rows", target="y", method="joint")
        labels = sorted({row[3] for row in rows})
        for *x, _, _, probability in [(*row[:3], *row[3:6]) for row in model.predict_proba("rows")]:
            assert probability == pytest.approx(max(count[(*x, label)] for label in labels) / whole[tuple(x)], abs=1e-12)


def test_joint_columns_beside_others(con, joint):
    con.execute(DAYS)
    con.execute("CREATE TABLE longer AS SELECT *, row_number() OVER () * 1.5 AS x FROM days")
    families = {"day": nbsql.Joint(["Temperature", "wind"]), "x": "gaussian"}
    model = nbsql.fit(con, "longer", target="play", families=families)
    assert list(model.families) == ["day", "x"]
    one = nbsql.fit(con, "SELECT temperature || '/' || wind AS day, x, play FROM longer", target="play")
    for values in ("'hot', 'weak', 3.0", "'cool', 'weak', 9.0", "'hot', NULL, 1.0"):
        row = f"FROM (VALUES ({values})) AS t(temperature, wind, x)"
        (expected,) = joint(one, f"SELECT temperature || '/' || wind AS day, x {row}")
        assert joint(model, row) == [{label: pytest.approx(score, rel=1e-14) for label, score in expected.items()}]


def test_whole_numbers_with_a_gap_come_as_doubles_from_a_frame(con):
    pd = pytest.importorskip("pandas")
    con.execute("CREATE TABLE t AS FROM (VALUES (1, 'a', 'x'), (2, 'a', 'y'), (NULL, 'b', 'x')) AS t(n, u, y)")
    model = nbsql.fit(con, "t", target="y", method="joint")
    frame = pd.DataFrame({"n": [1.0, None, 2.0], "u": ["a", "b", "a"]})
    assert [row[2] for row in model.predict(frame)] == ["x", "x", "y"]


def test_columns_with_a_family_of_their_own_stay_out(con):
    rows = "SELECT i % 3 AS a, i % 2 AS b, i * 1.0 AS x, 'c' || i % 4 // 2 AS y FROM range(24) AS r(i)"
    model = nbsql.fit(con, rows, target="y", method="joint", families={"x": "gaussian"}, alpha=0.5)
    assert {name: str(family) for name, family in model.families.items()} == {"joint": "joint", "x": "gaussian"}
    assert model.families["joint"].alpha == 0.5


def test_mushrooms(con, data):
    """Against a GROUP BY: on three columns at once the naive assumption costs, the joint shares are the best there is."""
    con.execute(f"CREATE TABLE t AS FROM read_csv('{data}/mushroom.csv.gz')")
    names = [row[0] for row in con.execute("DESCRIBE t").fetchall()]
    target, *features = names[0], *names[1:4]
    model = nbsql.fit(con, "t", target=target, features=features, method="joint")
    by = ", ".join(f'"{name}"' for name in features)
    counts = f'SELECT {by}, count(*) AS n FROM t GROUP BY {by}, "{target}"'
    best = con.execute(f"SELECT sum(n) FROM (SELECT max(n) AS n FROM ({counts}) GROUP BY {by})").fetchall()
    right = con.execute(f'SELECT count(*) FROM ({model.predict("t").sql}) WHERE prediction = "{target}"').fetchall()
    assert right == best


def test_missing_values_that_are_an_error_are_counted(con, refused):
    con.execute(DAYS)
    line = "2 values of column 'wind' are NULL, and nulls='error'; fill them, or use nulls='skip'"
    with refused(nbsql.InputError, line):
        family = nbsql.Joint(["wind", "temperature"], nulls="error")
        nbsql.fit(con, "days", target="play", name="never", families={"day": family})


@pytest.mark.slow
def test_a_row_never_seen_can_have_the_naive_answer(con, joint):
    con.execute(DAYS)
    con.execute("CREATE TABLE wide AS SELECT days.*, i % 2 = 0 AS dry, i::DOUBLE AS x FROM days, range(3) AS r(i)")
    model = nbsql.fit(con, "wide", target="play", method=nbsql.JointBayes(backoff="naive"), name="kept")
    alone = nbsql.fit(con, "wide", target="play", method="joint")
    naive = nbsql.fit(con, "wide", target="play")
    assert nbsql.load(con, "kept").families == model.families
    assert list(model.families) == ["joint", "temperature", "wind", "dry", "x"]
    columns = "AS t(temperature, wind, dry, x)"
    cases = {
        "'hot', 'weak', TRUE, 0.0": alone, "'cool', NULL, TRUE, 2.0": alone, "'mild', 'strong', FALSE, 1.0": alone,
        "'hot', 'weak', FALSE, 0.0": naive, "'cool', 'weak', TRUE, 0.0": naive, "NULL, NULL, NULL, NULL": naive,
        "'odd', 'weak', TRUE, 7.0": naive,
    }  # fmt: skip
    for values, other in cases.items():
        row = f"FROM (VALUES ({values})) {columns}"
        (expected,) = joint(other, row)
        assert joint(model, row) == [{label: pytest.approx(score, rel=1e-13) for label, score in expected.items()}], values
        assert joint(nbsql.load(con, "kept"), row) == joint(model, row)
        sums = {}
        for contribution in model.explain(row):
            sums[contribution[1]] = sums.get(contribution[1], 0.0) + contribution[-1]
        assert sums == {label: pytest.approx(score, rel=1e-13) for label, score in expected.items()}
    con.execute(f"CREATE TABLE new AS FROM (VALUES {', '.join(f'({values})' for values in cases)}) {columns}")
    frame = con.sql("FROM new").pl()
    found = model.predict(frame)
    assert found.columns == ["temperature", "wind", "dry", "x", "prediction", "probability"]
    assert [row[:4] for row in found] == con.execute("FROM new").fetchall()
    assert sorted(con.execute("FROM kept.predict('new')").fetchall(), key=repr) == sorted(found, key=repr)
    assert model.evaluate("wide").accuracy >= naive.evaluate("wide").accuracy


def test_joint_columns_can_back_off_beside_others(con, joint):
    con.execute(DAYS)
    con.execute("CREATE TABLE longer AS SELECT *, 'k' || length(temperature) % 2 AS k FROM days")
    together = nbsql.Joint(["temperature", "wind"], backoff="naive")
    model = nbsql.fit(con, "longer", target="play", families={"day": together, "wind": nbsql.Categorical(alpha=2)})
    assert model.families["wind"].alpha == 2
    plain = nbsql.fit(con, "longer", target="play", families={"day": nbsql.Joint(["temperature", "wind"])})
    naive = nbsql.fit(con, "longer", target="play", families={"wind": nbsql.Categorical(alpha=2)})
    for values, other in {"'hot', 'weak', 'k1'": plain, "'cool', 'weak', 'k0'": naive, "'hot', NULL, 'k1'": naive}.items():
        row = f"FROM (VALUES ({values})) AS t(temperature, wind, k)"
        (expected,) = joint(other, row)
        assert joint(model, row) == [{label: pytest.approx(score, rel=1e-13) for label, score in expected.items()}], values


def test_smoothing_and_a_backoff_are_two_answers():
    with pytest.raises(
        nbsql.InputError, match=r"^unseen='smooth' and a backoff are two answers to values never seen; leave one"
    ):
        nbsql.Joint(["a", "b"], backoff="naive", unseen="smooth")
