"""The family of counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nbsql.family.base import Parameter
from nbsql.family.rate import Rate


@dataclass(frozen=True)
class Poisson(Rate):
    """A count with a Poisson distribution of rate (sum of x + a) / (n + b) in each class.

    This rate is the posterior mean; the posterior mode (`estimate="mode"`) is (sum of x + a - 1) / (n + b).

    Args:
        a: the shape of the Gamma prior on the rate; with a and b at 0 there is no prior.
        b: the rate of that prior.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES (1, 'a'), (0, 'a'), (5, 'b'), (6, 'b')) AS t(x, y)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="y", families={"x": nbsql.Poisson(a=1, b=1)})
    >>> model.predict_one({"x": 4})["prediction"]
    'b'
    """

    name: ClassVar[str] = "poisson"
    divergence: ClassVar[str] = "poisson"
    accepts: ClassVar[tuple[str, ...]] = ("integer", "float", "decimal")
    rules: ClassVar[dict[str, tuple[str, ...]]] = {
        "integer": ("negative",),
        "float": ("negative", "whole"),
        "decimal": ("negative", "whole"),
    }

    @property
    def distribution(self) -> str:
        return "poisson"

    @property
    def parameters(self) -> list[Parameter]:
        return [Parameter(quantity, quantity) for quantity in ("rate", "log_rate")]
