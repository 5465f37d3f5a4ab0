"""What the families over several columns share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from nbsql.family.base import Family


@dataclass(frozen=True)
class OverColumns(Family):
    """One feature of several columns."""

    columns: Sequence[str] = ()

    over_columns: ClassVar[bool] = True

    def of(self, columns: Sequence[str], integers: Sequence[str]) -> OverColumns:  # noqa: ARG002
        """The family of these columns, as the catalogue spells them; `integers` are those of whole numbers."""
        return replace(self, columns=tuple(columns))
