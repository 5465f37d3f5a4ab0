"""What all tests share: a database and what is in it, the two forms of scoring, and the folder of the real data."""

import gc
import os
import signal
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from hypothesis import settings
from support.elsewhere import opened
from support.marks import ELSEWHERE, FORMS, mark
from support.ordering import last_digits, steady_sorted
from support.summary import Summary

from nbsql.evaluation import hopeless
from nbsql.learning import look
from nbsql.rendering.renderer import Renderer


def pytest_runtest_setup(item):
    """Let fits look at the values of columns only where a test is of that, or of what users see."""
    least = (100, 20, 20, 50) if item.get_closest_marker("look") else [10**12] * 4
    look.MIN_VALUES, look.MIN_FLAGS, look.MIN_KEYS, hopeless.MIN_ROWS = least


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write the files of tests/golden anew")
    parser.addoption("--seconds", metavar="FILE", help="write what processors spent on each file and each test, most first")


def _interrupt(number, frame):
    raise KeyboardInterrupt


def pytest_configure(config):
    # By day the examples are the same in each run, and by night others. No test asserts wall-clock time.
    settings.register_profile("day", deadline=None, derandomize=True, max_examples=30)
    settings.register_profile("night", deadline=None, max_examples=100)
    settings.load_profile("day" if config.option.markexpr else "night")
    # What a script runs in the background ignores Ctrl-C, and so would the processes that tests start, to interrupt them. With
    # Python's own handler, each statement would start a thread that waits for it, here as it does in them.
    signal.signal(signal.SIGINT, _interrupt)
    # Plans and rendered texts are many small pieces: glibc is to keep those that are given back, in the workers and programs
    # that start from here on, and Python is to look through them for garbage less often. Together that saves a twentieth.
    os.environ.setdefault("GLIBC_TUNABLES", "glibc.malloc.tcache_count=2000")
    gc.set_threshold(20_000)
    config.pluginmanager.register(Summary(config))


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads which tests are to share a worker
def pytest_collection_modifyitems(items):
    mark(items)
    # No test sorts by the last digit of a float.
    for module in {item.module for item in items if isinstance(item, pytest.Function)}:
        module.sorted = steady_sorted


def pytest_collection_finish():
    """What is there by now stays: to look through it for garbage takes a tenth of what many a file of tests does."""
    gc.collect()
    gc.freeze()


def pytest_assertrepr_compare(op, left, right):
    if op == "==" and last_digits(left, right):
        return [f"{left!r} == {right!r}", "only the last digits of floats differ: use pytest.approx or assert_same_rows"]
    return None


@pytest.fixture(scope="module")
def instance():
    """DuckDB itself, which takes as long to start as many a statement. It has one thread, as to wake others costs more than a
    few rows. Settings that are not of a session are those of all tests of a file.
    """
    settings = "SELECT name, value FROM duckdb_settings() WHERE scope = 'GLOBAL'"
    with duckdb.connect(config={"threads": 1}) as connection:
        before = connection.execute(settings).fetchall()
        yield connection
        assert connection.execute(settings).fetchall() == before, "a test has changed a setting; reset it"


@pytest.fixture
def con(instance):
    """A fresh database in memory, and a session."""
    with instance.cursor() as renewing:
        others = "SELECT database_name FROM duckdb_databases() WHERE NOT internal AND database_name <> 'memory'"
        for (name,) in renewing.execute(others).fetchall():
            renewing.execute('DETACH "{}"'.format(name.replace('"', '""')))
        renewing.execute("ATTACH ':memory:' AS spare; USE spare; DETACH memory")
        renewing.execute("ATTACH ':memory:' AS memory; USE memory; DETACH spare")
    with instance.cursor() as session:
        yield session


@pytest.fixture
def state(con):
    """Every schema, table and view there is, temporary ones too, with the rows of the tables; and the macros of models."""
    relations = """SELECT if(internal, 'own schema', 'schema'), database_name, schema_name, '', 0 FROM duckdb_schemas()
        UNION ALL SELECT 'table', database_name, schema_name, table_name, estimated_size FROM duckdb_tables()
        UNION ALL SELECT 'view', database_name, schema_name, view_name, 0 FROM duckdb_views() WHERE NOT internal"""
    macros = "SELECT 'macro', database_name, schema_name, function_name, 0 FROM duckdb_functions() WHERE NOT internal"

    def read():
        found = con.execute(relations).fetchall()
        if any(row[0] == "schema" for row in found):  # of a model, say, which has macros: to list them takes 14 ms
            found += con.execute(macros).fetchall()
        return sorted(found)

    return read


@pytest.fixture
def refused(con, state):
    """A block that must raise this very line, and leave the database, and the caller's transaction, as they were."""

    @contextmanager
    def block(kind, message):
        con.execute("BEGIN")
        con.execute("CREATE TABLE canary AS SELECT 1 AS alive")
        before = state()
        with pytest.raises(kind) as caught:
            yield
        assert str(caught.value) == message
        assert "\n" not in message
        assert state() == before
        con.execute("COMMIT")
        con.execute("DROP TABLE canary")

    return block


@pytest.fixture(scope="session")
def data():
    """The folder of the real data sets, which do not all ship with the project."""
    folder = os.environ.get("NBSQL_DATA")
    if folder is None:
        reason = "set NBSQL_DATA to the folder of the data sets to run the tests on real data"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    path = Path(folder)
    assert path.is_dir(), f"NBSQL_DATA is no folder: {folder}"
    return path


@pytest.fixture
def layout(monkeypatch):
    """Gives every model sizes of nbsql/rendering/layout.py."""
    return lambda **sizes: monkeypatch.setattr(Renderer, "layout", replace(Renderer.layout, **sizes))


@pytest.fixture(params=FORMS)
def form(request, layout):
    """Fit and score in each of the forms in turn."""
    layout(**FORMS[request.param])
    return str(request.param)


@pytest.fixture
def likelihood():
    """P(value | class) of a feature, as the relation `likelihoods` has it."""

    def read(model, label, feature, value):
        rows = [row[3] for row in model.likelihoods if row[:3] == (label, feature, value)]
        assert len(rows) == 1, f"{len(rows)} likelihoods of {feature} = {value} in class {label}"
        return float(rows[0])

    return read


@pytest.fixture
def joint():
    """ln p(x, c) by class, a dictionary a row."""

    def score(model, source):
        rows = model.joint_log_likelihood(source).fetchall()
        labels = sorted(model.classes)
        return [dict(zip(labels, row[-len(labels) :], strict=True)) for row in rows]

    return score


@pytest.fixture(scope="module", params=ELSEWHERE)
def elsewhere(request, tmp_path_factory):
    """Each engine that runs what is written for others, in turn."""
    engine = opened(request.param, tmp_path_factory.mktemp("elsewhere"))
    yield engine
    engine.close()
