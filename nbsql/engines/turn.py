"""Turns of threads on a connection, and leases: temporary tables that are dropped when nobody holds them any more."""

from __future__ import annotations

import gc
import os
import re
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

# Frees something on a connection; False if that must wait. The second argument says whether a statement of nbsql ran there just
# before, so that no result of the user's can be waiting to be read.
Release = Callable[[Any, bool], bool]

_turns: weakref.WeakKeyDictionary[Any, Turn] = weakref.WeakKeyDictionary()
_making = threading.Lock()
_TRANSIENT = re.compile(r"\bnbsql (\d+) ")  # the beginning of the name of a temporary table
_phases: dict[str, Any] = {"stop": None}  # of the garbage collector, the present one last
gc.callbacks += [_phases.pop, _phases.__setitem__]  # not Python code, in which a KeyboardInterrupt would be lost


class Turn:
    """The turn on one connection, as a context manager; the thread that has it may take it again.

    If two threads used the connection at once, they would read each other's rows and end each other's transactions.
    """

    in_callers_transaction = False  # whether a model was written in a transaction of the caller, which may still be open

    def __init__(self, connection: Any) -> None:
        self._connection = weakref.ref(connection)
        self._lock = threading.RLock()
        self._depth = 0
        self._process = os.getpid()
        self._released: deque[Release] = deque()

    @property
    def is_forked(self) -> bool:
        """Whether the connection is that of a process from which this one was forked."""
        return self._process != os.getpid()

    def __enter__(self) -> None:
        self._lock.acquire()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        try:
            if self._released and self._depth == 1:
                self.free(after_statement=True)
        finally:
            self._depth -= 1
            self._lock.release()

    def release(self, release: Release) -> None:
        """Free something that nobody holds: at once if nothing runs on the connection, or else at the end of a turn.

        Finalizers call this, in any thread and inside of any call. The garbage collector may run them inside of a call of the
        driver, whose connection must not be entered again; without it, Python code has just dropped the last reference.
        """
        self._released.append(release)
        if next(reversed(_phases)) == "start" or not self._lock.acquire(blocking=False):
            return
        self._depth += 1
        try:
            if self._depth == 1:
                self.free(after_statement=False)
        finally:
            self._depth -= 1
            self._lock.release()

    def free(self, *, after_statement: bool) -> None:
        """Free what was released, unless it must wait."""
        connection = self._connection()
        for release in [self._released.popleft() for _ in range(len(self._released))]:
            if connection is not None and not release(connection, after_statement):
                self._released.append(release)


def turn_of(connection: Any) -> Turn:
    """The turn on a connection, which all engines on it share."""
    with _making:
        turn = _turns.get(connection)
        if turn is None:
            turn = _turns[connection] = Turn(connection)
        return turn


class Lease:
    """The right to read temporary tables whose names begin with a prefix of `Engine.transient_name`.

    When the last holder of the lease is gone, `release` is passed to the turn of the connection.
    """

    _all: ClassVar[weakref.WeakValueDictionary[str, Lease]] = weakref.WeakValueDictionary()

    def __init__(self, prefix: str, turn: Turn, release: Release) -> None:
        self._finalizer = weakref.finalize(self, turn.release, release)
        self._finalizer.atexit = False  # type: ignore[misc] # the tables end with the connection
        Lease._all[prefix.removeprefix("nbsql ")] = self

    def keep(self) -> None:
        """Leave the tables until the connection is closed."""
        self._finalizer.detach()

    @classmethod
    def of_text(cls, sql: str) -> Iterator[Lease]:
        """The leases of the tables that a statement names."""
        return filter(None, map(cls._all.get, set(_TRANSIENT.findall(sql))))
