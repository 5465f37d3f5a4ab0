"""Answers compared but for the rounding of sums, whose order is that of the threads."""

from __future__ import annotations

from typing import Any

import pytest


def nearly(expected: Any) -> Any:
    """What equals the same dicts, lists and values, and floats that differ by at most 1e-12 of themselves."""
    if isinstance(expected, dict):
        return {key: nearly(value) for key, value in expected.items()}
    if isinstance(expected, list):
        return [nearly(value) for value in expected]
    return pytest.approx(expected, rel=1e-12, abs=1e-15) if isinstance(expected, float) else expected
