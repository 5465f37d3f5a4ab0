"""The bases of levels and densities; those of tokens are in tokens.py, and the other kinds have one family each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nbsql.family.base import NUMBERS, Cell, Family, Kind


@dataclass(frozen=True, kw_only=True)
class Level(Family):
    """A column of which a row has one of several values, each with a likelihood in each class."""

    kind: ClassVar[Kind] = "level"
    cell: ClassVar[Cell] = "label"  # made from the value of the column; Categorical has the value itself


@dataclass(frozen=True, kw_only=True)
class Density(Family):
    """A number whose density in a class is a formula (sql/macros/families/numbers.sql) of `quantities`."""

    kind: ClassVar[Kind] = "density"
    cell: ClassVar[Cell] = "number"
    accepts: ClassVar[tuple[str, ...]] = NUMBERS
    units: ClassVar[str] = "numbers"
    linear_cure: ClassVar[str] = "leave it out of the model"
