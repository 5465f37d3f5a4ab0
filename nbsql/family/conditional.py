"""The family of categories that depend on a parent column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from nbsql.errors import InputError
from nbsql.family.base import SCALARS, Cell, Family, Macros, macros_of
from nbsql.family.binned import bin_edges, bin_labels
from nbsql.family.checks import checked, choice, non_negative, set_attributes
from nbsql.family.kinds import Level

MOST_PARENTS = 1000  # values of a parent: every statement spells them out


@dataclass(frozen=True)
class Parent:
    """A column on which a category depends, with what the fit found of it, as `Conditional` has it of its first parent."""

    column: str
    edges: Sequence[float] | None = None
    values: Sequence[str] | None = None
    nulls: Literal["skip", "category"] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise InputError(f"a parent is the name of a column, not {self.column!r}")
        if self.nulls is not None:
            choice(self.nulls, Literal["skip", "category"], "parent_nulls")
        checked(self, lambda edges, _: bin_edges(edges, "parent_edges must be a list of numbers"), "edges")
        values = self.values if self.edges is None else bin_labels(self.edges)
        set_attributes(self, values=None if values is None else tuple(values))

    @property
    def labels(self) -> Sequence[str]:
        """Its values, those of a number the names of its bins."""
        return self.values or ()


@dataclass(frozen=True)
class Conditional(Level):
    """A category that also depends on a parent column: P(v | u, c) = (n_cuv + alpha) / (n_cu + alpha K), u the parent's value.

    It is one edge of a tree-augmented naive Bayes classifier (Friedman, Geiger and Goldszmidt, Bayesian network classifiers,
    1997); `nbsql.TAN` finds a tree of them, and `nbsql.KDB` several parents of each. K is the number of the column's values. A
    row whose parent is missing, or has a value that the fit did not see, is scored by P(v | c) = (n_cv + alpha) / (n_c + alpha
    K), which the same counts provide; of several parents, those before it still count.

    In the statistics a value is the JSON text of a list with the parents' values last: ["hot","sunny"], or ["hot"] if the
    parent is missing.

    Args:
        parent: the column that this one depends on.
        further: further parents, by name: P(v | u, w, c) for the parents u and w, and so on.
        shrinkage: the s of (n_cuv + s P(v | c)) / (n_cu + s), which replaces alpha: the estimate without the last parent counts
            as s rows. None smooths by alpha.
        edges: the edges between the bins of the column, if it is a number to cut; a bin includes its lower edge.
        parent_edges: the same for the parent.
        parents: the values of the parent, as the fit found them.
        parent_nulls: whether a missing parent is a value of it, "category" or "skip"; None is as `nulls`.
        integers: the columns of whole numbers, as the fit found them.
        chosen: whether the fit chose the parent.

    >>> Conditional("outlook", further=["wind"]).parent_names
    ['outlook', 'wind']
    """

    parent: str = ""
    shrinkage: float | None = None
    edges: Sequence[float] | None = None
    parent_edges: Sequence[float] | None = None
    parents: Sequence[str] | None = None
    parent_nulls: Literal["skip", "category"] | None = None
    integers: Sequence[str] = ()
    chosen: bool = field(default=False, compare=False)
    further: Sequence[Any] = ()

    name: ClassVar[str] = "conditional"
    macros: ClassVar[Macros] = macros_of("conditional", "value given")
    cell: ClassVar[Cell] = "list"
    estimation_only: ClassVar[tuple[str, ...]] = (*Family.estimation_only, "shrinkage", "chosen")
    accepts: ClassVar[tuple[str, ...]] = SCALARS
    distribution: ClassVar[str] = "conditional"

    def __post_init__(self) -> None:
        checked(self, non_negative, "shrinkage")
        checked(self, lambda edges, _: bin_edges(edges, "edges must be a list of numbers"), "edges")
        first = Parent(self.parent, self.parent_edges, self.parents, self.parent_nulls)
        others = [self.further] if isinstance(self.further, str) else self.further
        further = [each if isinstance(each, Parent) else Parent(**each) if isinstance(each, Mapping) else Parent(each)
                   for each in others]  # fmt: skip
        set_attributes(self, parent_edges=first.edges, parents=first.values, further=tuple(further))
        set_attributes(self, integers=tuple(self.integers), supervised=self.chosen)
        super().__post_init__()

    @property
    def all_parents(self) -> list[Parent]:
        """All parents, the first one first."""
        return [Parent(self.parent, self.parent_edges, self.parents, self.parent_nulls), *self.further]

    @property
    def parent_names(self) -> list[str]:
        return [parent.column for parent in self.all_parents]

    def with_parents(self, parents: Sequence[Parent]) -> Conditional:
        """The same family with these parents."""
        first, *further = parents
        edges: dict[str, Any] = {"parent_edges": first.edges, "parents": first.values, "parent_nulls": first.nulls}
        return replace(self, parent=first.column, **edges, further=tuple(further))

    def renamed(self, parents: Sequence[str], integers: Sequence[str]) -> Conditional:
        """The same family with its parents' columns spelt as in the catalogue; `integers` names those of whole numbers."""
        pairs = zip(self.all_parents, parents, strict=True)
        return replace(self, integers=integers).with_parents([replace(parent, column=name) for parent, name in pairs])

    @property
    def unknown_parent(self) -> str | None:
        """The first parent of which the fit has not found the values yet."""
        return next((parent.column for parent in self.all_parents if parent.values is None), None)

    @property
    def fit_query(self) -> str | None:
        return None if self.unknown_parent is None else "conditional_parents"

    def with_fitted(self, rows: Sequence[Sequence[Any]]) -> Family:
        column = self.unknown_parent
        if len(rows) > MOST_PARENTS:
            raise InputError(f"column {column!r} has more than {MOST_PARENTS} values, and so cannot be a parent")
        values = [value for (value,) in rows]
        return self.with_parents([replace(each, values=values) if each.column == column else each for each in self.all_parents])

    def has_missing(self, parent: Parent) -> bool:
        """Whether a missing value of a parent is one of its values."""
        return (parent.nulls or self.nulls) == "category"

    @property
    def labels(self) -> Sequence[str]:
        """The names of the column's bins, lowest bin first."""
        return bin_labels(self.edges or ())

    def is_cut(self, number: int) -> bool:
        """Whether a column is cut into bins: the column itself (number 0) or one of its parents (from 1)."""
        return (self.edges, *(parent.edges for parent in self.all_parents))[number] is not None


@dataclass(frozen=True)
class Interaction(Conditional):
    """What two columns say together beyond what each says by itself, ln (n_cuv + s) / (n_cu P(v | c) + s).

    That is the logarithm of P(u, v | c) / (P(u | c) P(v | c)), shrunk to 0 by s rows, the `shrinkage`. Of three columns it is
    what the last says of the first beyond the second, ln (n_cuwv + s) / (n_cuw P(v | u, c) + s). `nbsql.Weighted(pairs=40)`
    and `triples=40` add such features beside those of the columns. Its counts and likelihoods are those of a category with
    parents.
    """

    shrinkage: float = 5.0

    name: ClassVar[str] = "interaction"
    is_ratio = True  # whether it is scored by what the columns say together, and not by a likelihood
