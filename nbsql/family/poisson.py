"""The family of counts."""

from dataclasses import dataclass
from typing import ClassVar

from nbsql.family.base import Macros, macros_of
from nbsql.family.kinds import Rate


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
    macros: ClassVar[Macros] = macros_of("poisson", "density base inside at_zero weights drawn moment", Rate.macros)
    quantities: ClassVar[tuple[str, ...]] = ("rate", "log_rate")
