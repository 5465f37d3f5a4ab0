"""The pairs of categories of averaged one-dependence estimators."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from nbsql.family.base import SCALARS, Cell, Kind, OverColumns
from nbsql.family.binned import bin_labels
from nbsql.family.checks import set_attributes, whole_number


@dataclass(frozen=True, kw_only=True)
class Pairs(OverColumns):
    """What averaged one-dependence estimators add to the naive Bayes score of the same categories (Webb et al. 2005).

    A model fitted with `nbsql.AODE` has one such feature beside the categories themselves; the formulas are in
    sql/macros/families/pairs.sql. Its tokens are the values of a row and the pairs of these values.

    >>> Pairs(columns=["sky", "wind"], edges=[None, [3.5]]).labels_of(1)
    ['(-inf, 3.5)', '[3.5, inf)']
    """

    edges: Sequence[Sequence[float] | None] = ()  # for each column the edges between its bins, or None
    integers: Sequence[str] = ()  # the columns of whole numbers
    gaps: Sequence[str] = ()  # the columns in which a missing value is a value
    added_counts: Sequence[float] = ()  # for each column the number that is added to the count of a value
    least: int = 1  # how often a value must occur to be a super-parent
    shrinkage: float | None = None  # the s of (n_cuv + s P(v | c)) / (n_cu + s), which replaces the pseudo-counts

    name: ClassVar[str] = "pairs"
    kind: ClassVar[Kind] = "pairs"
    cell: ClassVar[Cell] = "pair"
    estimation_only: ClassVar[tuple[str, ...]] = (*OverColumns.estimation_only, "added_counts", "least", "shrinkage")
    accepts: ClassVar[tuple[str, ...]] = SCALARS
    degree: ClassVar[None] = None

    def __post_init__(self) -> None:
        for name in ("columns", "integers", "gaps", "added_counts"):
            set_attributes(self, **{name: tuple(getattr(self, name))})
        set_attributes(self, edges=tuple(None if each is None else tuple(each) for each in self.edges))
        set_attributes(self, least=whole_number(self.least, "least"))
        super().__post_init__()

    def labels_of(self, position: int) -> list[str]:
        """The names of a column's bins, lowest bin first."""
        return bin_labels(self.edges[position] or ())

    @property
    def bins(self) -> list[tuple[str, str]]:
        """All bins as pairs of a column and the name of a bin."""
        return [
            (column, label)
            for at, column in enumerate(self.columns)
            if self.edges[at] is not None
            for label in dict.fromkeys(self.labels_of(at))
        ]
