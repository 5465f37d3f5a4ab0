"""The single row of a relation as constants: Spark compiles them into a query, whereas it would join a table."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup
from pyspark.sql import DataFrame

from nbsql.rendering.renderer import Renderer

# The types of columns whose literals do not depend on the settings of the session.
_LITERAL = ("string", "double", "bigint", "int", "smallint", "tinyint", "boolean", "date", "timestamp_ntz")


def constants(renderer: Renderer, rows: DataFrame) -> Markup | None:
    """A SELECT of constants with the values of a relation of one row, which is computed here.

    None if there is not exactly one row, or if a column has a type without literals.
    """
    fields = rows.schema.fields
    types = [field.dataType.simpleString() for field in fields]
    if not all(kind in _LITERAL for kind in types):
        return None
    found = rows.take(2)
    if len(found) != 1:
        return None
    values = zip(fields, types, found[0], strict=True)
    columns = [(field.name, kind, *_digits(kind, value)) for field, kind, value in values]
    return renderer.fragment("constant_row", columns)


def _digits(kind: str, value: Any) -> tuple[Any, bool]:
    """A value in the form that a gate accepts, and whether that is the gate for numbers."""
    if value is None:
        return None, False
    if kind == "double" and abs(value) < float("inf"):  # false for NaN, too
        return value, True
    return str(value), False
