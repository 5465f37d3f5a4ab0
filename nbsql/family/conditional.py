"""The family of categories that depend on a parent column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from nbsql.errors import InputError
from nbsql.family.base import SCALARS, Cell, Family, Macros, macros_of
from nbsql.family.binned import bin_edges, bin_labels
from nbsql.family.checks import checked, choice, non_negative, set_attributes
from nbsql.family.kinds import Level

MOST_PARENTS = 1000  # values of a parent: every statement spells them out


@dataclass(frozen=True)
class Conditional(Level):
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
        parent_nulls: whether a missing parent is a value of it, "category" or "skip"; None is as `nulls`.
        integers: the columns of whole numbers, as the fit found them.
        chosen: whether the fit chose the parent.

    >>> Conditional("outlook").parent
    'outlook'
    """

    parent: str = ""
    shrinkage: float | None = None
    edges: Sequence[float] | None = None
    parent_edges: Sequence[float] | None = None
    parents: Sequence[str] | None = None
    parent_nulls: Literal["skip", "category"] | None = None
    integers: Sequence[str] = ()
    chosen: bool = field(default=False, compare=False)

    name: ClassVar[str] = "conditional"
    macros: ClassVar[Macros] = macros_of("conditional", "value given")
    cell: ClassVar[Cell] = "list"
    estimation_only: ClassVar[tuple[str, ...]] = (*Family.estimation_only, "shrinkage", "chosen")
    accepts: ClassVar[tuple[str, ...]] = SCALARS
    distribution: ClassVar[str] = "conditional"

    def __post_init__(self) -> None:
        if not isinstance(self.parent, str) or not self.parent:
            raise InputError(f"a parent is the name of a column, not {self.parent!r}")
        checked(self, non_negative, "shrinkage")
        if self.parent_nulls is not None:
            choice(self.parent_nulls, Literal["skip", "category"], "parent_nulls")
        checked(self, lambda edges, name: bin_edges(edges, f"{name} must be a list of numbers"), "edges", "parent_edges")
        parents = self.parents if self.parent_edges is None else bin_labels(self.parent_edges)
        set_attributes(self, parents=None if parents is None else tuple(parents), integers=tuple(self.integers))
        set_attributes(self, supervised=self.chosen)
        super().__post_init__()

    @property
    def fit_query(self) -> str | None:
        return "conditional_parents" if self.parents is None else None

    def with_fitted(self, rows: Sequence[Sequence[Any]]) -> Family:
        if len(rows) > MOST_PARENTS:
            raise InputError(f"column {self.parent!r} has more than {MOST_PARENTS} values, and so cannot be a parent")
        return replace(self, parents=[value for (value,) in rows])

    @property
    def has_missing_parent(self) -> bool:
        """Whether a missing parent is one of its values."""
        return (self.parent_nulls or self.nulls) == "category"

    @property
    def labels(self) -> Sequence[str]:
        """The names of the column's bins, lowest bin first."""
        return bin_labels(self.edges or ())

    def is_cut(self, number: int) -> bool:
        """Whether a column is cut into bins: the column itself (number 0) or its parent (number 1)."""
        return (self.edges, self.parent_edges)[number] is not None


@dataclass(frozen=True)
class Interaction(Conditional):
    """What two columns say together beyond what each says by itself, ln (n_cuv + s) / (n_cu P(v | c) + s).

    That is the logarithm of P(u, v | c) / (P(u | c) P(v | c)), shrunk to 0 by s rows, the `shrinkage`.
    `nbsql.Weighted(pairs=40)` adds such features beside those of the columns. Its counts and likelihoods are
    those of a category with a parent.
    """

    shrinkage: float = 5.0

    name: ClassVar[str] = "interaction"
    is_ratio = True  # whether it is scored by what the two columns say beyond what each says by itself
