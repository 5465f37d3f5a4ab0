"""Numbers that break a careless sum: far from zero, far from the mean, not finite, or of a wide type."""

from functools import partial
from math import log, pi

import duckdb
import numpy as np
import pandas as pd
import pytest

import nbsql

pytestmark = [pytest.mark.usefixtures("form"), pytest.mark.parametrize("form", ["wide", "long"], indirect=True)]


near = partial(pytest.approx, rel=1e-13, abs=1e-15)
HALF = log(1 / 2)


@pytest.fixture
def con():
    """A database with as many threads as there are, whose sums of many rows are put together of parts."""
    with duckdb.connect() as connection:
        yield connection


def moments(model, feature="x"):
    """Mean and variance by class."""
    return {row[0]: row[5:7] for row in model.likelihoods if row[1] == feature}


def assert_moments(model, frame, rel):
    """n, mean and m2 of each column by y are numpy's, in long doubles; of whole weights w, those of the copies."""
    copies = frame.loc[frame.index.repeat(frame["w"])] if "w" in frame else frame
    cells = {row[1:3]: row[4:7] for row in model.statistics if row[2] is not None}
    assert len(cells) == 2 * len(frame.columns.difference(["y", "w"]))
    for (label, feature), (n, mean, m2) in cells.items():
        x = copies.loc[copies["y"] == label, feature].to_numpy(np.longdouble)
        assert n == len(x)
        assert mean == pytest.approx(float(x.mean()), rel=1e-15, abs=1e-12)
        assert m2 == pytest.approx(float(((x - x.mean()) ** 2).sum()), rel=rel)


@pytest.mark.parametrize("weighted", [False, True])
def test_variance_of_1_far_from_zero(con, weighted):
    means = [(1e9, 1e9 + 2), (1e9, 2e9), (-1e9, 1e9), (0, 1e9), (1e12, 1e12)]
    random = np.random.default_rng(7)
    y = np.arange(20_000) % 2
    frame = pd.DataFrame({"y": y, **{f"x{i}": random.normal(np.array(pair)[y], 1) for i, pair in enumerate(means)}})
    if weighted:
        frame["w"] = random.integers(0, 4, len(y))
    model = nbsql.fit(con, frame, target="y", weight="w" if weighted else None)
    assert_moments(model, frame, rel=1e-6)


def test_a_first_thousand_rows_unlike_the_rest_lose_no_digits(con):
    random = np.random.default_rng(8)
    x = np.concatenate([random.normal(0, 1, 1_000), random.normal(1e9, 1, 19_000)])
    frame = pd.DataFrame({"y": np.where(np.arange(20_000) < 1_000, "first", "rest"), "x": x})
    assert_moments(nbsql.fit(con, frame, target="y"), frame, rel=1e-6)


def test_far_numbers_are_told_apart_by_their_digits(con):
    random = np.random.default_rng(9)
    y = np.arange(10_000) % 2
    frame = pd.DataFrame({"y": y, "x": random.normal(1e9 + 10 * y, 1)})
    model = nbsql.fit(con, frame, target="y")
    assert [row[1] for row in model.predict("SELECT unnest([1e9 + 4, 1e9 + 6]) AS x")] == [0, 1]


def test_the_nearer_class_wins_however_far_a_value_is(con):
    source = "FROM (VALUES ('low', -1.0), ('low', 1.0), ('high', 9.0), ('high', 11.0)) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y")
    for distance in (40, 1e4, 1e8):
        rows = model.predict_proba(f"SELECT unnest([-{distance}, 10 + {distance}])::DOUBLE AS x").fetchall()
        assert [row[1:] for row in rows] == [
            ("low", near(1), near(0, abs=1e-150), 1),
            ("high", near(1), 1, near(0, abs=1e-150)),
        ]
        evidence = [row[-1] for row in model.log_evidence(f"SELECT -{distance}::DOUBLE AS x")]
        assert evidence == [near(HALF - 0.5 * log(2 * pi) - distance**2 / 2)]


@pytest.mark.slow
@pytest.mark.forms("classes")
@pytest.mark.parametrize("classes", [2, 3])
def test_very_many_numbers(con, form, classes):
    count = {"wide": 300, "long": 1_000}[form]  # as many as come into the wide form, and more
    random = np.random.default_rng(10)
    y = np.arange(300) % classes
    x = random.normal(y[:, None] * 0.5, 1, (300, count))
    frame = pd.DataFrame(x, columns=[f"x{i}" for i in range(count)]).assign(y=y)
    model = nbsql.fit(con, frame, target="y")
    expected = np.full((300, classes), np.log(1 / classes))
    for label in range(classes):
        mean, variance = x[y == label].mean(axis=0), x[y == label].var(axis=0)
        expected[:, label] += (-0.5 * np.log(2 * np.pi * variance) - (x - mean) ** 2 / (2 * variance)).sum(axis=1)
    scored = model.joint_log_likelihood(frame).df()
    found = scored[[f"joint_log_likelihood_{label}" for label in range(classes)]].to_numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert (model.predict(frame).df()["prediction"] == y).all()


NOT_FINITE = ["'nan'", "'inf'", "'-inf'", "1e200", "-1e200", "1e152"]


@pytest.mark.parametrize("weight", [None, "w"])
def test_one_number_that_is_not_finite_among_many_poisons_nothing(con, weight):
    columns = [f"CASE WHEN i = 77_777 THEN {odd}::DOUBLE ELSE sin(i) END AS x{n}" for n, odd in enumerate(NOT_FINITE)]
    con.execute(f"CREATE TABLE rows AS SELECT i % 2 AS y, i % 3 AS w, {', '.join(columns)} FROM range(100_000) AS numbers(i)")
    model = nbsql.fit(con, "rows", target="y", weight=weight, exclude=["w"] if weight is None else [])
    expected = con.execute(f"""
      SELECT y, sum(k * sin(i)) / sum(k), sum(k * sin(i) * sin(i)) / sum(k) - (sum(k * sin(i)) / sum(k)) ** 2
      FROM (SELECT i, i % 2 AS y, {"i % 3" if weight else "1"} AS k FROM range(100_000) AS n(i) WHERE i <> 77_777)
      GROUP BY y""").fetchall()
    statistics = model.statistics.fetchall()
    for n, odd in enumerate(NOT_FINITE):
        found = moments(model, f"x{n}")
        assert found == {y: (near(mean, abs=1e-12), near(variance, rel=1e-10)) for y, mean, variance in expected}, odd
        counts = {row[1]: row[4] for row in statistics if row[2] == f"x{n}"}
        assert sum(counts.values()) == (99_999 if weight is None else 99_999 - 77_777 % 3), odd


def test_nan_breaks_no_rule_of_a_family(con):
    con.execute("""
      CREATE TABLE rows AS SELECT
        i % 2 AS y,
        CASE WHEN i = 7 THEN 'nan'::DOUBLE ELSE (1 + i % 9) / 10 END AS share,
        CASE WHEN i = 7 THEN 'nan'::DOUBLE ELSE i % 3 % 2 END AS flag,
        CASE WHEN i = 7 THEN 'nan'::DOUBLE ELSE 1 + i % 5 END AS size
      FROM range(40) AS numbers(i)""")
    families = {"share": nbsql.Beta(), "flag": nbsql.Bernoulli(), "size": nbsql.Gamma()}
    odd = nbsql.fit(con, "rows", target="y", families=families)
    without = "SELECT y, nullif(share, 'nan') AS share, nullif(flag, 'nan') AS flag, nullif(size, 'nan') AS size FROM rows"
    gaps = nbsql.fit(con, without, target="y", families=families)
    cells = [sorted(model.statistics.fetchall(), key=lambda row: repr(row[1:4])) for model in (odd, gaps)]
    for row, other in zip(*cells, strict=True):
        assert row[:4] == other[:4]
        assert row[4:7] == pytest.approx(other[4:7], rel=1e-12)


def test_one_nan_among_a_million_is_missing(con):
    con.execute("""
      CREATE TABLE rows AS SELECT i % 2 AS y, CASE WHEN i = 999_998 THEN 'nan'::DOUBLE ELSE 5.0 + i % 2 * 2 + i // 2 % 2 END x
      FROM range(1_000_000) AS numbers(i)""")
    model = nbsql.fit(con, "rows", target="y")
    share = 249_999 / 499_999  # of the class with the NaN, the values that are 6 and not 5
    assert moments(model) == {0: (near(5 + share), near(share * (1 - share), rel=1e-11)), 1: (7.5, 0.25)}


@pytest.mark.few
@pytest.mark.parametrize("column", ["x::DOUBLE", "x::INTEGER"])
@pytest.mark.parametrize("family", ["gaussian", "poisson", "bernoulli", "multinomial"])
def test_numbers_that_are_not_finite_are_missing_to_the_score(con, joint, column, family):
    source = (
        f"SELECT y, {column} AS x, {column} AS z FROM (VALUES ('a', 0), ('a', 1), ('b', 1), ('b', 1), ('b', 0)) AS rows(y, x)"
    )
    families = {"x": family}
    if family == "multinomial":
        families = {"words": nbsql.Multinomial(["x", "z"])}
    model = nbsql.fit(con, source, target="y", families=families)
    odd = ", ".join(f"{number}::DOUBLE" for number in NOT_FINITE)
    *odd_rows, null_row = joint(model, f"SELECT unnest([{odd}, NULL]) AS x, 1::DOUBLE AS z")
    assert odd_rows == [null_row] * len(NOT_FINITE)
    explained = [row for row in model.explain(f"SELECT unnest([{odd}]) AS x, 1::DOUBLE AS z") if "x" in row]
    assert [row[-1] for row in explained if row[3] == "x" or row[2] == "x"] == [0, 0] * len(NOT_FINITE)


def test_neighbours_of_2_to_the_53_are_told_apart(con):
    base = 2**53 - 8
    source = f"SELECT y, {base} + x AS x FROM (VALUES ('a', 0), ('a', 2), ('b', 5), ('b', 7)) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y")
    assert moments(model) == {"a": (base + 1, 1), "b": (base + 6, 1)}
    assert [row[1] for row in model.predict(f"SELECT {base} + unnest([2, 3, 4, 5]) AS x")] == ["a", "a", "b", "b"]


def test_every_type_of_number(con, joint):
    types = ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "UHUGEINT", "FLOAT", "DOUBLE"]
    types += ["DECIMAL(4, 1)", "DECIMAL(18, 3)", "DECIMAL(38, 10)"]
    columns = ", ".join(f"CAST(x AS {sql_type}) AS x{n}" for n, sql_type in enumerate(types))
    source = f"SELECT y, {columns} FROM (VALUES ('a', 1), ('a', 3), ('b', 4), ('b', 8)) AS rows(y, x)"
    model = nbsql.fit(con, source, target="y")
    expected = {"a": -0.5 * log(2 * pi) - 0.5 * 9, "b": -0.5 * log(8 * pi) - 0.125}
    for n, sql_type in enumerate(types):
        assert str(model.families[f"x{n}"]) == "gaussian", sql_type
        assert moments(model, f"x{n}") == {"a": (2, 1), "b": (6, 4)}, sql_type
        scores = joint(model, f"SELECT CAST(5 AS {sql_type}) AS x{n}, {nulls(len(types), n)}")
        assert scores == [{label: near(HALF + score) for label, score in expected.items()}], sql_type


def nulls(count, but):
    """The columns x0, x1, ... of NULLs, but for one of them."""
    return ", ".join(f"NULL AS x{n}" for n in range(count) if n != but)


def test_huge_whole_numbers(con):
    source = (
        "SELECT y, x::HUGEINT * 10::HUGEINT ** 36 AS x FROM (VALUES ('a', 10), ('a', 30), ('b', 40), ('b', 80)) AS rows(y, x)"
    )
    model = nbsql.fit(con, source.replace("10::HUGEINT ** 36", "1" + "0" * 36), target="y")
    assert moments(model) == {"a": (near(2e37), near(1e74)), "b": (near(6e37), near(4e74))}
    assert [row[1] for row in model.predict(f"SELECT unnest([25, 35])::HUGEINT * 1{'0' * 36} AS x")] == ["a", "a"]


@pytest.mark.parametrize("weight", [None, "w"])
def test_a_constant_has_a_variance_of_exactly_0(con, weight):
    values = ["0.1", "1e9 + 0.1", "-1e-9", "123456789012345678"]
    columns = ", ".join(f"{value}::DOUBLE AS x{n}" for n, value in enumerate(values))
    con.execute(f"CREATE TABLE rows AS SELECT i % 3 AS y, i % 7 / 7 AS w, {columns}, i % 5 AS z FROM range(300_000) AS n(i)")
    with pytest.warns(nbsql.NbsqlWarning, match="one value only in 'x0', 'x1', 'x2', 'x3'"):
        model = nbsql.fit(con, "rows", target="y", weight=weight, exclude=[] if weight else ["w"])
    statistics = model.statistics.fetchall()
    for n, value in enumerate(values):
        constant = con.execute(f"SELECT {value}::DOUBLE").fetchall()[0][0]
        assert {row[5:7] for row in statistics if row[2] == f"x{n}"} == {(constant, 0.0)}, value
    rows = ", ".join(f"unnest([{value}, 5])::DOUBLE AS x{n}" for n, value in enumerate(values))
    contributions = [row for row in model.explain(f"SELECT {rows}, 1 AS z") if str(row[2]).startswith("x")]
    assert [row[-1] for row in contributions] == [0] * 6 * len(values)


def test_a_constant_of_each_class_has_the_floor(con):
    con.execute("CREATE TABLE rows AS SELECT i % 2 AS y, [0.1, 0.7][i % 2 + 1]::DOUBLE AS x FROM range(300_000) AS n(i)")
    model = nbsql.fit(con, "rows", target="y")
    assert {row[1]: row[6] for row in model.statistics if row[2] == "x"} == {0: 0.0, 1: 0.0}
    floor = 1e-9 * 0.3**2
    assert moments(model) == {0: (near(0.1), near(floor)), 1: (near(0.7), near(floor))}
    assert [row[1] for row in model.predict("SELECT unnest([0.39, 0.41])::DOUBLE AS x")] == [0, 1]
