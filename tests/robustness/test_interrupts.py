"""Ctrl-C in a script: KeyboardInterrupt at once, nothing half-written, and a connection to go on with."""

import gc
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest
from support.program import wait_for_work

import nbsql
from nbsql.engines.duckdb.engine import DuckDB
from nbsql.engines.turn import turn_of
from nbsql.engines.watch import interruptible

SCRIPT = """
import sys, duckdb, nbsql
con = duckdb.connect(sys.argv[1])
con.execute("SET enable_progress_bar = false")
con.execute('''CREATE TABLE t AS SELECT hash(i) % 2 = 0 AS y, hash(i * 3) % 1000 / 7.0 AS x, hash(i * 5) % 1000 / 3.0 AS z
    FROM range(200000) AS t(i)''')
model = nbsql.fit(con, "t", target="y", name="before")
many = "SELECT t.* FROM t JOIN range(30000) ON TRUE"
found = "it went through"
print("ready", flush=True)
try:
    ACT
except Exception as error:
    found = f"an Exception: {error!r}"
except KeyboardInterrupt:
    found = "KeyboardInterrupt"
left = con.execute("SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema <> 'before'").fetchall()
print(found, nbsql.models(con), left, len(model.predict("t").limit(3).fetchall()))
"""
ACTS = {
    "fit": "nbsql.fit(con, many, target='y', name='during')",
    "replace": "nbsql.fit(con, many, target='y', name='before', replace=True)",
    "logistic": "nbsql.fit(con, many, target='y', name='during', method='logistic')",
    "update": "model.update(many)",
    "evaluate": "model.evaluate(many)",
    "create_table": "model.predict(many).create_table('scored')",
    "fetchall": "model.predict(many).fetchall()",
    "cross_validate": "nbsql.cross_validate(con, many, target='y')",
}


@pytest.mark.slow
@pytest.mark.forms("act")
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells what a process has spent")
@pytest.mark.parametrize("act", ACTS)
def test_an_interrupt_is_a_keyboard_interrupt_and_leaves_nothing(tmp_path, act):
    script = [sys.executable, "-c", SCRIPT.replace("ACT", ACTS[act]), str(tmp_path / "a.duckdb")]
    with subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        wait_for_work(process, 0.5)
        process.send_signal(signal.SIGINT)
        try:
            said, _ = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert said == "KeyboardInterrupt ['before'] [('main', 't')] 3\n"


def test_an_inner_wait_that_ends_after_the_outer_one(monkeypatch):
    failed = []
    monkeypatch.setattr(sys, "unraisablehook", failed.append)
    handler, before = signal.signal(signal.SIGINT, signal.default_int_handler), signal.set_wakeup_fd(-1)
    try:
        with interruptible(lambda: None):
            inner = interruptible(lambda: None)
            inner.__enter__()
        del inner  # which KeyboardInterrupt has kept from its __exit__
        gc.collect()
        assert failed == []
    finally:
        signal.signal(signal.SIGINT, handler)
        assert signal.set_wakeup_fd(before) == -1


def test_a_wait_that_an_interrupt_kept_from_its_end_does_no_harm_to_the_next():
    """Where a closed socket was left behind, its number became that of the next, which woke itself for ever."""
    handler, before = signal.signal(signal.SIGINT, signal.default_int_handler), signal.set_wakeup_fd(-1)
    stopped, came = [], threading.Event()
    try:
        with interruptible(lambda: None):
            mine = signal.set_wakeup_fd(-1)
        signal.set_wakeup_fd(mine)  # as if KeyboardInterrupt had come just before it is set back
        with interruptible(lambda: (stopped.append(1), came.set())):
            with suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            assert came.wait(60)
        assert stopped == [1]
    finally:
        signal.signal(signal.SIGINT, handler)
        assert signal.set_wakeup_fd(before) == -1


class Late:
    """A connection whose first rollback meets the interrupt that ended the work before it: else a matter of microseconds."""

    def __init__(self, connection):
        self.connection, self.rollbacks = connection, 0

    def __getattr__(self, name):
        return getattr(self.connection, name)

    def rollback(self):
        self.rollbacks += 1
        if self.rollbacks == 1:
            raise duckdb.InterruptException("INTERRUPT Error: Interrupted!")
        self.connection.rollback()


def _interrupted(engine):
    with engine.transaction():
        engine.connection.execute("CREATE TABLE half AS SELECT 1")
        raise KeyboardInterrupt


def test_an_interrupt_that_comes_late_leaves_no_transaction_open():
    with duckdb.connect() as con:
        engine = DuckDB(con)
        engine.connection = late = Late(con)
        with pytest.raises(KeyboardInterrupt):
            _interrupted(engine)
        assert late.rollbacks == 2
        assert con.execute("SELECT table_name FROM duckdb_tables()").fetchall() == []
        con.begin()  # as none is open
        con.rollback()


class Interrupted:
    """A connection where Ctrl-C comes as soon as a method has run, or just before it."""

    def __init__(self, connection, method, *, runs):
        self.connection, self.method, self.runs = connection, method, runs

    def __getattr__(self, name):
        return self._interrupted if name == self.method else getattr(self.connection, name)

    def _interrupted(self):
        if self.runs:
            getattr(self.connection, self.method)()
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(("method", "runs", "tables"), [("begin", True, 0), ("commit", False, 0), ("commit", True, 1)])
def test_an_interrupt_as_a_transaction_begins_or_ends_leaves_none_open(method, runs, tables):
    """What the user wrote next would be part of it, and lost with the process."""
    with duckdb.connect() as con:
        engine = DuckDB(con)
        engine.connection = Interrupted(con, method, runs=runs)
        with pytest.raises(KeyboardInterrupt), engine.transaction():
            con.execute("CREATE TABLE whole AS SELECT 1")
        assert len(con.execute("SELECT table_name FROM duckdb_tables()").fetchall()) == tables
        con.begin()  # as none is open
        con.rollback()


class TooLateError(Exception):
    """What a limit of time raises, as that of a scheduler or of a pool of workers does."""


def raise_too_late(*_):
    raise TooLateError("its time is over")


@pytest.mark.parametrize("ctrl_c", [signal.default_int_handler, signal.SIG_IGN])  # a worker of a pool often ignores it
def test_what_the_handler_of_another_signal_raises_arrives_as_it_is(con, ctrl_c):
    """DuckDB says "Query interrupted" whatever a handler raises, which was taken for Ctrl-C, that ends a process."""
    con.execute("CREATE TABLE t AS SELECT i % 2 AS y, hash(i) % 7 AS x FROM range(1000) AS r(i)")
    model = nbsql.fit(con, "t", target="y", name="before")
    many = "SELECT t.* FROM t JOIN range(3000000) ON TRUE"
    acts = [
        lambda: nbsql.fit(con, many, target="y"),
        lambda: model.predict(many).create_table("scored"),
        lambda: model.evaluate(many),
        lambda: [model.predict_one({"x": 1}) for _ in range(1_000_000)],
    ]
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGUSR1)}
    try:
        signal.signal(signal.SIGINT, ctrl_c)
        signal.signal(signal.SIGUSR1, raise_too_late)
        for act in acts:
            timer = threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGUSR1])
            timer.start()
            with pytest.raises(TooLateError, match="its time is over"):
                act()
            timer.join()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert nbsql.models(con) == ["before"]
    assert model.predict_one({"x": 1})["prediction"] in (0, 1)


@pytest.mark.parametrize("form", ["rows", "named_rows", "df", "arrow", "pl"])
def test_an_interrupt_gives_the_turn_back_while_its_traceback_is_kept(con, form):
    """As a notebook does: KeyboardInterrupt came before the first line of an __exit__, and other threads waited for ever."""
    engine, turns = DuckDB(con), []
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
    try:
        with pytest.raises(KeyboardInterrupt) as kept, engine.supervised("query"), engine.errors():
            getattr(engine, form)("SELECT sum(hash(a.range * b.range)) AS n FROM range(1000000) AS a, range(1000000) AS b")
    finally:
        signal.signal(signal.SIGINT, handler)
    other = threading.Thread(target=lambda: turns.append(turn_of(con)._lock.acquire(blocking=False)))
    other.start()
    other.join()
    assert turns == [True]
    assert kept.tb is not None
