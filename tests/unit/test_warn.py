"""Which warnings are issued while others are not."""

import warnings

from nbsql.warn import quietly, warn_user


def test_a_narrower_silence_within_a_wider_one_lets_nothing_through():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with quietly("one bin only"):
            warn_user("one bin only in 'x'")
            warn_user("one value only in 'x'")
        with quietly(), quietly("one bin only"):
            warn_user("one value only in 'z'")
        warn_user("one bin only in 'z'")
    assert [str(each.message) for each in said] == ["one value only in 'x'", "one bin only in 'z'"]
