"""The features of a logistic model, which are scored by learnt weights instead of likelihoods."""

from dataclasses import dataclass
from typing import ClassVar

from nbsql.family.base import NUMBERS, Cell, Family, Kind, Macros, Parameter, macros_of

_OWN = ("categorical", "binned", "joint", "multinomial")  # one number a value or column scores them, in any model


@dataclass(frozen=True, kw_only=True)
class Weighted(Family):
    """A number that adds weight (x - mean) to the score of a class; a yes or no is 1 or 0, and a missing value adds nothing."""

    binary: bool = False  # whether the column is a yes or no
    squared: bool = False  # whether (x - mean) squared has a weight, too
    product: bool = False  # whether the number is the product of two columns

    name: ClassVar[str] = "weighted"
    macros: ClassVar[Macros] = macros_of("weighted", "inputs term value weights")
    kind: ClassVar[Kind] = "weight"
    cell: ClassVar[Cell] = "weight"
    accepts: ClassVar[tuple[str, ...]] = ("boolean", *NUMBERS)

    @property
    def parameters(self) -> list[Parameter]:
        found = [Parameter("weight", "score", unseen=True), Parameter("mean", "location", unseen=True)]
        if self.squared:
            found.append(Parameter("square", "score", value="x^2", unseen=True))
        return [*found, Parameter("missing", "score")] if self.nulls == "category" else found

    @property
    def degree(self) -> int | None:
        return 2 if self.squared or self.product else 1


def weighted(family: Family) -> Family | None:
    """The family by which a logistic model scores a feature that is counted as `family`; None if there is none."""
    if family.name in ("gaussian", "bernoulli"):
        return Weighted(alpha=0.0, nulls=family.nulls, unseen="skip", binary=family.name == "bernoulli")
    return family if family.name in _OWN and not family.backoff else None
