"""Counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nbsql.family.base import Family, Parameter, non_negative


@dataclass(frozen=True)
class Poisson(Family):
    """A count with a Poisson distribution in each class, of rate (sum of x + a) / (n + b).

    Args:
        a: shape of the Gamma prior on the rate.
        b: rate of that prior.
    """

    a: float = 0.0
    b: float = 0.0

    name: ClassVar[str] = "poisson"
    number: ClassVar[bool] = True
    accepts: ClassVar[tuple[str, ...]] = ("integer", "float", "decimal")
    rules: ClassVar[dict[str, tuple[str, ...]]] = {
        "integer": ("negative",),
        "float": ("negative", "whole"),
        "decimal": ("negative", "whole"),
    }

    @property
    def distribution(self) -> str:
        return "poisson"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "a", non_negative(self.a, "a"))
        object.__setattr__(self, "b", non_negative(self.b, "b"))

    @property
    def parameters(self) -> list[Parameter]:
        return [Parameter(quantity, quantity) for quantity in ("rate", "log_rate")]
