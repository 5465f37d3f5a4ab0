"""The family of positive numbers whose logarithm has a normal density."""

from dataclasses import dataclass
from typing import ClassVar

from nbsql.family.base import NUMBERS, Macros, macros_of
from nbsql.family.gaussian import Gaussian


@dataclass(frozen=True, kw_only=True)
class LogNormal(Gaussian):
    """A positive number whose logarithm has a normal density in each class: sums of money, lengths, waiting times.

    All means and variances, including those in the statistics and the likelihoods, are those of ln x.

    Args:
        variance: the variance of ln x: "population" (m2 / n) or "sample" (m2 / (n - 1)).
        floor: the least variance, as a share of the variance of ln x over all classes.
        shared_variance: whether all classes share one variance of ln x.
        prior: a `NormalInverseGamma` prior on the mean and variance of ln x.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES (1.0, 'a'), (2.0, 'a'), (5.0, 'b'), (6.5, 'b')) AS t(x, y)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="y", families={"x": nbsql.LogNormal()})
    >>> model.predict_one({"x": 5.5})["prediction"]
    'b'
    """

    name: ClassVar[str] = "lognormal"
    macros: ClassVar[Macros] = macros_of("lognormal", "inputs base inside drawn moment", Gaussian.macros)
    needs_guard: ClassVar[bool] = False
    rules: ClassVar[dict[str, tuple[str, ...]]] = dict.fromkeys(NUMBERS, ("positive",))
    degree: ClassVar[None] = None
