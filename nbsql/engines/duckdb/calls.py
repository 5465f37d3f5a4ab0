"""Calls of DuckDB from a frame whose variables no query can mean.

DuckDB takes the name of a table that it does not find for a Python variable of the function that called it, or of its module.
So this file has no names but those that nobody gives to a table.
"""

import time as nbsql_time
import typing as nbsql_typing

import duckdb as nbsql_duckdb


def nbsql_call(
    nbsql_method: nbsql_typing.Callable[..., nbsql_typing.Any], /, *nbsql_arguments: nbsql_typing.Any
) -> nbsql_typing.Any:
    """The result of a method of a connection, or of what it returned, that runs or plans SQL."""
    try:
        return nbsql_method(*nbsql_arguments)
    except nbsql_duckdb.InterruptException:
        # Ctrl-C raises KeyboardInterrupt in this, or else as the first __exit__ begins, which it would skip.
        nbsql_time.sleep(0)
        raise
    except UnicodeEncodeError:  # of DuckDB 1.5 for half a character; later versions raise an error of their own
        raise nbsql_duckdb.InvalidInputException("cannot encode str as UTF-8") from None
