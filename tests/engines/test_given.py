"""Models of given probabilities are as on DuckDB, of dicts and of tables; and rows are drawn by the model's distributions."""

import math
from collections import Counter

import pytest
from engines.places import assert_same_rows
from engines.test_agreement import COLUMNS, explained, mail

import nbsql

NUMBERS = {
    "yes": {"wind": {"weak": 0.75, "strong": 0.25}, "t": {"mean": 20, "variance": 4}, "n": {"rate": 2.5}},
    "no": {"wind": {"weak": 0.5, "strong": 0.5}, "t": {"mean": 10, "variance": 9}, "n": {"rate": 1}},
}
GIVEN = {
    "numbers": ({"yes": 0.5, "no": 0.5}, NUMBERS, "SELECT 'weak' AS wind, 14.0 AS t, 3 AS n"),
    "whole labels": ({1: 0.25, 2: 0.75}, {1: {"s": {"u": 0.5, "v": 0.5}}, 2: {"s": {"u": 0.1, "v": 0.9}}}, "SELECT 'u' AS s"),
    "missing values": (
        {True: 0.25, False: 0.75},
        {True: {"s": {"a": 0.5, None: 0.5}}, False: {"s": {"a": 0.1, None: 0.9}}},
        "SELECT 'a' AS s UNION ALL SELECT NULL",
    ),
    "logarithms": (
        {"yes": 0.5, "no": 0.5},
        {"yes": {"wind": {"weak": 2.5, "strong": -900.0}}, "no": {"wind": {"weak": -1.5, "strong": 800.0}}},
        "SELECT 'weak' AS wind UNION ALL SELECT 'strong'",
    ),
    "covariances": (
        {"yes": 0.5, "no": 0.5},
        {
            "yes": {("t", "n"): {"mean": [20, 2], "covariance": [[4, 1.5], [1.5, 1]]}},
            "no": {("t", "n"): {"mean": [10, 1], "covariance": [[9, -2], [-2, 1]]}},
        },
        "SELECT 14.0 AS t, 3 AS n",
    ),
    "whole numbers, and texts of digits": (
        {"yes": 0.5, "no": 0.5},
        {
            "yes": {"n": {0: 0.75, 1: 0.25}, "postcode": {"02134": 0.75, "10001": 0.25}},
            "no": {"n": {0: 0.5, 1: 0.5}, "postcode": {"02134": 0.25, "10001": 0.75}},
        },
        "SELECT CAST(n AS DECIMAL(3, 1)) n, postcode FROM (VALUES (0.5, '02134'), (1, '10001'), (10, '2134')) t(n, postcode)",
    ),
    "labels by their bytes": ({"ä": 0.5, "B": 0.25, "b": 0.25}, {}, "SELECT 1 AS x"),
}

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


def told(model, source):
    queries = (model.predict_proba(source), model.priors, model.likelihoods)
    return [row for query in queries for row in sorted(query.fetchall(), key=repr)] + explained(model, source)


@pytest.mark.parametrize("case", GIVEN)
def test_dicts_make_the_same_model(both, case):
    priors, likelihoods, source = GIVEN[case]
    options = {"priors": priors, "likelihoods": likelihoods, "logarithms": case == "logarithms"}
    models = [nbsql.from_tables(place.con, **options, name="g") for place in both]
    assert models[0].classes == models[1].classes
    models = [nbsql.load(place.con, "g") for place in both]
    assert_same_rows(*(told(model, source) for model in models))


def test_tables_make_the_same_model(both):
    models = []
    for place in both:
        place.table("inbox", COLUMNS, mail(120, 1))
        options = {"features": ["Sender", "length", "links"], "families": {"links": "poisson"}}
        fitted = nbsql.fit(place.con, "inbox", target="label", name="m", **options)
        place.run("CREATE TABLE p AS SELECT class, prior FROM m.priors")
        place.run("CREATE TABLE l AS SELECT * FROM m.likelihoods")
        models.append(nbsql.from_tables(place.con, priors="p", likelihoods="l", families={"links": "poisson"}, name="g"))
        assert_same_rows(sorted(models[-1].predict_proba("inbox").fetchall()), sorted(fitted.predict_proba("inbox").fetchall()))
    assert_same_rows(*(told(model, "SELECT * FROM inbox WHERE id < 20") for model in models))


def test_what_cannot_be_given_is_refused(place):
    lines = {
        "the priors sum to 1.1; they must sum to 1: divide each by 1.1": ({"yes": 0.5, "no": 0.6}, NUMBERS),
        "class 'no' has likelihoods and no prior; give every class a prior": ({"yes": 1.0}, NUMBERS),
        "feature 'wind' has nothing for class 'maybe'; every class needs its likelihoods": (
            {"yes": 0.25, "no": 0.25, "maybe": 0.5},
            {name: {"wind": features["wind"]} for name, features in NUMBERS.items()},
        ),
        "feature 'wind' must have a likelihood a value or a mean and a variance or a rate or a covariance matrix "
        "in every row, and one of them only": (
            {"yes": 0.5, "no": 0.5},
            {"yes": {"wind": {"rate": 2}}, "no": {"wind": {"weak": 1}}},
        ),
    }
    for message, (priors, likelihoods) in lines.items():
        with pytest.raises(nbsql.InputError) as caught:
            nbsql.from_tables(place.con, priors=priors, likelihoods=likelihoods, name="g")
        assert str(caught.value) == message
    assert nbsql.models(place.con) == []


# What each column of `data` below is drawn by, its mean in a class, and its standard deviation.
FAMILIES = {"k": "poisson", "e": "exponential", "q": "geometric", "body": nbsql.Text(), "w": nbsql.Multinomial(["w1", "w2"])}
ROWS = [(i, "abc"[i % 3], 10 + i % 7, i % 5, i % 2 == 0, "uvw"[i * i % 7 % 3], ["x y", "y", ""][i % 3], i % 3, i % 4, 1 + i % 9,
         i % 8, ["p", "q"]) for i in range(210)]  # fmt: skip
TYPES = {"id": "INTEGER", "y": "VARCHAR", "x": "DOUBLE PRECISION", "k": "INTEGER", "f": "BOOLEAN", "c": "VARCHAR",
         "body": "VARCHAR", "w1": "SMALLINT", "w2": "INTEGER", "e": "REAL", "q": "BIGINT", "toks": "VARCHAR[]"}  # fmt: skip


@pytest.mark.slow
def test_rows_are_drawn_by_the_model(place):
    place.table("data", TYPES, ROWS)
    model = nbsql.fit(place.con, "data", target="y", exclude=["id"], families=FAMILIES, alpha=0, name="m")
    sample = model.sample(2000, seed=7)
    rows = sample.fetchall()
    assert set(sample.columns) == set(TYPES) - {"id"}
    assert model.sample(50, seed=7).fetchall() == rows[:50]
    assert model.sample(50, seed=8).fetchall() != rows[:50]
    at = {name: number for number, name in enumerate(sample.columns)}
    counts = Counter(row[at["y"]] for row in rows)
    assert all(abs(counts[label] - 2000 / 3) < 5 * math.sqrt(2000 * 2 / 9) for label in "abc")
    for label in "abc":
        drawn = [row for row in rows if row[at["y"]] == label]
        learnt = [row for row in ROWS if row[1] == label]
        for column, spread in {"x": 2.0, "k": 2.0, "e": 5.0, "q": 4.5, "f": 0.5, "w1": 2.0, "w2": 2.0}.items():
            number = list(TYPES).index(column)
            mean = sum(float(row[number]) for row in learnt) / len(learnt)
            found = sum(float(row[at[column]]) for row in drawn) / len(drawn)
            assert found == pytest.approx(mean, abs=5 * spread / math.sqrt(len(drawn))), (label, column)
        share = sum(row[at["c"]] == "u" for row in drawn) / len(drawn)
        assert share == pytest.approx(sum(row[5] == "u" for row in learnt) / len(learnt), abs=2.5 / math.sqrt(len(drawn)))
    sample.create_table("drawn")
    assert len(nbsql.fit(place.con, "drawn", target="y", families=FAMILIES).families) == len(model.families)
