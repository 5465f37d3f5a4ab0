"""Columns of objects in pandas frames: DuckDB guesses the type of each from a thousand values, and casts all others to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nbsql.engines.rows import kind_of_value, several_types, to_python
from nbsql.family import NUMBERS

if TYPE_CHECKING:
    import pandas


def with_typed_columns(frame: pandas.DataFrame) -> pandas.DataFrame:
    """A frame whose columns of objects have the type of all their numbers; a column of texts and numbers is of texts.

    Raises InputError if a column holds numbers, and True or False. Other columns of objects, such as lists, are left.
    """
    columns = {}
    for name in [name for name, type_ in frame.dtypes.items() if str(type_) == "object"]:
        column = frame[name]
        samples = [to_python(value) for value in {type(value): value for value in column.tolist()}.values()]  # one of each type
        kinds = {kind_of_value(value) for value in samples if value is not None}
        if kinds and kinds <= {*NUMBERS}:
            columns[name] = _numbers(column)
        elif kinds & {*NUMBERS} and kinds - {*NUMBERS} == {"text"}:
            columns[name] = column.map(str, na_action="ignore")
        elif kinds & {*NUMBERS} and kinds - {*NUMBERS} == {"boolean"}:
            raise several_types(str(name), samples)
    if not columns:
        return frame
    typed = frame.copy(deep=False)
    for name, column in columns.items():
        typed[name] = column
    return typed


def _numbers(column: pandas.Series) -> pandas.Series:
    """A column of numbers: whole, if all of them are and 64 bits hold them."""
    import pandas

    try:
        numbers = pandas.to_numeric(column, dtype_backend="numpy_nullable")
    except ValueError:  # pandas does not read larger ones beside a missing one
        numbers = column
    return column.astype(float) if numbers.dtype == object else numbers
