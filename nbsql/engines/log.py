"""Names and durations of the statements that are sent, for the log and for progress functions."""

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
    """Log the statement that is sent within, at DEBUG: its name and its duration, but not its text."""
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
    """Call the progress functions with the name of the step that begins."""
    for watcher in _watchers.get():
        watcher(name)


@contextmanager
def watch(progress: Callable[[str], object]) -> Iterator[None]:
    """A context in which `progress` is called with the name of each step before it runs, on every engine and in every verb.

    A step is a statement that creates or changes something, such as "statistics" or "judge fold 3"; queries of the catalogue
    are not steps. The names are nbsql's own and may contain names of relations, columns and batches. An exception from
    `progress` stops the verb and leaves the database unchanged.

    Args:
        progress: a function of the name. It is called in the thread of the verb, and verbs of other threads are not
            reported.

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
