"""Columns of counts that share one total."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from nbsql.errors import InputError, suggestion
from nbsql.family.base import Family, Parameter, non_negative, texts


@dataclass(frozen=True)
class Multinomial(Family):
    """Columns of counts that share one total: x_t ln((n_ct + alpha_t) / (n_c + sum of alpha)), summed over the columns t.

    Args:
        columns: the count columns.
        alpha: one pseudo-count, or one a column: {"w1": 0.5, "w2": 2}.
    """

    columns: Sequence[str] = ()

    name: ClassVar[str] = "multinomial"
    number: ClassVar[bool] = True
    over_columns: ClassVar[bool] = True
    accepts: ClassVar[tuple[str, ...]] = ("integer", "float", "decimal")
    rules: ClassVar[dict[str, tuple[str, ...]]] = dict.fromkeys(("integer", "float", "decimal"), ("negative",))

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", texts(self.columns, "Multinomial takes a list of columns"))
        if isinstance(self.alpha, Mapping):
            alphas = {column: non_negative(alpha, "alpha") for column, alpha in self.alpha.items()}
            unknown = [column for column in alphas if column not in self.columns]
            if unknown:
                raise InputError(
                    f"alpha names {unknown[0]!r}, which is no column of Multinomial{suggestion(unknown[0], self.columns)}"
                )
            dataclasses.replace(self, alpha=None)  # checks the options that all families share
            object.__setattr__(self, "alpha", alphas)
        else:
            super().__post_init__()

    @property
    def declared(self) -> list[tuple[str, float]]:
        alphas = self.alpha if isinstance(self.alpha, Mapping) else {}
        return [(column, alphas.get(column, self.pseudo_count)) for column in self.columns]

    @property
    def parameters(self) -> list[Parameter]:
        columns = enumerate(self.columns, start=1)
        return [Parameter("weight", "log_likelihood", value=name, column=number) for number, name in columns]
