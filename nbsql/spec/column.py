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
    is_category: bool = False  # whether its library says that its values are categories, whatever their type

    @property
    def inferred_kind(self) -> str:
        """The kind by which its family is inferred."""
        return "text" if self.is_category and self.kind in (*NUMBERS, "temporal") else self.kind

    @property
    def is_number(self) -> bool:
        return self.kind in NUMBERS
