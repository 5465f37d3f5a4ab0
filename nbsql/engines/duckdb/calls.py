"""Calls of DuckDB from a frame whose variables no query can mean.

DuckDB takes the name of a table that it does not find for a Python variable of the function that called it, or of its module.
So this file has no names but those that nobody gives to a table.
"""

import typing as nbsql_typing


def nbsql_call(
    nbsql_method: nbsql_typing.Callable[..., nbsql_typing.Any], /, *nbsql_arguments: nbsql_typing.Any
) -> nbsql_typing.Any:
    """The result of a method of a connection that runs or plans SQL."""
    return nbsql_method(*nbsql_arguments)
