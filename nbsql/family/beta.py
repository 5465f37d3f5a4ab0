"""The family of shares and other numbers between 0 and 1."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from nbsql.errors import InputError
from nbsql.family.base import NUMBERS, Macros, macros_of
from nbsql.family.kinds import Moments


@dataclass(frozen=True, kw_only=True)
class Beta(Moments):
    """A number strictly between 0 and 1 with a beta density in each class: shares, rates, scores.

    The parameters a and b are estimated by the method of moments: they match the mean and the variance of the class.

    Args:
        floor: the least variance, as a share of the feature's variance over all classes.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES (0.1, 'a'), (0.3, 'a'), (0.7, 'b'), (0.8, 'b')) AS t(x, y)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="y", families={"x": nbsql.Beta()})
    >>> model.predict_one({"x": 0.75})["prediction"]
    'b'
    """

    name: ClassVar[str] = "beta"
    macros: ClassVar[Macros] = macros_of("beta", "density inside parameter", Moments.macros)
    quantities: ClassVar[tuple[str, ...]] = ("a", "b", "log_beta")
    neutral: ClassVar[Mapping[str, float | None]] = {"a": 1.0, "b": 1.0}
    near_zero: ClassVar[float] = 1e-8  # where a double of 1 - x, and of a and b, has no digits left
    near_zero_cure: ClassVar[str] = "a beta density has no digits left there; take ⟨families={'x': 'gamma'}⟩"
    rules: ClassVar[dict[str, tuple[str, ...]]] = dict.fromkeys(NUMBERS, ("inside",))

    def check_given(self, where: str, mean: float | None, variance: float | None, rate: float | None) -> None:  # noqa: ARG002
        if mean is not None and not 0 < mean < 1:
            raise InputError(f"the mean of {where} is {mean:g}; it must be above 0 and below 1")
        if mean is not None and variance is not None and variance >= mean * (1 - mean):
            most = f"with a mean of {mean:g} it must be under {mean * (1 - mean):g}"
            raise InputError(f"the variance of {where} is {variance:g}; {most}")
