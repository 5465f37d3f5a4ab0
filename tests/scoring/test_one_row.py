"""The prediction of one row is that of a table of one row."""

import math
from datetime import date, datetime
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import pytest

import nbsql

ROWS = """SELECT i % 3 AS label, sin(i) * (1 + i % 3) AS x, cos(i) + i % 3 AS y, i % 7 + i % 3 AS visits, exp(sin(i)) AS price,
    (i * i) % 5 < 2 AS member, (i % 2) AS flag, 'v' || ((i * i) % 6) AS place,
    CASE WHEN i % 4 > 0 THEN 'k' || (i % 3 + i % 2) END AS kind,
    i % 4 AS rank, 'word' || (i % 5) || ' common word' || (i % 3) AS note,
    ['t' || (i % 4), 'u' || (i % 3)] AS tags,
    MAP {'m' || (i % 3): i % 4 + 1, 'n': 2} AS bag, i % 3 + 1 AS w1, i % 5 AS w2
FROM range(120) AS t(i)"""

NUMBERS = ["x", "y", "visits", "price", "flag"]


def assert_alike(one, other):
    """The same answer but for rounding: sums are added in any order."""
    assert one["prediction"] == other["prediction"]
    for key in ("probability", "probabilities"):
        assert one[key] == pytest.approx(other[key], rel=1e-12)


MODELS = {
    "inferred": {},
    "numbers": {
        "features": NUMBERS,
        "families": {"visits": "poisson", "price": "lognormal", "flag": "bernoulli", "x": nbsql.Gaussian(shared_variance=True)},
    },
    "rates": {"features": ["visits", "price"], "families": {"visits": "geometric", "price": "exponential"}},
    "binned": {"features": ["x", "y", "place"], "families": {"x": nbsql.Binned(bins=4), "y": nbsql.Kernel()}},
    "missing as a category": {"features": ["kind", "member", "x"], "nulls": "category"},
    "unseen smoothed": {"features": ["place", "kind", "x"], "unseen": "smooth"},
    "text": {"features": ["note", "tags", "bag"], "families": {"note": nbsql.Text()}},
    "presence": {"features": ["note", "x"], "families": {"note": nbsql.Text(event="bernoulli")}},
    "weighed text": {"features": ["note"], "families": {"note": nbsql.Text(tfidf=True, norm="l2")}},
    "complement": {"features": ["note"], "families": {"note": nbsql.Text(event="complement", weight_norm=True)}},
    "count columns": {"features": ["w1", "w2", "x"], "families": {"words": nbsql.Multinomial(["w1", "w2"])}},
    "complement columns": {"features": ["w1", "w2"], "families": {"words": nbsql.Complement(["w1", "w2"])}},
    "joint columns": {"features": ["place", "kind", "x"], "families": {"both": nbsql.Joint(["place", "kind"])}},
    "joint": {"features": ["place", "kind"], "method": nbsql.JointBayes(backoff="naive")},
    "lda": {"features": ["x", "y", "place"], "method": "lda"},
    "qda": {"features": ["x", "y"], "method": "qda"},
    "qda of one number": {"features": ["x", "place"], "method": "qda"},
    "logistic": {"features": ["x", "member", "place"], "method": "logistic"},
    "components": {"features": ["x", "y", "place"], "method": nbsql.Mixture(2)},
    "maximum likelihood": {"features": ["place", "kind"], "alpha": 0},
    "no features": {"features": []},
}

ASKED = [
    {"x": 0.25, "y": 1.5, "visits": 3, "price": 1.25, "flag": 1, "member": True, "place": "v1", "kind": "k2", "rank": 2}
    | {"note": "word1 common Word2 word2", "tags": ["t1", "t1", "u2"], "bag": {"m1": 2, "n": 1}, "w1": 2, "w2": 0},
    {
        "x": -40.0,
        "y": math.inf,
        "visits": 0,
        "price": -1.0,
        "flag": 0.5,
        "member": False,
        "place": "never met",
        "kind": None,
        "rank": 9,
    }
    | {"note": "", "tags": [], "bag": None, "w1": 0, "w2": 3},
    dict.fromkeys(["x", "y", "visits", "price", "flag", "member", "place", "kind", "rank", "note", "tags", "bag", "w1", "w2"]),
]


def table(con, model, row):
    """What `predict_proba` says of a table of the row: prediction, probability and the probabilities by label."""
    con.execute("CREATE OR REPLACE TEMP TABLE one AS SELECT * EXCLUDE label FROM rows LIMIT 0")
    con.execute("ALTER TABLE one ALTER visits TYPE DOUBLE; ALTER TABLE one ALTER flag TYPE DOUBLE")
    values = {
        name: duckdb.Value(value, "MAP(VARCHAR, BIGINT)") if isinstance(value, dict) else value for name, value in row.items()
    }
    bag = values.pop("bag")
    columns = ", ".join(values)
    con.execute(f"INSERT INTO one ({columns}) VALUES ({', '.join('?' * len(values))})", list(values.values()))
    if isinstance(bag, duckdb.Value):
        con.execute("UPDATE one SET bag = MAP {'m1': 2, 'n': 1}")
    return model.predict_proba("one").fetchall()[0][len(row) :]


def same(answer, expected, labels):
    """Whether an answer is that of `predict_proba`, which has NULL where no class explains the row."""
    prediction, *numbers = expected
    found = [answer["probability"], *(answer["probabilities"][label] for label in labels)]
    close = (
        a == b if a is None or b is None else math.isclose(a, b, rel_tol=1e-12) for a, b in zip(found, numbers, strict=True)
    )
    return answer["prediction"] == prediction and all(close)


@pytest.mark.few
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
@pytest.mark.parametrize("kind", MODELS)
def test_one_row_is_a_table_of_one_row(con, kind):
    con.execute(f"CREATE TABLE rows AS {ROWS}")
    model = nbsql.fit(con, "rows", target="label", **MODELS[kind])
    for row in ASKED:
        assert same(model.predict_one(row), table(con, model, row), range(3))


@pytest.mark.filterwarnings("ignore:'label' has 120 classes in 1,200 rows:nbsql.NbsqlWarning")
def test_a_row_of_many_classes(con):
    con.execute(
        "CREATE TABLE rows AS SELECT i % 120 AS label, i % 120 + sin(i) AS x, 'v' || (i % 7) AS place FROM range(1200) AS t(i)"
    )
    model = nbsql.fit(con, "rows", target="label")
    expected = model.predict_proba("SELECT 7.3 AS x, 'v3' AS place").fetchall()[0][2:]
    assert same(model.predict_one({"x": 7.3, "place": "v3"}), expected, range(120))


def test_a_category_of_more_values_than_a_statement_holds(con):
    con.execute("CREATE TABLE codes AS SELECT i % 3 = 0 AS label, 'k' || i % 10_001 AS code FROM range(30_003) AS rows(i)")
    model = nbsql.fit(con, "codes", target="label", families={"code": "categorical"}, name="codes model")
    likely = model.predict_proba({"code": ["k7"]}).fetchall()[0]
    assert list(model.predict_one({"code": "k7"})["probabilities"].values()) == pytest.approx(likely[-2:], rel=1e-12)


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
@pytest.mark.parametrize("features", [["n", "code"], ["code", "tags"]])
def test_labels_and_values_that_are_hard_to_write(con, features):
    labels = """'glad, or so', 'it''s "bad"'"""
    con.execute(f"""CREATE TABLE moods AS SELECT CAST([{labels}][i % 2 + 1] AS ENUM({labels})) AS label, i % 5 + i % 2 AS n,
        ['a\nb', chr(0) || 'c', 'ü'][i % 3 + 1] AS code, [['x', 'y, z'], ['"'], []][i % 3 + 1] AS tags
        FROM range(60) AS rows(i)""")
    nulls = "category" if "n" in features else "skip"  # the query of which holds the labels
    model = nbsql.fit(con, "moods", target="label", features=features, nulls=nulls)
    for values in con.execute(f"SELECT DISTINCT {', '.join(features)} FROM moods").fetchall():
        row = dict(zip(features, values, strict=True))
        found = model.predict_proba({name: [value] for name, value in row.items()}).fetchall()[0]
        answer = model.predict_one(row)
        assert answer["prediction"] == found[-4]
        assert list(answer["probabilities"].values()) == pytest.approx(found[-2:], rel=1e-12)


def test_a_closed_connection_leaves_its_file_to_others(tmp_path):
    path = str(tmp_path / "rows.duckdb")
    with duckdb.connect(path) as con:
        con.execute(f"CREATE TABLE rows AS {ROWS}")
        model = nbsql.fit(con, "rows", target="label", features=["x", "place"], name="m")
        before = model.predict_one({"x": 1.0, "place": "v1"})
    with duckdb.connect(path, read_only=True) as con:  # which DuckDB refuses while another connection has it open
        assert_alike(nbsql.load(con, "m").predict_one({"x": 1.0, "place": "v1"}), before)


def test_ties_go_to_the_larger_prior_and_then_to_the_smaller_label(con):
    con.execute("CREATE TABLE rows AS SELECT unnest(['b', 'a', 'c', 'c']) AS label, unnest(['s', 's', 't', 't']) AS sky")
    assert nbsql.fit(con, "rows", target="label").predict_one({"sky": "s"})["prediction"] == "a"
    assert nbsql.fit(con, "rows", target="label").predict_one({"sky": None})["prediction"] == "c"


@pytest.fixture
def model(con):
    con.execute(
        """CREATE TABLE days AS FROM (VALUES ('sun', 20.0, 'dry'), ('sun', 24.0, 'dry'), ('rain', 12.0, 'wet'),
        ('rain', 10.0, 'wet')) AS t(sky, warm, day)"""
    )
    return nbsql.fit(con, "days", target="day", name="weather")


def test_labels_keep_their_type_and_names_their_case_is_no_matter(model):
    answer = model.predict_one({"SKY": "sun", "Warm": 21, "other": "passed over"})
    assert answer["prediction"] == "dry"
    assert list(answer["probabilities"]) == ["dry", "wet"]
    assert sum(p for p in answer["probabilities"].values() if p is not None) == pytest.approx(1)


def test_a_change_of_the_model_is_noticed(con, model):
    row = {"sky": "sun", "warm": 11}
    before = model.predict_one(row)
    other = nbsql.load(con, "weather")
    other.update("SELECT 'sun' AS sky, 11.0 AS warm, 'fog' AS day FROM range(9)")
    after = model.predict_one(row)
    assert after["prediction"] == "fog"
    assert after == other.predict_one(row)
    other.forget("SELECT 'sun' AS sky, 11.0 AS warm, 'fog' AS day FROM range(9)")
    assert model.predict_one(row)["probabilities"]["dry"] == pytest.approx(before["probabilities"]["dry"], rel=1e-9)


def test_a_model_that_was_replaced_is_noticed(con, model):
    model.predict_one({"sky": "sun", "warm": 11})
    nbsql.fit(con, "SELECT sky, 'c' || range AS day FROM days, range(4)", target="day", name="weather", replace=True)
    assert set(model.predict_one({"sky": "sun", "warm": 11})["probabilities"]) == {"c0", "c1", "c2", "c3"}


def test_it_follows_the_transaction_of_the_caller(con, model):
    row = {"sky": "sun", "warm": 21}
    before = model.predict_one(row)
    con.execute("BEGIN")
    model.update("SELECT 'sun' AS sky, 21.0 AS warm, 'wet' AS day FROM range(9)")
    assert model.predict_one(row)["prediction"] == "wet"
    con.execute("ROLLBACK")
    assert_alike(model.predict_one(row), before)


def test_a_read_only_database_will_do(tmp_path):
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as con:
        nbsql.fit(con, "SELECT unnest([1.0, 2.0, 7.0]) AS x, unnest(['a', 'a', 'b']) AS y", target="y", name="m")
    with duckdb.connect(str(tmp_path / "shop.duckdb"), read_only=True) as con:
        assert nbsql.load(con, "m").predict_one({"x": 1.2})["prediction"] == "a"


@pytest.mark.parametrize("method", ["naive", "lda"])
def test_a_feature_may_have_the_name_of_an_added_column(con, method):
    rows = "SELECT i AS prediction, i * i AS probability_a, i % 3 AS w, if(i % 2 = 0, 'a', 'b') AS y FROM range(9) AS t(i)"
    model = nbsql.fit(con, rows, target="y", method=method)
    wanted = model.predict_proba("SELECT 2 AS prediction, 3 AS probability_a, 4 AS w", columns=[]).fetchall()[0]
    answer = model.predict_one({"prediction": 2, "probability_a": 3, "w": 4})
    assert list(answer["probabilities"].values()) == pytest.approx(wanted[2:], rel=1e-9)
    con.execute(f"PREPARE one AS {model.predict_one_sql()}")
    found = con.execute("EXECUTE one(2, 3, 4)").fetchall()
    if method == "lda":  # as predict_proba, without the columns whose names are taken
        assert [column[0] for column in con.description or ()] == [
            "w",
            "prediction",
            "probability",
            "probability_a",
            "probability_b",
        ]
        assert found[0][1:] == pytest.approx(wanted, rel=1e-9)
    else:
        assert sorted(row[3] for row in found) == pytest.approx(sorted(wanted[2:]), rel=1e-9)


def test_a_column_that_is_missing(model, refused):
    with refused(nbsql.InputError, "no 'warm' in the row, a feature of model 'weather'; the row has 'warmth': rename it"):
        model.predict_one({"sky": "sun", "warmth": 3})


VALUES = {  # of a column, and as SQL has them
    "a": [
        (1, "1"),
        (2.0, "2.0::DOUBLE"),
        (10**30, f"{10**30}::HUGEINT"),
        (math.nan, "'nan'::DOUBLE"),
        ("x", "'x'"),
        ("1", "'1'"),
        (date(2020, 1, 2), "DATE '2020-01-02'"),
        (True, "TRUE"),
        (300, "300"),
        (None, "NULL"),
        (math.inf, "'inf'::DOUBLE"),
    ],
    "b": [(True, "TRUE"), ("true", "'true'"), ("x", "'x'"), (7, "7"), (1, "1"), (math.nan, "NULL")],
    "d": [
        (date(2020, 1, 2), "DATE '2020-01-02'"),
        ("2020-01-02", "DATE '2020-01-02'"),
        (datetime(2020, 1, 2), "TIMESTAMP '2020-01-02'"),
        (datetime(2020, 1, 2, 9), "TIMESTAMP '2020-01-02 09:00:00'"),
        ("x", "'x'"),
        (5, "5"),
        (math.nan, "NULL"),
    ],
    "p": [
        (Decimal("0.50"), "0.50::DECIMAL(5, 2)"),
        (10**6, "10**6"),
        (math.nan, "'nan'::DOUBLE"),
        ("x", "'x'"),
        (9999.5, "9999.5"),
        (0.495, "0.495::DOUBLE"),
        (Decimal("0.495"), "0.495::DECIMAL(4, 3)"),
    ],
    "f": [(0.5, "0.5::FLOAT"), (1e300, "1e300::DOUBLE"), ("x", "'x'"), (math.nan, "'nan'::FLOAT")],
    "s": [("k1", "'k1'"), (1, "1"), (True, "TRUE"), (10**30, f"{10**30}::HUGEINT"), (1.5, "1.5::DOUBLE")],
}


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.forms("wide")
@pytest.mark.parametrize("column", VALUES)
@pytest.mark.parametrize("options", [{}, {"unseen": "smooth"}, {"nulls": "category"}])
@pytest.mark.parametrize("wide", [True, False])
def test_values_of_other_types_are_what_predict_makes_of_them(con, column, options, wide, layout):
    if not wide:
        layout(class_columns=False)
    con.execute(
        """CREATE TABLE rows AS SELECT i % 3 = 0 OR i % 7 = 0 AS label, (i % 3)::TINYINT AS a, i % 3 = 0 AS b,
        DATE '2020-01-01' + (i % 3)::INT AS d, ((i % 3) / 2)::DECIMAL(5, 2) AS p, ((i % 3) / 2)::FLOAT AS f, 'k' || (i % 3) AS s
        FROM range(60) AS t(i)"""
    )
    model = nbsql.fit(con, "rows", target="label", features=[column], families={column: "categorical"}, **options)
    con.execute("BEGIN")  # which an error of the engine's would end
    for value, sql in VALUES[column]:
        try:
            expected = model.predict_proba(f"SELECT {sql} AS {column}").fetchall()[0][3:]
        except nbsql.InputError:
            with pytest.raises(nbsql.InputError, match=f"^'{column}' of the row is the "):
                model.predict_one({column: value})
            continue
        found = tuple(model.predict_one({column: value})["probabilities"].values())
        assert found == pytest.approx(expected, rel=1e-12), value


def test_scalars_of_numpy_are_their_values(con):
    con.execute(f"CREATE TABLE rows AS {ROWS}")
    names = ["x", "visits", "member", "place", "rank", "tags", "bag"]
    model = nbsql.fit(con, "rows", target="label", features=names, families={"rank": "categorical", "visits": "poisson"})
    row = {"x": 0.25, "visits": 3, "member": True, "place": "v1", "rank": 2, "tags": ["t1", "u2"], "bag": {"m1": 2}}
    given = {
        "x": np.float32(0.25), "visits": np.uint8(3), "member": np.bool_(True), "place": np.str_("v1"),
        "rank": np.int64(2), "tags": np.array(["t1", "u2"]), "bag": {"m1": np.int32(2)},
    }  # fmt: skip
    assert_alike(model.predict_one(given), model.predict_one(row))
    missing = dict.fromkeys(names)
    assert_alike(model.predict_one(missing | {"rank": pd.NA, "x": pd.NaT}), model.predict_one(missing))


def test_times_of_numpy_and_texts_of_them(con):
    con.execute(
        "CREATE TABLE rows AS SELECT i % 2 AS y, TIMESTAMP '2020-01-01' + INTERVAL 1 HOUR * (i % 2) AS at FROM range(9) AS t(i)"
    )
    model = nbsql.fit(con, "rows", target="y", families={"at": "categorical"})
    wanted = model.predict_one({"at": datetime(2020, 1, 1, 1)})
    assert wanted["prediction"] == 1
    for value in (np.datetime64("2020-01-01T01", "ns"), np.datetime64("2020-01-01T01"), pd.Timestamp("2020-01-01 01:00")):
        assert_alike(model.predict_one({"at": value}), wanted)
    assert_alike(model.predict_one({"at": "2020-01-01T01:00:00"}), wanted)


@pytest.mark.slow
def test_values_of_no_kind_that_is_taken(con, refused):
    con.execute(f"CREATE TABLE rows AS {ROWS}")
    names = ["x", "visits", "rank", "place", "kind", "tags", "bag", "note"]
    families = {"visits": "poisson", "rank": "categorical", "both": nbsql.Joint(["place", "flag"]), "note": nbsql.Text()}
    model = nbsql.fit(con, "rows", target="label", features=[*names, "flag"], families=families, name="m")
    row = dict.fromkeys([*names, "flag"])
    number, tokens = (f"pass {each}, or None if it is not known" for each in ("a number", "a list of texts"))
    counts = "a dictionary of tokens and their counts"
    for name, value, line in [
        ("visits", True, "the boolean True, and a number in model 'm'; pass 1"),
        ("visits", "3", "the text '3', and a number in model 'm'; pass 3"),
        ("x", "-1.5", "the text '-1.5', and a number in model 'm'; pass -1.5"),
        ("x", "1,5", f"the text '1,5', and a number in model 'm'; {number}"),
        ("x", "nan", f"the text 'nan', and a number in model 'm'; {number}"),
        ("x", [1], f"the list [1], and a number in model 'm'; {number}"),
        ("rank", [1], f"the list [1], and a number in model 'm'; {number}"),
        ("rank", ..., f"the ellipsis Ellipsis, and a number in model 'm'; {number}"),
        ("place", b"x", "the bytes b'x', and a text in model 'm'; pass a text, or None if it is not known"),
        ("flag", "x", f"the text 'x', and a number in model 'm'; {number}"),
        ("flag", "1", "the text '1', and a number in model 'm'; pass 1"),
        ("tags", "t1", f"the text 't1', and a list of texts in model 'm'; {tokens}"),
        ("tags", [1] * 40, f"the list [{'1, ' * 25}1..., and a list of texts in model 'm'; {tokens}"),
        ("bag", ["m1"], f"the list ['m1'], and {counts} in model 'm'; pass {counts}, or None if it is not known"),
        ("note", 3, "the int 3, and a text in model 'm'; pass '3'"),
        ("x", 10**400, "beyond the largest double, and a number in model 'm'"),
        ("place", 10**5000, "beyond the largest double, and a text in model 'm'"),
        ("note", 10**5000, "beyond the largest double, and a text in model 'm'"),
    ]:
        with refused(nbsql.InputError, f"{name!r} of the row is {line}"):
            model.predict_one({**row, name: value})


def test_a_column_that_is_given_twice(model, refused):
    for row in ({"sky": "sun", "warm": 1, "WARM": 2}, {"Sky": "sun", "Warm": 1, "WARM": 2}):
        with refused(nbsql.InputError, "column 'WARM' is given twice in the row; leave one of them out"):
            model.predict_one(row)
    assert model.predict_one({"sky": "sun", "warm": 21, "other": 1, "OTHER": 2, 3: 4})["prediction"] == "dry"


@pytest.mark.parametrize("value", [2**53 + 1, 2**64 + 1, Decimal("1.00000000000000000001")])
def test_numbers_with_more_digits_than_a_double(con, value):
    con.execute(f"CREATE TABLE rows AS {ROWS}")
    for name in ("numbers", "rates", "count columns", "qda"):
        model = nbsql.fit(con, "rows", target="label", **MODELS[name])
        first, *others = MODELS[name]["features"]
        exact, rounded = (model.predict_one({**dict.fromkeys(others), first: each}) for each in (value, float(value)))
        assert_alike(exact, rounded)
