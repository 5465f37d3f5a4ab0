"""The family of skewed numbers above 0: waiting times, amounts, lengths."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from nbsql.errors import InputError
from nbsql.family.base import NUMBERS, Macros, macros_of
from nbsql.family.kinds import Moments


@dataclass(frozen=True, kw_only=True)
class Gamma(Moments):
    """A number above 0 with a gamma density in each class: waiting times, amounts, rainfall.

    The shape m^2 / v and the scale v / m follow from the mean m and the variance v of the class (the method of moments).

    Args:
        floor: the least variance, as a share of the feature's variance over all classes.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES (1.0, 'a'), (2.0, 'a'), (5.0, 'b'), (6.5, 'b')) AS t(x, y)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="y", families={"x": nbsql.Gamma()})
    >>> model.predict_one({"x": 5.5})["prediction"]
    'b'
    """

    name: ClassVar[str] = "gamma"
    macros: ClassVar[Macros] = macros_of("gamma", "density base inside parameter", Moments.macros)
    quantities: ClassVar[tuple[str, ...]] = ("mean", "shape", "gamma_peak")
    neutral: ClassVar[Mapping[str, float | None]] = {"mean": None}
    rules: ClassVar[dict[str, tuple[str, ...]]] = dict.fromkeys(NUMBERS, ("positive",))

    def check_given(self, where: str, mean: float | None, variance: float | None, rate: float | None) -> None:  # noqa: ARG002
        if mean is not None and mean <= 0:
            raise InputError(f"the mean of {where} is {mean:g}; it must be above 0")
