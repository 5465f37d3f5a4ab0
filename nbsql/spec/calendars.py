"""The parts of dates and times in the place of their columns, where the features of a fit are resolved."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from nbsql.errors import InputError
from nbsql.family import Family
from nbsql.family.calendar import part_name
from nbsql.spec.column import Column


def with_all_parts(columns: Sequence[Column], chosen: Sequence[Column]) -> list[Column]:
    """The chosen ones of some columns, and the parts of them."""
    names = {column.name for column in chosen}
    names |= {part for column in chosen for part in column.parts or ()}
    return [column for column in columns if column.name in names]


def parts_for_columns(
    columns: Sequence[Column], chosen: Sequence[Column], families: Mapping[str, Family], left_out: Collection[str]
) -> tuple[list[Column], dict[str, Family]]:
    """The chosen columns and the families by column, with the parts of dates and times in the place of their columns.

    Raises InputError for a part that was not derived: that of one of several settings, or of a column without rows.
    """
    by_name = {column.name: column for column in columns}
    parts = {part for column in columns for part in column.parts or ()}
    calendars: dict[str, Any] = {name: each for name, each in families.items() if each.cell == "part" and name not in parts}
    others = {name: each for name, each in families.items() if each.cell != "part"}
    found: dict[str, Column] = {}
    for column in chosen:
        calendar, taken = calendars.get(column.name), column.parts
        if calendar is not None and calendar.parts is not None:
            taken = tuple(part_name(part, column.name) for part in calendar.parts)
        elif calendar is None and taken is None:
            found[column.name] = column
            continue
        for name in taken or ():
            if name not in by_name:
                raise InputError(f"{name!r} is not derived here; name it in features, or make a column of it")
            if name not in left_out:
                found[name] = by_name[name]
                if calendar is not None:
                    others.setdefault(name, calendar.family_of_part)
    return list(found.values()), others
