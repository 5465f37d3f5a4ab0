"""Gaps filled through the class, and columns predicted that are not the target: against enumeration by hand in numpy."""

import math

import numpy as np
import pytest
from scipy import stats

import nbsql

ROWS = """SELECT i AS id, ['a', 'b', 'c'][1 + k] AS y, ['u', 'v', 'w'][1 + (k + i // 7) % 3] AS v, (i + k) % 3 = 0 AS f,
    k * 2 + i % 5 AS whole, k + sin(i) AS x,
    (i * 7 + k) % 4 AS n,
    CAST((k + 1) * (0.1 + i % 9) AS DOUBLE) AS e, (i + k) % 6 AS g, exp(k / 4 + cos(i)) AS l, 1 + k + i % 3 AS w
FROM (SELECT i, i * i % 11 % 3 AS k FROM range(120) AS t(i))"""
FAMILIES = {
    "whole": nbsql.Binned(by=[2, 4, 6]), "n": "poisson", "e": "exponential", "g": "geometric", "l": "lognormal", "w": "gamma",
}  # fmt: skip
LEVELS = {"v": ["u", "v", "w"], "f": ["false", "true"], "whole": ["(-inf, 2)", "[2, 4)", "[4, 6)", "[6, inf)"]}


def bin_of(x):
    return LEVELS["whole"][int(np.searchsorted([2, 4, 6], x, side="right"))]


class ByHand:
    """The model in numpy: what each class says of a value, and of a number its density, mean and variance."""

    def __init__(self, rows):
        self.labels = sorted({row["y"] for row in rows})
        self.priors, self.likelihoods, self.densities, self.told = {}, {}, {}, {}
        for label in self.labels:
            mine = [row for row in rows if row["y"] == label]
            self.priors[label] = len(mine) / len(rows)
            for name, levels in LEVELS.items():
                texts = [self.text(name, row[name]) for row in mine]
                for level in levels:
                    self.likelihoods[label, name, level] = (texts.count(level) + 1) / (len(texts) + len(levels))
            of = {name: np.array([float(row[name]) for row in mine]) for name in ("x", "n", "e", "g", "l", "w")}
            logs = np.log(of["l"])
            shape = of["w"].mean() ** 2 / of["w"].var()
            self.densities[label] = {
                "x": stats.norm(of["x"].mean(), of["x"].std()),
                "n": stats.poisson(of["n"].mean()),
                "e": stats.expon(scale=of["e"].mean()),
                "g": stats.geom(1 / (1 + of["g"].mean()), loc=-1),
                "l": stats.lognorm(logs.std(), scale=math.exp(logs.mean())),
                "w": stats.gamma(shape, scale=of["w"].mean() / shape),
            }
            self.told |= {(label, name): density.stats("mv") for name, density in self.densities[label].items()}

    @staticmethod
    def text(name, value):
        return bin_of(value) if name == "whole" else str(value).lower()

    def posteriors(self, row, without):
        joints = {}
        for label in self.labels:
            joint = self.priors[label]
            for name, value in row.items():
                if value is None or name in ("id", "y", without):
                    continue
                if name in LEVELS:
                    joint *= self.likelihoods[label, name, self.text(name, value)]
                else:
                    density = self.densities[label][name]
                    joint *= density.pmf(value) if name in ("n", "g") else density.pdf(value)
            joints[label] = joint
        return {label: joint / sum(joints.values()) for label, joint in joints.items()}

    def values(self, name, posteriors):
        return {
            level: sum(p * self.likelihoods[label, name, level] for label, p in posteriors.items()) for level in LEVELS[name]
        }

    def moments(self, name, posteriors):
        told = [(p, self.told[label, name]) for label, p in posteriors.items()]
        mean = sum(p * m for p, (m, _) in told)
        return mean, math.sqrt(sum(p * (v + m * m) for p, (m, v) in told) - mean**2)


@pytest.fixture
def model(con):
    """With rows that have gaps beside those that it was fitted to."""
    con.execute(f"CREATE TABLE data AS {ROWS}")
    gaps = ", ".join(
        f"CASE WHEN (id + {i}) % {3 + i % 3} > 0 THEN {name} END AS {name}"
        for i, name in enumerate(["v", "f", "whole", "x", "n", "e", "g", "l", "w"])
    )
    con.execute(f"CREATE TABLE gaps AS SELECT id, y, {gaps} FROM data WHERE id < 16")
    return nbsql.fit(con, "data", target="y", exclude=["id"], alpha=1, families=FAMILIES, name="m")


def dicts(query):
    columns = query.columns  # which are asked of the database each time
    return [dict(zip(columns, row, strict=True)) for row in query]


def rows_of(con, query):
    found = con.execute(query)
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


@pytest.mark.slow
def test_gaps_are_filled_as_enumeration_has_it(form, model):
    by_hand = ByHand(rows_of(model.state.engine.connection, "FROM data"))
    for labelled in (False, True):
        assert_filled(model, by_hand, labelled=labelled)


def assert_filled(model, by_hand, *, labelled):
    con = model.state.engine.connection
    given = rows_of(con, "SELECT * REPLACE (CASE WHEN id % 5 > 0 THEN y END AS y) FROM gaps ORDER BY id")
    query = model.impute("SELECT * REPLACE (CASE WHEN id % 5 > 0 THEN y END AS y) FROM gaps ORDER BY id", labelled=labelled)
    added = [f"{'probability' if name in LEVELS else 'deviation'}_{name}" for name in list(given[0])[2:]]
    assert query.columns == [*given[0], *added]
    middles = dict(zip(LEVELS["whole"], [1, 3, 5, 7], strict=True))
    filled = 0
    for before, after in zip(given, dicts(query), strict=True):
        certain = {label: float(label == before["y"]) for label in by_hand.labels} if labelled and before["y"] else None
        posteriors = certain or by_hand.posteriors(before, "")
        for name, column in zip(list(before)[2:], added, strict=True):
            if before[name] is not None:
                assert (after[name], after[column]) == (before[name], None)
                continue
            filled += 1
            if name not in LEVELS:
                mean, deviation = by_hand.moments(name, posteriors)
                assert after[column] == pytest.approx(deviation, rel=1e-9)
                assert after[name] == (round(mean) if name in ("n", "g", "w") else pytest.approx(mean, rel=1e-9))
                continue
            masses = by_hand.values(name, posteriors)
            assert after[column] == pytest.approx(max(masses.values()), rel=1e-9)
            chosen = next(key for key, value in middles.items() if value == after[name]) if name == "whole" else after[name]
            assert masses[by_hand.text(name, after[name]) if name != "whole" else chosen] == pytest.approx(after[column])
    assert filled > 30


@pytest.mark.slow
def test_any_column_is_predicted_from_the_others(model):
    con = model.state.engine.connection
    by_hand = ByHand(rows_of(con, "FROM data"))
    given = rows_of(con, "FROM gaps ORDER BY id")
    for name in ("v", "f", "whole"):
        answers = {}
        for row in dicts(model.predict("FROM gaps ORDER BY id", target=name, top_k=9, columns=["id"])):
            answers.setdefault(row["id"], []).append(row)
        assert [row["id"] for row in given] == list(answers)
        for row in given:
            masses = by_hand.values(name, by_hand.posteriors(row, name))
            found = {str(each["prediction"]).lower(): each["probability"] for each in answers[row["id"]]}
            assert found == pytest.approx(masses, rel=1e-9)
            assert [each["rank"] for each in answers[row["id"]]] == list(range(1, len(LEVELS[name]) + 1))
            assert list(found.values()) == sorted(found.values(), reverse=True)
    for name in ("x", "n", "e", "g", "l", "w"):
        query = model.predict(f"SELECT * EXCLUDE ({name}) FROM gaps ORDER BY id", target=name)  # which need not be there
        assert query.columns[-2:] == ["prediction", "deviation"]
        for row, answer in zip(given, dicts(query), strict=True):
            told = by_hand.moments(name, by_hand.posteriors(row, name))
            assert (answer["prediction"], answer["deviation"]) == pytest.approx(told, rel=1e-9)
    assert model.predict("data", target="y").sql == model.predict("data").sql


def test_a_column_of_which_others_are_made_need_not_be_there(con):
    data = "SELECT i % 2 AS y, 'v' || i % 7 AS a, 'w' || i % 3 AS b FROM range(90) AS r(i)"
    model = nbsql.fit(con, data, target="y", derive={"twice": "a || a", "both": "twice || b"})
    plain = nbsql.fit(con, data, target="y")
    for target in "ab":
        source = f"SELECT * EXCLUDE ({target}) FROM ({data})"
        assert model.predict(source, target=target).fetchall() == plain.predict(source, target=target).fetchall()


def test_what_no_class_explains_keeps_its_gap(con):
    con.execute(
        "CREATE TABLE t AS SELECT unnest(['u', 'u', 'v']) AS x, unnest(['s', 's', 't']) AS z, unnest(['a', 'a', 'b']) AS y"
    )
    model = nbsql.fit(con, "SELECT *, x AS q FROM t", target="y", alpha=0, name="m")
    source = "SELECT 'u' AS x, 't' AS z, NULL AS q UNION ALL SELECT 'v', NULL, NULL"
    assert model.impute(source).fetchall() == [("u", "t", None, None, None, None), ("v", "t", "v", None, 1.0, 1.0)]
    assert model.predict(source, target="q", top_k=3).fetchall() == [
        ("u", "t", None, None, None, 1), ("v", None, None, "v", 1.0, 1), ("v", None, None, "u", 0.0, 2),
    ]  # fmt: skip
    assert model.impute("SELECT 'u' AS x, NULL AS z, NULL AS q", features=["z"]).fetchall() == [("u", "s", None, 1.0)]


@pytest.mark.parametrize(("given", "same"), [("NULL::INTEGER", "u"), ("'v'::ENUM('v')", "v")])
def test_texts_fill_a_column_of_another_type_as_texts(con, given, same):
    con.execute("CREATE TABLE t AS SELECT unnest(['u', 'u', 'v']) AS x, unnest(['a', 'a', 'b']) AS y")
    model = nbsql.fit(con, "t", target="y")
    filled = model.impute(f"SELECT 1 AS i, {given} AS x UNION ALL SELECT 2, NULL").fetchall()
    assert sorted(row[:2] for row in filled) == [(1, same), (2, "u")]


def test_a_kernel_and_a_given_model(con):
    data = "SELECT i % 2 AS y, i % 2 * 10 + i % 7 / 3 AS x, i % 2 AS v FROM range(80) AS t(i)"
    model = nbsql.fit(con, data, target="y", families={"x": nbsql.Kernel(cells=32), "v": "categorical"}, name="m")
    ((x, p),) = model.predict("SELECT 1 AS v", target="x", columns=[]).fetchall()
    cells = "SELECT sum(likelihood * (class = 1)::INT) AS p FROM m.likelihoods WHERE feature = 'x' GROUP BY value"
    told = [p for (p,) in con.execute(cells).fetchall()]
    assert 10 < x < 13
    assert 0.9 * max(told) / sum(told) < p < max(told) / sum(told)
    likelihoods = {"a": {"v": {"u": 0.9, "w": 0.1}}, "b": {"v": {"u": 0.2, "w": 0.8}}}
    given = nbsql.from_tables(con, priors={"a": 0.5, "b": 0.5}, likelihoods=likelihoods, target="y")
    assert given.predict("SELECT 1 AS one", target="v", columns=[]).fetchall() == [("u", pytest.approx(0.55, rel=1e-12))]


@pytest.mark.filterwarnings("ignore:one bin only:nbsql.NbsqlWarning")
def test_a_number_in_a_single_bin_keeps_its_gap(con, refused):
    rows = "SELECT i % 3 = 0 AS y, i % 2 AS x, 'v' || i % 2 AS v, i % 7 AS z FROM range(30) AS t(i)"
    gaps = "SELECT NULL::INTEGER AS x, NULL AS v, 3 AS z"
    model = nbsql.fit(con, rows, target="y", families={"x": nbsql.Binned(by="mdl")})
    found = model.impute(gaps)
    assert found.columns[:4] == ["x", "v", "z", "probability_v"]
    assert found.fetchall()[0][0] is None
    with refused(nbsql.InputError, "impute does not take 'x', all of which is one bin, without a middle; leave it out"):
        model.impute(gaps, features=["x"])
    assert model.predict(gaps, target="x", columns=[]).fetchall() == [("(-inf, inf)", 1.0)]


def test_columns_that_depend_on_each_other_are_not_filled(con, refused):
    con.execute(
        "CREATE TABLE t AS SELECT i % 2 AS y, 'a' || i % 3 AS a, 'b' || i % 4 AS b, 'c' || i % 2 AS c FROM range(60) AS r(i)"
    )
    model = nbsql.fit(con, "t", target="y", families={"b": nbsql.Conditional("a")})
    assert model.impute("t").columns == ["y", "a", "b", "c", "probability_c"]
    child = "impute does not support 'b', which is conditional; fill it by a model of method='naive'"
    for name, message in (("a", "impute does not take 'a', which 'b' reads, too; fit it without"), ("b", child)):
        with refused(nbsql.InputError, message):
            model.impute("t", features=[name])
        with refused(nbsql.InputError, message):
            model.predict("t", target=name)


def test_a_missing_value_that_counts_is_no_gap(con):
    con.execute("CREATE TABLE t AS SELECT i % 2 AS y, 'a' || i % 3 AS v FROM range(30) AS r(i)")
    model = nbsql.fit(con, "t", target="y", nulls="category", name="m")
    with pytest.raises(nbsql.InputError) as caught:
        model.impute("t")
    message = "model 'm' has no feature of a column of t whose gaps others could fill; with nulls='category' "
    assert str(caught.value) == f"{message}a missing value is no gap"


@pytest.mark.slow
def test_errors_are_one_line(con, refused):
    con.execute("CREATE TABLE t AS SELECT 'u' || i % 3 AS v, i % 2 AS g, 'k' || i % 4 AS s, i * 1.5 AS z FROM range(6) AS r(i)")
    con.execute("CREATE TABLE u AS SELECT *, 1 AS probability_s FROM t")
    families = {"g": "categorical", "v": nbsql.Conditional("g")}
    model = nbsql.fit(con, "SELECT *, g AS y FROM t", target="y", families=families, name="m")
    for act, message in [
        (
            lambda m: m.impute("t", features=["q"]),
            "model 'm' has no feature of a column 'q'; its columns are 'v', 'g', 's', 'z'",
        ),
        (lambda m: m.impute("t", features="v"), "features must be a list of names, not 'v'"),
        (lambda m: m.impute("u"), "u has a column 'probability_s' already, which impute adds; rename it or leave it out"),
        (
            lambda m: m.impute("t", labelled=True),
            "no column 'y' in t, the target of model 'm'; its columns are 'v', 'g', 's', 'z'",
        ),
        (lambda m: m.predict("t", target=3), "target must be the name of a column, not 3"),
        (lambda m: m.predict("t", target="z", top_k=2), "top_k goes with values, and 'z' is a number with a density"),
        (lambda m: m.predict("t", target="s", top_k=0), "top_k must be a whole number of at least 1, not 0"),
        (
            lambda m: m.predict("t", target="s", calibrated=True),
            "predict(target=...) of a feature goes with top_k, labelled and columns; leave out the others",
        ),
        (
            lambda m: m.predict("t", labelled=True),
            "labelled goes with a target that is a feature; the class is what is predicted",
        ),
    ]:
        with refused(nbsql.InputError, message):
            act(model).fetchall()


def test_what_is_computed_from_a_column_does_not_tell_its_value(con):
    con.execute("CREATE TABLE t AS SELECT i % 3 AS y, i % 3 + sin(i) AS x, cos(i * i) AS z FROM range(60) AS r(i)")
    plain = nbsql.fit(con, "t", target="y")
    model = nbsql.fit(con, "t", target="y", derive={"double": "x * 2", "more": "double + z"})
    assert list(model.families) == ["x", "z", "double", "more"]
    expected = plain.predict("t", target="x", columns=["z"]).fetchall()
    for source in ("t", "SELECT * REPLACE (NULL AS x) FROM t"):
        assert model.predict(source, target="x", columns=["z"]).fetchall() == [
            pytest.approx(row, rel=1e-12) for row in expected
        ]


def test_what_is_joined_by_a_column_does_not_tell_its_value(con):
    con.execute("CREATE TABLE shops AS SELECT 's' || i AS shop, 'r' || i % 3 AS region, i % 2 AS size FROM range(6) AS r(i)")
    con.execute("CREATE TABLE t AS SELECT i % 3 AS y, 's' || (i % 3 + i % 4) AS shop, sin(i) AS x FROM range(90) AS r(i)")
    shops = nbsql.Join("shops", on="shop")
    model = nbsql.fit(con, "t", target="y", joins=shops, features=["shop", "x", "region", "size"])
    plain = nbsql.fit(con, "t", target="y", features=["shop", "x"])
    expected = plain.predict("t", target="shop", columns=["x"]).fetchall()
    for source in ("t", "SELECT * REPLACE (CAST(NULL AS VARCHAR) AS shop) FROM t"):
        assert model.predict(source, target="shop", columns=["x"]).fetchall() == [
            (pytest.approx(x), shop, pytest.approx(p, rel=1e-12)) for x, shop, p in expected
        ]
