"""Judging a model: from any source, under any name, and what is refused."""

import datetime

import duckdb
import pytest
from support.nearly import nearly

import nbsql

SKY = "(VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"


@pytest.fixture
def sky(con):
    con.execute(f"CREATE TABLE sky AS FROM {SKY}")
    return nbsql.fit(con, "sky", target="play", name="weather")


# Sources, and what is left behind. ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_any_source_gives_the_same_and_nothing_is_left_behind(con, sky, state):
    con.execute("CREATE VIEW seen AS FROM sky")
    before = state()
    expected = sky.evaluate("sky").to_dict()
    frame = con.sql("FROM sky").df()
    sources = [
        "seen",
        "SELECT * FROM sky;",
        con.sql("FROM sky"),
        frame,
        con.sql("FROM sky").pl(),
        con.sql("FROM sky").to_arrow_table(),
    ]
    for source in sources:
        assert sky.evaluate(source).to_dict() == nearly(expected)
    assert state() == before
    evaluation = sky.evaluate(frame)
    assert evaluation.roc.df().shape == (6, 4)
    del evaluation
    assert state() == before


@pytest.mark.slow
def test_tables_of_any_name_are_read(con, sky):
    names = ["outcomes", "known", "judged", "cumulated", "classes", "confusion", "metrics", "source", 'a "b".c; --', "Größe"]
    for name in names:
        quoted = '"' + name.replace('"', '""') + '"'
        con.execute(f"CREATE TABLE {quoted} AS FROM sky")
        assert sky.evaluate(name).accuracy == 0.75
        assert sky.evaluate(f"SELECT * FROM {quoted} AS t").accuracy == 0.75


def test_columns_and_labels_of_any_name(con, form):
    nasty = ["it's", 'say "no"', "a;b--", "prediction", "Ünïcode\nline"]
    con.execute(
        """CREATE TABLE t AS SELECT $1[i % 5 + 1] AS "prediction", i % 5 AS "class", i % 7 AS "it's; a ""weight""\",
            CAST(i % 3 AS VARCHAR) AS probability FROM range(60) AS t(i)""",
        [nasty],
    )
    model = nbsql.fit(
        con, "SELECT * FROM t", target="prediction", exclude=['it\'s; a "weight"'], families={"class": "categorical"}
    )
    found = model.evaluate("t", weight='It\'s; a "WEIGHT"')
    assert found.accuracy == 1
    assert sorted(item.label for item in found.classes) == sorted(nasty)
    assert sorted({row[0] for row in found.thresholds}) == sorted(nasty)
    printed = str(found).splitlines()
    assert [line.startswith(r"Ünïcode\nline ") for line in printed].count(True) == 1
    assert len([line for line in printed if line.startswith(("it's ", 'say "no" ', "a;b-- ", "prediction "))]) == 4


@pytest.mark.slow
def test_enum_and_text_agree_and_dates_and_timestamps_and_numbers(con):
    pairs = [
        ("CAST(l AS ENUM ('z', 'a'))", "CAST(l AS ENUM ('q', 'a', 'z'))", ["a", "z"]),
        ("l", "CAST(l AS ENUM ('q', 'a', 'z'))", ["a", "z"]),
        ("CASE l WHEN 'a' THEN DATE '2024-01-01' ELSE DATE '2024-01-02' END",
         "CASE l WHEN 'a' THEN TIMESTAMP '2024-01-01' ELSE TIMESTAMP '2024-01-02' END",
         [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)]),  # as they were learnt
        ("CASE l WHEN 'a' THEN 1 ELSE 2 END", "CASE l WHEN 'a' THEN 1.0 ELSE 2e0 END", [1, 2]),
    ]  # fmt: skip
    for fitted, judged, labels in pairs:
        base = "FROM (VALUES ('a', 1), ('z', 2), ('z', 2)) AS t(l, x)"
        model = nbsql.fit(con, f"SELECT {fitted} AS y, x {base}", target="y", families={"x": "categorical"})
        found = model.evaluate(f"SELECT {judged} AS Y, x {base}")
        assert (found.accuracy, found.unknown) == (1, 0)
        assert [item.label for item in found.classes] == labels


@pytest.mark.slow
def test_read_only_transient_and_inside_a_transaction(tmp_path):
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as con:
        con.execute(f"CREATE TABLE sky AS FROM {SKY}")
        nbsql.fit(con, "sky", target="play", name="weather")
        con.begin()
        con.execute("INSERT INTO sky VALUES ('sun', 'no')")
        assert nbsql.load(con, "weather").evaluate("sky").rows == 5
        con.rollback()
        assert nbsql.load(con, "weather").evaluate("sky").rows == 4
    with duckdb.connect(str(tmp_path / "shop.duckdb"), read_only=True) as con:
        assert nbsql.load(con, "weather").evaluate("sky").accuracy == 0.75
        transient = nbsql.fit(con, "sky", target="play")
        assert transient.evaluate("sky").lift.fetchall()


def test_the_sql_runs_by_itself(con, sky):
    found = {(label, metric): value for label, metric, value in con.execute(sky.evaluate_sql("sky")).fetchall()}
    assert (found[None, "accuracy"], found["yes", "recall"]) == (0.75, 0.5)
    assert con.execute(sky.evaluate_sql("sky", table="confusion")).fetchall() == sky.evaluate("sky").confusion.fetchall()


def test_it_prints_as_a_table(sky):
    found = sky.evaluate("FROM sky UNION ALL SELECT 'sun', NULL")
    assert str(found).splitlines() == [
        "4 rows evaluated",
        "1 row without a class, not evaluated",
        "probabilities not calibrated",
        "the model has learnt these rows, so that the numbers are too good; evaluate them by folds, with folds=5",
        "",
        "of all rows                 value",
        "─────────────────────────────────",
        "accuracy                   0.7500",
        "accuracy of the majority   0.5000",
        "balanced accuracy          0.7500",
        "log loss                   0.5859",
        "Brier score                0.1978",
        "calibration error          0.1333",
        "ROC AUC                    0.7500",
        "average precision          0.7500",
        "",
        "class           precision   recall       f1   ROC AUC   average precision   support",
        "───────────────────────────────────────────────────────────────────────────────────",
        "no                 0.6667   1.0000   0.8000    0.7500              0.6667         2",
        "yes                1.0000   0.5000   0.6667    0.7500              0.7500         2",
        "macro mean         0.8333   0.7500   0.7333    0.7500              0.7083         4",
        "weighted mean      0.8333   0.7500   0.7333    0.7500              0.7083         4",
    ]


# Errors. -----------------------------------------------------------------------------------------------------------------


NULL_TARGET = "the target 'play' is NULL in every row of the query; an evaluation needs rows whose class is known"
WEIGHTS = "negative, NULL or not finite; weights must be at least 0"


@pytest.mark.slow
def test_errors_are_one_line_and_change_nothing(sky, refused):
    for source, options, message in [
        ("SELECT 'sun' AS sky", {}, "no column 'play' in the query, the target of the model; its columns are 'sky'"),
        ("SELECT 'sun' AS sky, 'x' AS pla", {}, "no column 'play' in the query, the target of the model; did you mean 'pla'?"),
        (
            "SELECT 'no' AS play",
            {},
            "no column 'sky' in the query, a feature of model 'weather'; its columns are 'play'; if it is not known there, "
            "add it: SELECT *, NULL AS sky FROM ...",
        ),
        ("FROM sky LIMIT 0", {}, "the query has no rows; there is nothing to evaluate"),
        ("SELECT 'sun' AS sky, NULL AS play", {}, NULL_TARGET),
        ("SELECT 'sun' AS sky, CAST(NULL AS VARCHAR) AS play", {}, NULL_TARGET),
        (
            "SELECT 'sun' AS sky, 1 AS play",
            {},
            "column 'play' of the query is INTEGER, and the classes of the model are VARCHAR; cast it",
        ),
        ("sky", {"weight": "w"}, "no column 'w' in sky, the weight; its columns are 'sky', 'play'"),
        ("sky", {"weight": "sky"}, "weight column 'sky' is VARCHAR; weights must be numbers"),
        ("SELECT *, -1 AS w FROM sky", {"weight": "w"}, f"4 values of the weight column 'w' are {WEIGHTS}"),
        (
            "SELECT *, CASE WHEN sky = 'rain' THEN 'nan'::DOUBLE ELSE 1 END AS w FROM sky",
            {"weight": "w"},
            f"1 value of the weight column 'w' is {WEIGHTS}",
        ),
        (
            "SELECT *, 0 AS w FROM sky",
            {"weight": "w"},
            "every row of the query with a class has a weight of 0; an evaluation needs rows that count",
        ),
        ("sky", {"bins": 0}, "bins must be a whole number from 1 to 1000000, not 0"),
        ("sky", {"bins": 2.5}, "bins must be a whole number from 1 to 1000000, not 2.5"),
    ]:
        with refused(nbsql.InputError, message):
            sky.evaluate(source, **options)


def test_a_table_that_there_is_not(sky, refused):
    known = "'metrics', 'intervals', 'confusion', 'roc', 'precision_recall', 'calibration', 'lift', 'thresholds'"
    line = f"no table 'rocs'; did you mean 'roc'?; there are {known}, 'slices', 'slice_intervals', 'cost'"
    with refused(nbsql.InputError, line):
        sky.evaluate_sql("sky", table="rocs")
    with refused(nbsql.InputError, f"no table '[1]'; there are {known}, 'slices', 'slice_intervals', 'cost'"):
        sky.evaluate_sql("sky", table=[1])


def test_the_macro_judges_labels_of_an_enum_by_a_model_of_texts(con):
    con.execute("CREATE TYPE word AS ENUM ('a', 'b')")
    con.execute("CREATE TABLE texts AS SELECT ['a', 'b'][1 + i % 2] AS y, i % 3 = 0 AS x FROM range(20) AS t(i)")
    con.execute("CREATE TABLE enums AS SELECT CAST(y AS word) AS y, x FROM texts")
    nbsql.fit(con, "texts", target="y", name="m")

    def judged(table):
        return con.execute(f"SELECT metric, value FROM m.evaluate('{table}') WHERE class IS NULL ORDER BY metric").fetchall()

    assert judged("enums") == judged("texts") != []
