"""What pairs of categories say beyond each of them by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from nbsql.errors import InputError
from nbsql.family.binned import bin_labels
from nbsql.family.columns import OverColumns


@dataclass(frozen=True, kw_only=True)
class Pairs(OverColumns):
    """What the averaged one-dependence estimators of some categories add to naive Bayes of the same (Webb et al. 2005).

    A model that `nbsql.AODE` fits has one, beside the categories themselves: sql/macros/families/pairs.sql has the formulas.
    Its tokens are the values of the columns, and the pairs of them, that a row holds.

    Args:
        columns: of the categories.
        edges: of each column those between its bins, or None.
        integers: the columns of whole numbers.
        gaps: those whose missing values are a value.
        added_counts: what is added to the count of a value of each column.
        least: how often a value must be met to be a super-parent.
        shrinkage: s of (n_cuv + s P(v | c)) / (n_cu + s), in the place of the pseudo-counts.

    >>> Pairs(columns=["sky", "wind"], edges=[None, [3.5]]).labels_of(1)
    ['(-inf, 3.5)', '[3.5, inf)']
    """

    edges: Sequence[Sequence[float] | None] = ()
    integers: Sequence[str] = ()
    gaps: Sequence[str] = ()
    added_counts: Sequence[float] = ()
    least: int = 1
    shrinkage: float | None = None

    name: ClassVar[str] = "pairs"
    bag: ClassVar[bool] = True
    by_column: ClassVar[bool] = False
    smoothed: ClassVar[bool] = False
    scores_add_up: ClassVar[bool] = False
    estimation_only: ClassVar[tuple[str, ...]] = (*OverColumns.estimation_only, "added_counts", "least", "shrinkage")
    accepts: ClassVar[tuple[str, ...]] = ("text", "boolean", "integer", "float", "decimal", "temporal")

    def __post_init__(self) -> None:
        for name in ("columns", "integers", "gaps", "added_counts"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "edges", tuple(None if each is None else tuple(each) for each in self.edges))
        check_least(self.least)
        super().__post_init__()

    def labels_of(self, position: int) -> list[str]:
        """The bins of a column, lowest first."""
        return bin_labels(self.edges[position] or ())

    @property
    def bins(self) -> list[tuple[str, str]]:
        """Every bin there is, with its column first."""
        return [
            (column, label)
            for at, column in enumerate(self.columns)
            if self.edges[at] is not None
            for label in self.labels_of(at)
        ]

    @property
    def distribution(self) -> str:
        return "pairs"

    @property
    def sampling_kind(self) -> str | None:
        return None


def check_least(least: Any) -> None:
    """Raise InputError unless it is how often a value must be met."""
    if isinstance(least, bool) or not isinstance(least, int) or least < 1:
        raise InputError(f"least must be a whole number of at least 1, not {least!r}")
