"""Sources of rows in Python: a dictionary of columns, or a list of rows; and the types of their values."""

import json
import math
import os
import reprlib
import struct
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from nbsql.errors import InputError
from nbsql.family import NUMBERS

_LARGEST = 2**63
_MOST_DIGITS = 38  # of a decimal of DuckDB
_WORDS = {
    "integer": "BIGINT",
    "float": "DOUBLE",
    "real": "FLOAT",
    "text": "VARCHAR",
    "tokens": "VARCHAR[]",
    "token counts": "MAP(VARCHAR, DOUBLE)",
}
_AS_DICT = {  # how a row of another kind becomes a dict, by an attribute that this kind has
    "_asdict": "row._asdict()",
    "model_dump": "row.model_dump()",  # of pydantic
    "__dataclass_fields__": "dataclasses.asdict(row)",
    "iterrows": "row.iloc[0].to_dict()",  # of a DataFrame
    "to_dict": "row.to_dict()",
    "index": "dict(zip([...], row))",  # of a tuple or a list
}
_SINGLE = ("float16", "float32", "float", "halffloat", "float[pyarrow]", "halffloat[pyarrow]")  # "float" is Arrow's


class Single(float):
    """A number of at most 32 bits, of numpy, Arrow or Polars: as a double it has digits with which it is not written."""

    @property
    def written(self) -> float:
        """The double that is written as it is: 0.1 and not 0.10000000149011612."""
        own, rounded = struct.pack("f", self), (float(f"{self:.{digits}g}") for digits in range(6, 10))
        return next((number for number in rounded if struct.pack("f", number) == own), float(self))


class Precise(datetime):
    """A time of numpy with nanoseconds, which a datetime has not; that of pandas has them in its text, too."""

    text: str

    @property
    def nanosecond(self) -> int:
        return int(self.text[-3:])

    def isoformat(self, *_: Any, **__: Any) -> str:
        return self.text


def rows_as_json(source: Mapping[Any, Any] | Sequence[Any]) -> tuple[str, dict[str, str]]:
    """The rows as JSON text, a list of objects, and the kind of each column (sql/macros/primitives/rows.sql).

    The source is {column: values}, or a list of {column: value}; a column that is missing from a row is NULL there. Raises
    InputError if there are no columns, or if they differ in length or have values that no column could have.
    """
    columns = _columns(source)
    types = {name: _type(name, values) for name, values in columns.items()}
    texts = {name: [_text(value, types[name]) for value in values] for name, values in columns.items()}
    rows = [dict(zip(texts, row, strict=True)) for row in zip(*texts.values(), strict=True)]
    return json.dumps(rows, ensure_ascii=False), types


def as_dict(row: object) -> str | None:
    """The expression that makes a dictionary of an object which stands for a row; None if it stands for none."""
    return None if isinstance(row, str) else next((call for name, call in _AS_DICT.items() if hasattr(row, name)), None)


def json_structure(columns: Mapping[str, str]) -> str:
    """The structure by which DuckDB reads the objects from JSON, from the kinds of the columns."""
    return json.dumps([{name: _WORDS.get(kind, kind.upper()) for name, kind in columns.items()}], ensure_ascii=False)


def _columns(source: Mapping[Any, Any] | Sequence[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    if isinstance(source, Mapping):
        for name, values in source.items():
            if isinstance(values, (set, frozenset)):
                raise InputError(f"column {name!r} is a set, whose values have no order; give it a list, one value per row")
            values = to_python(values)
            if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
                raise InputError(
                    f"a dict as a source has a list of values per column, not {name!r}: {reprlib.repr(values)}; "
                    "for one row write [row]"
                )
            found[name] = [*map(to_python, values)]
        lengths = {len(values) for values in found.values()}
        if len(lengths) > 1:
            raise InputError(f"the columns have {min(lengths)} to {max(lengths)} values; give each one value per row")
    else:
        if not all(isinstance(row, Mapping) for row in source):
            row = next(row for row in source if not isinstance(row, Mapping))
            cure = f"; write [{call} for row in rows]" if (call := as_dict(row)) else ""
            if hasattr(row, "to_pylist"):
                is_batch = type(row).__name__ == "RecordBatch"
                cure = f"; write pyarrow.{'Table.from_batches(batches)' if is_batch else 'concat_tables(tables)'}"
            elif len(getattr(row, "shape", ())) > 1:  # a frame, of which the dict of one row would lose the others
                cure = f"; write {type(row).__module__.partition('.')[0]}.concat(frames)"
            elif isinstance(row, (str, os.PathLike)):
                cure = "; name several files by a pattern, such as 'days/*.parquet'"
            raise InputError(f"a list as a source holds rows, each a dict {{column: value}}{cure}")
        found = {name: [to_python(row.get(name)) for row in source] for name in dict.fromkeys(n for row in source for n in row)}
    for name in found:
        if not isinstance(name, str):
            raise InputError(f"a column's name must be text, not {name!r}")
        if not name:
            raise InputError("a column of the rows has no name; give it one")
    if not found:
        raise InputError("the rows have no columns")
    return found


def _type(name: str, values: Iterable[Any]) -> str:
    present = [value for value in values if value is not None]
    kinds = {kind_of_value(value) for value in present}
    if kinds <= {*NUMBERS}:
        return type_of_numbers(present)
    present = [value for value in present if not is_float_nan(value)]  # as which pandas has a missing value of any column
    kinds = {kind_of_value(value) for value in present}
    if all(isinstance(value, UUID) for value in present):
        return "uuid"
    kind = kinds.pop()
    if kinds or kind == "other":
        raise several_types(name, present)
    return temporal_type(name, present) if kind == "temporal" else kind


def temporal_type(name: str, values: Iterable[Any]) -> str:
    """The type of a column with such dates or times, of which dates may be beside timestamps without a time zone."""
    words = {_temporal_type(value) for value in values}
    if words == {"timestamp"} and any(getattr(value, "nanosecond", 0) for value in values):
        return "timestamp_ns"
    if len(words) > 1 and words != {"date", "timestamp"}:
        raise InputError(f"column {name!r} holds dates and times of several types; give it values of one type")
    return max(words)


def type_of_numbers(values: Sequence[Any]) -> str:
    """The kind of a column with some numbers: "integer", "real", "float", or "decimal(17,3)" for those beyond 64 bits.

    A column with a float, or of more than 38 digits, is one of floats; NaN is a missing value.
    """
    if all(isinstance(value, int) and -_LARGEST <= value < _LARGEST for value in values):
        return "integer"
    if not all(isinstance(value, (int, Decimal)) for value in values):
        return "real" if all(isinstance(value, Single) for value in values) else "float"
    numbers = [Decimal(value) for value in values if not is_nan(value)]
    if not all(number.is_finite() for number in numbers):
        return "float"
    scale = max((max(-int(number.as_tuple().exponent), 0) for number in numbers), default=0)
    digits = scale + max((number.adjusted() + 1 for number in numbers if number), default=1)
    return f"decimal({max(digits, scale, 1)},{scale})" if max(digits, scale) <= _MOST_DIGITS else "float"


def is_nan(value: Any) -> bool:
    """Whether a number is NaN, of which a Decimal has two that cannot be compared."""
    return value.is_nan() if isinstance(value, Decimal) else value != value


def is_float_nan(value: Any) -> bool:
    """Whether a value of any kind is the NaN of a float."""
    return isinstance(value, float) and math.isnan(value)


def _temporal_type(value: Any) -> str:
    if isinstance(value, datetime):  # which is a date, too
        return "timestamp" if value.tzinfo is None else "timestamptz"
    return "date" if isinstance(value, date) else "time" if isinstance(value, time) else "interval"


def several_types(name: str, values: Iterable[Any]) -> InputError:
    """The error that the values of a column have types that no column could have."""
    types = sorted({type(value).__name__ for value in values if value is not None})
    cure = "give it values of one type" if len(types) > 1 else "give it numbers, texts, dates, or lists of texts"
    return InputError(f"column {name!r} holds {', '.join(types)}, which cannot be one column; {cure}")


def _text(value: Any, type_: str) -> Any:
    """A value for JSON."""
    if type_ not in ("float", "real") and is_float_nan(value):
        return None
    if type_ in ("float", "real") and value is not None:
        try:
            value = float(value)
        except OverflowError:
            raise InputError("a number in the rows is beyond the largest double") from None
        return value if math.isfinite(value) else None  # NaN and the infinities count as NULL
    if type_.startswith("decimal") and value is not None:
        return None if is_nan(value) else format(Decimal(value), "f")
    if isinstance(value, dict):
        return {key: None if each is None else float(each) for key, each in value.items()}
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):  # the text of Python is none of an interval
        return f"{value.days} days {value.seconds} seconds {value.microseconds} microseconds"
    return str(value) if isinstance(value, UUID) else value


def to_python(value: Any) -> Any:
    """A numpy or Arrow scalar or array, a missing value of pandas, a member of an enum or a set as a plain Python value.

    It imports no library. A set is a list of tokens, which have no order.
    """
    if isinstance(value, Enum):
        return to_python(value.value)
    if isinstance(value, Mapping):
        return {key: to_python(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [*map(to_python, value)]

    for method in ("to_pylist", "as_py"):  # of an array of Arrow, and of a value in one
        if hasattr(value, method):
            return _in_precision(value, getattr(value, method)())
    shape = getattr(value, "shape", None)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if shape == ():
        return _scalar(value)
    if not isinstance(shape, tuple) or len(shape) != 1:
        return value
    if str(value.dtype) == "Datetime(time_unit='ns', time_zone=None)":  # of Polars, which would round its times
        value = value.to_numpy()
    if not hasattr(value, "to_list") and str(value.dtype).startswith(("datetime64", "timedelta64")):
        return [*map(to_python, value)]
    return _in_precision(value, value.to_list() if hasattr(value, "to_list") else value.tolist())  # of a Series; of an array


def _in_precision(value: Any, found: Any) -> Any:
    """What a value holds, as plain Python values, of which those of single precision say so."""
    is_single, found = str(getattr(value, "type", getattr(value, "dtype", ""))).lower() in _SINGLE, to_python(found)
    if is_single and isinstance(found, list):
        return [Single(each) if isinstance(each, float) else each for each in found]
    return Single(found) if is_single and isinstance(found, float) else found


def _scalar(value: Any) -> Any:
    """A scalar of numpy; a time in nanoseconds, for which Python has no type, keeps its text."""
    name, found = type(value).__name__, value.item()
    if not isinstance(found, int) or name not in ("datetime64", "timedelta64"):
        return _in_precision(value, found) if isinstance(found, float) else found
    rounded = value.astype(f"{name}[us]")
    found = rounded.item()
    if isinstance(found, datetime) and value != rounded:
        found = Precise.combine(found.date(), found.time())
        found.text = str(value)
    return found


def kind_of_value(value: Any) -> str:
    """The kind of a column with such values."""
    if isinstance(value, bool):
        return "boolean"
    for kind, types in {
        "integer": int,
        "float": float,
        "decimal": Decimal,
        "text": (str, UUID),
        "temporal": (date, time, timedelta),
    }.items():
        if isinstance(value, types):  # type: ignore[arg-type]
            return kind
    if isinstance(value, list) and all(each is None or isinstance(each, str) for each in value):
        return "tokens"
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        counts = [each for each in value.values() if each is not None]
        if all(isinstance(each, (int, float, Decimal)) and not isinstance(each, bool) for each in counts):
            return "token counts"
    return "other"
