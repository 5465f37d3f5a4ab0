"""Answers compared but for the rounding of sums, whose order is that of the threads."""

from typing import Any

import pytest


def nearly(expected: Any, rel: float = 1e-12) -> Any:
    """What equals the same dicts, lists and values, and floats that differ by at most a relative 1e-12, or as told."""
    if isinstance(expected, dict):
        return {key: nearly(value, rel) for key, value in expected.items()}
    if isinstance(expected, list):
        return [nearly(value, rel) for value in expected]
    return pytest.approx(expected, rel=rel, abs=1e-15) if isinstance(expected, float) else expected


def near(expected: Any) -> Any:
    """What equals a number to nine digits."""
    return pytest.approx(expected, rel=1e-9, abs=1e-9)
