"""Columns of frames whose types DuckDB guesses, forgets or cannot read."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any

import duckdb

from nbsql.engines.rows import (
    Single,
    is_float_nan,
    is_nan,
    kind_of_value,
    several_types,
    temporal_type,
    to_python,
    type_of_numbers,
)
from nbsql.errors import InputError
from nbsql.family import NUMBERS

if TYPE_CHECKING:
    import pandas

_CURES = {  # of columns that DuckDB does not read, by how the names of their types begin
    "period": ".dt.to_timestamp()",
    "category": ".astype(str)",
    "complex": ".abs()",
    "Sparse": ".sparse.to_dense()",
    "halffloat": ".cast('float32')",
    "decimal256": ".cast('float64')",
    "Float16": ".cast(polars.Float32)",
    "Int128": ".cast(polars.Int64)",
    ">": ".astype(x.dtype.newbyteorder('='))",
}
_WHOLE = {"i": "Int64", "u": "UInt64"}


def with_typed_columns(frame: pandas.DataFrame) -> pandas.DataFrame:
    """A frame whose columns of objects have the type of all their values; a column of texts and other values is of texts.

    Categories that are whole numbers are whole numbers, which DuckDB would read as doubles beside a missing one, and those that
    are dates, times or decimals are no texts. Intervals of numbers, as `pandas.cut` makes them, are texts, and sets are lists.

    DuckDB would guess the type of such a column from a thousand values, and cast all others to it. Raises InputError if a
    column holds values that are no texts and have no type in common, or objects that have no text of their own.
    """
    columns = {name: column for name, type_ in frame.dtypes.items() if (column := _typed(frame, name, type_)) is not None}
    if not columns:
        return frame
    typed = frame.copy(deep=False)
    for name, column in columns.items():
        typed[name] = column
    return typed


def _typed(frame: pandas.DataFrame, name: Any, type_: Any) -> pandas.Series | None:
    """A column in the type of its values; None if it has it already."""
    is_category = str(type_) == "category"
    if is_category and type_.categories.dtype.kind in _WHOLE:
        return frame[name].astype(_WHOLE[type_.categories.dtype.kind])
    if str(getattr(getattr(type_, "categories", None), "dtype", type_)).startswith("interval"):
        return frame[name].astype(object).map(str, na_action="ignore")
    if str(type_) != "object" and not _has_objects(type_):
        return None
    column = frame[name].astype(object)
    of_types = {type(value): value for value in column.tolist() if not is_float_nan(value)}  # one of each
    samples = [to_python(value) for value in of_types.values()]
    is_made_plain = any(
        type(sample) is not type_ for type_, sample in zip(of_types, samples, strict=True) if sample is not None
    )
    if is_made_plain:
        column = column.map(to_python)  # DuckDB would read a set as its text, in any order
    if any(_has_no_text(value) for value in samples):
        raise several_types(str(name), samples)
    kinds = {kind_of_value(value) for value in samples if value is not None}
    if kinds and kinds <= {*NUMBERS}:
        is_single = {type(value) for value in samples if value is not None} == {Single}
        return column.astype("float32") if is_single else _numbers(column)
    if "text" in kinds and len(of_types) > 1 and kinds <= {*NUMBERS, "text", "boolean", "temporal"}:
        return column.map(str, na_action="ignore")
    if len(kinds) > 1 and "other" not in kinds:
        raise several_types(str(name), samples)
    if kinds == {"boolean"}:
        return column.where(column.notna(), None)  # beside NaN, DuckDB would read texts
    if kinds == {"temporal"}:
        return _times(column)
    if kinds & {"tokens", "token counts"}:
        return _tokens(column, kinds.pop())
    return column if is_category or is_made_plain else None


def _has_objects(type_: Any) -> bool:
    """Whether a type of columns has categories that are dates, decimals or members of an enum, of which DuckDB makes texts."""
    if str(type_) != "category" or type_.categories.dtype != object or type_.categories.empty:
        return False
    return all(isinstance(each, Enum) or kind_of_value(to_python(each)) in ("temporal", "decimal") for each in type_.categories)


def _has_no_text(value: Any) -> bool:
    """Whether the text of an object is but its address."""
    return not any(word in vars(each) for each in type(value).__mro__[:-1] for word in ("__str__", "__repr__"))


def _times(column: pandas.Series) -> pandas.Series:
    """A column of dates, or of times of one type; DuckDB would cut a time to its date, if it met dates alone at first."""
    import pandas

    present = [value for value in map(to_python, column.tolist()) if value is not None and not is_float_nan(value)]
    kind = temporal_type(str(column.name), present)
    if kind == "timestamp_ns":
        return pandas.to_datetime(column)
    if kind == "timestamp":
        return column.map(lambda value: value if isinstance(value, datetime) else datetime(*value.timetuple()[:3]), "ignore")
    return column


def _numbers(column: pandas.Series) -> pandas.Series:
    """A column of numbers: whole, if all of them are and 64 bits hold them, or decimals if they are none of floats."""
    import pandas

    values = [None if value is None or is_nan(value) else value for value in map(to_python, column.tolist())]
    kind = type_of_numbers([value for value in values if value is not None])
    if kind.startswith("decimal"):
        return _decimals(column, values, *map(int, re.findall(r"\d+", kind)))
    try:
        numbers = pandas.to_numeric(column, dtype_backend="numpy_nullable")
    except ValueError:  # pandas does not read larger ones beside a missing one
        numbers = column
    return column.astype(float) if numbers.dtype == object else numbers


def _tokens(column: pandas.Series, kind: str) -> pandas.Series:
    """A column of lists of texts, or of counts by token; DuckDB would take equal keys for a struct, and [] for no list."""
    import pandas

    with suppress(ImportError):
        import pyarrow

        type_ = pyarrow.list_(pyarrow.string()) if kind == "tokens" else pyarrow.map_(pyarrow.string(), pyarrow.float64())
        rows = [[*value.items()] if isinstance(value, dict) else value for value in map(to_python, column.tolist())]
        with suppress(pyarrow.ArrowException, TypeError, ValueError):  # of what is no text, or no number
            found = pyarrow.array([None if is_float_nan(row) else row for row in rows], type_)
            return pandas.Series(found, column.index, pandas.ArrowDtype(type_))
    return column


def _decimals(column: pandas.Series, values: list[Any], digits: int, scale: int) -> pandas.Series:
    """A column of decimals, whose numbers of digits pyarrow keeps; DuckDB would guess them from a thousand values."""
    import pandas

    try:
        import pyarrow
    except ImportError:
        cure = "pip install 'nbsql[frames]', or make floats of them"
        raise InputError(f"column {str(column.name)!r} holds decimals, which pyarrow reads: {cure}") from None
    type_ = pyarrow.decimal128(digits, scale)
    found = pyarrow.array([None if value is None else Decimal(value) for value in values], type_)
    return pandas.Series(found, column.index, pandas.ArrowDtype(type_))


def category_columns(frame: Any) -> set[str]:
    """The columns that a frame of pandas, Polars or Arrow declares as categories, of which DuckDB sees the values alone."""
    types = {str(name): str(_type(frame[name])) for name in _names(frame)}
    return {name for name, type_ in types.items() if type_.startswith(("category", "dictionary<"))}


def unreadable(frame: Any, kind: str, reason: str) -> InputError:
    """The error for a frame that DuckDB cannot read, with the column that it cannot read alone either.

    Each is tried on a connection of its own, because the error has aborted the transaction of the user's.
    """
    names = _names(frame)
    if not names:
        return InputError(f"the {kind} has no columns; a source has those of the features, and the target to learn from")
    with duckdb.connect() as connection:
        fault = next((name for name in names if not _is_read(connection, _only(frame, name))), None)
    if fault is None:
        return InputError(f"the {kind} cannot be read: {reason}")
    type_ = str(_type(frame[fault]))
    cure = next((f"convert it by {cure}" for word, cure in _CURES.items() if type_.startswith(word)), "convert it")
    return InputError(f"column {fault!r} of the {kind} is {type_}, which DuckDB does not read; {cure}, or leave it out")


def _is_read(connection: duckdb.DuckDBPyConnection, frame: Any) -> bool:
    try:
        connection.register("one", frame)
    except (duckdb.Error, TypeError, RuntimeError, ValueError):  # of which that of Arrow is one
        return False
    return True


def _names(frame: Any) -> list[Any]:
    return list(getattr(frame, "column_names", None) or getattr(frame, "columns", frame))


def _type(column: Any) -> Any:
    return next((getattr(column, name) for name in ("dtype", "type") if hasattr(column, name)), type(column).__name__)


def _only(frame: Any, name: Any) -> Any:
    if isinstance(frame, dict):
        return {name: frame[name]}
    return frame.select([name]) if hasattr(frame, "select") else frame[name].to_frame()  # [[name]] fails for some types
