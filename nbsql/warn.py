"""The line of the user's code that called nbsql: warnings point at it, and its variables may be what a name means."""

import contextlib
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import Any

from nbsql.errors import NbsqlWarning

_HERE = str(Path(__file__).parent)


_QUIET = ContextVar[tuple[str, ...]]("quiet", default=())  # how the warnings begin that are not issued
_COLLECTED = ContextVar[list[str] | None]("collected", default=None)


@contextlib.contextmanager
def quietly(about: str = "") -> Iterator[None]:
    """Without warnings that begin so, for what repeats a step of which the user has been or will be warned."""
    token = _QUIET.set((*_QUIET.get(), about))
    try:
        yield
    finally:
        _QUIET.reset(token)


@contextlib.contextmanager
def collected() -> Iterator[list[str]]:
    """The warnings that are issued meanwhile, for a page that repeats them; of those that differ only by counts, the last."""
    messages: list[str] = []
    token = _COLLECTED.set(messages)
    try:
        yield messages
    finally:
        _COLLECTED.reset(token)
        messages[:] = {without_counts(message): message for message in messages}.values()


def warn_user(message: str) -> None:
    """Issue an `NbsqlWarning` at the innermost line outside of this package."""
    if message.startswith(_QUIET.get()):
        return
    if (messages := _COLLECTED.get()) is not None:
        messages.append(message)
    warnings.warn(NbsqlWarning(message), stacklevel=_user_frame()[1] - 1)


def without_counts(message: str) -> str:
    """What a warning says, whatever the number of rows of which it says it. A number in quotes is a name.

    >>> without_counts("'x1' is NA in 14 of 1,406 rows"), without_counts("'2020' is NA in 14 rows")
    ("'x1' is NA in n of n rows", "'2020' is NA in n rows")
    """
    return re.sub(r"('[^']*')|\b\d[\d,]*\b", lambda found: found[1] or "n", message)


def user_variable(name: str) -> Any:
    """The variable of that name in the innermost frame outside of this package; None if there is none."""
    frame = _user_frame()[0]
    return frame.f_locals.get(name, frame.f_globals.get(name))


def _user_frame() -> tuple[FrameType, int]:
    """The innermost frame outside of this package, and its distance from here, from 1."""
    frames = enumerate((frame for frame, _ in traceback.walk_stack(sys._getframe())), start=1)
    ours = (_HERE, contextlib.__file__)
    of_others = ((frame, level) for level, frame in frames if not frame.f_code.co_filename.startswith(ours))
    return next(of_others, (sys._getframe(), 1))
