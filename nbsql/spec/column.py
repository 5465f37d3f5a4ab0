"""A column of a source, as nbsql sees it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column of a source.

    Args:
        name: as the catalogue spells it.
        type: as the engine writes it.
        kind: what nbsql makes of the type: "text", "boolean", "integer", "float", "decimal", "temporal", "tokens",
            "token counts" or "other".
    """

    name: str
    type: str
    kind: str
