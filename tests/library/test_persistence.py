"""A model is a schema: other processes use it, transactions hold it whole, and it goes as it came."""

import contextlib
import gc
import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest

import nbsql
from nbsql.plan import VERBS

MAIL = """SELECT * FROM (VALUES (1, 'ham', 'lunch at noon', 1.5::DOUBLE, TRUE), (2, 'spam', 'win a prize', 9.0, FALSE),
    (3, 'spam', 'prize at noon', 8.0, FALSE), (4, 'ham', 'lunch', 2.5, FALSE)) AS mail(id, label, message, size, known)"""
OPTIONS = {"target": "label", "id": "id", "families": {"message": nbsql.Text()}}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A database file with the tables mail and inbox, and the model spam."""
    file = tmp_path_factory.mktemp("made") / "mail box.duckdb"
    with duckdb.connect(file) as con:
        con.execute(f"CREATE TABLE mail AS {MAIL}")
        con.execute("CREATE TABLE inbox AS SELECT id + 10 AS id, message, size, known FROM mail")
        nbsql.fit(con, "mail", name="spam", **OPTIONS)
    return file


@pytest.fixture
def path(made, tmp_path):
    """A copy of it."""
    return Path(shutil.copy(made, tmp_path))


def without_nbsql(path, *queries, read_only=False):
    """The rows of the queries, run by another process that knows DuckDB alone."""
    program = f"""
import sys
sys.modules["nbsql"] = None  # an import would fail
import duckdb, json
with duckdb.connect({str(path)!r}, read_only={read_only}) as con:
    print(json.dumps([con.execute(query).fetchall() for query in {list(queries)!r}]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_another_process_without_nbsql_uses_the_model(path):
    reads = [f"FROM spam.{name}" for name in ("priors ORDER BY class", "likelihoods ORDER BY ALL", "statistics ORDER BY ALL")]
    *scored, priors, likelihoods, statistics = without_nbsql(path, *(f"FROM spam.{verb}('inbox')" for verb in VERBS), *reads)
    with duckdb.connect(path) as con:
        model = nbsql.load(con, "spam")
        for verb, rows in zip(VERBS, scored, strict=True):
            assert rows == [list(row) for row in getattr(model, verb)("inbox").fetchall()]
        assert priors == [[row[0], *row[1:]] for row in sorted(model.priors.fetchall())]
        assert len(likelihoods) == len(model.likelihoods.fetchall())
        assert sorted(map(str, statistics)) == sorted(str(list(row)) for row in model.statistics.fetchall())
    assert [row[-2:-1] for row in scored[0]] == [["ham"], ["spam"], ["spam"], ["ham"]]
    assert [row[0] for row in priors] == ["ham", "spam"]


def test_sql_scores_views_and_ctes_and_writes_what_it_scored(path):
    cte, view, made, dropped = without_nbsql(
        path,
        "WITH few AS (SELECT * FROM inbox WHERE id = 12) SELECT id, prediction FROM spam.predict('few')",
        "SELECT count(*) FROM spam.predict('mail')",
        "CREATE TABLE scored AS SELECT id, prediction FROM spam.predict('inbox')",
        "DROP SCHEMA spam CASCADE",
    )
    assert cte == [[12, "spam"]]
    assert view == [[4]]
    assert made == [[4]]
    assert dropped == []
    assert nbsql.models(path) == []


@pytest.mark.nightly
def test_readers_beside_many_replacements_never_see_half_a_model(path):
    with duckdb.connect(path) as con:
        answers = {}
        for alpha in (1.0, 0.25):
            nbsql.fit(con, "mail", name="spam", replace=True, alpha=alpha, **OPTIONS)
            answers[alpha] = con.execute("FROM spam.predict_proba('inbox')").fetchall()
        assert answers[1.0] != answers[0.25]
        seen = []
        done = threading.Event()

        def read():
            try:
                with con.cursor() as reader:
                    while not done.is_set() or not seen:
                        seen.append(reader.execute("FROM spam.predict_proba('inbox')").fetchall())
            except duckdb.Error as error:
                seen.append(error)

        thread = threading.Thread(target=read)
        thread.start()
        try:
            with con.cursor() as writer:
                for alpha in (1.0, 0.25) * 4:
                    nbsql.fit(writer, "mail", name="spam", replace=True, alpha=alpha, **OPTIONS)
        finally:
            done.set()
            thread.join()
        assert [answer for answer in seen if answer not in answers.values()] == []


@pytest.mark.parametrize("end", ["rollback", "commit"])
def test_a_fit_belongs_to_the_callers_transaction(path, end):
    with duckdb.connect(path) as con:
        con.begin()
        con.execute("INSERT INTO mail VALUES (5, 'ham', 'tea', 1.0, TRUE)")
        model = nbsql.fit(con, "mail", name="second", **OPTIONS)
        assert model.predict("inbox").fetchall()[0][-2] == "ham"
        assert [row[1] for row in model.priors if row[0] == "ham"] == [3]
        with con.cursor() as other:
            assert nbsql.models(other) == ["spam"]
        getattr(con, end)()
        there = end == "commit"
        assert nbsql.models(con) == (["second", "spam"] if there else ["spam"])
        assert con.execute("SELECT count(*) FROM mail").fetchall() == [(5 if there else 4,)]
        assert con.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]


def test_a_drop_belongs_to_the_callers_transaction(path):
    with duckdb.connect(path) as con:
        con.begin()
        nbsql.load(con, "spam").drop()
        assert nbsql.models(con) == []
        con.rollback()
        assert nbsql.models(con) == ["spam"]
        assert len(nbsql.load(con, "spam").predict("inbox").fetchall()) == 4


def test_a_refused_fit_leaves_the_callers_transaction_alone(path):
    with duckdb.connect(path) as con:
        before = con.execute("FROM spam.predict_proba('inbox')").fetchall()
        con.begin()
        con.execute("INSERT INTO mail VALUES (5, 'ham', 'tea', -1.0, TRUE)")
        families = {"sizes": nbsql.Multinomial(["id", "size"])}
        with pytest.raises(nbsql.InputError, match="1 value of column 'size' is negative"):
            nbsql.fit(con, "mail", name="spam", target="label", families=families, replace=True)
        con.commit()
        assert con.execute("SELECT count(*) FROM mail").fetchall() == [(5,)]
        assert con.execute("FROM spam.predict_proba('inbox')").fetchall() == before


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("act", ["fit", "replace", "update", "forget", "drop"])
def test_a_change_that_stops_halfway_ends_the_callers_transaction(path, act):
    """By an error of a progress function, as by Ctrl-C: DuckDB would commit the statements that have run before it."""
    with duckdb.connect(path) as con:
        model = nbsql.load(con, "spam")
        before = con.execute("FROM spam.predict_proba('inbox')").fetchall()
        acts = {
            "fit": lambda: nbsql.fit(con, "mail", name="second", **OPTIONS),
            "replace": lambda: nbsql.fit(con, "mail", name="spam", replace=True, **OPTIONS),
            "update": lambda: model.update("mail"),
            "forget": lambda: model.forget("SELECT * FROM mail LIMIT 1"),
            "drop": model.drop,
        }
        ran = []
        con.begin()
        with nbsql.watch(ran.append):
            acts[act]()
        con.rollback()
        for stop in range(len(ran)):
            steps = iter(range(len(ran)))

            def interrupt(_, stop=stop, steps=steps):
                if next(steps) == stop:
                    raise KeyboardInterrupt

            con.begin()
            with pytest.raises(KeyboardInterrupt), nbsql.watch(interrupt):
                acts[act]()
            with contextlib.suppress(duckdb.TransactionException):
                con.commit()
            with contextlib.suppress(duckdb.TransactionException):
                con.rollback()
            assert nbsql.models(con) == ["spam"], ran[stop]
            assert con.execute("FROM spam.predict_proba('inbox')").fetchall() == before
            assert [row[0] for row in model.batches] == ["1"]


def test_a_change_of_a_transient_model_that_stops_halfway_ends_the_callers_transaction(path):
    def interrupt(step):
        if step == "ledger":
            raise KeyboardInterrupt

    with duckdb.connect(path) as con:
        model = nbsql.fit(con, "mail", **OPTIONS)
        before = model.statistics.fetchall()
        con.begin()
        with pytest.raises(KeyboardInterrupt), nbsql.watch(interrupt):
            model.update("mail")
        with pytest.raises(
            nbsql.DatabaseError, match=r"an earlier error has ended the transaction; begin anew after con\.rollback\(\)"
        ):
            model.update("mail")
        con.rollback()
        assert model.statistics.fetchall() == before


def test_a_failed_replacement_leaves_the_old_model(path):
    with duckdb.connect(path) as con:
        before = con.execute("FROM spam.predict_proba('inbox')").fetchall()
        source = "SELECT * REPLACE (CASE WHEN id > 3 THEN CAST(message AS INTEGER) END AS size) FROM mail"
        with pytest.raises(nbsql.DatabaseError, match=r"^Conversion Error"):
            nbsql.fit(con, source, name="spam", replace=True, **OPTIONS)
        assert con.execute("FROM spam.predict_proba('inbox')").fetchall() == before
        assert con.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]


@pytest.mark.slow
def test_a_model_in_an_attached_database(path, tmp_path):
    (expected,) = without_nbsql(path, "FROM spam.predict('inbox')")
    with duckdb.connect(tmp_path / "work.duckdb") as con:
        con.execute(f"ATTACH '{path}' AS \"post office\"")
        mail, inbox = '"post office".main.mail', '"post office".main.inbox'
        assert nbsql.models(con) == []
        assert nbsql.models(con, database="POST office") == ["spam"]
        model = nbsql.load(con, "Spam", database="post office")
        assert model.name == "spam"
        assert [list(row) for row in model.predict(inbox)] == expected
        other = nbsql.fit(con, mail, name="other", database="Post Office", **OPTIONS)
        assert [list(row) for row in other.predict(inbox)] == expected
        assert nbsql.models(con, database="post office") == ["other", "spam"]
        nbsql.fit(con, mail, name="spam", **OPTIONS)
        assert nbsql.models(con) == ["spam"]
        model.drop()
        assert nbsql.models(con, database="post office") == ["other"]
        assert nbsql.models(con) == ["spam"]
        assert con.execute('SELECT count(*) FROM "post office".other.priors').fetchall() == [(2,)]
        con.execute('USE "post office"')
        assert [list(row) for row in con.execute("FROM other.predict('inbox')").fetchall()] == expected
    if duckdb.__version__ < "2":
        return  # DuckDB 1 writes the name of the database into views, so that the file must keep it
    answer, priors = without_nbsql(path, "FROM other.predict('inbox')", "SELECT count(*) FROM other.priors", read_only=True)
    assert answer == expected  # whatever name the database had when the model was made
    assert priors == [[2]]


def test_models_are_listed_loaded_and_dropped(path):
    with duckdb.connect(path) as con:
        contents = con.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        first = nbsql.fit(con, "mail", name="A first", **OPTIONS)
        assert nbsql.models(con) == ["A first", "spam"]
        loaded = nbsql.load(con, "a FIRST")
        assert (loaded.name, loaded.target, loaded.classes) == ("A first", "label", ["ham", "spam"])
        assert loaded.families == first.families
        assert repr(loaded).startswith("<nbsql model 'A first' in 'mail box': 'label' of 2 classes from 4 rows, by ")
        assert loaded.predict("inbox").sql == first.predict("inbox").sql
        loaded.drop()
        assert nbsql.models(con) == ["spam"]
        assert con.execute("SELECT table_name FROM duckdb_tables()").fetchall() == contents
    with nbsql.load(path, "spam") as model:
        assert len(model.predict("inbox").fetchall()) == 4
    assert nbsql.models(path) == ["spam"]  # closed above, or the file would be locked


def test_a_transient_model_lives_as_long_as_its_connection(path):
    with duckdb.connect(path, read_only=True) as con:
        model = nbsql.fit(con, "mail", **OPTIONS)
        assert model.name is None
        assert repr(model).startswith("<nbsql transient model in 'mail box': 'label' of 2 classes from 4 rows, by ")
        assert model.predict("inbox").fetchall() == nbsql.load(con, "spam").predict("inbox").fetchall()
        model.drop()
        assert con.execute("SELECT count(*) FROM duckdb_tables() WHERE temporary").fetchall() == [(0,)]
        assert con.execute("SELECT count(*) FROM duckdb_views() WHERE temporary AND NOT internal").fetchall() == [(0,)]
    assert nbsql.models(path) == ["spam"]


@pytest.mark.slow
def test_a_file_is_free_as_soon_as_nobody_uses_its_model(path):
    gc.disable()  # what is in a circle would be closed later, at some time
    try:
        assert nbsql.load(path, "spam").predict("inbox").fetchall()
        assert nbsql.fit(path, "mail", name="second", **OPTIONS).name == "second"
        assert without_nbsql(path, "SELECT count(*) FROM second.priors") == [[[2]]]
    finally:
        gc.enable()


@pytest.mark.slow
def test_a_query_is_handed_out_in_every_shape(path, capsys):
    with duckdb.connect(path) as con:
        query = nbsql.load(con, "spam").predict("inbox")
        rows = query.fetchall()
        columns = ["id", "message", "size", "known", "prediction", "probability"]
        assert query.columns == columns
        assert list(query) == rows
        assert con.execute(query.sql).fetchall() == rows
        assert query.relation.order("id").fetchall() == rows
        frame = query.df()
        assert list(frame.columns) == columns
        assert list(frame.itertuples(index=False, name=None)) == rows
        assert query.pl().rows() == rows
        assert [tuple(row.values()) for row in query.arrow().to_pylist()] == rows
        query.show()
        assert "lunch at noon" in capsys.readouterr().out
        assert repr(query).splitlines()[0] == "nbsql.Query, its first rows (10 at most); .show() runs it, .sql is its text"
        assert "lunch at noon" in repr(query)

        query.create_table("scored")
        query.create_view("live")
        con.execute("DELETE FROM inbox WHERE id > 12")
        assert con.execute("FROM scored").fetchall() == rows
        assert con.execute("FROM live").fetchall() == rows[:2] == query.fetchall()


def test_a_model_is_read_in_the_form_it_was_written_in(con, monkeypatch, layout):

    data = "FROM (VALUES ('a', 'x'), ('b', 'y')) AS t(y, v)"
    expected = nbsql.fit(con, data, target="y", name="wide").predict(data).fetchall()
    layout(wide_classes=0)
    assert nbsql.load(con, "wide").predict(data).fetchall() == expected
    assert sorted(nbsql.fit(con, data, target="y", name="long").predict(data).fetchall()) == sorted(expected)
    monkeypatch.undo()
    assert sorted(nbsql.load(con, "long").predict(data).fetchall()) == sorted(expected)


def test_an_answer_is_kept_at_a_path(con):
    con.execute("ATTACH ':memory:' AS other; CREATE SCHEMA reports; CREATE SCHEMA other.reports")
    con.execute("CREATE TABLE t AS FROM (VALUES (1, 'a'), (2, 'b')) AS t(x, y)")
    query = nbsql.fit(con, "t", target="y").predict("t")
    paths = ("plain", "reports.scored", "other.scored", "other.reports.scored", "memory.main.whole", '"with.dots"', "two words")
    for path in paths:
        query.create_table(path)
    query.create_view("reports.live")
    made = """SELECT database_name, schema_name, table_name FROM duckdb_tables()
        WHERE table_name <> 't' AND database_name <> 'temp' ORDER BY ALL"""
    assert con.execute(made).fetchall() == [
        ("memory", "main", "plain"),
        ("memory", "main", "two words"),
        ("memory", "main", "whole"),
        ("memory", "main", "with.dots"),
        ("memory", "reports", "scored"),
        ("other", "main", "scored"),
        ("other", "reports", "scored"),
    ]
    for path in ("reports.scored", "Other.Scored", "main.plain", "reports.live"):
        with pytest.raises(nbsql.InputError, match="is there already; replace it with replace=True, or choose another name"):
            query.create_table(path)
    with pytest.raises(nbsql.InputError) as refused:
        query.create_table("a.b.c.d")
    assert str(refused.value) == "'a.b.c.d' is no path to a table; quote a name that has dots in it: '\"a.b.c.d\"'"
