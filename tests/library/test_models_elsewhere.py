"""Models and rows that lie elsewhere: in a file behind a web server, and in a lake. Needs extensions of DuckDB."""

import importlib.util
import re
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import duckdb
import pytest
from engines.servers import absent
from support.nearly import nearly

import nbsql
from nbsql.rendering.renderer import macro_path

INBOX = """CREATE TABLE {} AS FROM (VALUES
    (1, 'ham', 'lunch on friday?', 1, FALSE), (2, 'ham', 'minutes of the meeting', 3, TRUE),
    (3, 'ham', 'your invoice for may', 2, TRUE), (4, 'spam', 'you won a free prize', 9, FALSE),
    (5, 'spam', 'free pills, claim your prize', 12, TRUE)) AS t(id, label, message, links, attachment)"""
OPTIONS = {"target": "label", "id": "id", "families": {"message": nbsql.Text()}}


def extended(name):
    """A connection with an extension: one that is installed, or of the package duckdb-extension-<name> of this DuckDB."""
    con = duckdb.connect()
    path = name
    found = importlib.util.find_spec(f"duckdb_extension_{name}")
    if found is not None and found.origin is not None:
        file = Path(found.origin).parent / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
        path = file if file.exists() else name
    try:
        con.load_extension(str(path))
    except duckdb.Error:
        con.close()
        package = f"duckdb-extension-{name.replace('_', '-')}"
        why = f"DuckDB {duckdb.__version__} has no extension {name} here: pip install {package}, if it has one"
        if duckdb.__version__.startswith("1."):  # for which there are packages
            absent(why)
        pytest.skip(why)
    return con


class Files(SimpleHTTPRequestHandler):
    """The files of a folder, and parts of them, as a DuckDB asks for them."""

    protocol_version = "HTTP/1.1"
    length = 0

    def log_message(self, *arguments):
        pass

    def send_head(self):
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return None
        size = path.stat().st_size
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        first, last = (int(asked[1]), min(int(asked[2] or size), size - 1)) if asked else (0, size - 1)
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.length = last - first + 1
        self.send_header("Content-Length", str(self.length))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Last-Modified", self.date_time_string(int(path.stat().st_mtime)))
        self.end_headers()
        file = path.open("rb")
        file.seek(first)
        return file

    def copyfile(self, source, outputfile):
        outputfile.write(source.read(self.length))


@pytest.fixture
def web(tmp_path):
    """The address of a server of the files in the folder of the test, on the loopback."""

    class Here(Files):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, directory=str(tmp_path), **options)

    with ThreadingHTTPServer(("127.0.0.1", 0), Here) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_model_behind_a_web_server_predicts_and_does_not_change(web, tmp_path):
    con = extended("httpfs")
    with duckdb.connect(str(tmp_path / "team.duckdb")) as team:
        team.execute(INBOX.format("inbox"))
        model = nbsql.fit(team, "inbox", name="spam", **OPTIONS)
        expected = {"predict": model.predict("inbox").fetchall(), "explain": model.explain("inbox").fetchall()}
    with con:
        con.execute(INBOX.format("inbox"))
        con.execute(f"ATTACH '{web}/team.duckdb' AS team (READ_ONLY)")
        for verb, rows in expected.items():
            assert con.execute(f"FROM team.spam.{verb}('inbox', database := 'team')").fetchall() == rows
        assert nbsql.models(con, database="team") == ["spam"]
        far = nbsql.load(con, "spam", database="team")
        assert far.predict("inbox").fetchall() == expected["predict"]
        assert far.evaluate("inbox").accuracy == 1
        with pytest.raises(nbsql.DatabaseError, match=r"^database 'team' is open read-only; open it for writing$"):
            far.update("inbox")
        nbsql.merge(con, [far], name="own").update("inbox")  # a copy of one's own learns


@pytest.fixture
def lake(tmp_path):
    with extended("ducklake") as con:
        con.execute(f"ATTACH 'ducklake:{tmp_path / 'lake.ducklake'}' AS lake (DATA_PATH '{tmp_path / 'files'}')")
        con.execute(INBOX.format("lake.inbox"))
        yield con


@pytest.mark.slow
def test_rows_in_a_lake_are_fitted_and_scored(lake):
    lake.execute("CREATE TABLE inbox AS FROM lake.inbox")
    expected = nbsql.fit(lake, "inbox", name="here", **OPTIONS).predict("inbox").fetchall()
    model = nbsql.fit(lake, "lake.main.inbox", name="spam", **OPTIONS)
    model.predict("lake.main.inbox").create_table("lake.main.sorted_mail")
    for source in ("spam.predict('lake.main.inbox')", "lake.sorted_mail"):
        for row, other in zip(lake.execute(f"FROM {source}").fetchall(), expected, strict=True):
            assert row == (*other[:-1], pytest.approx(other[-1], abs=1e-12))


@pytest.mark.slow
def test_counts_in_a_lake_are_a_model(lake):
    lake.execute((macro_path() / "ad_hoc.sql").read_text(encoding="utf-8"))
    counted = "FROM naive_bayes('lake.main.inbox', 'label', texts := ['message'], keys := ['id'])"
    lake.execute(f"CREATE TABLE lake.counts AS {counted}")
    said = lake.execute("FROM naive_bayes_predict('lake.main.counts', 'lake.main.inbox')").fetchall()
    model = nbsql.from_statistics(lake, "lake.main.counts", target="label", id="id", name="spam")
    for row, other in zip(said, model.predict("lake.main.inbox").fetchall(), strict=True):
        assert row[:-1] == other[:-1]
        assert row[-1] == pytest.approx(other[-1], abs=1e-12)
    model.update("lake.main.inbox")


@pytest.mark.slow
@pytest.mark.parametrize("current", ["memory", "lake"])
def test_a_model_in_a_lake_is_one_in_a_file(lake, current):
    lake.execute(INBOX.format("memory.main.inbox"))
    lake.execute(f"USE {current}")
    answers = []
    for database in ("memory", "lake"):
        model = nbsql.fit(lake, "memory.main.inbox", name="spam", database=database, replace=True, **OPTIONS)
        model.update("SELECT * FROM memory.main.inbox WHERE id < 4", batch="more")
        model.update("memory.main.inbox", batch="again")
        model.forget(batch="again")
        model.calibrate("memory.main.inbox", folds=None)
        model = nbsql.load(lake, "spam", database=database)
        macros = [
            f"FROM {database}.spam.{verb}('memory.main.inbox', database := '{database}')" for verb in ("predict", "reasons")
        ]
        answers.append([[*row] for row in [*model.explain("memory.main.inbox").fetchall(), *model.priors.fetchall()]])
        answers[-1] += [[*row] for macro in macros for row in lake.execute(macro).fetchall()]
    assert answers[0] == nearly(answers[1], rel=1e-9)
    both = [nbsql.load(lake, "spam", database=database) for database in ("memory", "lake")]
    merged = nbsql.merge(lake, both, name="both", database="lake")
    assert merged.priors.fetchall()[0][:2] == ("ham", 12)
    merged.drop()
    assert nbsql.models(lake, database="lake") == ["spam"]


@pytest.mark.slow
def test_a_lake_answers_only_where_its_texts_are_compared_by_their_bytes(lake):
    line = "a DuckLake stores no collations, so that this session's default_collation would decide which texts .* are equal"
    model = nbsql.fit(lake, "lake.main.inbox", name="spam", database="lake", **OPTIONS)
    lake.execute("SET default_collation = 'nocase'")
    for refused in (
        lambda: nbsql.load(lake, "spam", database="lake"), lambda: model.predict("lake.main.inbox").fetchall(),
        lambda: model.update("lake.main.inbox"), lambda: lake.execute("FROM lake.spam.priors").fetchall(),
        lambda: lake.execute("FROM lake.spam.reasons('lake.main.inbox')").fetchall(),
        lambda: nbsql.fit(lake, "lake.main.inbox", name="other", database="lake", **OPTIONS),
    ):  # fmt: skip
        with pytest.raises((nbsql.DatabaseError, duckdb.Error), match=line + ": RESET default_collation"):
            refused()
    nbsql.fit(lake, "lake.main.inbox", name="other", **OPTIONS).update("lake.main.inbox")  # a file stores collations
    lake.execute("RESET default_collation")
    with pytest.raises(nbsql.DatabaseError, match="row_id"):
        model.explain("lake.main.inbox").create_table("lake.main.why")


@pytest.mark.slow
@pytest.mark.parametrize("current", ["memory", "lite"])
def test_rows_in_a_database_of_sqlite_are_read_and_written_and_models_of_them_live_elsewhere(tmp_path, current):
    with extended("sqlite_scanner") as con:
        con.execute(f"ATTACH '{tmp_path / 'shop.sqlite'}' AS lite (TYPE sqlite)")
        con.execute(INBOX.format("lite.inbox"))
        con.execute(f"USE {current}")
        model = nbsql.fit(con, "lite.inbox", name="spam", database="memory", **OPTIONS)
        model.predict("lite.inbox").create_table("lite.scored")
        expected = [row[0] for row in model.predict("lite.main.inbox").fetchall()]
        assert con.execute("SELECT id FROM lite.scored ORDER BY id").fetchall() == [(each,) for each in sorted(expected)]
        nbsql.fit(con, "lite.inbox", **OPTIONS).update("lite.inbox")  # its tables are temporary
        line = "'lite' is attached from sqlite, where DuckDB keeps no macros, and so no model; name a database of DuckDB's"
        for refused in (
            lambda: nbsql.fit(con, "lite.inbox", name="other", database="lite", **OPTIONS),
            lambda: nbsql.merge(con, [model], name="other", database="lite"),
        ):
            with pytest.raises(nbsql.NotSupportedError, match=line):
                refused()
        with pytest.raises(nbsql.DatabaseError, match="takes no view of DuckDB's; create_table makes a table there"):
            model.predict("lite.inbox").create_view("lite.view_of_it")


def test_a_model_that_postgresql_made_is_not_said_to_be_damaged(monkeypatch):
    with duckdb.connect() as con:
        con.execute(INBOX.format("inbox"))
        nbsql.fit(con, "inbox", name="spam", **OPTIONS)
        con.execute("DROP MACRO TABLE spam.predict")
        monkeypatch.setattr(nbsql.engines.duckdb.engine.DuckDB, "_type", lambda *_: "postgres")
        for refused in (lambda: nbsql.load(con, "spam"), lambda: nbsql.drop(con, "spam")):
            with pytest.raises(nbsql.NotSupportedError, match=r"keeps no macros.*; or connect to it as 'postgresql://\.\.\.'"):
                refused()
