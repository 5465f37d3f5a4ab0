"""A column of a source."""

from __future__ import annotations

from dataclasses import dataclass

from nbsql.family import NUMBERS


@dataclass(frozen=True)
class Column:
    """A column of a source."""

    name: str  # the name as the catalogue spells it
    type: str  # the type as the engine writes it
    # The class of types that nbsql distinguishes: "text", "boolean", "integer", "float", "decimal", "temporal", "tokens",
    # "token counts" or "other".
    kind: str

    @property
    def is_number(self) -> bool:
        return self.kind in NUMBERS
