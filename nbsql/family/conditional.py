"""A category that depends on another column, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from nbsql.errors import InputError
from nbsql.family.base import Family, non_negative
from nbsql.family.binned import bin_edges, bin_labels

MOST_PARENTS = 1000  # values of a parent, which stand in every statement


@dataclass(frozen=True)
class Conditional(Family):
    """A category that depends on a parent, too: P(v | u, c) = (n_cuv + alpha) / (n_cu + alpha K), u the value of the parent.

    One edge of a tree-augmented naive Bayes classifier (Friedman, Geiger and Goldszmidt, Bayesian network classifiers, 1997);
    `nbsql.TAN` finds a tree of them. K is the number of the column's values. A row whose parent is missing, or has a value that
    the fit did not meet, has P(v | c) = (n_cv + alpha) / (n_c + alpha K), which takes no more than the same counts.

    In the statistics a value is the JSON text of a list, the parent's value last: ["hot","sunny"], or ["hot"] without one.

    Args:
        parent: the column that it depends on.
        shrinkage: s of (n_cuv + s P(v | c)) / (n_cu + s), in the place of alpha: what is known of v without its parent, as so
            many rows; None: alpha stands for what is known.
        edges: between the bins of the column, if it is a number that is to be cut; each bin holds its lower edge.
        parent_edges: between those of the parent.
        parents: the values of the parent, as the fit found them.
        integers: the columns of whole numbers, as the fit found them.
        chosen: whether a fit has chosen the parent.

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
    accepts: ClassVar[tuple[str, ...]] = ("text", "boolean", "integer", "float", "decimal", "temporal")

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
        """The bins of the column, lowest first."""
        return bin_labels(self.edges or ())

    def is_cut(self, number: int) -> bool:
        """Whether the column of that number, or the parent, which is the second, is cut into bins."""
        return (self.edges, self.parent_edges)[number] is not None

    @property
    def distribution(self) -> str:
        return "conditional"

    @property
    def sampling_kind(self) -> str | None:
        return None

    @property
    def degree(self) -> int | None:
        return 1
