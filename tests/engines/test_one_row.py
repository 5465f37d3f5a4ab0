"""One row that is at hand, and a query with the model's numbers in it, have the answers of a table."""

import math
import random
from datetime import date
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest
from engines.places import LACKS, Place, assert_same_rows, same

import nbsql

COLUMNS = {
    "id": "INTEGER", "y": "VARCHAR", "x": "DOUBLE PRECISION", "k": "INTEGER", "price": "DECIMAL(8, 2)",
    "member": "BOOLEAN", "sky": "VARCHAR", "day": "DATE", "note": "VARCHAR", "tags": "VARCHAR[]", "w1": "INTEGER",
    "w2": "INTEGER",
}  # fmt: skip
WORDS = ["offer", "lunch", "it's", "ÄRGER", "free"]

CASES = {
    "inferred": {"exclude": ["day", "note"]},
    "numbers": {"features": ["x", "k", "price"], "families": {"k": "poisson", "price": "lognormal"}},
    "rates": {"features": ["k", "price", "x"], "families": {"k": "geometric", "price": "exponential"}},
    "categories": {
        "features": ["sky", "day", "k", "member", "price"],
        "families": dict.fromkeys(["day", "k", "price"], "categorical"),
        "nulls": "category",
        "unseen": "smooth",
    },
    "text": {"features": ["note", "tags", "x"], "families": {"note": nbsql.Text()}},
    "presence": {"features": ["note"], "families": {"note": nbsql.Text(event="bernoulli")}},
    "weighed text": {"features": ["note"], "families": {"note": nbsql.Text(tfidf=True, norm="l2")}},
    "count columns": {"features": ["x"], "families": {"words": nbsql.Multinomial(["w1", "w2"])}},
    "joint": {"features": ["sky", "k"], "method": nbsql.JointBayes(backoff="naive")},
    "lda": {"features": ["x", "price", "sky"], "method": "lda"},
    "binned": {"features": ["x", "price"], "families": {"x": nbsql.Binned(bins=4), "price": nbsql.Kernel()}},
    "maximum likelihood": {"features": ["sky", "member"], "alpha": 0},
    "no features": {"features": []},
}

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


def rows(count, seed):
    chance = random.Random(seed)  # noqa: S311

    def missing(value):
        return None if chance.random() < 0.1 else value

    return [
        (
            i,
            chance.choice(["a", "B", "c"]),
            float("inf") if i == 4 else missing(chance.gauss(i % 3, 1)),
            missing(chance.randrange(6)),
            missing(Decimal(chance.randrange(1, 900)) / 100),
            missing(chance.random() < 0.4),
            missing(chance.choice(["sun", "rain", "it's"]) if seed == 1 else chance.choice(["sun", "fog"])),
            missing(date(2026, 1, 1 + chance.randrange(4))),
            missing(" ".join(chance.choices(WORDS, k=chance.randrange(5)))),
            missing(chance.choices(WORDS, k=chance.randrange(4))),
            chance.randrange(4),
            missing(chance.randrange(4)),
        )
        for i in range(count)
    ]


@pytest.fixture(params=["a column a class", "a row a class"])
def fitted(request, place, layout):
    if "predict_one" in LACKS[place.engine]:
        pytest.skip(f"predict_one is not on {place.engine}: {LACKS[place.engine]['predict_one']}")
    if request.param == "a row a class":
        layout(class_columns=False)
    place.table("t", COLUMNS, rows(90, 1))
    place.table("asked", COLUMNS, rows(7, 2))
    return lambda options: (place, nbsql.fit(place.con, "t", target="y", id="id", name="m", **options))


@pytest.mark.parametrize("place", ["postgres"], indirect=True)  # tests/scoring/test_one_row.py and test_inline.py are of DuckDB
@pytest.mark.parametrize("case", CASES)
def test_one_row_is_a_table_of_one_row_and_a_query_with_the_numbers_needs_no_model(fitted, case):
    place, model = fitted(CASES[case])
    expected = sorted(model.predict_proba("asked").fetchall())
    for row, wanted in zip(sorted(place.run("SELECT * FROM asked")), expected, strict=True):
        answer = model.predict_one(dict(zip(COLUMNS, row, strict=True)))
        found = (
            answer["prediction"],
            answer["probability"],
            *(answer["probabilities"][label] for label in sorted(model.classes)),
        )
        assert all(map(same, found, wanted[len(COLUMNS) :])), (row, found, wanted)
    verbs = ("predict_proba", "joint_log_likelihood", "log_evidence", "explain")
    queries = {verb: model.sql(verb, "asked", inline=True) for verb in verbs}
    expected = {verb: sorted(getattr(model, verb)("asked").fetchall(), key=repr) for verb in verbs}
    model.drop()
    for verb, query in queries.items():
        assert_same_rows(sorted(place.run(query), key=repr), expected[verb])


@pytest.fixture
def elsewhere(fitted, request):
    """Another connection to where a model is fitted, as psycopg forgets what is prepared when a table is dropped."""
    if "postgres" not in request.node.name:
        yield lambda place: place
        return
    import psycopg

    with psycopg.connect(request.getfixturevalue("address"), autocommit=True) as con:
        yield lambda place: Place(place.engine, con)


def test_prepared_in_sql(fitted, elsewhere):
    place, model = fitted({"features": ["sky", "x"]})
    other = elsewhere(place)
    other.run(f"PREPARE today AS {model.predict_one_sql()}")
    answer = model.predict_one({"sky": "it's", "x": 0.5})
    found = other.run("EXECUTE today('it''s', 0.5)")
    assert all(before[3] >= after[3] for before, after in pairwise(found))
    assert {row[1]: row[3] for row in found} == pytest.approx(answer["probabilities"], rel=1e-12)
    joint = model.joint_log_likelihood("SELECT 'it''s' AS sky, 0.5 AS x", columns=[]).fetchall()[0]
    assert sorted(row[2] for row in found) == pytest.approx(sorted(joint), rel=1e-12)
    wide = "nbsql_version" in model.predict_one_sql() or "error(" in model.predict_one_sql()
    model.update("SELECT * FROM t WHERE id < 5")
    if wide:  # the numbers of the model stand in the statement
        with pytest.raises(Exception, match=r"model 'm' has changed; prepare its predict_one_sql\(\) anew"):
            other.run("EXECUTE today('rain', 19.5)")
    expected = nbsql.load(place.con, "m").predict_proba("SELECT 'sun' AS sky, -1 AS x").fetchall()[0][2:]
    answer = model.predict_one({"sky": "sun", "x": -1})  # the change is noticed
    assert (answer["prediction"], answer["probability"]) == (expected[0], pytest.approx(expected[1], rel=1e-12))


def test_what_is_no_row(fitted):
    _, model = fitted({"features": ["x", "member", "sky"]})
    for row, line in {
        "sun": "a row must be a dictionary, {column: value}, not str",
        "[1, True]": "a row must be a dictionary, {column: value}, not list: pass dict(zip([...], row))",
        '{"x": 1}': "no 'member' in the row, a feature of model 'm'; give None if it is not known",
        '{"x": "one", "member": True, "sky": None}': "'x' of the row is the text 'one', and a number in model 'm'; "
        "pass a number, or None if it is not known",
    }.items():
        with pytest.raises(nbsql.InputError) as caught:
            model.predict_one(eval(row) if row[0] in "{[" else row)  # noqa: S307
        assert str(caught.value) == line
    assert model.predict_one({"x": 1, "member": True, "sky": "sun"})["prediction"] in model.classes


@pytest.mark.slow
@pytest.mark.few
def test_values_of_other_types(fitted):
    names = ["sky", "day", "k", "member", "price"]
    _, model = fitted({"features": names, "families": dict.fromkeys(["day", "k", "price"], "categorical"), "unseen": "smooth"})
    usual = {"sky": "sun", "day": date(2026, 1, 2), "k": 1, "member": True, "price": Decimal("1.50")}
    day = "CAST('2026-01-02' AS DATE)"
    as_sql = {"sky": "CAST('sun' AS VARCHAR)", "day": day, "k": "1", "member": "TRUE", "price": "CAST(1.50 AS DECIMAL(8, 2))"}
    nan = "CAST('NaN' AS DOUBLE PRECISION)"
    for name, value, sql in [
        ("k", np.int64(1), "1"),
        ("k", np.float32(1), "1"),
        ("k", 10**30, str(10**30)),
        ("k", math.nan, nan),
        ("k", 40_000_000_000, "40000000000"),
        ("day", "2026-01-02", day),
        ("member", np.bool_(True), "TRUE"),
        ("price", math.nan, nan),
        ("price", 10**30, str(10**30)),
    ]:
        listed = ", ".join(f"{part} AS {column}" for column, part in (as_sql | {name: sql}).items())
        expected = model.predict_proba(f"SELECT {listed}").fetchall()[0][len(names) + 2 :]
        found = model.predict_one(usual | {name: value})["probabilities"]
        assert [found[label] for label in sorted(found)] == pytest.approx(list(expected), rel=1e-9), (name, value)
    day_type = "date" if model.state.engine.exact else "DATE"
    for name, value, line in [
        ("k", [1], "the list [1], and a number in model 'm'; pass a number, or None if it is not known"),
        ("k", "1", "the text '1', and a number in model 'm'; pass 1"),
        ("price", "x", "the text 'x', and a number in model 'm'; pass a number, or None if it is not known"),
        ("day", "x", f"the text 'x', and a {day_type} in model 'm'; pass a {day_type}, or None if it is not known"),
        ("sky", 1, "the int 1, and a text in model 'm'; pass '1'"),
        ("member", "x", "the text 'x', and a number in model 'm'; pass a number, or None if it is not known"),
        ("member", "Yes", "the text 'Yes', and a number in model 'm'; pass True"),
        ("member", 10**400, "beyond the largest double, and a number in model 'm'"),
    ]:
        with pytest.raises(nbsql.InputError) as caught:
            model.predict_one(usual | {name: value})
        assert str(caught.value) == f"{name!r} of the row is {line}"
    if model.state.engine.exact:  # another column
        assert model.predict_one({**usual, "K": 2})["probability"] == pytest.approx(model.predict_one(usual)["probability"])
        return
    with pytest.raises(nbsql.InputError, match=r"^column 'K' is given twice in the row; leave one of them out$"):
        model.predict_one({**usual, "K": 2})


def test_whole_numbers_of_a_joint_category(fitted):
    _, model = fitted({"features": ["sky", "k"], "method": nbsql.JointBayes(backoff="naive")})
    for value in (math.nan, 10**30, 1.0, np.int8(1)):
        assert model.predict_one({"sky": "sun", "k": value})["prediction"] in model.classes
    with pytest.raises(
        nbsql.InputError, match=r"^'k' of the row is the text 'x', and a number in model 'm'; pass a number, or None "
    ):
        model.predict_one({"sky": "sun", "k": "x"})
