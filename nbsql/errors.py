"""The errors and warnings of nbsql: one line each, the fact and the cure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class NbsqlError(Exception):
    """Any error that nbsql raises by itself.

    >>> import duckdb, nbsql
    >>> try:
    ...     nbsql.load(duckdb.connect(), "spam")
    ... except nbsql.NbsqlError as error:
    ...     type(error).__name__
    'ModelError'
    """


class InputError(NbsqlError, ValueError):
    """An argument or the data of a call cannot be used.

    >>> import duckdb, nbsql
    >>> try:
    ...     nbsql.fit(duckdb.connect(), [{"x": 1}], target="y")
    ... except nbsql.InputError as error:
    ...     print(error)
    no column 'y' in the rows; its columns are 'x'
    """


class ModelError(NbsqlError):
    """A model is missing, already there, damaged, or of a newer version.

    >>> import duckdb, nbsql
    >>> try:
    ...     nbsql.load(duckdb.connect(), "spam")
    ... except nbsql.ModelError as error:
    ...     print(error)
    no model 'spam' in 'memory'; there are none yet
    """


class DatabaseError(NbsqlError):
    """The database cannot be opened, written or asked.

    >>> import nbsql
    >>> try:
    ...     nbsql.load("no/such/folder/shop.duckdb", "spam")
    ... except nbsql.DatabaseError as error:
    ...     "shop.duckdb" in str(error)
    True
    """


class NotSupportedError(NbsqlError):
    """The engine cannot do what was asked for, or not yet.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="play")
    >>> try:
    ...     model.predict(data).dataframe
    ... except nbsql.NotSupportedError as error:
    ...     print(error)
    Query.dataframe is not available on DuckDB; it is on Spark
    """


class NbsqlWarning(UserWarning):
    """Something in the data that a fit goes on with, but a user should know.

    >>> import warnings, duckdb, nbsql
    >>> data = "SELECT i % 2 AS y, i AS x, 1 AS same FROM range(200) AS t(i)"
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     _ = nbsql.fit(duckdb.connect(), data, target="y")
    >>> issubclass(said[0].category, nbsql.NbsqlWarning)
    True
    """


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
