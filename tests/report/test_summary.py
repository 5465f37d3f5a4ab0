"""What the report says first, of the data, and which values make a headline."""

from __future__ import annotations

import re
from html import unescape

import duckdb
import pytest

import nbsql

SEA = """SELECT ['m', 'f'][1 + i % 2] AS sex, CASE WHEN i % 4 > 0 THEN 20.0 + i % 7 END AS age,
    'ticket ' || i // 2 AS ticket, ['yes', 'Yes '][1 + CAST(i % 10 = 0 AS INTEGER)] AS aboard,
    (i % 2 = 1) <> (i % 5 = 0) AS survived FROM range(200) AS r(i)"""


@pytest.fixture(scope="module")
def model():
    with duckdb.connect() as con, pytest.warns(UserWarning, match="differ only by case"):
        yield nbsql.fit(con, f"FROM ({SEA}) LIMIT 120", target="survived", name="sea", families={"ticket": "categorical"})


def summary_of(path):
    text = path.read_text(encoding="utf-8")
    block = re.search(r'<div class="summary">(.*?)</div>', text, re.DOTALL)
    return re.findall(r"<(?:p|li)>(.*?)</(?:p|li)>", unescape(block[1]))


def test_the_report_begins_with_a_verdict_that_needs_no_other_page(model, tmp_path):
    held = f"FROM ({SEA}) OFFSET 120"
    model.report(tmp_path / "page.html", source=held)
    first, *findings, caveat = summary_of(tmp_path / "page.html")
    judged = model.evaluate(held)
    fewer = 100 * (judged.accuracy - judged.majority) / (1 - judged.majority)
    assert first.startswith("The model predicts survived, which is ")
    assert "from 4 columns. It was learnt from 120 rows. Of 80 rows that it had not learnt, it predicts " in first
    assert (
        f"predicts {100 * judged.accuracy:.1f} % right: {fewer:.1f} % fewer errors than by always predicting survived = "
        in first
    )
    assert findings[0].startswith("sex is the most informative about survived")
    assert findings[1] == "sex = f is 3.8 times as likely in survived = true as in survived = false."
    assert caveat.startswith(("The log loss", "Its probabilities", "It counts some evidence twice", "The figures hold"))


def test_without_rows_the_report_says_that_it_cannot_say_how_good_the_model_is(model, tmp_path):
    model.report(tmp_path / "page.html")
    first, *_, caveat = summary_of(tmp_path / "page.html")
    assert first.endswith("It was not tried on rows whose class is known, so this page cannot say how good it is.")
    assert caveat == "The numbers below follow from the counts alone."


def test_rows_that_were_learnt_are_said_to_be_predicted_by_a_model_without_them(model, tmp_path):
    model.report(tmp_path / "page.html", source=f"FROM ({SEA}) LIMIT 120")
    assert "Of 120 rows, each predicted by a model that has not learnt it, " in summary_of(tmp_path / "page.html")[0]


def test_the_data_are_described_by_what_is_missing_and_by_what_is_spelt_in_two_ways(model):
    figure = model.plot.data().figure
    rows = {row["feature"]: (row["n"], row["levels"], round(row["missing"], 6)) for row in figure.tables["rows"]}
    assert rows == {"age": (90, None, 0.25), "aboard": (120, 2, 0.0), "sex": (120, 2, 0.0), "ticket": (120, 60, 0.0)}
    assert figure.finding == "1 column of 4 has missing values, most of all age (25.0 %)"
    assert figure.notes == ["Values of aboard differ only by case or blanks: 'Yes ' and 'yes'."]
    labels = {row["feature"]: row["label"] for row in figure.tables["rows"]}
    assert labels["age"] == "25.0 % missing"
    assert labels["ticket"] == "60 values"


def test_a_rare_value_makes_no_headline():
    with duckdb.connect() as con:
        source = """SELECT i % 2 = 0 AS y, CASE WHEN i < 12 AND i % 2 = 0 THEN 'rare' WHEN hash(i) % 10 < 7 THEN 'a' || i % 2
            ELSE 'b' END AS x FROM range(1000) AS r(i)"""
        model = nbsql.fit(con, source, target="y", families={"x": "categorical"})
        figure = model.plot.discrimination(True, False, least=1).figure
        assert figure.finding.startswith(("x = a0 is ", "x = a1 is "))
        ratios = {row["value"]: (row["n"] + row["other_n"], abs(row["log_ratio"])) for row in figure.tables["rows"]}
        assert ratios["rare"][0] == 6
        assert [*ratios].index("rare") > 1
