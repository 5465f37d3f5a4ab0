"""Database files that nbsql makes: which programs open them, when they are made, and when they are taken away."""

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import nbsql
from nbsql.errors import DatabaseError, InputError, ModelError

ROOT = Path(__file__).parents[2]
DAYS = "SELECT 'sun' AS sky, 'yes' AS play UNION ALL SELECT 'rain', 'no'"
GIVEN = "SELECT unnest(['yes', 'no']) AS class, 'guests' AS feature, unnest([4, 1.5]) AS rate"
OLDEST = 67  # of DuckDB 1.4, the oldest that reads texts with NULL as newer ones write them


def storage_version(path):
    """The number after the magic bytes at the head of the file."""
    head = Path(path).read_bytes()[:20]
    assert head[8:12] == b"DUCK"
    return int.from_bytes(head[12:20], "little")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(command):
    """A line of a shell, where `nbsql` is the tree's."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    line = f'nbsql() {{ "{sys.executable}" -m nbsql "$@"; }}; {command}'
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=environment, check=False)  # noqa: S607


MAKERS = {
    "fit": f'nbsql fit new.duckdb "{DAYS}" --target play --name golf',
    "import": "nbsql import new.duckdb model.parquet --name golf",
    "from-tables": f'nbsql from-tables new.duckdb "SELECT \'yes\' AS class, 1 AS prior" "{GIVEN} LIMIT 1" --name golf',
}


@pytest.mark.slow
@pytest.mark.forms("verb")
@pytest.mark.parametrize("verb", MAKERS)
def test_a_closed_pipe_does_not_undo_what_a_command_has_done(con, verb):
    nbsql.fit(con, DAYS, target="play").export("model.parquet")
    # Nobody reads from the pipe by the time that the command prints.
    result = shell(f"set -o pipefail; {MAKERS[verb]} | true")
    assert "rror" not in result.stderr
    assert nbsql.models("new.duckdb") == ["golf"]
    assert storage_version("new.duckdb") == OLDEST


@pytest.mark.slow
def test_a_closed_pipe_does_not_take_the_demo_away():
    assert "rror" not in shell("nbsql demo --database flights.duckdb | head -2").stderr
    with duckdb.connect("flights.duckdb") as con:
        assert con.execute("SELECT count(*) > 1000 FROM punctuality.predict('held_back')").fetchall() == [(True,)]
    assert storage_version("flights.duckdb") == OLDEST


@pytest.mark.slow
def test_a_command_that_fails_leaves_no_file():
    assert shell(f'nbsql fit new.duckdb "{DAYS}" --target nothing --name golf').returncode == 1
    assert not Path("new.duckdb").exists()


def test_a_new_file_of_python_is_opened_by_older_programs_and_by_other_connections():
    with nbsql.fit("new.duckdb", DAYS, target="play", name="golf") as model:
        with duckdb.connect("new.duckdb") as con:  # of other settings than were asked for when the file was made
            assert con.execute("FROM golf.priors").fetchall()
        assert model.classes
    assert storage_version("new.duckdb") == OLDEST
    with duckdb.connect("theirs.duckdb") as con:
        con.execute("CREATE TABLE t AS SELECT 1 AS x")
    before = storage_version("theirs.duckdb")
    nbsql.fit("theirs.duckdb", DAYS, target="play", name="golf").close()
    assert storage_version("theirs.duckdb") == before  # a file of the user's stays as it is


READERS = {
    "load": lambda path: nbsql.load(path, "golf"),
    "models": nbsql.models,
    "families": lambda path: nbsql.families(path, DAYS, target="play"),
    "fit_sql": lambda path: nbsql.fit_sql(path, DAYS, target="play"),
    "cross_validate": lambda path: nbsql.cross_validate(path, DAYS, target="play"),
    "sweep": lambda path: nbsql.sweep(path, DAYS, target="play", alpha=[0, 1]),
    "merge": lambda path: nbsql.merge(path, ["golf", "tennis"]),
    "from_statistics": lambda path: nbsql.from_statistics(path, DAYS, like="golf"),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("path", ["gulf.duckdb", Path("gulf.duckdb")])
def test_reading_a_path_that_is_not_there_makes_no_file(name, path, folder):
    with pytest.raises(DatabaseError) as caught:
        READERS[name](path)
    assert str(caught.value) == "no database 'gulf.duckdb'"
    duckdb.connect("golf.duckdb").close()
    with pytest.raises(DatabaseError) as caught:
        READERS[name](path)
    assert str(caught.value) == "no database 'gulf.duckdb'; did you mean 'golf.duckdb'?"
    assert os.listdir(folder) == ["golf.duckdb"]  # noqa: PTH208


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        (InputError, lambda: nbsql.fit("new.duckdb", "inbox", target="label", name="m")),
        (InputError, lambda: nbsql.from_tables("new.duckdb", priors={}, name="m")),
        (InputError, lambda: nbsql.import_("new.duckdb", "nothing.parquet", name="m")),
        (ModelError, lambda: nbsql.fit("new.duckdb", DAYS, target="play", name="new")),
    ],
)
def test_what_fails_in_a_new_file_leaves_none(kind, make, folder):
    with pytest.raises(kind):
        make()
    assert os.listdir(folder) == []  # noqa: PTH208


VERBS = [
    "predict gulf.duckdb m t", "evaluate gulf.duckdb m t", "cross-validate gulf.duckdb t --target y",
    "sweep gulf.duckdb t --target y", "sweep gulf.duckdb t --target y --name m", "calibrate gulf.duckdb m t",
    "explain gulf.duckdb m t", "update gulf.duckdb m t", "forget gulf.duckdb m t", "rollback gulf.duckdb m 1",
    "compact gulf.duckdb m", "merge gulf.duckdb a b --name c", "export gulf.duckdb m m.parquet", "show gulf.duckdb m",
    "list gulf.duckdb", "relevance gulf.duckdb m", "linear gulf.duckdb m", "sample gulf.duckdb m 3",
    "log-likelihood gulf.duckdb m t", "sql gulf.duckdb predict m t", "drop gulf.duckdb m --yes",
]  # fmt: skip


@pytest.mark.parametrize("verb", VERBS)
def test_commands_that_read_make_no_file(verb, folder):
    from click.testing import CliRunner

    from nbsql.cli import main

    result = CliRunner().invoke(main, verb.split())
    assert (result.exit_code, result.stderr) == (1, "error: no database 'gulf.duckdb'\n"), result.output
    assert os.listdir(folder) == []  # noqa: PTH208


@pytest.mark.parametrize(
    ("reads", "line"),
    [
        (True, "you may only read it; ask for the right to write it, or in Python pass a connection that is read_only"),
        (False, "you have no right to; ask its owner for it"),
    ],
)
def test_a_file_that_may_not_be_written(monkeypatch, reads, line):
    """Root, as which these tests may run, has every right."""

    def refused(path, **_):
        raise duckdb.IOException(f'IO Error: Cannot open file "{path}": Permission denied')

    duckdb.connect("theirs.duckdb").close()
    monkeypatch.setattr(duckdb, "connect", refused)
    monkeypatch.setattr(os, "access", lambda _, mode: reads or mode == os.F_OK)
    with pytest.raises(DatabaseError, match=f"^cannot open 'theirs.duckdb': {line}$"):
        nbsql.models("theirs.duckdb")


def test_a_new_file_that_a_full_disk_cuts_off_is_deleted(monkeypatch):
    def cut_off(path, **_):
        Path(path).write_bytes(b"half")
        raise duckdb.IOException(f'IO Error: Could not write file "{path}": No space left on device')

    monkeypatch.setattr(duckdb, "connect", cut_off)
    with pytest.raises(DatabaseError, match="No space left on device"):
        nbsql.fit("new.duckdb", [{"a": 1, "y": "u"}], target="y")
    assert not Path("new.duckdb").exists()
