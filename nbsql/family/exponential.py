"""The family of times between events."""

from dataclasses import dataclass
from typing import ClassVar

from nbsql.family.base import NUMBERS, Macros, macros_of
from nbsql.family.kinds import Rate


@dataclass(frozen=True)
class Exponential(Rate):
    """A number of at least 0 with an exponential density of rate (n + a) / (sum of x + b) in each class.

    This rate is the posterior mean; the posterior mode has a - 1 in the place of a.

    Args:
        a: the shape of the Gamma prior on the rate; with a and b at 0 there is no prior.
        b: the rate of that prior.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES (1.0, 'a'), (2.0, 'a'), (5.0, 'b'), (6.5, 'b')) AS t(x, y)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="y", families={"x": nbsql.Exponential()})
    >>> model.predict_one({"x": 0.5})["prediction"]
    'a'
    """

    name: ClassVar[str] = "exponential"
    macros: ClassVar[Macros] = macros_of("exponential", "density inside weights drawn moment", Rate.macros)
    quantities: ClassVar[tuple[str, ...]] = ("rate", "log_rate")
    units: ClassVar[str] = "numbers"
    rules: ClassVar[dict[str, tuple[str, ...]]] = dict.fromkeys(NUMBERS, ("negative",))
