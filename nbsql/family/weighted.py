"""Features as a logistic model scores them: by a weight that was learnt, and no likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nbsql.family.base import Family, Parameter

_OWN = ("categorical", "binned", "joint", "multinomial")  # scored by a number a value, or a column, whoever found it


@dataclass(frozen=True, kw_only=True)
class Weighted(Family):
    """A number, or a yes or no as 1 or 0, that adds weight (x - mean) to the score of a class; a missing one adds nothing.

    A feature of two columns has their product for its number.

    Args:
        binary: whether it is a yes or no.
        squared: whether (x - mean) squared has a weight, too.
        product: whether the number is the product of two columns.
    """

    binary: bool = False
    squared: bool = False
    product: bool = False

    name: ClassVar[str] = "weighted"
    smoothed: ClassVar[bool] = False
    number: ClassVar[bool] = True
    has_categories: ClassVar[bool] = True
    accepts: ClassVar[tuple[str, ...]] = ("boolean", "integer", "float", "decimal")

    @property
    def distribution(self) -> str:
        return "weighted"

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
    """The family by which a logistic model scores what is counted as `family`; None if it cannot."""
    if family.name in ("gaussian", "bernoulli"):
        return Weighted(alpha=0.0, nulls=family.nulls, unseen="skip", binary=family.name == "bernoulli")
    return family if family.name in _OWN and not family.backs_off else None
