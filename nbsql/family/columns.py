"""The base of the families over several columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from nbsql.family.base import Family


@dataclass(frozen=True)
class OverColumns(Family):
    """A family whose single feature reads several columns."""

    columns: Sequence[str] = ()

    over_columns: ClassVar[bool] = True

    def of(self, columns: Sequence[str], integers: Sequence[str]) -> OverColumns:  # noqa: ARG002
        """The same family with its columns spelt as in the catalogue; `integers` names the columns of whole numbers."""
        return replace(self, columns=tuple(columns))
