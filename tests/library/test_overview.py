"""What a model says of itself, and who holds a file that is locked."""

import os
import subprocess
import sys

import duckdb
import pytest
from click.testing import CliRunner

import nbsql
from nbsql.cli import main


@pytest.fixture
def path(tmp_path):
    file = str(tmp_path / "shop.duckdb")
    with duckdb.connect(file) as con:
        con.execute(
            """CREATE TABLE inbox AS
            SELECT i, 'word ' || i % 9 AS said, i % 4 AS links, i % 3 = 0 AS y FROM range(50) AS t(i)"""
        )
        families = {"said": nbsql.Text(stop_words="english"), "links": "poisson"}
        model = nbsql.fit(con, "inbox", target="y", name="spam", id="i", families=families)
        model.update("FROM inbox WHERE i < 10")
    return file


@pytest.mark.slow
def test_the_repr_of_a_model_says_rows_database_features_and_families(con, path):
    with nbsql.load(path, "spam") as model:
        assert repr(model) == "<nbsql model 'spam' in 'shop': 'y' of 2 classes from 60 rows, by said text, links poisson>"
    assert repr(model) == "<nbsql model 'spam', which cannot be read: 'y' of 2 classes, by said text, links poisson>"
    columns = {f"x{number}": [1.5, 2.5, 4.0] for number in range(12)}
    model = nbsql.fit(con, {**columns, "y": [True, False, False]}, target="y")
    shown = repr(model)
    assert shown.startswith("<nbsql transient model in 'memory': 'y' of 2 classes from 3 rows, by x0 gaussian, x1 gaussian, ")
    assert shown.endswith(", x7 gaussian, 4 more>")
    given = nbsql.from_tables(con, priors={"a": 0.5, "b": 0.5}, likelihoods={"a": {"f": {"u": 1}}, "b": {"f": {"u": 1}}})
    assert repr(given) == "<nbsql transient model in 'memory': 'class' of 2 classes, by f categorical>"
    given.show()


def test_show_prints_what_the_command_line_shows(path, capsys):
    with nbsql.load(path, "spam") as model:
        model.show()
    shown = capsys.readouterr().out
    printed = CliRunner().invoke(main, ["show", path, "spam"]).output
    assert shown.splitlines()[0] == "model spam in shop: predicts y from 2 features"
    assert printed.splitlines()[0] == f"model spam in {path}: predicts y from 2 features"
    assert shown.splitlines()[1:] == printed.splitlines()[1:]
    assert "stop_words=english" in shown
    assert "update: 10 rows of the query, " in shown


@pytest.mark.slow
def test_a_locked_file_names_the_program_and_the_process_that_hold_it(path):
    script = f"import duckdb; con = duckdb.connect({path!r}); print('ready', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(nbsql.DatabaseError) as caught:
            nbsql.load(path, "spam")
        process.communicate("\n")
    program = os.path.realpath(sys.executable)
    message, cure = str(caught.value), "close it there first, or open it read-only in both"
    if "(PID " in str(caught.value.__cause__):
        assert message == f"{path!r} is locked by {program} (PID {process.pid}); {cure}"
    else:
        assert message == f"{path!r} is locked by another process; {cure}"


@pytest.mark.slow
def test_a_file_that_is_read_elsewhere_may_be_read_here_too(path):
    script = f"import duckdb; con = duckdb.connect({path!r}, read_only=True); print('ready', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(nbsql.DatabaseError, match=r"; close it there first, or open it read-only, as there$"):
            nbsql.load(path, "spam")
        with duckdb.connect(path, read_only=True) as con:
            assert nbsql.load(con, "spam").classes
            message = f"this process has {path!r} open with other settings; pass that connection instead of the path"
            with pytest.raises(nbsql.DatabaseError) as caught:
                nbsql.load(path, "spam")
            assert str(caught.value) == message
        process.communicate("\n")
