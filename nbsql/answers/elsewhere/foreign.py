"""What can be said of an engine that nbsql is not connected to: sources in its dialect, and kinds of columns by their types."""

from __future__ import annotations

from typing import Any

import sqlglot
from markupsafe import Markup
from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from nbsql.engines.engine import Engine
from nbsql.errors import InputError, NotSupportedError
from nbsql.rendering.renderer import Renderer
from nbsql.spec.spec import Feature


def comparison_kind(engine: Engine, type_name: str) -> str:
    """As what values of a type of the model's engine are compared: "text", "integer", "number" or "boolean"; or "other"."""
    try:
        found = exp.DataType.build(type_name, dialect=engine.renderer.dialect.name).this if type_name else None
    except SqlglotError:
        return "other"
    if found is None or found in exp.DataType.TEXT_TYPES or found in _TEXTS:
        return "text"
    if found == exp.DataType.Type.BOOLEAN:
        return "boolean"
    if found in exp.DataType.INTEGER_TYPES:
        return "integer"
    return "number" if found in exp.DataType.NUMERIC_TYPES else "other"


def category_kind(engine: Engine, feature: Feature, *, numbers: bool) -> str:
    """As what the values of a category are compared; numbers: whether they may be such that are not whole.

    Raises:
        NotSupportedError: engines do not write its values alike.
    """
    type_name = feature.types[0] if feature.types else ""
    kind = "integer" if feature.whole else comparison_kind(engine, type_name)
    if kind == "other" or (kind == "number" and not numbers):
        raise NotSupportedError(
            f"{feature.name!r} is a category of the type {type_name}, which every engine writes in its own way; "
            "make it a text, or leave it out of the model"
        )
    return kind


# Types whose values every engine casts to the same text. A date is 2026-01-31.
_TEXTS = {exp.DataType.Type.ENUM, exp.DataType.Type.UUID, exp.DataType.Type.DATE, exp.DataType.Type.NAME}


def source_relation(source: Any, renderer: Renderer) -> Markup:
    """What stands after FROM: a table, as the user writes it, or a SELECT in brackets.

    Raises:
        InputError: the source is neither, as the dialect has it.
    """
    name = renderer.dialect.name
    if not isinstance(source, str):
        kind = type(source).__name__
        raise InputError(f"a source for the dialect {name!r} is the name of a table or a SELECT as text, not {kind}")
    text = _strip_trailing(source, name)
    table = _parse(text, name, into=exp.Table)
    if (
        isinstance(table, exp.Table)
        and all(isinstance(part, exp.Identifier) for part in table.parts)
        and not _has_suffix(table)
    ):
        return renderer.dialect.query(text)
    if isinstance(_parse(text, name), exp.Query):
        return renderer.fragment("subquery", renderer.dialect.query(text))
    raise InputError(f"a source for the dialect {name!r} is the name of a table or one SELECT, not {source!r}")


def _has_suffix(table: exp.Table) -> bool:
    """Whether something stands behind the name."""
    return any(value for key, value in table.args.items() if key not in ("this", "db", "catalog"))


def _parse(text: str, dialect: str, into: Any = None) -> Any:
    """The one statement, or the table, that a text holds; None if it holds none or several."""
    try:
        statements = [sqlglot.parse_one(text, read=dialect, into=into)] if into else sqlglot.parse(text, read=dialect)
    except SqlglotError:
        return None
    return statements[0] if len(statements) == 1 else None


def _strip_trailing(text: str, dialect: str) -> str:
    """A query without the semicolons and comments that follow it, so that it can stand in brackets."""
    try:
        tokens = sqlglot.tokenize(text, read=dialect)
    except SqlglotError:
        return text
    while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
        tokens.pop()
    return text[: tokens[-1].end + 1].strip() if tokens else text
