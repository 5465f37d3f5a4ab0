"""What somebody may know of the statements that are sent: their names, as they begin, and their seconds, in the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

LOGGER = logging.getLogger("nbsql")
LOGGER.addHandler(logging.NullHandler())
_watchers: ContextVar[tuple[Callable[[str], object], ...]] = ContextVar("watchers", default=())


@contextmanager
def timed(engine: str, name: str) -> Iterator[None]:
    """A statement that is sent within, as a line of the log at DEBUG: its name and its seconds, and nothing of its text."""
    if not LOGGER.isEnabledFor(logging.DEBUG):
        yield
        return
    began, failed = time.perf_counter(), ", failed"
    try:
        yield
        failed = ""
    finally:
        seconds = time.perf_counter() - began
        more = {"engine": engine, "statement": name, "seconds": seconds}
        LOGGER.debug("%s: %s, %.6f s%s", engine, name, seconds, failed, extra=more)


def announce(name: str) -> None:
    """Tell those who watch which step begins."""
    for watcher in _watchers.get():
        watcher(name)


@contextmanager
def watch(progress: Callable[[str], object]) -> Iterator[None]:
    """Within, `progress` is called with the name of each step before it runs, on every engine and in every verb.

    A step is a statement that makes or changes something, "statistics" say, or "judge fold 3"; what a verb asks the catalogue
    is none. The names are nbsql's own, with those of relations, columns and batches in them. What `progress` raises stops the
    verb, and leaves the database as it was.

    Args:
        progress: a function of the name. It is called in the thread of the verb, and what other threads do is not told.

    >>> import duckdb, nbsql
    >>> steps = []
    >>> with watch(steps.append):
    ...     _ = nbsql.fit(duckdb.connect(), [{"sky": "rain", "wet": True}, {"sky": "sun", "wet": False}], target="wet")
    >>> "statistics" in steps
    True
    """
    token = _watchers.set((*_watchers.get(), progress))
    try:
        yield
    finally:
        _watchers.reset(token)
