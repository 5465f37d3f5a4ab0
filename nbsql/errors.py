"""The errors and warnings of nbsql: one line each, the fact and the cure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class NbsqlError(Exception):
    """Any error that nbsql raises by itself."""


class InputError(NbsqlError, ValueError):
    """An argument or the data of a call cannot be used."""


class ModelError(NbsqlError):
    """A model is missing, already there, damaged, or of a newer version."""


class DatabaseError(NbsqlError):
    """The database cannot be opened, written or asked."""


class NotSupportedError(NbsqlError):
    """The engine cannot do what was asked for, or not yet."""


class NbsqlWarning(UserWarning):
    """Something in the data that a fit goes on with, but a user should know."""


def suggestion(name: str, names: Iterable[str]) -> str:
    """A hint such as "; did you mean 'play'?", for the closest of `names`, or an empty text."""
    known = {candidate.lower(): candidate for candidate in names}
    close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    return f"; did you mean {known[close[0]]!r}?" if close else ""


def no_column(name: str, columns: Iterable[str], source: str, role: str = "") -> InputError:
    """What is raised where a source lacks a column; the role, such as "the target of the model", says what for."""
    columns = list(columns)
    hint = suggestion(name, columns) or (f"; its columns are {listed(columns)}" if columns else "")
    return InputError(f"no column {name!r} in {source}{role and ', '}{role}{hint}")


def listed(names: Iterable[str], limit: int = 8) -> str:
    """Names as a message lists them: 'a', 'b' and 3 more."""
    quoted = [repr(name) for name in names]
    more = len(quoted) - limit
    return ", ".join(quoted) if more <= 0 else f"{', '.join(quoted[:limit])} and {more} more"
