"""The family of booleans and 0/1 columns."""

from dataclasses import dataclass
from typing import ClassVar

from nbsql.family.base import NUMBERS, Cell, Family, Macros, Parameter, macros_of
from nbsql.family.checks import checked, non_negative
from nbsql.family.kinds import Level


@dataclass(frozen=True)
class Bernoulli(Level):
    """A yes or no, BOOLEAN or 0/1: P(true | c) = (n_true + alpha) / (n + alpha + beta), with a Beta(alpha, beta) prior.

    Args:
        alpha: the pseudo-count of true; None takes the fit's alpha.
        beta: the pseudo-count of false; None takes `alpha`.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES (TRUE, 'a'), (TRUE, 'a'), (FALSE, 'b')) AS t(x, y)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="y", families={"x": nbsql.Bernoulli()})
    >>> model.predict_one({"x": False})["prediction"]
    'b'
    """

    alpha: float | None = None
    beta: float | None = None

    name: ClassVar[str] = "bernoulli"
    macros: ClassVar[Macros] = macros_of("bernoulli", "inputs aggregates cells term weights drawn")
    cell: ClassVar[Cell] = "boolean"
    estimation_only: ClassVar[tuple[str, ...]] = (*Family.estimation_only, "beta")
    accepts: ClassVar[tuple[str, ...]] = ("boolean", *NUMBERS)
    rules: ClassVar[dict[str, tuple[str, ...]]] = dict.fromkeys(NUMBERS, ("binary",))

    def __post_init__(self) -> None:
        checked(self, non_negative, "beta")
        super().__post_init__()

    @property
    def pseudo_counts(self) -> list[float]:
        return [*super().pseudo_counts, *([] if self.beta is None else [self.beta])]

    @property
    def declared(self) -> list[tuple[str, float]]:
        return [
            ("true", self.added_count),
            ("false", self.added_count if self.beta is None else self.added_to_count(self.beta)),
        ]

    @property
    def parameters(self) -> list[Parameter]:
        found = [Parameter(value, "score", value=value) for value in ("true", "false")]
        if self.nulls != "category":
            return found  # true and false are declared, so only a missing value can be unseen
        return [*found, *super().parameters, Parameter("missing", "score")]
