"""The tests' own rule: no row finds its place by the last digit of a float."""

import math

import pandas as pd
import pytest
from support.ordering import last_digits, steady_sorted

ROUNDED = 0.1 + 0.2  # not 0.3


@pytest.mark.parametrize(
    ("rows", "key"),
    [
        ([(1, 0.3, "a"), (1, ROUNDED, "b")], None),
        ([(ROUNDED, "a"), (0.3, "b")], repr),
        ([("b", 0.3), ("a", ROUNDED)], lambda row: row[1]),
        ([("b", 0.3), ("a", ROUNDED)], lambda row: -row[1]),
    ],
)
def test_an_order_that_hangs_on_the_last_digit_fails(rows, key):
    with pytest.raises(pytest.fail.Exception, match="hangs on the last digit of a float"):
        steady_sorted(rows, key=key)


@pytest.mark.parametrize(
    ("rows", "key"),
    [
        ([(1, 0.3, "a"), (2, 0.3, "b")], None),
        ([(1, 0.3, "a"), (1, 0.4, "b")], None),
        ([(1, 0.3), (1, ROUNDED)], None),
        ([("b", 0.3), ("a", ROUNDED)], lambda row: row[0]),
        ([(ROUNDED, "a"), (ROUNDED, "b")], None),
        ([("b", ROUNDED), ("a", 0.3)], lambda row: (round(row[1], 9), row[0])),
        ([{"b": 1}, {"a": 2}], repr),
        ([None, "x", 1.0], repr),
        ([("a", math.nan, 1.0), ("a", float("nan"), 2.0)], repr),
    ],
)
def test_any_other_order_is_that_of_python(rows, key):
    assert steady_sorted(rows, key=key) == sorted(rows, key=key)
    assert steady_sorted(rows, key=key, reverse=True) == sorted(rows, key=key, reverse=True)


def test_an_exact_comparison_that_fails_by_a_digit_says_so():
    assert last_digits([("a", 0.3)], [("a", ROUNDED)])
    assert not last_digits([("a", 0.3)], [("b", 0.3)])
    assert not last_digits([("a", 0.3)], [("a", 0.3)])
    frame = pd.DataFrame({"x": [0.3]})
    assert not last_digits(frame, frame + 1)
    assert not last_digits([frame], [frame + 1])
