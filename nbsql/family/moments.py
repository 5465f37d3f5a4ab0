"""The base of the densities that are estimated by the method of moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nbsql.errors import InputError
from nbsql.family.base import Estimate, Family, Macros, macros_of
from nbsql.family.checks import checked, non_negative
from nbsql.family.kinds import Density


@dataclass(frozen=True, kw_only=True)
class Moments(Density):
    """A number whose density follows from its mean and variance (the method of moments)."""

    floor: float = 1e-9

    macros: ClassVar[Macros] = macros_of("gaussian", "inputs aggregates cells parameter")
    centred: ClassVar[bool] = True
    estimation_only: ClassVar[tuple[str, ...]] = (*Family.estimation_only, "floor")
    degree: ClassVar[None] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        checked(self, non_negative, "floor")
        if self.estimate not in (None, "mean"):
            raise InputError(f"⟨estimate={self.estimate!r}⟩ of {self.name!r} is none of its moments; leave it out")

    def with_estimate(self, estimate: Estimate) -> Family:  # noqa: ARG002 - there is one
        return super().with_estimate("mean")

    @property
    def estimate_options(self) -> dict[str, float | None]:
        return {"floor": self.floor}
