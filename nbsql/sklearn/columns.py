"""X and y of scikit-learn as columns that DuckDB reads: arrays column by column, frames unchanged."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np

from nbsql.engines.foreign_sources import read_whole
from nbsql.errors import InputError

_FRAMES = ("pandas", "polars", "pyarrow")


def as_rows(rows: Any) -> Any:
    """X as a frame or an array: a lazy frame is collected, and an Arrow stream, or what hands one over, is read."""
    if isinstance(rows, str):
        raise InputError(f"X must be rows, not the text {rows!r}; fit and predict read a table or a SELECT with connection=")
    if type(rows).__name__ == "LazyFrame":
        rows = rows.collect()
    if str(getattr(rows, "dtype", "")).startswith("Struct("):  # a Series of Polars
        rows = rows.struct.unnest()
    if isinstance(rows, np.ma.MaskedArray):  # which scikit-learn takes without its mask
        missing: Any = np.nan if rows.dtype.kind == "f" else None
        return np.where(np.ma.getmaskarray(rows), missing, rows.data if missing else rows.data.astype(object))
    if type(rows).__name__ == "RecordBatch":  # in which scikit-learn finds no names
        import pyarrow

        return pyarrow.Table.from_batches([rows])
    is_known = type(rows).__module__.split(".")[0] in (*_FRAMES, "numpy") and type(rows).__name__ != "RecordBatchReader"
    return read_whole(rows) if not is_known and hasattr(rows, "__arrow_c_stream__") else rows


def is_frame(rows: Any) -> bool:
    """Whether it is a frame with named columns, which DuckDB reads with their types."""
    if type(rows).__module__.split(".")[0] not in _FRAMES or type(rows).__name__ not in ("DataFrame", "Table", "RecordBatch"):
        return False
    return all(isinstance(name, str) for name in frame_names(rows))


def frame_names(frame: Any) -> list[Any]:
    return list(frame.column_names if type(frame).__module__.startswith("pyarrow") else getattr(frame, "columns", []))


def kinds_of(array: Any) -> list[str]:
    """The kind of each column of an array: "number", "boolean", "time" or "text"."""
    if array.dtype.kind == "m":
        raise InputError(f"X is an array of {array.dtype}, which has no family; convert it to numbers or texts")
    if array.dtype.kind != "O":
        kind = {"b": "boolean", "U": "text", "S": "text", "M": "time"}.get(array.dtype.kind, "number")
        return [kind] * array.shape[1]
    return [_kind(column) for column in array.T]


def _kind(column: Sequence[Any]) -> str:
    values = [value for value in column if not is_missing(value)]
    if values and all(isinstance(value, (bool, np.bool_)) for value in values):
        return "boolean"
    if all(isinstance(value, (int, float, Decimal, np.number)) and not isinstance(value, bool) for value in values):
        return "number"
    if all(isinstance(value, (date, np.datetime64)) and getattr(value, "tzinfo", None) is None for value in values):
        return "time"
    return "text"


def is_missing(value: Any) -> bool:
    """Whether a value is missing: None, NaN, NaT, or a missing value of pandas."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, Decimal, np.floating, np.datetime64, np.timedelta64)) and value != value


def columns_of(array: Any, names: Sequence[str], kinds: Sequence[str]) -> dict[str, Any]:
    """The columns of an array by name, each converted to its kind."""
    return {name: _cast(column, kind) for name, column, kind in zip(names, array.T, kinds, strict=True)}


def _cast(column: Any, kind: str) -> Any:
    if kind == "number":
        if column.dtype.kind == "O":
            column = [np.nan if is_missing(value) else value for value in column]
        return np.ascontiguousarray(column, dtype=np.float64)
    if kind == "time":
        return np.array([np.datetime64("NaT") if is_missing(value) else value for value in column], dtype="datetime64[us]")
    if kind == "boolean" and column.dtype.kind != "O":
        return np.ascontiguousarray(column, dtype=bool)
    cast = bool if kind == "boolean" else str
    return np.array([None if is_missing(value) else cast(value) for value in column], dtype=object)


def plain_labels(labels: Any) -> Any:
    """Whole numbers and Booleans of pandas that could be missing as those of NumPy; scikit-learn would make floats of them."""
    plain = getattr(getattr(labels, "dtype", None), "numpy_dtype", None)
    known = plain is not None and plain.kind in "iub" and not labels.isna().any()
    return labels.to_numpy(dtype=plain) if known else labels


def label_keys(labels: Any) -> list[Any]:
    """Labels as values of a database: whole numbers, booleans, numbers, and everything else as text."""
    if labels.dtype.kind in "iubf":
        return list(labels.tolist())
    if labels.dtype.kind == "M":  # the same text for the same time, whatever the unit of the array
        return [str(np.datetime_as_string(label, unit="auto")) for label in labels]
    return [str(label) for label in labels]


def as_column(labels: Any) -> Any:
    return labels if labels.dtype.kind in "iubf" else np.array(label_keys(labels), dtype=object)


def with_columns(rows: Any, more: Mapping[str, Any]) -> Any:
    """A frame, or a dictionary of columns, with more columns."""
    if isinstance(rows, dict):
        return {**rows, **more}
    library = type(rows).__module__.split(".")[0]
    if library == "pandas":
        return rows.assign(**more)
    if library == "polars":
        import polars

        return rows.with_columns([polars.Series(name, values) for name, values in more.items()])
    import pyarrow

    for name, values in more.items():
        rows = rows.append_column(name, pyarrow.array(values))
    return rows


def free_name(name: str, taken: Sequence[str]) -> str:
    folded = {other.lower() for other in taken}
    while name in folded:
        name += "_"
    return name
