"""The bases of levels and of densities; those of tokens are in tokens.py, and the other kinds have one family each."""

from dataclasses import dataclass
from typing import ClassVar

from nbsql.errors import InputError
from nbsql.family.base import NUMBERS, Cell, Estimate, Family, Kind, Macros, macros_of
from nbsql.family.checks import checked, non_negative


@dataclass(frozen=True, kw_only=True)
class Level(Family):
    """A column of which a row has one of several values, each with a likelihood in each class."""

    kind: ClassVar[Kind] = "level"
    cell: ClassVar[Cell] = "label"  # made from the value of the column; Categorical has the value itself


@dataclass(frozen=True, kw_only=True)
class Density(Family):
    """A number whose density in a class is a formula (sql/macros/families/numbers.sql) of `quantities`."""

    kind: ClassVar[Kind] = "density"
    cell: ClassVar[Cell] = "number"
    accepts: ClassVar[tuple[str, ...]] = NUMBERS
    units: ClassVar[str] = "numbers"
    linear_cure: ClassVar[str] = "leave it out of the model"


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


@dataclass(frozen=True)
class Rate(Density):
    """A family with one parameter, whose conjugate prior has the parameters a and b.

    The posterior mode is the posterior mean with one subtracted: from a for a Gamma prior, from a and b for a Beta prior.
    """

    a: float = 0.0
    b: float = 0.0

    units: ClassVar[str] = "counts"
    macros: ClassVar[Macros] = macros_of("poisson", "inputs aggregates cells parameter")
    estimation_only: ClassVar[tuple[str, ...]] = (*Family.estimation_only, "a", "b")
    rules: ClassVar[dict[str, tuple[str, ...]]] = {
        "integer": ("negative",),
        "float": ("negative", "whole"),
        "decimal": ("negative", "whole"),
    }
    bounded: ClassVar[bool] = False  # whether the parameter lies between 0 and 1, with a Beta prior

    def __post_init__(self) -> None:
        super().__post_init__()
        checked(self, non_negative, "a", "b")
        if self.has_prior and self.estimate == "mle":
            raise InputError(
                f"⟨estimate='mle'⟩ of {self.name!r} takes no prior, and it has a = {self.a:g}, b = {self.b:g}; "
                "leave them out, or use ⟨estimate='mean'⟩ or 'mode'"
            )
        if self.has_prior and self.estimate == "mode" and min([self.a, self.b] if self.bounded else [self.a]) < 1:
            prior, least = ("Beta", "a and b") if self.bounded else ("Gamma", "a")
            raise InputError(
                f"⟨estimate='mode'⟩ of {self.name!r} needs {least} at 1 or above, or a and b at 0 for no prior: "
                f"a {prior} distribution with a = {self.a:g}, b = {self.b:g} has no mode"
            )

    def with_estimate(self, estimate: Estimate) -> Family:
        return super().with_estimate("mle" if estimate == "mode" and not self.has_prior else estimate)

    @property
    def has_prior(self) -> bool:
        """Whether there is a prior: a and b at 0 give the maximum-likelihood estimate."""
        return self.a > 0 or self.b > 0

    @property
    def estimate_options(self) -> dict[str, float | None]:
        """The numbers that take the places of a and b in the formula of the posterior mean."""
        lower = self.has_prior and self.estimate == "mode"
        return {"a": self.a - lower, "b": self.b - (lower and self.bounded)}
