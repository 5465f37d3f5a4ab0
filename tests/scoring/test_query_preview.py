"""What a query shows of itself, and its first rows."""

import re

import pytest

import nbsql


@pytest.fixture
def model(con):
    con.execute("CREATE TABLE t AS SELECT i, 'word ' || i % 9 AS said, i % 3 = 0 AS y FROM range(5000) AS t(i)")
    return nbsql.fit(con, "t", target="y", families={"said": nbsql.Text()}, exclude=["i"], name="m")


def test_the_repr_of_a_query_is_its_first_rows_and_not_its_text(model):
    shown = repr(model.predict("t"))
    assert shown.startswith("nbsql.Query, its first rows (10 at most); .show() runs it, .sql is its text\ni ")
    assert "\n8   word 8   False " in shown
    assert "SELECT" not in shown
    assert len(shown.splitlines()) < 20


@pytest.mark.slow
def test_the_repr_scores_no_more_rows_than_it_shows(con, model):
    con.execute("CREATE VIEW costly AS SELECT said, error('a row too many') AS y FROM t")
    far = "SELECT CASE WHEN i < 10 THEN said ELSE error('scored too many') END AS said FROM t"
    for query in (model.predict(far), model.predict_proba(far), model.explain(far), model.predict(far, top_k=2)):
        assert "word" in repr(query)
        assert len(query.limit(10).fetchall()) == 10
        with pytest.raises(nbsql.DatabaseError, match="scored too many"):
            query.fetchall()


def test_a_narrow_table_keeps_what_a_verb_adds(con, monkeypatch, capsys):
    columns = ", ".join(f"'value {i} ' || r % 3 AS a_column_{i}" for i in range(15))
    model = nbsql.fit(con, f"SELECT {columns}, r % 2 = 0 AS y FROM range(60) AS t(r)", target="y")
    monkeypatch.setenv("COLUMNS", "80")
    query = model.predict(f"SELECT {columns} FROM range(60) AS t(r)")
    query.show()
    for text, rows in ((repr(query), 10), (capsys.readouterr().out, 40)):
        heading = next(line for line in text.splitlines() if line.startswith("a_column_0"))
        assert heading.split()[-3:] == ["…", "prediction", "probability"]
        assert len(heading) <= 80
        assert "10 columns left out: " in text or "11 columns left out: " in text or "12 columns left out: " in text
        lines = [line for line in text.splitlines() if line.startswith("value 0")]
        assert len(lines) == rows
        assert all(len(line.split()[-1]) <= 6 for line in lines)  # four significant digits
    assert "the first 40 rows" in text
    assert ">…</th>" in query._repr_html_()
    assert "not run" not in query._repr_html_()


def test_an_explanation_shows_what_speaks_for_which_class(con):
    rows = "('late', 'storm')", "('late', 'storm')", "('late', 'sun')", "('in time', 'sun')", "('in time', 'sun')"
    model = nbsql.fit(con, f"FROM (VALUES {', '.join(rows)}) AS t(y, sky)", target="y")
    query = model.explain("SELECT 'storm' AS sky")
    # P(late) = 3/5, P(storm | late) = 3/5 and P(storm | in time) = 1/4: 0.36 to 0.1, which is 78.3 %, 3.6 to 1
    first, _, title, *table = repr(query).splitlines()
    assert first == "nbsql.Query, its first 3 rows in words; .show() has the contributions, .sql is its text"
    assert title == "row 1: predicted late (78.3 %), then in time (21.7 %)"
    lines = [re.split(r" {2,}", line.strip()) for line in table[2:]]
    assert lines == [
        ["prior", "1.5 × for late", "█████"],
        ["sky", "storm", "2.4 × for late", "██████████"],
        ["total", "3.6 × for late"],
    ]
    html = query._repr_html_()
    assert "<p>row 1: predicted late (78.3 %), then in time (21.7 %)</p>" in html
    assert ">2.4 × for late</td>" in html


@pytest.mark.slow
def test_a_query_that_takes_long_shows_its_columns(model, con, monkeypatch):
    monkeypatch.setattr(model.state.engine, "preview_seconds", 0.2)
    slow = "SELECT 'a' AS said, sum(hash(a.i + b.i)) AS s FROM t AS a, t AS b, t AS c"
    assert repr(model.predict(slow)) == "<nbsql.Query of said, s, prediction, probability; .show() runs it, .sql is its text>"
    assert "<p>not run yet; .show() runs it</p>" in model.predict(slow)._repr_html_()  # and not an empty answer
    assert con.execute("SELECT 42").fetchall() == [(42,)]


def test_the_repr_leaves_the_callers_transaction_alone_and_never_raises(model, con):
    query = model.predict("t")
    con.execute("BEGIN")
    con.execute("CREATE TABLE mine AS SELECT 1 AS x")
    assert repr(query) == "<nbsql.Query of i, said, y, prediction, probability; .show() runs it, .sql is its text>"
    con.execute("COMMIT")
    assert con.execute("FROM mine").fetchall() == [(1,)]
    con.execute("DROP TABLE t")
    assert repr(query).startswith("<nbsql.Query: no table or view 't'; check its name, or whether it was dropped or renamed")
    con.close()
    assert repr(query).startswith("<nbsql.Query: the connection is closed; open a new one")


def test_limit_and_head_are_queries_of_the_first_rows(model, con):
    query = model.predict("t")
    assert query.limit(3).fetchall() == query.fetchall()[:3]
    assert len(query.head().fetchall()) == 5
    assert query.head(7).limit(2).fetchall() == query.fetchall()[:2]
    assert query.limit(0).fetchall() == []
    assert query.limit(2).columns == query.columns
    assert model.priors.limit(1).fetchall() == model.priors.fetchall()[:1]
    query.limit(4).create_table("few")
    assert con.execute("SELECT count(*) FROM few").fetchall() == [(4,)]
    few = query.limit(4)
    model.update("t")  # the text of a query follows the model
    assert few.fetchall() == model.predict("t").fetchall()[:4]
    for wrong in (-1, 1.5, True, None):
        with pytest.raises(nbsql.InputError, match=r"^the number of rows must be a whole number of at least 0, not "):
            query.limit(wrong)


def test_the_first_rows_of_a_frame_come_in_its_order(model):
    import pandas as pd

    frame = pd.DataFrame({"said": [f"word {i % 7}" for i in range(3000)]})
    assert [row[0] for row in model.predict(frame).limit(20)] == list(frame.said[:20])


def test_a_name_of_sql_says_what_python_has_instead(model):
    for name, shown in {
        "reasons": "FROM m.reasons('rows'); in Python it is a sum of explain",
        "likelihood_ratios": "FROM m.likelihood_ratios('a', 'b'); in Python it is discrimination",
        "features": "FROM m.features; in Python it is families",
        "predict_uncalibrated": "FROM m.predict_uncalibrated('rows'); in Python it is predict with calibrated=False",
    }.items():
        assert not hasattr(model, name)
        with pytest.raises(nbsql.ModelError, match=re.escape(f"'{name}' of a model is read in SQL, {shown}") + "$"):
            getattr(model, name)
    with pytest.raises(AttributeError, match=r"^'Model' object has no attribute 'reason'$"):
        model.reason  # noqa: B018
