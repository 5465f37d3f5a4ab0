"""The facts about families that the dbt package reads, from their classes."""

import dataclasses
import types
import typing
from typing import Any, Literal

from nbsql.family import FAMILIES, Binned, Family

_FACTS = (
    "kind", "cell", "has_lookups", "level", "bag", "zeros", "centred", "has_categories", "over_columns", "bounded", "accepts",
    "rules", "units", "divergence",
)  # fmt: skip
# Options that need a look at the data before counting, and long ones.
_LEFT_OUT = ("best", "best_by", "vocabulary", "bins", "monotone", "special", "edges")


def facts() -> dict[str, dict[str, Any]]:
    """The facts of each family that the dbt package supports, by name."""
    return {
        name: _facts_of(family)
        for name, family in FAMILIES.items()
        if (family.fit_query is Family.fit_query and not (family.kind == "level" and family.over_columns)) or family is Binned
    }


def _facts_of(family: type[Family]) -> dict[str, Any]:
    found = {name: getattr(family(), name, None) for name in _FACTS}
    known = {name: value for name, value in found.items() if value and value != getattr(Family, name, None)}
    shared = {item.name for item in dataclasses.fields(Family)}
    own = [item for item in dataclasses.fields(family) if item.name not in shared and item.name not in _LEFT_OUT]
    hints = typing.get_type_hints(family)
    choices = {item.name: choices_of(hints[item.name]) for item in own}
    known["macros"] = family.macros  # without those that depend on options
    known["defaults"] = {item.name: None if item.default is dataclasses.MISSING else item.default for item in own}
    known["choices"] = {name: allowed for name, allowed in choices.items() if allowed}
    known["numbers"] = [item.name for item in own if hints[item.name] is float]
    if family.kind == "density":
        known["reads"] = [(parameter.name, parameter.quantity) for parameter in family().parameters]
    return {name: value for name, value in known.items() if value or name in ("macros", "defaults")}


def choices_of(hint: Any) -> list[Any]:
    """The values that a type of literals allows, None first; an empty list for another type."""
    members = typing.get_args(hint) if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
    if not all(typing.get_origin(member) is Literal or member is type(None) for member in members):
        return []
    allowed = [value for member in members for value in typing.get_args(member)]
    return [None, *allowed] if allowed and type(None) in members else allowed
