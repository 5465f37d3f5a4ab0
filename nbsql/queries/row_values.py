"""The values of a single row as statement parameters, read as `predict` reads a column of them."""

import math
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Literal

from nbsql.engines.rows import Single, is_float_nan, kind_of_value, to_python
from nbsql.errors import InputError
from nbsql.family import NUMBERS
from nbsql.family.checks import label
from nbsql.spec.column import ZONED

NUMERIC = frozenset(["boolean", *NUMBERS])

# A value, and the type as which it is read if the column's own type cannot hold it. Read as a string, it is an unseen category.
Parameter = tuple[Any, Literal["double", "string"] | None]

_BITS = {"tinyint": 8, "smallint": 16, "integer": 32, "bigint": 64, "hugeint": 128}
_RANGES = {
    **{name: (-(1 << bits - 1), (1 << bits - 1) - 1) for name, bits in _BITS.items()},
    **{f"u{name}": (0, (1 << bits) - 1) for name, bits in _BITS.items()},
}  # columns of other types have no range: their values are read as doubles
_EXACT = 15  # decimal digits that a double represents exactly
_LARGEST_FLOAT = 3.4028234663852886e38
_MAX_SHOWN = 80
_TRUTHS = {"true": True, "yes": True, "false": False, "no": False}
_TYPE_NAMES = {bool: "boolean", str: "text"}


@dataclass(frozen=True)
class InputColumn:
    """A column of the row, and the values that the model accepts for it."""

    name: str
    type: str  # the type as which its value is read, as the engine writes it
    kind: str  # the kind of that type
    accepts: frozenset[str]  # the kinds of column that all features of it accept
    title: str  # the name of the model in messages
    learnt: str | None = None  # of a category, what its values are (see `value_kind`); None if any will do
    # Whether it is a whole number within a list of values (`nbsql.Joint`), which not every engine can convert from any text.
    is_integer: bool = False
    has_parts: bool = False  # whether parts of its dates or times are features, which a value of another type has not

    @property
    def plain(self) -> frozenset[Any]:
        """The Python types of the values that are passed to the engine unchanged."""
        own = {"float": float, "text": str}.get(self.kind)
        return frozenset({type(None), *([own] if own and self.kind in self.accepts and self._holds_doubles else [])})

    @property
    def _holds_doubles(self) -> bool:
        return self.kind != "float" or "double" in self.type.lower()

    def to_parameter(self, value: Any) -> Parameter:
        """The parameter for a value. Raises InputError if its kind is not one that the model accepts for the column."""
        value = to_python(value)
        if value is None:
            return None, None
        if isinstance(value, Single):
            value = float(value) if self.learnt is None else value.written
        kind = kind_of_value(value)
        if self.learnt not in (None, "number") and is_float_nan(value):
            return None, None  # as which pandas has a missing value of any column
        if kind not in self.accepts or not self._is_learnt(value, kind):
            raise self._wrong_kind_error(value)
        if self.kind in ("tokens", "token counts"):
            return value, None
        if self.kind == "text":
            return self._text(value), None
        if self.kind == "temporal":
            read = self._temporal(value)
            if self.has_parts and read[1] is not None:
                raise self._wrong_kind_error(value)
            return read
        if kind == "text" and self.kind == "integer" and re.fullmatch("[+-]?[0-9]{1,18}", value):
            value, kind = int(value), "integer"
        if self.is_integer and kind not in NUMERIC:
            raise self._wrong_kind_error(value)
        return self._number(value) if kind in NUMERIC else (self._text(value), "string")

    def _is_learnt(self, value: Any, kind: str) -> bool:
        """Whether a value is one of those that the category has learnt, or the text of a date or time."""
        if self.learnt is None:
            return True
        if kind in NUMBERS:
            return self.learnt == "number"
        if self.kind != "temporal":
            return self.learnt == kind
        if kind == "temporal":
            return self._is_of_learnt_type(value)
        if kind != "text" or self._temporal(value)[1] is not None:
            return False
        return self.learnt not in ("date", *ZONED) or self._is_of_learnt_type(datetime.fromisoformat(value))

    def _is_of_learnt_type(self, value: date | time | timedelta) -> bool:
        """Whether a date, time or duration is of the type that was learnt, and has a time zone only if those had."""
        learnt = str(self.learnt)
        if isinstance(value, timedelta):
            return learnt == "interval"
        if isinstance(value, time):
            return learnt.startswith("time") and learnt not in ZONED and (value.tzinfo is not None) == ("with time" in learnt)
        if isinstance(value, datetime) and value.tzinfo is not None:
            return learnt in ZONED
        return learnt == "date"

    @property
    def _expected(self) -> str:
        if self.kind == "temporal":
            return f"a {self.type}"
        if self.learnt is not None:
            return f"a {self.learnt}"
        if self.accepts <= NUMERIC or self.is_integer:
            return "a number"
        if "tokens" in self.accepts:
            return "a list of texts"
        if "token counts" in self.accepts:
            return "a dictionary of tokens and their counts"
        return "a category" if "boolean" in self.accepts else "a text or a number" if "integer" in self.accepts else "a text"

    def _text(self, value: Any) -> Any:
        """A value as text, unless the engine writes its type in its own way; the engine then converts it."""
        if self.kind == "text" and isinstance(value, (float, Decimal, date, time, timedelta)):
            return value
        try:
            return label(value)
        except ValueError:  # Python refuses to convert integers with very many digits
            raise self._too_large_error() from None

    def _wrong_kind_error(self, value: Any) -> InputError:
        try:
            shown = " ".join(repr(value).split())
        except ValueError:  # an integer with very many digits
            return self._too_large_error()
        shown = shown if len(shown) <= _MAX_SHOWN else f"{shown[: _MAX_SHOWN - 3]}..."
        type_name = _TYPE_NAMES.get(type(value), type(value).__name__)
        alike = self._alike(value)
        cure = f"pass {self._expected}, or None if it is not known" if alike is None else f"pass {alike!r}"
        return InputError(f"{self.name!r} of the row is the {type_name} {shown}, and {self._expected} in {self.title}; {cure}")

    def _alike(self, value: Any) -> Any:
        """The value that is written as a refused one, and would be accepted; None if there is none."""
        alike: list[Any] = []
        if isinstance(value, str):
            alike.append(_TRUTHS.get(value.strip().lower()))
            for read in (int, float):
                with suppress(ValueError):
                    alike.append(read(value))
        elif isinstance(value, (int, float)):
            alike += [str(value), *([int(value)] if isinstance(value, bool) else [])]
        fitting = (each for each in alike if each is not None and (not isinstance(each, float) or math.isfinite(each)))
        return next(
            (each for each in fitting if (kind := kind_of_value(each)) in self.accepts and self._is_learnt(each, kind)), None
        )

    def _too_large_error(self) -> InputError:
        return InputError(f"{self.name!r} of the row is beyond the largest double, and {self._expected} in {self.title}")

    def _number(self, value: Any) -> Parameter:
        try:
            number = float(value)
            is_exact = self.learnt is not None and isinstance(value, (int, Decimal))
            if is_exact and self.kind == "float" and Decimal(repr(number)) != value:
                return str(value), "string"  # the double is another category
        except OverflowError:
            if self.accepts <= NUMERIC:
                raise self._too_large_error() from None
            return self._text(value), "string"
        except ValueError:  # a signalling NaN of Decimal
            number = math.nan
        if self.kind == "float":
            fits = self._holds_doubles or not _LARGEST_FLOAT < abs(number) < math.inf
            return number, None if fits else "double"
        if self.kind == "boolean":
            return (bool(number), None) if number in (0, 1) else (number, "double")
        if not math.isfinite(number) or not self._holds(value):
            return number, "double"
        if self.kind == "decimal" and isinstance(value, (int, Decimal)) and len(Decimal(value).as_tuple().digits) > _EXACT:
            return format(Decimal(value), "f"), "string"  # DuckDB's client would convert it to a double
        return (int(value) if isinstance(value, bool) or self.kind == "integer" else value), None

    def _holds(self, value: Any) -> bool:
        """Whether the column's type has the number exactly, if it is an integer type, or has room for it, if it is decimal.

        A double has 53 bits.
        """
        if self.kind == "integer":
            low, high = _RANGES.get(self.type.lower(), (1, 0))
            return bool(low <= value <= high and value == int(value))
        size = re.search(r"\(([0-9]+), *([0-9]+)\)", self.type)
        if size is None:
            return True
        digits, scale = int(size[1]) - int(size[2]), int(size[2])
        written = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        if -int(written.normalize().as_tuple().exponent) > scale:
            return False
        if isinstance(value, Decimal):  # abs() of a Decimal rounds
            return bool(value.copy_abs() < 10**digits)
        return bool(abs(value) < (10**digits - 1 if isinstance(value, float) else 10**digits))

    def _temporal(self, value: Any) -> Parameter:
        kind = self.type.lower()
        python_type: type = date
        if not kind.startswith(("date", "timestamp")):
            python_type = timedelta if kind.startswith("interval") else time
        if isinstance(value, str):
            read = _parse_time(value, python_type, has_time=kind != "date")
            if read is not None and kind == "timestamp_ns" and re.search(r"\.\d{7}", value):  # Python reads six digits
                return value, None
            return (value, "string") if read is None else (read, None)
        if getattr(value, "nanosecond", 0) and self.learnt is not None and not self.has_parts:
            return value.isoformat(), None if kind == "timestamp_ns" else "string"
        has_day_alone = kind == "date" and isinstance(value, datetime)
        if has_day_alone and value != value.replace(hour=0, minute=0, second=0, microsecond=0):
            return self._text(value), "string"
        return (value, None) if isinstance(value, python_type) else (self._text(value), "string")


def _parse_time(text: str, python_type: type, *, has_time: bool) -> str | None:
    """A time in a text, in ISO 8601; None if there is none, or if it is no day and one without a time is wanted."""
    if python_type is timedelta:
        return None
    try:
        read = (time if python_type is time else datetime).fromisoformat(text)
    except ValueError:
        return None
    if has_time or not isinstance(read, datetime):
        return read.isoformat()
    return read.date().isoformat() if read.time() == time() else None
