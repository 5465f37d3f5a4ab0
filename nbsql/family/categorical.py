"""The family of categories."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from nbsql.errors import InputError
from nbsql.family.base import SCALARS, Cell, Family, Macros, Nulls, Unseen, macros_of
from nbsql.family.checks import checked, non_negative, set_attributes, shortest, whole_number
from nbsql.family.kinds import Level


@dataclass(frozen=True, kw_only=True)
class Categorical(Level):
    """A category: P(v | c) = (n_cv + alpha_v) / (n_c + sum of alpha), over the values that are declared or seen in any class.

    Args:
        alpha: one pseudo-count for all categories, or one for each: {"red": 2, "blue": 1}. Categories named here are declared.
        other_alpha: the pseudo-count of the categories that `alpha` does not name; None takes the fit's alpha.
        levels: declared values, which are smoothed even if no row has them.
        min_count: the least number of times that a category must occur in the training rows to be one; a rarer one is treated
            as a category that training never saw, by `unseen`.

    >>> Categorical(alpha=0.5, levels=["rain", "snow"]).levels
    ('rain', 'snow')
    """

    alpha: float | Mapping[Any, float] | None = field(default=None, hash=False)
    other_alpha: float | None = None
    levels: Sequence[Any] = ()
    min_count: int = 1

    name: ClassVar[str] = "categorical"
    macros: ClassVar[Macros] = macros_of("categorical", "value given drawn")
    cell: ClassVar[Cell] = "level"
    alpha_by_value: ClassVar[bool] = True
    estimation_only: ClassVar[tuple[str, ...]] = (*Family.estimation_only, "other_alpha", "levels", "min_count")
    accepts: ClassVar[tuple[str, ...]] = SCALARS

    def __post_init__(self) -> None:
        if isinstance(self.alpha, Mapping):
            alphas = {_named(level): non_negative(alpha, f"alpha of {level!r}") for level, alpha in self.alpha.items()}
            set_attributes(self, alpha=alphas)
            checked(self, non_negative, "other_alpha")
        elif self.other_alpha is not None:
            raise InputError("other_alpha goes with a pseudo-count a category: ⟨alpha={'red': 2}⟩")
        if isinstance(self.levels, (str, Mapping)) or not isinstance(self.levels, Iterable):
            raise InputError(f"levels must be a list, not {self.levels!r}")
        set_attributes(self, levels=tuple(map(_named, self.levels)))
        checked(self, whole_number, "min_count")
        if self.min_count > 1:
            if self.levels or isinstance(self.alpha, Mapping):
                raise InputError(
                    "declared categories are kept however rare; leave out min_count, or levels and alphas by category"
                )
            set_attributes(self, least_count=self.min_count)
        super().__post_init__()

    def with_defaults(self, *, alpha: float, nulls: Nulls, unseen: Unseen) -> Family:
        family = self
        if isinstance(self.alpha, Mapping) and self.other_alpha is None:
            family = replace(self, other_alpha=alpha)
        return super(Categorical, family).with_defaults(alpha=alpha, nulls=nulls, unseen=unseen)

    @property
    def pseudo_counts(self) -> list[float]:
        if not isinstance(self.alpha, Mapping):
            return super().pseudo_counts
        return [*self.alpha.values(), *([] if self.other_alpha is None else [self.other_alpha])]

    @property
    def added_count(self) -> float:
        return super().added_count if self.other_alpha is None else self.added_to_count(self.other_alpha)

    @property
    def declared(self) -> list[tuple[str, float]]:
        alphas = self.alpha if isinstance(self.alpha, Mapping) else {}
        return [
            *((level, self.added_to_count(alpha)) for level, alpha in alphas.items()),
            *((level, self.added_count) for level in self.levels if level not in alphas),
        ]


def _named(level: Any) -> str:
    if level is None:
        raise InputError("levels may not hold None; ⟨nulls='category'⟩ makes a missing value one")
    return shortest(level)
