"""Numbers with a normal density."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from nbsql.family.base import Family, Parameter, choice, non_negative


@dataclass(frozen=True, kw_only=True)
class Gaussian(Family):
    """A number with a normal density in each class.

    Args:
        variance: "population" (m2 / n) or "sample" (m2 / (n - 1)).
        floor: the least variance, as a share of the feature's variance over all classes.
    """

    variance: Literal["population", "sample"] = "population"
    floor: float = 1e-9

    name: ClassVar[str] = "gaussian"
    centred: ClassVar[bool] = True
    number: ClassVar[bool] = True
    accepts: ClassVar[tuple[str, ...]] = ("integer", "float", "decimal")

    @property
    def distribution(self) -> str:
        return "gaussian"

    def __post_init__(self) -> None:
        super().__post_init__()
        choice(self.variance, Literal["population", "sample"], "variance")
        object.__setattr__(self, "floor", non_negative(self.floor, "floor"))

    @property
    def parameters(self) -> list[Parameter]:
        return [Parameter(quantity, quantity) for quantity in ("mean", "peak", "precision")]
