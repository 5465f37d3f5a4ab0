"""The values of one row that is at hand, as the parameters of its statement: read as `predict` reads a column of them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from nbsql.errors import InputError
from nbsql.family.base import label

NUMBERS = frozenset(["boolean", "integer", "float", "decimal"])

# A value, and what it is read as where the column's own type cannot hold it. As a text it is a category never met.
Given = tuple[Any, Literal["double", "string"] | None]

_BITS = {"tinyint": 7, "smallint": 15, "integer": 31, "bigint": 63}  # of others none is asked for: they are read as doubles
_LARGEST_FLOAT = 3.4e38
_SHOWN = 80
_CALLED = {bool: "boolean", str: "text"}


@dataclass(frozen=True)
class Taken:
    """A column of the row, and what the model takes for it.

    Args:
        name: of the column.
        type: that its value is read as, as the engine writes it.
        kind: of that type.
        accepts: the kinds of column that all features of it can be asked for.
        title: what messages call the model.
        whole: whether it is a whole number within a list of values (`nbsql.Joint`), which not every engine makes of any text.
    """

    name: str
    type: str
    kind: str
    accepts: frozenset[str]
    title: str
    whole: bool = False

    @property
    def plain(self) -> frozenset[Any]:
        """The types of the values that go to the engine as they are."""
        own = {"float": float, "text": str}.get(self.kind)
        return frozenset({type(None), *([own] if own and self.kind in self.accepts and self._holds_doubles else [])})

    @property
    def _holds_doubles(self) -> bool:
        return self.kind != "float" or "double" in self.type.lower()

    def given(self, value: Any) -> Given:
        """The parameter for a value.

        Raises:
            InputError: it is not of a kind that the model takes for the column, as a column of such values would not be.
        """
        value = _pythonic(value)
        if value is None:
            return None, None
        kind = _kind(value)
        if kind not in self.accepts:
            raise self._refused(value)
        if self.kind in ("tokens", "token counts"):
            return value, None
        if self.kind == "text":
            return self._text(value), None
        if self.kind == "temporal":
            return self._temporal(value)
        if kind == "text" and self.kind == "integer" and re.fullmatch("[+-]?[0-9]{1,18}", value):
            value, kind = int(value), "integer"
        if self.whole and kind not in NUMBERS:
            raise self._refused(value)
        return self._number(value) if kind in NUMBERS else (self._text(value), "string")

    @property
    def _wanted(self) -> str:
        if self.accepts <= NUMBERS or self.whole:
            return "a number"
        if "tokens" in self.accepts:
            return "a list of texts"
        if "token counts" in self.accepts:
            return "a dictionary of tokens and their counts"
        return "a text" if self.accepts == {"text"} else "a category"

    def _text(self, value: Any) -> Any:
        """A value as text; the engine makes one of what it writes in its own way."""
        if self.kind == "text" and isinstance(value, (float, Decimal, date, time, timedelta)):
            return value
        try:
            return label(value)
        except ValueError:  # Python writes no number of so many digits
            raise self._beyond() from None

    def _refused(self, value: Any) -> InputError:
        try:
            shown = " ".join(repr(value).split())
        except ValueError:  # a number of so many digits again
            return self._beyond()
        shown = shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."
        called = _CALLED.get(type(value), type(value).__name__)
        return InputError(f"{self.name!r} of the row is the {called} {shown}, and {self._wanted} in {self.title}")

    def _beyond(self) -> InputError:
        return InputError(f"{self.name!r} of the row is beyond the largest double, and {self._wanted} in {self.title}")

    def _number(self, value: Any) -> Given:
        try:
            number = float(value)
        except OverflowError:
            if self.accepts <= NUMBERS:
                raise self._beyond() from None
            return self._text(value), "string"
        except ValueError:  # a signalling NaN of Decimal's
            number = math.nan
        if self.kind == "float":
            fits = self._holds_doubles or not _LARGEST_FLOAT < abs(number) < math.inf
            return number, None if fits else "double"
        if self.kind == "boolean":
            return (bool(number), None) if number in (0, 1) else (number, "double")
        if not math.isfinite(number) or not self._holds(number):
            return number, "double"
        if isinstance(value, bool) or (self.kind == "integer" and number == value):
            value = int(value)
        return value, None

    def _holds(self, number: float) -> bool:
        """Whether a column of whole numbers or decimals has room for a number."""
        if self.kind == "integer":
            return abs(number) < (1 << _BITS.get(self.type.lower(), 0)) - 1
        size = re.search(r"\(([0-9]+), *([0-9]+)\)", self.type)
        return size is None or abs(number) < float(f"1e{int(size[1]) - int(size[2])}") - 1

    def _temporal(self, value: Any) -> Given:
        kind = self.type.lower()
        wanted: type = date
        if not kind.startswith(("date", "timestamp")):
            wanted = timedelta if kind.startswith("interval") else time
        if isinstance(value, str):
            read = _read(value, wanted)
            return (value, "string") if read is None else (read, None)
        return (value, None) if isinstance(value, wanted) else (self._text(value), "string")


def _read(text: str, wanted: type) -> str | None:
    """A text as ISO 8601 writes the time in it; None if there is none."""
    if wanted is timedelta:
        return None
    try:
        return (time if wanted is time else datetime).fromisoformat(text).isoformat()
    except ValueError:
        return None


def _pythonic(value: Any) -> Any:
    """A value as Python's own, of numpy's scalars and arrays and of what pandas calls missing, without importing them."""
    if isinstance(value, Mapping):
        return {key: _pythonic(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [*map(_pythonic, value)]
    name, shape = type(value).__name__, getattr(value, "shape", None)
    if name in ("NAType", "NaTType"):
        return None
    if shape == ():
        found = value.item()
        if isinstance(found, int) and name in ("datetime64", "timedelta64"):  # of nanoseconds, which Python has no type for
            return value.astype(f"{name}[us]").item()
        return found
    return _pythonic(value.tolist()) if isinstance(shape, tuple) and len(shape) == 1 else value


def _kind(value: Any) -> str:
    """The kind of a column that holds such values."""
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
