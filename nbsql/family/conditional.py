"""The family of categories that depend on a parent column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from nbsql.errors import InputError
from nbsql.family.base import SCALARS, Family, non_negative
from nbsql.family.binned import bin_edges, bin_labels

MOST_PARENTS = 1000  # values of a parent: every statement spells them out


@dataclass(frozen=True)
class Conditional(Family):
    """A category that also depends on a parent column: P(v | u, c) = (n_cuv + alpha) / (n_cu + alpha K), u the parent's value.

    It is one edge of a tree-augmented naive Bayes classifier (Friedman, Geiger and Goldszmidt, Bayesian network classifiers,
    1997); `nbsql.TAN` finds a tree of them. K is the number of the column's values. A row whose parent is missing, or has a
    value that the fit did not see, is scored by P(v | c) = (n_cv + alpha) / (n_c + alpha K), which the same counts provide.

    In the statistics a value is the JSON text of a list with the parent's value last: ["hot","sunny"], or ["hot"] if the parent
    is missing.

    Args:
        parent: the column that this one depends on.
        shrinkage: the s of (n_cuv + s P(v | c)) / (n_cu + s), which replaces alpha: the estimate without the parent counts as s
            rows. None smooths by alpha.
        edges: the edges between the bins of the column, if it is a number to cut; a bin includes its lower edge.
        parent_edges: the same for the parent.
        parents: the values of the parent, as the fit found them.
        integers: the columns of whole numbers, as the fit found them.
        chosen: whether the fit chose the parent.

    >>> Conditional("outlook").parent
    'outlook'
    """

    parent: str
    shrinkage: float | None = None
    edges: Sequence[float] | None = None
    parent_edges: Sequence[float] | None = None
    parents: Sequence[str] | None = None
    integers: Sequence[str] = ()
    chosen: bool = field(default=False, compare=False)

    name: ClassVar[str] = "conditional"
    level: ClassVar[bool] = True
    has_categories: ClassVar[bool] = True
    estimation_only: ClassVar[tuple[str, ...]] = (*Family.estimation_only, "shrinkage", "chosen")
    accepts: ClassVar[tuple[str, ...]] = SCALARS

    def __post_init__(self) -> None:
        if not isinstance(self.parent, str) or not self.parent:
            raise InputError(f"a parent is the name of a column, not {self.parent!r}")
        if self.shrinkage is not None:
            object.__setattr__(self, "shrinkage", non_negative(self.shrinkage, "shrinkage"))
        for name in ("edges", "parent_edges"):
            if (edges := getattr(self, name)) is not None:
                object.__setattr__(self, name, bin_edges(edges, f"{name} must be a list of numbers"))
        if self.parent_edges is not None:
            object.__setattr__(self, "parents", bin_labels(self.parent_edges))
        if self.parents is not None:
            object.__setattr__(self, "parents", tuple(self.parents))
        object.__setattr__(self, "integers", tuple(self.integers))
        super().__post_init__()

    @property
    def question(self) -> str | None:
        return "conditional_parents" if self.parents is None else None

    def with_answer(self, rows: Sequence[Sequence[Any]]) -> Family:
        if len(rows) > MOST_PARENTS:
            raise InputError(f"column {self.parent!r} has more than {MOST_PARENTS} values, and so cannot be a parent")
        return replace(self, parents=[value for (value,) in rows])

    @property
    def supervised(self) -> bool:
        return self.chosen

    @property
    def labels(self) -> Sequence[str]:
        """The names of the column's bins, lowest bin first."""
        return bin_labels(self.edges or ())

    def is_cut(self, number: int) -> bool:
        """Whether a column is cut into bins: the column itself (number 0) or its parent (number 1)."""
        return (self.edges, self.parent_edges)[number] is not None

    @property
    def distribution(self) -> str:
        return "conditional"

    @property
    def sampling_kind(self) -> str | None:
        return None
