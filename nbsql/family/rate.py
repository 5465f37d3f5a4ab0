"""What the families with two prior parameters, a and b, share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nbsql.errors import InputError
from nbsql.family.base import Estimate, Family, non_negative


@dataclass(frozen=True)
class Rate(Family):
    """A family whose one parameter has a conjugate prior of a and b.

    The posterior mode is the posterior mean of one less: of a for a Gamma prior, of a and b for a Beta prior.
    """

    a: float = 0.0
    b: float = 0.0

    number: ClassVar[bool] = True
    density: ClassVar[bool] = True
    estimation_only: ClassVar[tuple[str, ...]] = (*Family.estimation_only, "a", "b")
    smoothed: ClassVar[bool] = False
    bounded: ClassVar[bool] = False  # the parameter lies between 0 and 1, and its prior is Beta's

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "a", non_negative(self.a, "a"))
        object.__setattr__(self, "b", non_negative(self.b, "b"))
        if self.has_prior and self.estimate == "mle":
            raise InputError(
                f"estimate='mle' of {self.name!r} takes no prior, and it has a = {self.a:g}, b = {self.b:g}; "
                "leave them out, or use estimate='mean' or 'mode'"
            )
        if self.has_prior and self.estimate == "mode" and min([self.a, self.b] if self.bounded else [self.a]) < 1:
            prior, least = ("Beta", "a and b") if self.bounded else ("Gamma", "a")
            raise InputError(
                f"estimate='mode' of {self.name!r} needs {least} at 1 or above, or a and b at 0 for no prior: "
                f"a {prior} distribution with a = {self.a:g}, b = {self.b:g} has no mode"
            )

    def with_estimate(self, estimate: Estimate) -> Family:
        return super().with_estimate("mle" if estimate == "mode" and not self.has_prior else estimate)

    @property
    def has_prior(self) -> bool:
        """Whether a or b says anything; both 0 is the maximum-likelihood estimate."""
        return self.a > 0 or self.b > 0

    @property
    def estimate_options(self) -> dict[str, float | None]:
        """What the prior adds where a and b stand in the posterior mean."""
        lower = self.has_prior and self.estimate == "mode"
        return {"a": self.a - lower, "b": self.b - (lower and self.bounded)}

    @property
    def degree(self) -> int | None:
        return 1
