"""A limit of time by a signal while PostgreSQL works: what its handler raises arrives, and the connection goes on."""

import os
import signal
import threading

import pytest

import nbsql

pytestmark = pytest.mark.postgres


class TooLateError(Exception):
    """What a scheduler or a pool of workers raises."""


def raise_too_late(*_):
    raise TooLateError("its time is over")


@pytest.mark.parametrize("act", ["fit", "evaluate", "create_table"])
def test_a_statement_ends_with_a_limit_of_time_and_the_connection_goes_on(pg, act):
    """psycopg cancels after KeyboardInterrupt alone, so that the statement ran on and the connection refused the next."""
    pg.execute("CREATE TABLE t AS SELECT i % 2 AS y, i % 7 AS x FROM generate_series(1, 1000) AS r(i)")
    model = nbsql.fit(pg, "t", target="y", name="before")
    many = "SELECT t.* FROM t CROSS JOIN generate_series(1, 3000000)"
    acts = {
        "fit": lambda: nbsql.fit(pg, many, target="y", name="during"),
        "evaluate": lambda: model.evaluate(many),
        "create_table": lambda: model.predict(many).create_table("scored"),
    }
    handler = signal.signal(signal.SIGUSR1, raise_too_late)
    timer = threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGUSR1])
    try:
        timer.start()
        with pytest.raises(TooLateError, match="its time is over"):
            acts[act]()
        timer.join()
    finally:
        signal.signal(signal.SIGUSR1, handler)
    assert nbsql.models(pg) == ["before"]
    assert len(model.predict("t").limit(3).fetchall()) == 3
    found = pg.execute("SELECT count(*) FROM pg_class WHERE relname = 'scored'").fetchone()
    assert found == (0,)
