"""Categories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from nbsql.errors import InputError
from nbsql.family.base import Family


@dataclass(frozen=True, kw_only=True)
class Categorical(Family):
    """Categories: P(v | c) = (n_cv + alpha) / (n_c + alpha K), K the values seen in any class or declared.

    Args:
        levels: values that count in K though no row may have them.

    >>> Categorical(alpha=0.5, levels=["rain", "snow"]).levels
    ('rain', 'snow')
    """

    levels: Sequence[Any] = ()

    name: ClassVar[str] = "categorical"
    level: ClassVar[bool] = True
    has_categories: ClassVar[bool] = True
    accepts: ClassVar[tuple[str, ...]] = ("text", "boolean", "integer", "float", "decimal", "temporal")

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.levels, (str, Mapping)) or not isinstance(self.levels, Iterable):
            raise InputError(f"levels must be a list, not {self.levels!r}")
        if None in self.levels:
            raise InputError("levels may not hold None; nulls='category' makes a missing value one")
        object.__setattr__(self, "levels", tuple(map(_label, self.levels)))

    @property
    def declared(self) -> list[tuple[str, float]]:
        return [(level, self.pseudo_count) for level in self.levels]


def _label(value: Any) -> str:
    """A level as DuckDB casts it to text."""
    return str(value).lower() if isinstance(value, bool) else str(value)
