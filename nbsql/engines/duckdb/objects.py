"""Columns of objects in pandas frames: DuckDB guesses the type of each from a thousand values, and casts all others to it."""

from __future__ import annotations

import math
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING

from nbsql.errors import InputError

if TYPE_CHECKING:
    import pandas

_KINDS = {"boolean": ("bool", "bool_"), "missing": ("NoneType", "NAType", "NaTType"), "text": ("str", "str_")}


def with_typed_columns(frame: pandas.DataFrame) -> pandas.DataFrame:
    """A frame whose columns of objects have the type of all their numbers; a column of texts and numbers is of texts.

    Raises InputError if a column holds numbers, and True or False. Other columns of objects, such as lists, are left.
    """
    import pandas

    columns = {}
    for place, type_ in enumerate(frame.dtypes):
        if str(type_) == "object":
            values = frame.iloc[:, place].tolist()
            types = {type(value) for value in values}
            kinds = {_kind(each) for each in types} - {"missing"}
            if kinds == {"integer", "float"} and all(math.isnan(value) for value in values if _kind(type(value)) == "float"):
                values, kinds = [None if value != value else value for value in values], {"integer"}
            if kinds == {"integer"} and all(value is None or abs(value) < 2**63 for value in values if not pandas.isna(value)):
                columns[place] = pandas.array([None if pandas.isna(value) else int(value) for value in values], dtype="Int64")
            elif kinds and kinds <= {"integer", "float", "decimal"}:
                columns[place] = pandas.array([math.nan if pandas.isna(value) else float(value) for value in values])
            elif "boolean" in kinds and kinds & {"integer", "float", "decimal"}:
                names = sorted(each.__name__ for each in types if _kind(each) != "missing")
                raise InputError(
                    f"column {str(frame.columns[place])!r} holds {', '.join(names)}, which cannot be one column; "
                    "give it values of one type"
                )
            elif "text" in kinds and kinds <= {"text", "integer", "float", "decimal"} and len(kinds) > 1:
                columns[place] = [None if pandas.isna(value) else str(value) for value in values]
    if not columns:
        return frame
    typed = frame.copy(deep=False)
    for place, values in columns.items():
        typed[typed.columns[place]] = values
    return typed


def _kind(type_: type) -> str:
    """The kind of a column of objects of a type; see `Column.kind`."""
    for kind, names in _KINDS.items():
        if type_.__name__ in names:
            return kind
    if issubclass(type_, Integral):
        return "integer"
    if issubclass(type_, Real):
        return "float"
    return "decimal" if issubclass(type_, Decimal) else "other"
