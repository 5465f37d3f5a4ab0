"""Statements that read no relation, which DuckDB so plans once: a statement that reads a table is planned anew at each call.

They run in a database in memory that this process keeps for them: the user's connection would keep them as its own, and
a cursor of it would hold the user's file open.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache
from math import isfinite
from typing import Any

import duckdb
from markupsafe import Markup

from nbsql.engines.duckdb.calls import nbsql_call
from nbsql.rendering.renderer import Renderer


@cache
def _database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def planned(renderer: Renderer, sql: str, types: Sequence[Markup]) -> Callable[[Sequence[Any]], list[tuple[Any, ...]]]:
    """The rows of a statement as a function of its parameters, which it reads as these types.

    Raises duckdb.Error if it names what is not in every database, such as a type of the user's.
    """
    cursor = _database().cursor()
    cursor.execute(renderer.statement("prepare_answer", renderer.dialect.query(sql)))

    def rows(values: Sequence[Any]) -> list[tuple[Any, ...]]:
        literals = [_literal(renderer, value) for value in values]
        if None in literals:  # DuckDB converts the value, and plans anew
            found: list[tuple[Any, ...]] = nbsql_call(nbsql_call(cursor.execute, sql, values).fetchall)
        else:
            found = nbsql_call(
                cursor.execute, renderer.statement("execute_answer", list(zip(literals, types, strict=True)))
            ).fetchall()
        return found

    return rows


def _literal(renderer: Renderer, value: Any) -> Markup | int | None:
    """A value as it is written in SQL; None if that is not the same on all machines, or may not be."""
    if value is None:
        return renderer.dialect.word("null")
    if type(value) is str and "\x00" not in value:
        return renderer.dialect.text(value)
    if type(value) is float and isfinite(value):
        return renderer.dialect.number(value)
    if type(value) is int and abs(value) < 1 << 63:
        return value
    if type(value) is list and all(type(each) is str for each in value):
        return renderer.fragment("texts_in_json", json.dumps(value))
    return None
