"""Checks of options and values: one line of error for each, and the value in its own form."""

import math
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from decimal import Decimal
from enum import Enum
from numbers import Integral, Real
from typing import Any, Literal, get_args

from nbsql.errors import InputError, suggestion, written

MOST_NUMBER = 1e150  # of an option or a value of a column, where a larger one is missing: its square would overflow
_LARGEST = 2**62  # of whole numbers, to which engines may still add some


def choice(value: str, allowed: Any, name: str) -> None:
    """Raise InputError unless `value` is one of the values of the Literal `allowed`."""
    options = get_args(allowed)
    if not isinstance(value, str) or value not in options:
        known = ", ".join(map(repr, options))
        raise InputError(f"⟨{name}⟩ must be one of {known}, not {written(value)}{suggestion(written(value), options)}")


def is_finite(value: Any) -> bool:
    """Whether it is a number that a double holds, and neither a boolean nor an infinity."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def non_negative(value: Any, name: str) -> float:
    """`value` as a float. Raises InputError unless it is a number from 0 to 1e150."""
    if not is_finite(value) or value < 0:
        raise InputError(f"⟨{name}⟩ must be a finite number of at least 0, not {written(value)}")
    if float(value) > MOST_NUMBER:  # which a float32 of NumPy cannot be compared to
        raise InputError(f"⟨{name}⟩ must be at most {MOST_NUMBER:g}, not {written(value)}")
    return float(value)


def finite(value: Any, name: str) -> float:
    """`value` as a float. Raises InputError unless it is a finite number."""
    if not is_finite(value):
        raise InputError(f"⟨{name}⟩ must be a finite number, not {written(value)}")
    return float(value)


def share(value: Any, name: str) -> float:
    """`value` as a float. Raises InputError unless it is a number between 0 and 1, which it may not be."""
    if not (is_finite(value) or isinstance(value, Decimal)) or not 0 < float(value) < 1:
        raise InputError(f"⟨{name}⟩ must be a number between 0 and 1, such as 0.9, not {written(value)}")
    return float(value)


def whole_number(value: Any, name: str, least: int | None = 1, most: int | None = None) -> int:
    """`value`. Raises InputError unless it is a whole number of at least `least`, and at most `most`; None is no limit."""
    limits = "" if least is None else f" of at least {least}" if most is None else f" from {least} to {most}"
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)  # NumPy's, too
    if not is_whole or (least is not None and value < least) or (most is not None and value > most):
        raise InputError(f"⟨{name}⟩ must be a whole number{limits}, not {written(value)}")
    if abs(value) >= _LARGEST:
        raise InputError(f"⟨{name}⟩ must be a whole number below 2^62, not {written(value)}")
    return int(value)


def true_or_false(value: Any, name: str) -> bool:
    """`value`. Raises InputError unless it is True or False."""
    if not isinstance(value, bool):
        raise InputError(f"⟨{name}⟩ must be True or False, not {value!r}")
    return value


def set_attributes(options: Any, **values: Any) -> None:
    """Set attributes of a frozen dataclass while it is made: options in their own form, and facts that follow from them."""
    for name, value in values.items():
        object.__setattr__(options, name, value)


def checked(options: Any, check: Callable[[Any, str], Any], *names: str) -> None:
    """Replace options of a frozen dataclass by what `check` returns for their values and names; one that is None stays None.

    An option that may not be None is refused by `check`: its default in the class is another.
    """
    for name in names:
        value = getattr(options, name)
        if value is not None or getattr(type(options), name, None) is not None:
            set_attributes(options, **{name: check(value, name)})


def estimate_named(value: Any) -> Any:
    """The estimate of that name, with "map" as "mode"; None stays None."""
    if value is None:
        return None
    choice(value, Literal["mean", "mode", "map", "mle"], "estimate")
    return "mode" if value == "map" else value


def label(value: Any) -> str:
    """A value as text, in the form in which DuckDB casts it; of a member of an enum, that of its value."""
    if isinstance(value, Enum):
        return label(value.value)
    text = str(value)
    return text.lower() if text in ("True", "False") and not isinstance(value, str) else text  # NumPy's, too


def shortest(value: Any) -> str:
    """A value as text, a number without zeros at the end of its fraction.

    >>> shortest(1.0), shortest("1.0")
    ('1', '1.0')
    """
    if isinstance(value, Enum):
        return shortest(value.value)
    if isinstance(value, timedelta):  # of whose text no engine makes an interval
        return f"{value.days} days {value.seconds} seconds {value.microseconds} microseconds"
    text = label(value)
    number = value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value
    is_fraction = isinstance(number, (float, Decimal)) and "." in text and "e" not in text.lower()
    return text.rstrip("0").removesuffix(".") if is_fraction else text


def texts(values: Any, rule: str) -> tuple[str, ...]:
    """`values` as a tuple. Raises InputError, which begins with `rule`, unless it is a list of texts."""
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        raise InputError(f"{rule}, not {values!r}")
    found = tuple(values)
    for value in found:
        if not isinstance(value, str):
            raise InputError(f"{rule}, and {value!r} is no text")
    return found
