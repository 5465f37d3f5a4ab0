"""No test sorts rows by a number that another run, engine or version sums up to another last digit.

In the modules of the tests `sorted` is the function below. It sorts as ever, and fails where the order of two rows hangs on
floats that are as good as equal, while the rows differ in what comes after: sort by a key, or by the columns before.
"""

import builtins
import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

import pytest


def steady_sorted(rows: Iterable[Any], *, key: Callable[[Any], Any] | None = None, reverse: bool = False) -> list[Any]:
    found = builtins.sorted(rows, key=key, reverse=reverse)
    if key in (repr, str):
        keys: list[Any] = [_written(row) for row in found]
    else:
        keys = found if key is None else [key(row) for row in found]
    for one, other, first, second in zip(found, found[1:], keys, keys[1:], strict=False):
        if _hangs_on_floats(first, second) and not _alike(one, other):
            pytest.fail(f"the order of these rows hangs on the last digit of a float: {one!r}, {other!r}")
    return found


def _written(value: Any) -> Any:
    """A row for one that is sorted as text, where NaN is a word like any other and the same in all rows."""
    if isinstance(value, (tuple, list)):
        return [_written(item) for item in value]
    return "nan" if isinstance(value, float) and math.isnan(value) else value


def _hangs_on_floats(one: Any, other: Any) -> bool:
    """Whether two keys differ first in a float, and there by a last digit only; a float that is the same in both is data."""
    if isinstance(one, float) and isinstance(other, float):
        return one != other and _close(one, other)
    if not (isinstance(one, (tuple, list)) and isinstance(other, (tuple, list))):
        return False
    first, second = next(((a, b) for a, b in zip(one, other, strict=False) if a != b), (None, None))
    return _hangs_on_floats(first, second)


def _alike(one: Any, other: Any) -> bool:
    """Whether it does not matter which of two rows comes first."""
    if isinstance(one, (float, Decimal)) and isinstance(other, (float, Decimal)):
        return _close(float(one), float(other))
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(one == other)


def _close(one: float, other: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    nothing = 1e-12 if one * other <= 0 else 0  # what is left where a sum should be 0 has either sign; tiny chances have one
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=nothing)


def last_digits(left: Any, right: Any) -> bool:
    """Whether two values that are compared exactly are the same but for the last digits of floats."""
    if not isinstance(left, (float, tuple, list)):  # arrays and frames answer a comparison by as many
        return False
    try:
        return bool(left != right) and _alike(left, right)
    except ValueError:
        return False
