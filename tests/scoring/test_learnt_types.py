"""A feature keeps the type that it was learnt with: equal values of other types meet, and other kinds of values are refused."""

import warnings
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from support.nearly import nearly

import nbsql

# Of each kind, types and the SQL of three values that all of them have.
KINDS = {
    "text": ("VARCHAR", "JSON", "ENUM('0', '1', '2')"),
    "number": ("DECIMAL(4, 2)", "DOUBLE", "FLOAT", "TINYINT", "UBIGINT", "UHUGEINT", "DECIMAL(20, 10)"),
    "boolean": ("BOOLEAN",),
    "date": ("DATE", "TIMESTAMP", "TIMESTAMP_MS", "TIMESTAMP_NS"),
    "time": ("TIME",),
    "zone": ("TIMESTAMP WITH TIME ZONE",),
    "span": ("INTERVAL",),
}
VALUES = {
    "text": "(i % 3)::VARCHAR",
    "number": "i % 3",
    "boolean": "i % 2 = 0",
    "date": "DATE '1600-02-28' + (i % 3)::INT",
    "time": "TIME '10:00:00' + to_hours(i % 3)",
    "zone": "TIMESTAMPTZ '2024-01-01 00:00:00+00' + to_days((i % 3)::INT)",
    "span": "to_days((i % 3)::INT)",
}
TYPES = {kind: of for of, kinds in KINDS.items() for kind in kinds}

VERBS = {
    "predict": lambda model, con, rows: sorted(row[-1] for row in model.predict_proba(rows)),
    "macro": lambda model, con, rows: sorted(row[-1] for row in con.execute(f"FROM m.predict_proba('{rows}')").fetchall()),
    "explain": lambda model, con, rows: sorted(row[4] for row in model.explain(rows) if row[2]),
    "evaluate": lambda model, con, rows: round(model.evaluate(rows).log_loss, 12),
    "forget": lambda model, con, rows: _counts(model.forget, model, rows),
    "update": lambda model, con, rows: _counts(model.update, model, rows),
}


def _counts(change, model, rows):
    change(rows)
    return sorted(row[1:5] for row in model.counts if row[2] == "g" and row[4])


def _rows(con, name, kind):
    of = TYPES[kind]
    later = "DATE '2024-02-28'" if kind == "TIMESTAMP_NS" else "DATE '1600-02-28'"
    con.execute(f"""CREATE OR REPLACE TABLE {name} AS SELECT ({VALUES[of].replace("DATE '1600-02-28'", later)})::{kind} AS g,
        ['u', 'v', 'w'][1 + i % 3] AS y FROM range(30) AS r(i)""")
    return name


@pytest.mark.slow
@pytest.mark.forms("learnt")
@pytest.mark.parametrize("learnt", [*TYPES])
def test_equal_values_meet_and_other_kinds_are_refused(con, learnt):
    own = _rows(con, "own", learnt)
    model = nbsql.fit(con, own, target="y", families={"g": "categorical"}, name="m")
    model.update(own)
    refused = (nbsql.InputError, duckdb.InvalidInputException)

    def asked(verb, rows):
        con.execute("BEGIN")
        try:
            return VERBS[verb](model, con, rows)
        finally:
            con.execute("ROLLBACK")

    expected = {verb: asked(verb, own) for verb in VERBS}
    for offered, of in TYPES.items():
        if "TIMESTAMP_NS" in (learnt, offered) and learnt != offered and of == "date":
            continue  # whose range does not have these days
        other = _rows(con, "other", offered)
        for verb in VERBS:
            if of == TYPES[learnt]:
                assert asked(verb, other) == expected[verb], (offered, verb)
                continue
            with pytest.raises(refused, match=r"column '?g'? .*is .* has learnt .* there; "):
                asked(verb, other)


@pytest.mark.few
@pytest.mark.parametrize(
    ("learnt", "unseen"),
    [
        ("0.76::DECIMAL(4, 2)", ["0.755", "0.755::DOUBLE", "0.7600000000000000001::DECIMAL(30, 19)", "0.7601::FLOAT"]),
        ("1", ["1.5", "1.0000000000000000000001::DECIMAL(38, 22)", "0.9999::DOUBLE", "0.75::UHUGEINT + 0.5"]),
        ("0.1::DOUBLE", ["0.1000000000000000000001::DECIMAL(38, 22)", "0.10000001::FLOAT"]),
        ("9007199254740992::DOUBLE", ["9007199254740993"]),
        ("1::UHUGEINT", ["1.25::DOUBLE", "0.75::DECIMAL(4, 2)"]),
        ("DATE '2024-01-01'", ["TIMESTAMP '2024-01-01 00:00:01'", "TIMESTAMP_NS '2024-01-01 00:00:00.000000001'"]),
        ("TIMESTAMP '2024-01-01 12:00:00'", ["DATE '2024-01-01'", "TIMESTAMP_NS '2024-01-01 12:00:00.000000001'"]),
    ],
)
def test_no_value_is_rounded_to_another(con, learnt, unseen):
    con.execute(f"CREATE TABLE rows AS SELECT {learnt} AS g, 'u' AS y UNION ALL SELECT NULL, 'v' FROM range(3)")
    another = "2000-01-01" if "DATE" in learnt or "TIME" in learnt else 7
    with pytest.warns(nbsql.NbsqlWarning, match="one value only in 'g'"):
        model = nbsql.fit(con, "rows", target="y", families={"g": nbsql.Categorical(levels=[another])}, name="m")
    prior = model.predict_proba("SELECT NULL AS g").fetchall()[0][-1]
    assert model.predict_proba(f"SELECT {learnt} AS g").fetchall()[0][-1] < prior - 0.01
    for value in unseen:
        con.execute(f"CREATE OR REPLACE TABLE asked AS SELECT {value} AS g")
        for rows in (model.predict_proba("asked").fetchall(), con.execute("FROM m.predict_proba('asked')").fetchall()):
            assert rows[0][-1] == pytest.approx(prior), value


@pytest.mark.few
@pytest.mark.parametrize("learnt", ["DECIMAL(2, 2)", "DECIMAL(18, 18)", "DOUBLE", "DECIMAL(4, 2)", "FLOAT"])
def test_decimals_without_a_digit_before_the_point_meet_others(con, learnt):
    con.execute(f"CREATE TABLE rows AS SELECT ((i % 3 - 1) * 0.1)::{learnt} AS g, i % 3 AS y FROM range(30) AS r(i)")
    model = nbsql.fit(con, "rows", target="y", families={"g": "categorical"}, name="m")
    for offered in ("DECIMAL(2, 2)", "DECIMAL(18, 18)", "DOUBLE", "DECIMAL(20, 10)", "FLOAT"):
        con.execute(f"CREATE OR REPLACE TABLE asked AS SELECT g::DECIMAL(2, 2)::{offered} AS g, y FROM rows")
        assert model.evaluate("asked").accuracy == 1, offered
        assert con.execute("SELECT bool_and(prediction = y) FROM m.predict('asked')").fetchall() == [(True,)], offered
    assert [model.predict_one({"g": value})["prediction"] for value in (-0.1, 0, Decimal("0.100"))] == [0, 1, 2]


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
@pytest.mark.parametrize("learnt", ["TIMESTAMP_NS", "TIMESTAMP"])
def test_nanoseconds_of_rows_in_python_are_not_lost(con, learnt):
    start, digits = 1_700_000_000_000_000_000, range(4)
    con.execute(
        f"CREATE TABLE rows AS SELECT make_timestamp_ns({start} + i % 4)::{learnt} AS g, i % 4 AS y FROM range(40) AS r(i)"
    )
    model = nbsql.fit(con, "rows", target="y", families={"g": nbsql.Categorical(levels=[datetime(2000, 1, 1)])}, name="m")
    asked = [model.predict_proba(f"SELECT make_timestamp_ns({start + i}) AS g") for i in digits]
    expected = [query.fetchall()[0][1:] for query in asked]
    arrays = np.array([start + i for i in digits], dtype="datetime64[ns]")
    stamps = pd.Series(arrays)
    for times in (arrays, [*arrays], stamps, [*stamps], pl.Series(arrays)):
        assert [row[1:] for row in model.predict_proba({"g": times}).fetchall()] == expected
    assert [row[1:] for row in model.predict_proba([{"g": time} for time in arrays]).fetchall()] == expected
    for times in (arrays, stamps):
        assert [model.predict_one({"g": time})["prediction"] for time in times] == [row[0] for row in expected]


LONG = [Decimal("12345678901234.567"), Decimal("12345678901234.568"), Decimal("12345678901234.569")]
WHOLE = [2**64 + 1, 2**64 + 3, 2**64 + 5]  # which 64 bits do not hold


@pytest.mark.slow
@pytest.mark.few
@pytest.mark.parametrize("values", [LONG, WHOLE])
def test_numbers_of_more_digits_than_a_double_holds_stay_apart(con, values):
    rows = [{"g": value, "y": number} for number, value in enumerate(values)] * 400 + [{"g": None, "y": 0}]
    forms = [rows, {name: [row[name] for row in rows] for name in ("g", "y")}, pd.DataFrame(rows)]
    for form in forms:
        model = nbsql.fit(con, form, target="y", families={"g": "categorical"})
        assert {row[3] for row in model.counts if row[2]} == {str(value) for value in values}
        for asked in forms:
            assert all(prediction == y for g, y, prediction, _ in model.predict(asked) if g is not None)
        for number, value in enumerate(values):
            assert model.predict_one({"g": value})["prediction"] == number
            assert [row[-2] for row in model.predict([{"g": value}])] == [number]


@pytest.fixture
def words(con, tmp_path):
    """Files whose columns a reader takes for others: without the unknown ones, codes, times and dates."""
    con.execute("""CREATE TABLE words AS SELECT ['yes', 'no', 'unknown'][1 + i % 3] AS answer,
        ['t', 'f', 'x'][1 + i % 3] AS flag, ['12E5', '1.50', 'A7'][1 + i % 3] AS code, ['007', '08', '9b'][1 + i % 3] AS zip,
        ['10:00:00', '11:30:00', '?'][1 + i % 3] AS hour, ['2024-01-22', '22/01/2024', '?'][1 + i % 3] AS day,
        ['on', 'off', 'on', 'off', 'on'][1 + i % 5] AS y FROM range(60) AS r(i)""")
    for answer in ("yes", "no"):
        con.execute(f"COPY (FROM words WHERE answer = '{answer}') TO '{tmp_path}/{answer}.csv'")
        con.execute(f"COPY (FROM words WHERE answer = '{answer}') TO '{tmp_path}/{answer}.tsv.gz' (FORMAT csv, DELIMITER '\t')")
        con.execute(f"COPY (FROM words WHERE answer = '{answer}') TO '{tmp_path}/{answer}.json'")
    con.execute(f"COPY (FROM words WHERE answer <> 'unknown') TO '{tmp_path}/both.csv'")
    return tmp_path


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("file", ["yes.csv", "no.tsv.gz", "yes.json", "both.csv", "[yn]*.csv", "*.json"])
def test_a_file_is_read_in_the_types_of_the_model(con, words, file):
    wanted = file.split(".")[0] if file[0] in "yn" else "%s"
    same = f"SELECT * FROM words WHERE answer LIKE '{wanted.replace('%s', '%')}' AND answer <> 'unknown'"
    path = str(words / file)
    options = {"target": "y", "slice_by": "flag"}
    model = nbsql.fit(con, "words", **options)
    for verb in (model.predict_proba, model.joint_log_likelihood, model.explain):
        asked = [sorted(map(repr, (row[-3:] for row in verb(rows)))) for rows in (path, same)]
        assert asked[0] == asked[1]
    found, expected = (sorted(map(repr, (row[:5] for row in _learnt(con, options, rows)))) for rows in (path, same))
    assert found == expected
    assert model.evaluate(path).to_dict() == nearly(model.evaluate(same).to_dict())


def _learnt(con, options, rows):
    model = nbsql.fit(con, "words", **options)
    model.update(rows)
    return model.counts.fetchall()


def test_labels_of_a_file_are_read_in_the_type_of_the_classes(con, words):
    model = nbsql.fit(con, "words", target="answer", features=["y"])
    path = str(words / "both.csv")
    assert str(con.sql(f"FROM '{path}'").types[0]) in ("BOOLEAN", "VARCHAR")  # as each version guesses
    same = "SELECT * FROM words WHERE answer <> 'unknown'"
    assert model.evaluate(path).to_dict() == nearly(model.evaluate(same).to_dict())
    model.update(path)
    assert set(model.classes) == {"yes", "no", "unknown"}


def test_a_frame_without_a_word_is_refused_with_the_cure(con):
    learnt = pd.DataFrame({"code": ["1", "2", "x"] * 4, "y": ["a", "b", "b"] * 4})
    model = nbsql.fit(con, learnt, target="y")
    with pytest.raises(nbsql.InputError) as refusal:
        model.update(pd.DataFrame({"code": [2.0, None], "y": ["a", "b"]}))
    assert str(refusal.value) == (
        "column 'code' of the DataFrame is DOUBLE, and the model has learnt text there; "
        "read it as text, or cast it to whole numbers and then to text"
    )
    assert {row[3] for row in model.counts} == {"1", "2", "x", None}
    nothing = pd.DataFrame({"code": [None, None], "y": ["a", "b"]}, dtype=object)
    for empty in (nothing, nothing.astype({"code": float})):  # no value is a missing one, whatever the type
        assert [row[-1] for row in model.predict(empty)] == pytest.approx([2 / 3, 2 / 3])
    with pytest.raises(nbsql.InputError, match=r"^'code' of the row is the int 2, and a text in the model; pass '2'$"):
        model.predict_one({"code": 2})


def test_a_number_is_no_boolean_in_sql_either(con):
    con.execute("CREATE TABLE rows AS SELECT i::DOUBLE AS x, i % 2 = 0 AS b, i % 2 AS y FROM range(10) AS r(i)")
    nbsql.fit(con, "rows", target="y", name="m")
    con.execute("CREATE TABLE other AS SELECT b AS x, b::INT AS b FROM rows")
    with pytest.raises(duckdb.InvalidInputException, match="column x is BOOLEAN, and the model has learnt a number there; "):
        con.execute("FROM m.predict('other')")
    con.execute("CREATE TABLE labels AS SELECT x, b, y::VARCHAR AS y FROM rows")
    with pytest.raises(duckdb.InvalidInputException, match="column y is VARCHAR, and the model has learnt BIGINT there; "):
        con.execute("FROM m.evaluate('labels')")


def test_given_values_meet_rows_of_every_type(con):
    likelihoods = {"a": {"g": {0.5: 0.9, 1.0: 0.1}}, "b": {"g": {0.5: 0.2, 1.0: 0.8}}}
    by_dict = nbsql.from_tables(con, priors={"a": 0.5, "b": 0.5}, likelihoods=likelihoods, target="y")
    con.execute("CREATE TABLE given (class VARCHAR, feature VARCHAR, value DECIMAL(6, 3), likelihood DOUBLE)")
    con.executemany(
        "INSERT INTO given VALUES (?, 'g', ?, ?)",
        [(c, v, p) for c, values in likelihoods.items() for v, p in values["g"].items()],
    )
    by_table = nbsql.from_tables(con, priors={"a": 0.5, "b": 0.5}, likelihoods="given", target="y")
    for model in (by_dict, by_table):
        for half in ("0.5", "0.50::DECIMAL(4, 2)", "0.5::DOUBLE", "0.5::FLOAT", "'0.5'"):
            assert model.predict(f"SELECT {half} AS g").fetchall()[0][1:] == ("a", pytest.approx(9 / 11)), half
        for one in ("1", "1.00", "1::DOUBLE"):
            assert model.predict(f"SELECT {one} AS g").fetchall()[0][1:] == ("b", pytest.approx(8 / 9)), one
        assert model.predict_one({"g": 0.5})["prediction"] == "a"


HALF = [0.5, "0.5", Decimal("0.500"), np.float32(0.5)]
DAY = [date(2024, 1, 1), datetime(2024, 1, 1), "2024-01-01", "2024-01-01 00:00:00", np.datetime64("2024-01-01")]


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize(
    ("own", "alike", "foreign"),
    [
        ("0.50::DECIMAL(4, 2)", HALF, [0.505, "x", True]),
        ("0.5::DOUBLE", HALF, ["x"]),
        ("1::TINYINT", [1, 1.0, "1.0", Decimal("1.00"), np.int64(1)], [1.5, 300, True, "x"]),
        ("DATE '2024-01-01'", DAY, [datetime(2024, 1, 1, 5), "x", 5]),
        ("TIMESTAMP '2024-01-01'", DAY, ["x", 5]),
        ("TIMESTAMPTZ '2024-01-01 00:00:00+00'", ["2024-01-01 00:00:00+00:00", "2024-01-01 01:00:00+01"], ["2024-01-01"]),
        ("TRUE", [True, "true", "True", np.True_], [1, "yes"]),
        ("'1'", ["1", 1, 1.0], []),
    ],
)
def test_declared_values_meet_those_of_their_column(con, own, alike, foreign):
    con.execute(f"CREATE TABLE rows AS SELECT {own} AS v, ['u', 'w'][1 + i % 2] AS y, 1 AS x FROM range(4) AS r(i)")

    def fits(value):
        yield lambda: nbsql.fit(con, "rows", target="y", features=["v"], families={"v": nbsql.Categorical(levels=[value])})
        yield lambda: nbsql.fit(con, "rows", target="y", features=["v"], families={"v": nbsql.Categorical(alpha={value: 2})})
        yield lambda: nbsql.fit(con, "rows", target=nbsql.Target("v", classes=[value]), features=["x"])
        yield lambda: nbsql.fit(con, "rows", target="v", prior={value: 1.0}, features=["x"])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nbsql.NbsqlWarning)
        for value in alike:
            for fit in fits(value):
                model = fit()
                assert len({row[2] for row in model.likelihoods if row[1] == "v"}) <= 1, value
                assert len(model.classes) == (2 if model.target == "y" else 1), value
        for value in foreign:
            for fit in fits(value):
                with pytest.raises(nbsql.InputError, match=r" must (be|name) (values|labels) of 'v', which is [A-Z0-9(), ]+: "):
                    fit()


@pytest.mark.slow
def test_labels_of_a_category_dtype_are_texts(con):
    def frame(*labels):
        return pd.DataFrame({"x": [str(i % 3) for i in range(len(labels))], "y": pd.Series(labels).astype("category")})

    model = nbsql.fit(con, frame(*"abab" * 3), target="y", name="m")
    model.update(frame("c", "d", "c"))
    assert model.classes == ["a", "b", "c", "d"]
    assert model.evaluate(frame("a", "c", "z")).rows == 3
    nbsql.fit(con, frame(*"efef" * 3), target="y", name="n")
    assert set(nbsql.merge(con, ["m", "n"], name="both").classes) == {*"abcdef"}
    assert nbsql.cross_validate(con, frame(*"abab" * 5), target="y").rows == 20


@pytest.mark.few
@pytest.mark.parametrize(
    ("kind", "later"), [("TINYINT", 300), ("SMALLINT", -70_000), ("INTEGER", 3_000_000_000), ("BIGINT", 2**63)]
)
def test_a_label_beyond_the_type_of_the_classes_is_refused_and_merged(con, kind, later):
    con.execute(f"CREATE TABLE first AS SELECT (i % 3)::VARCHAR AS x, (i % 2)::{kind} AS y FROM range(30) AS r(i)")
    con.execute(f"CREATE TABLE later AS SELECT x, CASE WHEN y = 0 THEN {later} ELSE y END AS y FROM first")
    con.execute("CREATE TABLE alike AS SELECT x, y::HUGEINT AS y FROM first")
    model = nbsql.fit(con, "first", target="y", name="first_model")
    model.update("alike")
    for source in ("later", con.table("later").pl()) if later < 2**63 else ("later",):  # which a frame has as a decimal
        with pytest.raises(nbsql.InputError) as refusal:
            model.update(source)
        assert f"has the class {later}, which {kind}, the type of the classes of model 'first_model', cannot hold; " in str(
            refusal.value
        )
    with pytest.raises(nbsql.InputError, match=f"of class '{later}', of which model 'first_model' has learnt 0"):
        model.forget("later")
    assert (model.evaluate("later").rows, model.evaluate("later").unknown) == (30, 15)
    nbsql.fit(con, "later", target="y", name="later_model")
    both = nbsql.merge(con, ["first_model", "later_model"], name="both")
    assert sorted(both.classes) == sorted([0, 1, later])
    both.update("later")
    assert {row[0]: row[1] for row in both.priors} == {0: 30, 1: 60, later: 30}


def test_a_category_beyond_the_type_of_its_column_is_another_value(con):
    con.execute("CREATE TABLE first AS SELECT (i % 2)::TINYINT AS g, ['u', 'v'][1 + i % 2] AS y FROM range(30) AS r(i)")
    model = nbsql.fit(con, "first", target="y", families={"g": "categorical"}, name="m")
    later = "SELECT 300 AS g, 'u' AS y FROM range(10)"
    assert model.predict_proba(later).fetchall()[0][-1] == pytest.approx(0.5)
    assert model.predict_one({"g": 300})["probability"] == pytest.approx(0.5)
    model.update(later)
    assert {row[3] for row in model.counts if row[2] == "g"} == {"0", "1", "300"}
    assert model.predict_one({"g": 300})["prediction"] == "u"


FIRST_VALUES = {"numbers": "i % 4 + 0.5", "words": "['on', 'off'][1 + i % 2]", "booleans": "i % 2 = 0"}


@pytest.mark.parametrize("form", ["a table", "a file", "a frame"])
@pytest.mark.parametrize("values", FIRST_VALUES)
def test_the_first_values_of_a_column_are_of_the_kind_that_the_fit_took_it_for_or_refused(con, tmp_path, form, values):
    def rows(expression, name):
        query = f"SELECT 'k' || i % 3 AS x, {expression} AS e, ['u', 'v'][1 + i % 2] AS y FROM range(30) AS r(i)"
        if form == "a file":
            con.execute(f"COPY ({query}) TO '{tmp_path}/{name}.csv'")
            return f"{tmp_path}/{name}.csv"
        con.execute(f"CREATE TABLE {name} AS {query}")
        return name if form == "a table" else con.table(name).df()

    with pytest.warns(nbsql.NbsqlWarning, match="nothing but NULL in 'e'"):
        model = nbsql.fit(con, rows("NULL", "nothing"), target="y")
    family = model.families["e"].name
    later = rows(FIRST_VALUES[values], "later")
    if values == {"gaussian": "numbers", "categorical": "words"}[family]:
        model.update(later)
        model.update(later)
        assert sum(row[4] for row in model.counts if row[2] == "e") == 60
        return
    with pytest.raises(nbsql.InputError) as refusal:
        model.update(later)
    assert " it had no value when the model was fitted, which took it for " in str(refusal.value)
    assert str(refusal.value).endswith(f"{family}; fit anew, with rows that have a value there")


TIMES = {
    "DATE": {date(2024, 1, 1), datetime(2024, 1, 1, 10)},
    "TIMESTAMP": {date(2024, 1, 1), datetime(2024, 1, 1, 10)},
    "TIMESTAMPTZ": {datetime(2024, 1, 1, 10, tzinfo=timezone.utc)},
    "TIME": {time(10)},
    "INTERVAL": {timedelta(days=1)},
}


@pytest.mark.filterwarnings("ignore:one value only")
@pytest.mark.parametrize("learnt", TIMES)
def test_a_row_takes_dates_times_and_durations_where_they_were_learnt(con, learnt):
    value = {"TIME": "TIME '10:00'", "INTERVAL": "INTERVAL 1 DAY"}.get(learnt, f"{learnt} '2024-01-01 10:00:00'")
    rows = f"SELECT {value} AS c, i % 2 = 0 AS y FROM range(8) AS t(i)"
    model = nbsql.fit(con, rows, target="y", families={"c": "categorical"})
    others = (*set[Any]().union(*TIMES.values()), time(10, tzinfo=timezone.utc), True, 3)
    for other in others:
        if other in TIMES[learnt]:
            assert model.predict_one({"c": other})["probability"] == 0.5
        else:
            with pytest.raises(nbsql.InputError):
                model.predict_one({"c": other})
