"""Users' SQL expressions: the columns that they read, and their form in other dialects."""

import re
from collections.abc import Mapping
from typing import Any

from nbsql.errors import NotSupportedError
from nbsql.rendering.dialect import folded, restore
from nbsql.rendering.renderer import Renderer


def columns_in_expression(expression: str, dialect: str = "duckdb") -> set[str]:
    """The columns that an expression reads, and what qualifies them."""
    from sqlglot import exp, parse_one  # takes long to import
    from sqlglot.errors import SqlglotError

    try:
        return {part.name for column in parse_one(expression, read=dialect).find_all(exp.Column) for part in column.parts}
    except SqlglotError:  # only the engine needs to understand it, so every word may be a column
        return set(re.findall(r"\w+", expression))


def translated(expression: str, dialect: str, renderer: Renderer, columns: Mapping[str, str], subject: str) -> str:
    """An expression of a dialect in that of a renderer. `columns` has the new names of its columns by their folded names.

    Raises NotSupportedError, with `subject`, if it has no form there, or calls what is known only where it was written.
    """
    from sqlglot import ErrorLevel, exp, parse_one
    from sqlglot.errors import SqlglotError

    to = renderer.dialect.name

    def named(node: Any) -> Any:
        if isinstance(node, exp.Column) and folded(node.name) in columns:
            return parse_one(restore(renderer.dialect.ident(columns[folded(node.name)])), read=to)
        return node

    try:
        parsed = parse_one(expression, read=dialect)
        text = parsed.transform(named).sql(dialect=to, unsupported_level=ErrorLevel.RAISE)
    except (SqlglotError, ValueError) as error:
        reason = str(error).splitlines()[0]
    else:
        called = next(parsed.find_all(exp.Anonymous, exp.AnonymousAggFunc), None)
        if called is None or dialect == to:
            return str(text)
        reason = f"{called.name} is known only where the model is"
    raise NotSupportedError(
        f"{subject} is {expression!r}, which has no form in the dialect {to!r}: {reason}; make a column of it in the source"
    )
