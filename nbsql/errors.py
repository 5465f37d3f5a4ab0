"""The errors and warnings of nbsql: one line each, the fact and the cure."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence
from typing import Any


class NbsqlError(Exception):
    """Base class of all errors that nbsql raises.

    >>> import duckdb, nbsql
    >>> try:
    ...     nbsql.load(duckdb.connect(), "spam")
    ... except nbsql.NbsqlError as error:
    ...     type(error).__name__
    'ModelError'
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()) if "\n" in message else message)  # a frame in it would have many lines


class InputError(NbsqlError, ValueError):
    """An argument is invalid, or the data of a call cannot be used.

    >>> import duckdb, nbsql
    >>> try:
    ...     nbsql.fit(duckdb.connect(), [{"x": 1}], target="y")
    ... except nbsql.InputError as error:
    ...     print(error)
    no column 'y' in the rows; its columns are 'x'
    """


class ModelError(NbsqlError):
    """A model is missing, exists already, is damaged, or was written by a newer version.

    >>> import duckdb, nbsql
    >>> try:
    ...     nbsql.load(duckdb.connect(), "spam")
    ... except nbsql.ModelError as error:
    ...     print(error)
    no model 'spam' in 'memory'; there are none yet
    """


class DatabaseError(NbsqlError):
    """The database cannot be opened, read or written.

    >>> import nbsql
    >>> try:
    ...     nbsql.load("no/such/folder/shop.duckdb", "spam")
    ... except nbsql.DatabaseError as error:
    ...     "shop.duckdb" in str(error)
    True
    """


class NotSupportedError(NbsqlError):
    """The engine does not support what was asked for.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="play")
    >>> try:
    ...     model.predict(data).to_spark()
    ... except nbsql.NotSupportedError as error:
    ...     print(error)
    Query.to_spark is not available on DuckDB; it is on Spark
    """


class NbsqlWarning(UserWarning):
    """Warning about data that can be used, but that deserves the user's attention.

    >>> import warnings, duckdb, nbsql
    >>> data = "SELECT i % 2 AS y, i AS x, 1 AS same FROM range(200) AS t(i)"
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = nbsql.fit(duckdb.connect(), data, target="y")
    >>> issubclass(caught[0].category, nbsql.NbsqlWarning)
    True
    """


def closest_name(name: str, names: Iterable[str]) -> str | None:
    """The name closest to `name`, in any case of letters; None if none is close."""
    by_lower_case = {candidate.lower(): candidate for candidate in names}
    close = difflib.get_close_matches(name.lower(), by_lower_case, n=1, cutoff=0.6)
    return by_lower_case[close[0]] if close else None


def suggestion(name: str, names: Iterable[str]) -> str:
    """A hint such as "; did you mean 'play'?" with the name closest to `name`, or an empty text if none is close."""
    close = closest_name(name, names)
    return "" if close is None else f"; did you mean {close!r}?"


def label_suggestion(label: Any, labels: Sequence[Any]) -> str:
    """A hint for a label that is no class: the class that is written alike or closely, or else all classes."""
    alike = next((each for each in labels if str(each) == str(label)), None)
    if alike is not None:
        return f"; did you mean {alike!r}, of type {type(alike).__name__}?"
    return suggestion(str(label), map(str, labels)) or f"; the classes are {listed(labels)}"


def no_column(name: str, columns: Iterable[str], source: str, role: str = "") -> InputError:
    """The error for a source that lacks a column. `role`, such as "the target of the model", says what the column is for."""
    columns = list(columns)
    hint = suggestion(name, columns) or (f"; its columns are {listed(columns)}" if columns else "")
    return InputError(f"no column {name!r} in {source}{role and ', '}{role}{hint}")


def listed(names: Iterable[Any], limit: int = 8) -> str:
    """The names as a message lists them: 'a', 'b' and 3 more."""
    quoted = [repr(name) for name in names]
    more = len(quoted) - limit
    return ", ".join(quoted) if more <= 0 else f"{', '.join(quoted[:limit])} and {more} more"


def written(value: Any) -> str:
    """A value as messages write it; Python refuses to write whole numbers of more than some thousand digits."""
    try:
        return repr(value)
    except ValueError:
        return "a number of thousands of digits"


def path_text(path: Any) -> str:
    """The text of the path of a file. Raises InputError for anything else, and for an empty text."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"a path must be text or a pathlib.Path, not {path!r}")
    text = os.fspath(path)
    if not text:
        raise InputError("a path must be a text of at least one character, not ''")
    return text
