"""Models of given probabilities: the textbook's tennis table, and what was learnt given again, to the bit."""

import json
from math import exp, inf, lgamma, log, pi

import pytest

import nbsql

pytestmark = pytest.mark.usefixtures("form")


PRIORS = {"yes": 0.3, "no": 0.7}
DAY = ("temperature", "wind")
TENNIS = {"yes": {DAY: {("hot", "weak"): 0.4, ("hot", None): 0.6}}, "no": {DAY: {("hot", "weak"): 0.1, ("cool", "weak"): 0.9}}}
HOT = "SELECT 'hot' AS temperature, 'weak' AS wind"


def test_the_tennis_table(con, joint):
    model = nbsql.from_tables(con, priors=PRIORS, likelihoods=TENNIS, target="play", name="tennis")
    assert joint(model, HOT) == [{"yes": pytest.approx(log(0.12), abs=1e-15), "no": pytest.approx(log(0.07), abs=1e-15)}]
    assert model.predict(HOT).fetchall() == [("hot", "weak", "yes", pytest.approx(0.12 / 0.19, abs=1e-15))]
    con.execute(f"CREATE TABLE today AS {HOT}")
    assert con.execute("FROM tennis.predict('today')").fetchall() == model.predict(HOT).fetchall()
    assert sorted(model.priors) == [("no", None, 0.7, log(0.7)), ("yes", None, 0.3, log(0.3))]
    found = {(row[0], *json.loads(row[2])): row[3] for row in model.likelihoods if row[1] == "temperature, wind"}
    assert found == {
        ("yes", "hot", "weak"): 0.4, ("yes", "hot", None): 0.6, ("yes", "cool", "weak"): 0,
        ("no", "hot", "weak"): 0.1, ("no", "hot", None): 0, ("no", "cool", "weak"): 0.9,
    }  # fmt: skip
    contributions = [row[2:] for row in model.explain(HOT) if row[2] is not None]
    assert sorted(row[-1] for row in contributions) == [log(0.1), log(0.4)]
    (row,) = model.predict("SELECT 'cool' AS temperature, 'weak' AS wind")
    assert row[2:] == ("no", 1.0)
    assert model.evaluate(f"SELECT *, 'yes' AS play FROM ({HOT})").accuracy == 1.0


def test_a_part_of_the_table_will_do_with_a_warning(con, joint):
    likelihoods = {"yes": {DAY: {("hot", "weak"): 0.4}}, "no": {DAY: {("hot", "weak"): 0.1}}}
    message = (
        r"^likelihoods do not sum to 1 in 'temperature, wind of no \(0.1\)', 'temperature, wind of yes \(0.4\)'; what is not"
    )
    with pytest.warns(nbsql.NbsqlWarning, match=message):
        model = nbsql.from_tables(con, priors=PRIORS, likelihoods=likelihoods)
    assert joint(model, HOT) == [{"yes": pytest.approx(log(0.12), abs=1e-15), "no": pytest.approx(log(0.07), abs=1e-15)}]
    assert joint(model, HOT.replace("hot", "odd")) == [{"yes": log(0.3), "no": log(0.7)}]


MIXED = """SELECT 'c' || i % 3 AS y, 'v' || i * i % 5 AS sky, i % 7 < 3 + i % 3 AS warm, sin(i) + i % 3 AS x,
    exp(cos(i)) AS income, i * 7 % 5 AS calls, i % 4 AS failures, abs(sin(i * i)) AS wait,
    ['t' || i % 4, 't' || i % 3] AS bag,
    i % 3 AS w1, i % 5 AS w2, CASE WHEN i % 4 > 0 THEN 'k' || i % 5 END AS gap, i % 6 AS whole FROM range(60) AS r(i)"""
FAMILIES = {
    "income": "lognormal", "calls": "poisson", "failures": "geometric", "wait": "exponential", "whole": "categorical",
    "words": nbsql.Multinomial(["w1", "w2"]), "gap": nbsql.Categorical(nulls="category"), "warm": "bernoulli", "bag": "tokens",
    "pair": nbsql.Joint(["a", "b"]),
}  # fmt: skip


@pytest.mark.slow
def test_what_was_learnt_can_be_given_again(con):
    rows = f"SELECT *, i % 2 AS a, i % 3 > 1 AS b FROM (SELECT row_number() OVER () AS i, * FROM ({MIXED}))"
    con.execute(f"CREATE TABLE t AS SELECT * EXCLUDE (i) FROM ({rows})")
    learnt = nbsql.fit(con, "t", target="y", families=FAMILIES)
    given = nbsql.from_tables(
        con, priors=learnt.priors, likelihoods=learnt.likelihoods.arrow(), families=FAMILIES, target="y", name="copy"
    )
    for row, other in zip(given.likelihoods, learnt.likelihoods, strict=True):
        if row[1] == "failures":  # the mean is (1 - q) / q, computed anew
            assert row == (*other[:5], pytest.approx(other[5], rel=1e-14), *other[6:])
        else:
            assert row == other
    assert [row[::2] for row in given.priors] == [row[::2] for row in learnt.priors]
    ours, theirs = (sorted(model.predict_proba("t"), key=repr) for model in (given, learnt))
    assert [row[:-4] for row in ours] == [row[:-4] for row in theirs]
    for one, other in zip(ours, theirs, strict=True):
        assert one[-4:] == pytest.approx(other[-4:], abs=1e-13)
    ours_explained, theirs_explained = (sorted((row[:4] for row in m.explain("t")), key=repr) for m in (given, learnt))
    assert ours_explained == theirs_explained
    loaded = nbsql.load(con, "copy")
    assert loaded.families == given.families
    assert sorted(loaded.predict_proba("t"), key=repr) == ours


def test_numbers(con, joint):
    likelihoods = {
        True: {"x": {"mean": 1, "variance": 4}, "calls": {"rate": 2}, "wait": {"rate": 0.5}},
        False: {"x": {"mean": -1, "variance": 0.25}, "calls": {"rate": 3.5}, "wait": {"rate": 2}},
    }
    priors = {True: 0.25, False: 0.75}
    model = nbsql.from_tables(con, priors=priors, likelihoods=likelihoods, families={"wait": nbsql.Exponential()})
    assert {name: str(family) for name, family in model.families.items()} == {
        "calls": "poisson", "wait": "exponential", "x": "gaussian",
    }  # fmt: skip
    found = {row[:2]: row[5:] for row in model.likelihoods}
    assert found[True, "x"] == (1, 4, None)
    assert found[False, "calls"] == (None, None, 3.5)
    expected = {}
    for label, prior in priors.items():
        numbers = likelihoods[label]
        mean, variance = numbers["x"]["mean"], numbers["x"]["variance"]
        rate, wait = numbers["calls"]["rate"], numbers["wait"]["rate"]
        terms = [log(prior), -0.5 * log(2 * pi * variance) - (0.5 - mean) ** 2 / (2 * variance)]
        terms += [3 * log(rate) - rate - lgamma(4), log(wait) - wait * 1.5]
        expected[label] = pytest.approx(sum(terms), abs=1e-13)
    assert joint(model, "SELECT 0.5 AS x, 3 AS calls, 1.5 AS wait") == [expected]
    assert model.classes == [False, True]


def test_tables_views_and_frames(con, tmp_path):
    con.execute('CREATE TABLE p AS FROM (VALUES (1::UTINYINT, 0.5::FLOAT), (2, 0.5)) AS t("Class", prior)')
    con.execute("""CREATE VIEW l AS FROM (VALUES
        (1, 'd', ['a', NULL], 1), (2, 'd', ['a', 'b'], 0.25), (2, 'd', ['a', NULL], 0.75))
        AS t(class, feature, value, likelihood)""")
    families = {"d": nbsql.Joint(["u", "v"])}
    model = nbsql.from_tables(con, priors="p", likelihoods="l", families=families, name="kept")
    assert model.predict("SELECT 'a' AS u, 'b' AS v").fetchall() == [("a", "b", 2, 1.0)]
    path = str(tmp_path / "kept.parquet")
    model.export(path)
    again = nbsql.import_(con, path, name="again")
    for one in (nbsql.load(con, "kept"), again):
        assert one.likelihoods.fetchall() == model.likelihoods.fetchall()
        assert one.predict_proba("SELECT 'a' AS u, NULL AS v").fetchall()[0][2:] == pytest.approx((1, 4 / 7, 4 / 7, 3 / 7))
    model.drop()
    assert nbsql.models(con) == ["again"]


def test_priors_alone(con):
    model = nbsql.from_tables(con, priors={1: 0.5, 2: 0.25, 3: 0.25})
    assert [row[1:] for row in model.predict("SELECT 7 AS x")] == [(1, 0.5)]
    assert exp(model.joint_log_likelihood("SELECT 7 AS x").fetchall()[0][1]) == pytest.approx(0.5)


def x(yes, no):
    return {"likelihoods": {"yes": {"x": yes}, "no": {"x": no}}}


FAIR = {"a": 0.5, "b": 0.5}


@pytest.mark.slow
def test_what_cannot_be_given(con, refused):
    for options, message in [
        ({"priors": {"yes": 0.3, "no": 0.6}}, "the priors sum to 0.9; they must sum to 1: divide each by 0.9"),
        ({"priors": {"yes": 1.3, "no": -0.3}}, "the prior of class 'no' is -0.3; a probability lies between 0 and 1"),
        ({"priors": {"yes": "0.3"}}, "the prior of class 'yes' must be a finite number, not '0.3'"),
        ({"priors": {"yes": 0.3, 1: 0.7}}, "the classes must be all text, or all numbers, not 'yes', '1'"),
        ({"priors": {}}, "priors is empty; name at least one class: {'yes': 0.3, 'no': 0.7}"),
        (
            {"priors": "SELECT 'yes' AS class, 1 AS p"},
            "priors has no column 'prior'; it needs 'class', 'prior', or give a dict",
        ),
        ({"priors": "SELECT NULL AS class, 1 AS prior"}, "priors has a row without a class; leave it out"),
        ({"priors": "SELECT 'yes' AS class, unnest([0.5, 0.5]) AS prior"}, "class 'yes' has 2 priors; give it one"),
        (
            x(FAIR, {"a": 1.5}),
            "the likelihood of value 'a' of feature 'x' of class 'no' is 1.5; a probability lies between 0 and 1",
        ),
        (x(FAIR, {"a": None}), "the likelihood of 'a', feature 'x' of class 'no' must be a finite number, not None"),
        (x({"rate": 1}, {"rate": 0}), "the rate of feature 'x' of class 'no' is 0; it must be above 0"),
        (
            x({"mean": 1, "variance": 0}, {"mean": 1, "variance": 1}),
            "the variance of feature 'x' of class 'yes' is 0; it must be above 0",
        ),
        (
            x({"rate": 1}, FAIR),
            "feature 'x' must have a likelihood a value or a mean and a variance or a rate or a covariance matrix "
            "in every row, and one of them only",
        ),
        ({"likelihoods": {"yes": {"x": FAIR}}}, "feature 'x' has nothing for class 'no'; every class needs its likelihoods"),
        ({"likelihoods": {"odd": {"x": FAIR}}}, "class 'odd' has likelihoods and no prior; give every class a prior"),
        ({"likelihoods": {"yes": 3}}, "likelihoods of class 'yes' must be a dict {feature: {value: likelihood}}, not 3"),
        (
            x(3, FAIR),
            "feature 'x' of class 'yes' must be a dict, {value: likelihood}, {'mean': m, 'variance': v} or {'rate': r}",
        ),
        (
            {"likelihoods": "SELECT 'yes' AS class, 'x' AS feature, 'a' AS value, unnest([0.1, 0.2]) AS likelihood"},
            "value 'a' of feature 'x' of class 'yes' is given 2 times; give it once",
        ),
        ({**x(FAIR, FAIR), "families": {"x": "poisson"}}, "family 'poisson' of 'x' takes a rate, not a likelihood a value"),
        ({**x(FAIR, FAIR), "families": {"x": "bernoulli"}}, "family 'bernoulli' of 'x' needs a likelihood of 'true'"),
        (
            {**x(FAIR, FAIR), "families": {"x": nbsql.Text(event="complement")}},
            "family 'text' of 'x' needs counts, which probabilities have not; fit it to rows",
        ),
        (
            {**x(FAIR, FAIR), "families": {"x": nbsql.Conditional("z")}},
            "family 'conditional' of 'x' needs counts, which probabilities have not; fit it to rows",
        ),
        (
            {**x(FAIR, FAIR), "families": {"x": nbsql.Categorical(unseen="smooth")}},
            "family 'categorical' of 'x' cannot smooth values never seen without counts; leave out unseen='smooth'",
        ),
        ({**x(FAIR, FAIR), "families": {"X": "tokens"}}, "families names 'X', which has no likelihoods; did you mean 'x'?"),
    ]:
        with refused(nbsql.InputError, message):
            nbsql.from_tables(con, **{"priors": PRIORS, "name": "never", **options})


def test_a_name_that_is_taken(con, refused):
    nbsql.from_tables(con, priors=PRIORS, name="m")
    with refused(nbsql.ModelError, "model 'm' is there already; replace it with replace=True, or choose another name"):
        nbsql.from_tables(con, priors={"a": 1}, name="m")
    assert nbsql.from_tables(con, priors={"a": 1}, name="m", replace=True).classes == ["a"]


def test_a_likelihood_of_zero_excludes(con, joint):
    model = nbsql.from_tables(con, priors=PRIORS, likelihoods={"yes": {"x": {"a": 1, "b": 0}}, "no": {"x": {"b": 1}}})
    assert joint(model, "SELECT 'a' AS x") == [{"no": -inf, "yes": pytest.approx(log(0.3))}]


def test_names_and_values_of_any_characters(con):
    odd = ["it's", 'a "quoted" one', "two\nlines", "-- no; comment", "[x], {y}", "Ünï\\cödé"]
    likelihoods = {label: {name: dict.fromkeys(odd, 1 / 6) for name in odd[:3]} for label in odd[:2]}
    for number, label in enumerate(odd[:2]):
        likelihoods[label][(odd[3], odd[4])] = {(odd[number], None): 1}
    model = nbsql.from_tables(con, priors={odd[0]: 0.5, odd[1]: 0.5}, likelihoods=likelihoods, target=odd[5], name="odd one")
    row = ", ".join(f'? AS "{name.replace(chr(34), chr(34) * 2)}"' for name in odd[:5])
    con.execute(f"CREATE TABLE today AS SELECT {row}", [odd[5], odd[4], odd[3], odd[1], None])
    assert nbsql.load(con, "odd one").predict("today").fetchall()[0][-2:] == (odd[1], 1.0)
    assert {row[2] for row in model.likelihoods if row[1] == odd[0]} == set(odd)
    drawn = model.sample(20)
    assert drawn.columns == [odd[3], odd[4], odd[1], odd[0], odd[2], odd[5]]
    assert {value for row in drawn for value in row if value is not None} <= set(odd)


@pytest.mark.parametrize("name", ["multinomial", "joint"])
def test_a_family_of_several_columns_by_its_name_is_refused(con, name):
    likelihoods = {label: {"x": {"u": 0.5, "v": 0.5}} for label in "ab"}
    family = {"multinomial": "Multinomial", "joint": "Joint"}[name]
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.from_tables(con, priors={"a": 0.5, "b": 0.5}, likelihoods=likelihoods, families={"x": name})
    assert str(caught.value) == (
        f"family {name!r} of 'x' is of several columns; name them, families={{'x': nbsql.{family}([...])}}"
    )
