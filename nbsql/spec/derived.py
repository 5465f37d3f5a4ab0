"""Columns that a model computes from those of whatever it reads, and the parts of dates and times among its features."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbsql.errors import InputError
from nbsql.family import Family
from nbsql.family.calendar import PARTS, part_name
from nbsql.rendering.dialect import folded
from nbsql.spec.column import Column


@dataclass(frozen=True)
class Derived:
    """A derived column: a SQL expression over the columns of a source, and over the derived columns before it."""

    name: str  # a column of the same name is replaced
    expression: str  # in the SQL of the engine
    reads: tuple[tuple[str, str], ...] = ()  # the columns that it reads, each with its type as the engine writes it
    words: tuple[str, ...] = ()  # those that stand for a missing value, if the column is derived to be without them
    part: str | None = None  # if it is a part of a date or time (nbsql/family/calendar.py), which
    zone: str | None = None  # the time zone of the part, if the date or time has one

    def to_dict(self) -> dict[str, Any]:
        """The column as a dictionary for JSON."""
        more = {name: value for name in ("words", "part", "zone") if (value := getattr(self, name))}
        return {"name": self.name, "expression": self.expression, "reads": dict(self.reads), **more}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Derived:
        """The column that `to_dict` wrote."""
        reads = tuple((str(name), str(kind)) for name, kind in data["reads"].items())
        words, part, zone = data.get("words", ()), data.get("part"), data.get("zone")
        if part is not None and (part not in PARTS or len(reads) != 1 or not isinstance(zone, str | None)):
            raise ValueError(f"{part!r} is no part of a date")
        return cls(str(data["name"]), str(data["expression"]), reads, tuple(map(str, words)), part, zone)

    @property
    def is_number_beside_words(self) -> bool:
        """Whether it is the number in a text that is none of its words, which the expression casts last."""
        return bool(self.words) and self.expression.endswith(") END")

    @property
    def read_names(self) -> set[str]:
        """The folded names of the columns that it reads."""
        return {folded(name) for name, _ in self.reads}


def derive_argument(column: str, expression: str) -> str:
    """The argument of a fit that derives a column, as a message shows it to be pasted.

    >>> derive_argument("price", "price / 100")
    '⟨derive={"price": "price / 100"}⟩'
    """
    return f"⟨derive={json.dumps({column: expression}, ensure_ascii=False)}⟩"


def check_derive(derive: Any) -> dict[str, str]:
    """The expressions of a fit by the names of their columns. Raises InputError unless they are a mapping of texts."""
    if not isinstance(derive, Mapping) or not all(isinstance(text, str) and text for pair in derive.items() for text in pair):
        raise InputError(f"⟨derive⟩ must map names to SQL expressions, {{'per_page': 'price / pages'}}, not {derive!r}")
    seen: dict[str, str] = {}
    for name in derive:
        if folded(name).startswith("nbsql_"):
            raise InputError(f"⟨derive⟩ names a column {name!r}, and nbsql keeps such names for itself; rename it")
        if folded(name) in seen:
            raise InputError(f"⟨derive⟩ names {seen[folded(name)]!r} and {name!r}, which is one column; rename one")
        seen[folded(name)] = name
    return dict(derive)


def needed(derived: Sequence[Derived], names: Iterable[str]) -> tuple[Derived, ...]:
    """The derived columns that some columns need, in order."""
    wanted, kept = {folded(name) for name in names}, list[Derived]()
    for each in reversed(derived):
        if folded(each.name) in wanted:
            wanted = wanted - {folded(each.name)} | each.read_names
            kept.insert(0, each)
    return tuple(kept)


def layers(derived: Iterable[Derived]) -> list[list[Derived]]:
    """The columns in groups, each of which reads only the source and the groups before it."""
    found: list[list[Derived]] = []
    for each in derived:
        made = {folded(other.name) for other in found[-1]} if found else set()
        if not found or made & {folded(each.name), *each.read_names}:
            found.append([])
        found[-1].append(each)
    return found


def inputs(derived: Iterable[Derived]) -> dict[str, str]:
    """The columns of a source that some columns are derived from, with their types."""
    made: set[str] = set()
    types: dict[str, str] = {}
    for each in derived:
        types |= {name: kind for name, kind in each.reads if folded(name) not in made}
        made.add(folded(each.name))
    return types


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
