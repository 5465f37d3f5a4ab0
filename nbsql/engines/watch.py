"""Tells of the steps of a running verb: the log, functions, a terminal or a notebook; and lets Ctrl-C stop it at once."""

import contextvars
import inspect
import logging
import os
import signal
import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from importlib import import_module
from typing import Any, Literal

_LATEST = 1.0  # seconds after which the number of a signal that was handled has come

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


SWITCH = "NBSQL_PROGRESS"  # the environment variable that turns progress off
_OFF = ("0", "off", "false", "no")
_PATIENCE = 0.5  # seconds that a verb runs before a line is shown
_WORTH_A_LINE = 5.0  # seconds after which a notebook keeps a last line
_FRAME = 0.1
_WIDTH = 100  # the width at which the line is cut
_SPINNER = "|/-\\"

# What the statements of every fit do, in the words of a user; others are shown by their own name.
_WORDS = {
    "scan": "reading the rows",
    "rescan": "reading the rows again",
    "statistics": "counting the rows",
    "read the source once": "copying the rows",
    "estimates": "estimating",
    "parameters": "computing the parameters",
    "lookups": "computing the likelihoods of values",
    "calibrate": "calibrating",
    "score": "scoring the rows",
    "query": "running the query",
}


def front_end() -> Literal["terminal", "notebook", "batch"] | None:
    """Where progress is shown: a terminal, a notebook that somebody looks at, or one that a program runs; None if nowhere."""
    if os.environ.get(SWITCH, "").strip().lower() in _OFF:
        return None
    if type(sys.stderr).__module__ == "ipykernel.iostream":
        return "notebook" if _asks_for_input() else "batch"
    return "terminal" if sys.stderr is not None and sys.stderr.isatty() else None


def _asks_for_input() -> bool:
    """Whether the front end of the running cell can ask for input: those of people can, nbconvert and papermill cannot."""
    kernel = getattr(import_module("IPython").get_ipython(), "kernel", None)
    request = kernel.get_parent() if kernel is not None else {}
    return bool(request.get("content", {}).get("allow_stdin"))


class _Line:
    """A line of a terminal, which is written over itself and removed in the end."""

    def __init__(self) -> None:
        self._shown = 0

    def show(self, text: str) -> None:
        self._write(f"\r{text:<{self._shown}}")
        self._shown = len(text)

    def end(self, last: str | None) -> None:  # noqa: ARG002 - a terminal keeps no last line
        if self._shown:
            self._write(f"\r{'':<{self._shown}}\r")

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # stderr is closed
            sys.stderr.write(text)
            sys.stderr.flush()


class _Cell:
    """One display below a cell, which is updated; where nobody looks, only its last line."""

    def __init__(self, *, live: bool) -> None:
        self._live = live
        self._handle: Any = None  # of IPython's display

    def show(self, text: str) -> None:
        if self._live:
            self._display(text)

    def end(self, last: str | None) -> None:
        if last is not None or self._handle is not None:
            self._display(last or "")

    def _display(self, text: str) -> None:
        bundle = {"text/plain": text}
        if self._handle is None:
            self._handle = import_module("IPython.display").display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


class Watch:
    """A line with the running step of a verb, its duration and its progress; `stop` removes the line.

    `progress` is the engine's method for the progress of the statement in per cent. The reference is weak: the engine refers to
    the watch, and a file that it opened must be closed once nobody uses it.
    """

    def __init__(self, progress: Callable[[], float | None]) -> None:
        self._progress = weakref.WeakMethod(progress)
        self._step = ""
        self._parts: list[str] = []
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()

    def __call__(self, name: str) -> None:
        """Show a step, by its name."""
        self._step = "".join(character if character.isprintable() else " " for character in _WORDS.get(name, name))
        if self._thread is None and (where := front_end()) is not None:
            self._stopped.clear()
            line = _Line() if where == "terminal" else _Cell(live=where == "notebook")
            # In a copy of the context, as the output of a cell is that of the thread which runs it.
            self._thread = threading.Thread(target=contextvars.copy_context().run, args=(self._show, line), daemon=True)
            self._thread.start()

    @contextmanager
    def part(self, label: str) -> Iterator[None]:
        """Show a part of a verb, such as a fold, instead of the steps within it."""
        self._parts.append("".join(character if character.isprintable() else " " for character in label))
        try:
            yield
        finally:
            self._parts.pop()

    def stop(self) -> None:
        """Remove the line."""
        if self._thread is not None:
            self._stopped.set()
            self._thread.join()
            self._thread = None

    def _show(self, line: _Line | _Cell) -> None:
        started, seconds = time.monotonic(), 0.0
        while not self._stopped.wait(_FRAME):
            seconds = time.monotonic() - started
            if seconds >= _PATIENCE:
                line.show(self._line(seconds)[:_WIDTH])
        line.end(f"done in {seconds:.0f} s" if seconds >= _WORTH_A_LINE else None)

    def _line(self, seconds: float) -> str:
        progress = self._progress()
        done = progress() if progress is not None else None
        share = f"  {done:.0f} %" if done is not None and 0 <= done < 100 else ""
        spinner = _SPINNER[int(seconds / _FRAME) % len(_SPINNER)]
        step = self._parts[-1] if self._parts else self._step
        return f"{spinner} {step}  {int(seconds) // 60}:{int(seconds) % 60:02}{share}"


class _Arrivals:
    """Where the numbers of signals arrive, and what they are to stop. It lasts as long as the process.

    A socket of each wait would be closed, and still be the one to which Python writes, where a KeyboardInterrupt comes between
    two lines that set it and set it back. The number of a closed one is soon that of another.
    """

    def __init__(self) -> None:
        self.interrupts: list[Callable[[], None]] = []  # of what runs; what runs within another comes after it
        self._numbers: dict[int, None] = {}  # those that came meanwhile, the last one last
        self._came = threading.Event()
        self.lock = threading.Lock()  # so that nothing is interrupted after its end
        self._others = -1  # where somebody else waits for signals
        ours, self._theirs = socket.socketpair()
        self._theirs.setblocking(False)
        threading.Thread(target=self._wait, args=[ours], daemon=True).start()

    def attach(self) -> None:
        before = signal.set_wakeup_fd(self._theirs.fileno(), warn_on_full_buffer=False)
        if before != self._theirs.fileno():
            self._others = before

    def numbers(self) -> list[int]:
        """The signals that came while a statement ran, the last one first. One that has been handled is waited for."""
        if self.interrupts:
            self._came.wait(_LATEST)
        with self.lock:
            return [*reversed(self._numbers)]

    def forget(self) -> None:
        """Begin anew: what comes next is of another statement."""
        self._numbers.clear()
        self._came.clear()

    def detach(self) -> None:
        with suppress(ValueError):  # another thread collects a wait that did not end
            signal.set_wakeup_fd(self._others)

    def _wait(self, ours: socket.socket) -> None:
        for number in iter(lambda: ours.recv(1), b""):
            if self._others != -1:
                with suppress(OSError):
                    os.write(self._others, number)
            with self.lock:
                self._numbers.pop(number[0], None)
                self._numbers[number[0]] = None
                self._came.set()
                for interrupt in self.interrupts if signal.getsignal(number[0]) is signal.default_int_handler else ():
                    interrupt()


_arrivals: dict[int, _Arrivals] = {}  # by process: one that was forked has no thread that waits


@contextmanager
def interruptible(interrupt: Callable[[], None]) -> Iterator[None]:
    """Let Ctrl-C stop a statement at once, by `interrupt`, if it would raise KeyboardInterrupt; SIGTERM too, if it would.

    Python handles a signal only after the engine returns control, which may take a minute. The number of the signal, however,
    arrives at once in a socket (signal.set_wakeup_fd), on which a thread waits.

    KeyboardInterrupt may be raised within the `__exit__` of an inner context, which then ends after the outer one.
    """
    if threading.current_thread() is not threading.main_thread():  # which alone receives signals
        yield
        return
    arrivals = _arrivals.get(os.getpid()) or _arrivals.setdefault(os.getpid(), _Arrivals())
    interrupts, own = arrivals.interrupts, partial(interrupt)  # which equals no other
    try:
        with arrivals.lock:
            if not interrupts:
                arrivals.forget()
            interrupts.append(own)
        arrivals.attach()
        yield
    finally:
        if own in interrupts:
            with arrivals.lock:
                del interrupts[interrupts.index(own) :]
            if not interrupts:
                arrivals.detach()


def raised_by_a_handler() -> BaseException:
    """What the handler of the signal that has ended a statement raises: KeyboardInterrupt, or that of a limit of time, say.

    DuckDB says that a handler has raised, and not what, so that it is called once more.
    """
    arrivals = _arrivals.get(os.getpid())
    for number in arrivals.numbers() if arrivals is not None else ():
        handler = signal.getsignal(number)
        if callable(handler):
            try:
                handler(number, inspect.currentframe())
            except BaseException as error:
                return error
    return KeyboardInterrupt()
