"""Shows the steps of a running verb on stderr, and lets Ctrl-C stop it at once."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_PATIENCE = 0.5  # seconds that a verb runs before a line is shown
_FRAME = 0.1
_WIDTH = 100  # the width at which the line is cut
_SPINNER = "|/-\\"
_waiting: list[int] = []  # the sockets in which a signal arrives, that of the outermost `interruptible` first


def is_watched() -> bool:
    """Whether stderr is a terminal or the output of a cell in Jupyter."""
    if type(sys.stderr).__module__ == "ipykernel.iostream":
        return True
    return sys.stderr is not None and sys.stderr.isatty()


class Watch:
    """A line on stderr with the running step of a verb, its duration and its progress; `stop` removes the line.

    `progress` is the engine's method for the progress of the statement in per cent. The reference is weak: the engine refers to
    the watch, and a file that it opened must be closed once nobody uses it.
    """

    def __init__(self, progress: Callable[[], float | None]) -> None:
        self._progress = weakref.WeakMethod(progress)
        self._step = ""
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()

    def __call__(self, name: str) -> None:
        """Show a step, by its name."""
        self._step = "".join(character if character.isprintable() else " " for character in name)
        if self._thread is None and is_watched():
            self._stopped.clear()
            self._thread = threading.Thread(target=self._show, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Remove the line."""
        if self._thread is not None:
            self._stopped.set()
            self._thread.join()
            self._thread = None

    def _show(self) -> None:
        started, shown = time.monotonic(), 0
        while not self._stopped.wait(_FRAME):
            seconds = time.monotonic() - started
            if seconds < _PATIENCE:
                continue
            line = self._line(seconds)[:_WIDTH]
            self._write(f"\r{line:<{shown}}")
            shown = len(line)
        if shown:
            self._write(f"\r{'':<{shown}}\r")

    def _line(self, seconds: float) -> str:
        progress = self._progress()
        done = progress() if progress is not None else None
        share = f"  {done:.0f} %" if done is not None and 0 <= done < 100 else ""
        spinner = _SPINNER[int(seconds / _FRAME) % len(_SPINNER)]
        return f"{spinner} {self._step}  {int(seconds) // 60}:{int(seconds) % 60:02}{share}"

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # stderr is closed
            sys.stderr.write(text)
            sys.stderr.flush()


@contextmanager
def interruptible(interrupt: Callable[[], None]) -> Iterator[None]:
    """Let Ctrl-C stop a statement at once, by `interrupt`, if it would raise KeyboardInterrupt; SIGTERM too, if it would.

    Python handles a signal only after the engine returns control, which may take a minute. The number of the signal, however,
    arrives at once in a socket (signal.set_wakeup_fd), on which a thread waits.

    KeyboardInterrupt may be raised within the `__exit__` of an inner context, which then ends after the outer one.
    """
    main = threading.current_thread() is threading.main_thread()  # only the main thread receives signals
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    stops = [each for each in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(each) is signal.default_int_handler]
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    arrival = theirs.fileno()
    before = signal.set_wakeup_fd(arrival, warn_on_full_buffer=False)
    _waiting.append(arrival)

    def wait() -> None:
        for number in iter(lambda: ours.recv(1), b""):
            if before != -1:
                with suppress(OSError):  # somebody else waits for signals, too
                    os.write(before, number)
            if number[0] in stops:
                interrupt()

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    try:
        yield
    finally:
        if arrival in _waiting:
            del _waiting[_waiting.index(arrival) :]
            signal.set_wakeup_fd(before)
        theirs.close()
        waiting.join()
        ours.close()
