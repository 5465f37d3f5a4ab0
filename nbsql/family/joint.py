"""The family of several columns that form one category."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from nbsql.errors import InputError
from nbsql.family.base import SCALARS, Cell, Family, Kind, Macros, Nulls, OverColumns, Unseen, macros_of
from nbsql.family.checks import choice, set_attributes, texts


@dataclass(frozen=True)
class Joint(OverColumns):
    """Several columns whose values form one category: P(v | c) = (n_cv + alpha) / (n_c + alpha K), v a list of values.

    The columns may depend on each other; they are assumed to be independent of the other features only (Kononenko, Semi-naive
    Bayesian classifier, 1991). `nbsql.fit(method="joint")` fits a model of all columns as one category, without smoothing.

    In the statistics a value is the JSON text of a list: ["sunny","hot"].

    Args:
        columns: the columns that form the category.
        alpha: the pseudo-count of every list of values seen in any class; None takes the fit's alpha.
        backoff: "naive" also makes each column a feature of its own, which scores a row whose list of values was never seen;
            None leaves such a row to `unseen`.
        nulls: "skip" leaves out a row that lacks any of the values; "category" treats a missing value as a value.

    >>> Joint(["sky", "wind"]).columns
    ('sky', 'wind')
    """

    backoff: Literal["naive"] | None = None
    integers: Sequence[str] = ()  # the columns of whole numbers, as the fit found them

    name: ClassVar[str] = "joint"
    macros: ClassVar[Macros] = macros_of("joint", "value given drawn")
    kind: ClassVar[Kind] = "level"
    cell: ClassVar[Cell] = "list"
    accepts: ClassVar[tuple[str, ...]] = SCALARS

    def __post_init__(self) -> None:
        columns = texts(self.columns, "Joint takes a list of columns")
        set_attributes(self, columns=columns, integers=texts(self.integers, "⟨integers⟩ are a list of columns"))
        super().__post_init__()
        if self.backoff is not None:
            choice(self.backoff, Literal["naive"], "backoff")
            if self.unseen == "smooth":
                raise InputError("⟨unseen='smooth'⟩ and a backoff are two answers to values never seen; leave one of them out")

    def with_defaults(self, *, alpha: float, nulls: Nulls, unseen: Unseen) -> Family:
        return super().with_defaults(alpha=alpha, nulls=nulls, unseen="skip" if self.backoff else unseen)

    def of(self, columns: Sequence[str], integers: Sequence[str]) -> OverColumns:
        return replace(self, columns=tuple(columns), integers=tuple(integers))
