"""Rows that Python holds, and answers of models, as sources."""

import datetime
from decimal import Decimal
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import pytest

import nbsql

COLUMNS = {
    "sky": ["sun", "sun", None, "rain"], "wind": [1, 2, 3, None], "hours": np.array([0.5, 1.5, np.nan, 2.5]),
    "dry": [True, True, False, False], "words": [["a", "b"], [], None, ["b"]], "counts": [{"a": 1}, None, {"b": 2.5}, {}],
}  # fmt: skip


def rows_of(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def test_a_dict_of_columns_and_a_list_of_rows_make_the_model_of_the_same_table(con):
    con.execute("""CREATE TABLE days AS FROM (VALUES
        ('sun', 1, 0.5::DOUBLE, TRUE, ['a', 'b'], MAP {'a': 1.0::DOUBLE}), ('sun', 2, 1.5, TRUE, [], NULL),
        (NULL, 3, NULL, FALSE, NULL, MAP {'b': 2.5}), ('rain', NULL, 2.5, FALSE, ['b'], MAP {})
        ) AS t(sky, wind, hours, dry, words, counts)""")
    models = [nbsql.fit(con, source, target="dry") for source in ("days", COLUMNS, rows_of(COLUMNS))]
    assert [model.families for model in models[1:]] == [models[0].families] * 2
    expected = models[0].statistics.fetchall()
    assert len(expected) == 13
    assert [model.statistics.fetchall() for model in models[1:]] == [expected] * 2
    answers = [model.predict(rows_of(COLUMNS)).fetchall() for model in models]
    assert [row[3] for row in answers[0]] == [True, True, False, False]  # in the order of the rows
    assert answers[0] == answers[1] == answers[2]


def test_a_column_that_a_row_lacks_is_null_and_types_are_kept(con):
    model = nbsql.fit(con, COLUMNS, target="dry", features=["sky"])
    day, moment = datetime.date(2026, 5, 1), datetime.datetime(2026, 5, 1, 12, 30)
    found = model.predict(
        [{"sky": "sun", "day": day, "n": Decimal("0.5")}, {"sky": "rain", "at": moment, "n": 2**70, "s": "\u2028'"}]
    )
    assert [row[:5] for row in found] == [("sun", day, 0.5, None, None), ("rain", None, float(2**70), moment, "\u2028'")]
    model.predict(COLUMNS).create_view("scored")  # they stand in the text, and need no process
    assert con.execute("SELECT count(*) FROM scored").fetchall() == [(4,)]


def test_a_time_of_a_zone_is_that_instant(con):
    zone = datetime.timezone(datetime.timedelta(hours=2))
    rows = [{"at": datetime.datetime(2026, 5, 1 + day, tzinfo=zone), "y": day % 2, "x": day} for day in range(8)]
    weight = nbsql.HalfLife("2 days", at="at", now=datetime.datetime(2026, 5, 9, tzinfo=zone))
    counts = [row[1] for row in sorted(nbsql.fit(con, rows, target="y", weight=weight).priors)]
    assert counts == pytest.approx([sum(2 ** (-age / 2) for age in ages) for ages in ((8, 6, 4, 2), (7, 5, 3, 1))], rel=1e-12)
    options = {"target": "y", "features": ["at"], "families": {"at": "categorical"}}
    models = [nbsql.fit(con, source, **options) for source in (rows, pd.DataFrame(rows))]
    assert models[0].statistics.fetchall() == models[1].statistics.fetchall()
    assert models[0].predict_one(rows[1])["prediction"] == 1


def test_a_length_of_time_is_that_interval(con):
    lengths = {datetime.timedelta(hours=-1): "a", datetime.timedelta(days=40, microseconds=7): "b", datetime.timedelta(): "c"}
    rows = [{"took": took, "y": label} for took, label in lengths.items()]
    assert con.sql(nbsql.fit(con, rows, target="y", families={"took": "categorical"}).predict(rows).sql).fetchall() == [
        (took, label, label, 0.5) for took, label in lengths.items()
    ]
    model = nbsql.fit(con, rows, target="y", families={"took": "categorical"})
    assert [model.predict_one({"took": took})["prediction"] for took in lengths] == [*lengths.values()]


def test_uuids_stay_what_they_are_and_beside_texts_are_texts(con):
    a, b, c = (UUID(int=number) for number in (1, 2, 3))
    columns = {"y": [a, b, a, b], "g": [a, b, a, None]}
    model = nbsql.fit(con, columns, target="y")
    assert model.classes == [a, b]
    assert model.predict_one({"g": b})["prediction"] == b
    assert (
        [row[-2] for row in model.predict(columns)] == [row[-2] for row in model.predict(pd.DataFrame(columns))] == [a, b, a, a]
    )
    texts = {name: [value and str(value) for value in values] for name, values in columns.items()}
    assert model.evaluate(texts).accuracy == model.evaluate(columns).accuracy == 0.75
    model.update({"y": [str(c)], "g": [None]})
    assert model.classes == [a, b, c]
    mixed = nbsql.fit(con, columns | {"y": [a, str(b), a, b]}, target="y")
    assert mixed.classes == [str(a), str(b)]


def test_rows_that_are_no_source_are_refused(con, refused):
    for source, message in [
        ({"sky": {"sun"}}, "column 'sky' is a set, whose values have no order; give it a list, one value per row"),
        ({"sky": "sun"}, "a dict as a source has a list of values per column, not 'sky': 'sun'; for one row write [row]"),
        ([], "the rows have no columns"),
        ({"sky": ["sun"], "dry": []}, "the columns have 0 to 1 values; give each one value per row"),
        ({"sky": ["sun", 1]}, "column 'sky' holds int, str, which cannot be one column; give it values of one type"),
        (
            {"sky": [...]},
            "column 'sky' holds ellipsis, which cannot be one column; give it numbers, texts, dates, or lists of texts",
        ),
        (
            {"at": [datetime.date(2026, 5, 1), datetime.datetime(2026, 5, 1, 12, tzinfo=datetime.timezone.utc)]},
            "column 'at' holds dates and times of several types; give it values of one type",
        ),
        ({"sky": ["sun"], "SKY": ["sun"]}, "column 'SKY' is ambiguous in the rows, which has it twice; rename one"),
        ({1: ["sun"]}, "a column's name must be text, not 1"),
        ({"": ["sun"]}, "a column of the rows has no name; give it one"),
        ({"nbsql_row": [1]}, "column 'nbsql_row' of the rows has a name that nbsql keeps for itself; rename it"),
    ]:
        with refused(nbsql.InputError, message):
            nbsql.fit(con, source, target="dry")


@pytest.mark.slow
def test_a_query_is_a_source_of_every_verb_that_takes_one(con):
    con.execute("CREATE TABLE t AS SELECT i, i % 3 AS a, i % 4 < 2 AS y FROM range(40) AS t(i)")
    model = nbsql.fit(con, "t", target="y", features=["a"], name="m")
    rows = model.predict("t").limit(30)
    other = nbsql.fit(con, rows, target="y", features=["a"])
    assert sum(row[1] for row in other.priors) == 30
    assert other.evaluate(rows).rows == 30
    assert len(other.explain(rows).fetchall()) == 30 * 4
    assert nbsql.cross_validate(con, rows, target="y", features=["a"], folds=3).rows == 30
    assert nbsql.sweep(con, rows, target="y", features=["a"], alpha=[1, 2], folds=3).rows == 30
    assert list(nbsql.families(con, rows, target="y", features=["a"])) == ["a"]
    other.update(rows)
    assert other.batches.fetchall()[-1][3] == 30
    assert other.log_likelihood(rows) == pytest.approx(sum(row[-1] for row in other.log_evidence(rows)))
    assert nbsql.from_tables(
        con, priors=model.priors.limit(2), likelihoods=model.likelihoods, families={"a": "gaussian"}
    ).classes
    with (
        duckdb.connect() as elsewhere,
        pytest.raises(nbsql.InputError, match=r"^the query is of another connection, which cannot be"),
    ):
        nbsql.fit(elsewhere, rows, target="y")
