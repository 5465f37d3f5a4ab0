"""The family of count columns that share one total."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from nbsql.errors import InputError, suggestion
from nbsql.family.base import NUMBERS, Cell, Family, Kind, Macros, Nulls, OverColumns, Parameter, Unseen, macros_of
from nbsql.family.checks import non_negative, set_attributes, texts


@dataclass(frozen=True)
class Multinomial(OverColumns):
    """Columns of counts that share one total, scored by the sum over t of x_t ln((n_ct + alpha_t) / (n_c + sum of alpha)).

    Args:
        columns: the count columns.
        alpha: one pseudo-count for all columns, or one for each: {"w1": 0.5, "w2": 2}; columns not named take the fit's alpha.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES (3, 0, 'a'), (2, 1, 'a'), (0, 4, 'b')) AS t(free, lunch, y)"
    >>> families = {"words": nbsql.Multinomial(["free", "lunch"])}
    >>> model = nbsql.fit(duckdb.connect(), data, target="y", families=families)
    >>> model.predict_one({"free": 1, "lunch": 0})["prediction"]
    'a'
    """

    name: ClassVar[str] = "multinomial"
    macros: ClassVar[Macros] = macros_of("multinomial", "inputs aggregates cells term weights drawn")
    kind: ClassVar[Kind] = "tokens"
    cell: ClassVar[Cell] = "column"
    alpha_by_value: ClassVar[bool] = True
    accepts: ClassVar[tuple[str, ...]] = NUMBERS
    rules: ClassVar[dict[str, tuple[str, ...]]] = dict.fromkeys(NUMBERS, ("negative",))

    def __post_init__(self) -> None:
        set_attributes(self, columns=texts(self.columns, "Multinomial takes a list of columns"))
        if isinstance(self.alpha, Mapping):
            alphas = {column: non_negative(alpha, "alpha") for column, alpha in self.alpha.items()}
            unknown = [column for column in alphas if column not in self.columns]
            if unknown:
                raise InputError(
                    f"alpha names {unknown[0]!r}, which is no column of Multinomial{suggestion(unknown[0], self.columns)}"
                )
            set_attributes(self, alpha=alphas)
        super().__post_init__()

    def with_defaults(self, *, alpha: float, nulls: Nulls, unseen: Unseen) -> Family:
        family = self
        if isinstance(self.alpha, Mapping):
            family = replace(self, alpha={column: self.alpha.get(column, alpha) for column in self.columns})
        return super(Multinomial, family).with_defaults(alpha=alpha, nulls=nulls, unseen=unseen)

    @property
    def pseudo_counts(self) -> list[float]:
        return list(self.alpha.values()) if isinstance(self.alpha, Mapping) else super().pseudo_counts

    @property
    def sampling_kind(self) -> str | None:
        return None if self.complement else "bag"

    @property
    def declared(self) -> list[tuple[str, float]]:
        alphas = self.alpha if isinstance(self.alpha, Mapping) else {}
        return [
            (column, self.added_to_count(alphas[column]) if column in alphas else self.added_count) for column in self.columns
        ]

    @property
    def parameters(self) -> list[Parameter]:
        columns = enumerate(self.columns, start=1)
        return [Parameter("weight", "score", value=name, column=number) for number, name in columns]
