"""What the report says first, of the data, and which values make a headline."""

import re
from html import unescape
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main

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
    return re.findall(r"<(?:p|li)>(.*?)</(?:p|li)>", unescape(block[1]).replace("\u00a0", " "))


@pytest.mark.slow
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


@pytest.mark.slow
def test_without_rows_the_report_says_that_it_cannot_say_how_good_the_model_is(model, tmp_path):
    model.report(tmp_path / "page.html")
    first, *_, caveat = summary_of(tmp_path / "page.html")
    assert first.endswith("It was not tried on rows whose class is known, so this page cannot say how good it is.")
    assert caveat == "The numbers below follow from the counts alone."


@pytest.mark.nightly
def test_rows_that_were_learnt_are_said_to_be_predicted_by_a_model_without_them(model, tmp_path):
    model.report(tmp_path / "page.html", source=f"FROM ({SEA}) LIMIT 120")
    assert "Of 120 rows, each predicted by a model that has not learnt it, " in summary_of(tmp_path / "page.html")[0]


def test_the_data_are_described_by_what_is_missing_and_by_what_is_spelt_in_two_ways(model):
    figure = model.plot.data().figure
    rows = {row["feature"]: (row["n"], row["levels"], round(row["missing"], 6)) for row in figure.tables["rows"]}
    assert rows == {"age": (90, None, 0.25), "aboard": (120, 2, 0.0), "sex": (120, 2, 0.0), "ticket": (120, 60, 0.0)}
    assert figure.finding == "1 column of 4 has missing values, most of all age (25.0 %)"
    assert figure.notes[0] == "120 rows of 4 columns."
    assert figure.notes[1:] == ["Values of aboard differ only by case or blanks: 'Yes ' and 'yes'."]
    labels = {row["feature"]: row["label"] for row in figure.tables["rows"]}
    assert labels["age"] == "25.0 % missing"
    assert labels["ticket"] == "60 values"


@pytest.mark.few
@pytest.mark.parametrize(
    ("method", "nulls", "x"),
    [("weighted", "skip", "6 bins"), ("tan", "category", "6 bins"), (nbsql.KDB(2), "skip", "6 bins"), ("naive", "skip", "")],
)
def test_a_column_is_described_once_and_by_its_own_values_whatever_they_depend_on(con, method, nulls, x):
    source = """SELECT i % 2 = 0 AS y, CASE WHEN i % 5 > 0 THEN 'r' || (i // 3 % 4 + i % 2) END AS a, 's' || (i // 3 % 4) AS b,
        i % 30 // 10 + (i % 2) / 2 AS x FROM range(900) AS r(i)"""
    figure = nbsql.fit(con, source, target="y", method=method, nulls=nulls).plot.data().figure
    labels = {row["feature"]: row["label"] for row in figure.tables["rows"]}
    assert labels == {"a": "5 values, 20.0 % missing", "b": "4 values", "x": x}
    assert figure.finding == "1 column of 3 has missing values, most of all a (20.0 %)"
    assert figure.notes == ["900 rows of 3 columns."]


def test_a_rare_value_makes_no_headline(con):
    source = """SELECT i % 2 = 0 AS y, CASE WHEN i < 12 AND i % 2 = 0 THEN 'rare' WHEN hash(i) % 10 < 7 THEN 'a' || i % 2
            ELSE 'b' END AS x FROM range(1000) AS r(i)"""
    model = nbsql.fit(con, source, target="y", families={"x": "categorical"})
    figure = model.plot.discrimination(True, False, least=1).figure
    assert figure.finding.startswith(("x = a0 is ", "x = a1 is "))
    ratios = {row["value"]: (row["n"] + row["other_n"], abs(row["log_ratio"])) for row in figure.tables["rows"]}
    assert ratios["rare"][0] == 6
    assert [*ratios].index("rare") > 1


@pytest.mark.slow
def test_a_report_of_a_file_is_of_rows_that_its_model_has_not_learnt(con, tmp_path):
    file, page = tmp_path / "sea.csv", tmp_path / "page.html"
    con.sql(f"SELECT sex, ticket, survived FROM ({SEA})").write_csv(str(file))
    nbsql.write_report(con, str(file), page, target="survived", exclude=["ticket"], budget="0.001 s")
    text = unescape(page.read_text(encoding="utf-8"))
    learnt, judged = (int(re.search(rf"{words} (\d+) rows", text)[1]) for words in ("learnt from", "Of"))
    assert learnt + judged == 200
    assert 20 < judged < 60
    assert f"The model was chosen on four fifths of the rows of {file}, by cross-validation: " in text
    assert "Evaluated on the other fifth." in text
    assert con.execute("SELECT count(*) FROM duckdb_tables()").fetchone() == (0,)
    assert nbsql.models(con) == []


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("rows", [29, 30])
def test_of_a_small_table_no_row_is_held_out(con, rows, tmp_path):
    page = tmp_path / "page.html"
    source = f"SELECT i % 2 = 0 AS y, i % 3 + i % 2 AS x FROM range({rows}) AS r(i)"
    nbsql.write_report(con, source, page, target="y")
    text = unescape(page.read_text(encoding="utf-8"))
    assert ("four fifths" in text) == (rows == 30)
    assert ("leave-one-out" in text) == (rows == 29)


@pytest.mark.nightly
def test_the_report_chooses_a_model_of_derived_columns_once(con, tmp_path):
    page = tmp_path / "page.html"
    source = "SELECT i AS fare, 'a' || i % 3 AS port FROM range(100) AS r(i)"
    options = {"derive": {"high": "fare > 40", "fare": "fare / 2"}, "budget": "0.001 s"}
    nbsql.write_report(con, source, page, target="high", **options)
    assert "high = true" in page.read_text(encoding="utf-8")


@pytest.mark.nightly
def test_the_command_makes_the_report_of_a_file_and_of_a_table(tmp_path):
    database, file = str(tmp_path / "shop.duckdb"), str(tmp_path / "sea.csv")
    with duckdb.connect(database) as con:
        con.execute(f"CREATE TABLE sea AS {SEA}")
        con.sql("SELECT sex, survived FROM sea").write_csv(file)
    page = str(tmp_path / "page.html")
    for arguments, budget in ([file], "200"), ([database, "sea", "--exclude", "ticket", "--missing", "?"], "0.001 s"):
        done = CliRunner().invoke(main, ["report", *arguments, "--target", "survived", "--budget", budget, "-o", page])
        assert done.exit_code == 0, done.output
        assert f"the report of {arguments[-1] if len(arguments) == 1 else 'sea'} is {page}, " in done.output
        assert "Evaluated on the other fifth" in Path(page).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["shop.duckdb"], "name a model, or the column to predict: nbsql report shop.duckdb --target COLUMN"),
        (["shop.duckdb", "m", "--budget", "3"], "--missing, --family and --budget go with --target, which chooses a model"),
        (
            ["shop.duckdb", "t", "t", "--target", "y"],
            "with --target, name a file, or a database and a table, and no option of a",
        ),
        (["no.csv", "--target", "y"], "no file 'no.csv'; check its path"),
    ],
)
def test_what_a_report_needs_is_said(arguments, message):
    done = CliRunner().invoke(main, ["report", *arguments])
    assert done.exit_code != 0
    assert message in done.output


@pytest.mark.slow
def test_a_page_that_is_shared_names_no_rare_value_and_no_rare_class(con, tmp_path):
    page = tmp_path / "page.html"
    source = """SELECT CASE WHEN i = 7 THEN 'secret' WHEN i = 8 THEN 'Secret ' ELSE 'b' || i % 2 END AS a,
        CASE WHEN i = 9 THEN 'Hidden' WHEN i % 3 = 0 THEN 'yes' ELSE 'no' END AS y FROM range(60) AS r(i)"""
    with pytest.warns(UserWarning, match="'Secret ', 'secret'"):
        model = nbsql.fit(con, source, target="y", name="m")
    assert model.plot.data().figure.notes[1:] == ["Values of a differ only by case or blanks: 'Secret ' and 'secret'."]
    model.report(page)
    text = re.sub("<pre.*?</pre>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert "one of 3 classes" in text
    assert "secret" not in text.lower()


def test_a_report_that_cannot_be_written_is_refused_before_the_search(con, tmp_path):
    for path, rows, message in [("a.pdf", 0, "end the path 'a.pdf' with .html"), (tmp_path / "a.html", -1, "at least 0")]:
        with pytest.raises(nbsql.InputError, match=message):
            nbsql.write_report(con, "no_such_table", path, target="y", rows=rows)


@pytest.mark.slow
@pytest.mark.look
def test_a_report_of_a_file_repeats_what_the_fit_has_warned_of_without_the_values_of_rows(tmp_path):
    source = """SELECT i AS row_id, '$1,' || 100 + i || '.50' AS price, hash(i) % 3 = 0 AS late FROM range(300) AS r(i)"""
    with duckdb.connect() as con, pytest.warns(nbsql.NbsqlWarning) as warned:
        nbsql.write_report(con, source, tmp_path / "page.html", target="late", budget=None)
    notes = re.findall("<li>(.*?)</li>", unescape((tmp_path / "page.html").read_text(encoding="utf-8")))
    assert any(", written as '$1,1" in str(one.message) for one in warned)
    assert "'row_id' is a key, which is left out." in notes
    assert any(note == "'price' holds numbers, and is taken for a category." for note in notes), notes
    assert not any("written as" in note for note in notes)
