"""Bins, and values of several columns, as explanations and pictures name them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from nbsql.queries.table import plain
from nbsql.spec.spec import Feature

_BIN = re.compile(r"[\[(](-inf|-?[\d.]+(?:e[+-]?\d+)?), (inf|-?[\d.]+(?:e[+-]?\d+)?)[\])]")


def value_words(feature: Feature, value: str | None, shown: Callable[[str | None], str] = plain) -> list[str]:
    """The conditions on the columns of a feature that a value stands for; none for a value that says itself what it is.

    `shown` writes a column or a value on one line.
    """
    family = feature.family
    if value is None or not (family.cell in ("bin", "list") or family.parent):
        return []
    if family.cell == "bin" and not family.parent:
        return [_condition(feature.column, value, shown)] if _BIN.fullmatch(value) else []
    return list(_of_columns(feature, value, shown)) if value.startswith("[") else []


def _of_columns(feature: Feature, value: str, shown: Callable[[str | None], str]) -> Iterator[str]:
    try:
        parts = json.loads(value)
    except ValueError:  # a bin, of a column whose parent is not among the values
        parts = [value]
    for place, column in enumerate(feature.columns):
        part = parts[place] if place < len(parts) else None
        yield _condition(column, None if part is None else str(part), shown)


def _condition(column: str, value: str | None, shown: Callable[[str | None], str]) -> str:
    """A condition on a column: a bin includes its lower edge."""
    name = shown(column)
    found = _BIN.fullmatch(value or "")
    if found is None:
        return f"{name} is missing" if value is None else f"{name} = {shown(value)}"
    low, high = found.groups()
    if low == "-inf":
        return f"{name} < {high}"
    return f"{name} ≥ {low}" if high == "inf" else f"{low} ≤ {name} < {high}"
