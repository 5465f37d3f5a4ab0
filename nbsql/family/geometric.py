"""The family of counts of failures before a success."""

from dataclasses import dataclass
from typing import ClassVar

from nbsql.errors import InputError
from nbsql.family.base import Macros, Parameter, macros_of
from nbsql.family.kinds import Rate


@dataclass(frozen=True)
class Geometric(Rate):
    """A count of failures before a success, 0, 1, 2, ..., whose chance of success is (n + a) / (n + sum of x + a + b).

    This chance is the posterior mean; the posterior mode has a - 1 and b - 1. Subtract 1 from a count of trials, which
    begins at 1.

    Args:
        a: the successes that the Beta prior on the chance is worth; with a and b at 0 there is no prior.
        b: the failures that it is worth.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES (1, 'a'), (0, 'a'), (5, 'b'), (6, 'b')) AS t(x, y)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="y", families={"x": nbsql.Geometric(a=1, b=1)})
    >>> model.predict_one({"x": 4})["prediction"]
    'b'
    """

    name: ClassVar[str] = "geometric"
    macros: ClassVar[Macros] = macros_of("geometric", "density inside at_zero parameter weights drawn moment", Rate.macros)
    bounded: ClassVar[bool] = True

    def check_given(self, where: str, mean: float | None, variance: float | None, rate: float | None) -> None:  # noqa: ARG002
        if rate is not None and rate > 1:
            raise InputError(f"the rate of {where} is {rate:g}; it must be above 0 and at most 1")

    @property
    def parameters(self) -> list[Parameter]:
        return [Parameter("success", "log_success"), Parameter("failure", "log_failure")]
