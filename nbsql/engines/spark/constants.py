"""The one row of a relation as constants, which Spark compiles into whatever reads them, where it would join a table."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup
from pyspark.sql import DataFrame

from nbsql.rendering.renderer import Renderer

# The types of columns whose values a literal says, whatever the settings of the session.
_LITERAL = ("string", "double", "bigint", "int", "smallint", "tinyint", "boolean", "date", "timestamp_ntz")
_LONGEST_VIEW = 30_000  # letters: a metastore in Derby keeps up to 32,700 of a view


def constants(renderer: Renderer, rows: DataFrame) -> Markup | None:
    """A SELECT of the values of a relation of one row.

    Args:
        renderer: of Spark.
        rows: the relation, which is computed here.

    Returns:
        The statement; None where there is not one row, or a column is of a type that has no literals.
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
    """A value as a gate takes it, and whether that is the one of numbers."""
    if value is None:
        return None, False
    if kind == "double" and abs(value) < float("inf"):  # NaN is not less
        return value, True
    return str(value), False


def fits_in_view(select: str) -> bool:
    """Whether every metastore keeps a view of such a length."""
    return len(select) <= _LONGEST_VIEW
