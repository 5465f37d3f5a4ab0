"""The family of numbers that are mostly zero: rain, amounts of money, capital gains."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from nbsql.family.base import NUMBERS, Family, Macros, Parameter, macros_of
from nbsql.family.checks import checked, choice, non_negative, set_attributes
from nbsql.family.exponential import Exponential
from nbsql.family.gamma import Gamma
from nbsql.family.gaussian import Gaussian
from nbsql.family.kinds import Density
from nbsql.family.lognormal import LogNormal

Of = Literal["lognormal", "gamma", "exponential", "gaussian"]
_NUMBERS: dict[str, type[Family]] = {family.name: family for family in (LogNormal, Gamma, Exponential, Gaussian)}


@dataclass(frozen=True, kw_only=True)
class ZeroInflated(Density):
    """A number that is often exactly 0 and has a density otherwise: rain in millimetres, capital gains, amounts.

    P(x = 0 | c) = (n_c0 + alpha) / (n_c + 2 alpha), where n_c0 of the n_c rows of the class are 0. Any other x has the
    remaining probability times its density, which is estimated from the numbers of the class that are not 0. The two never
    mix: for a given x every class has a probability, or every class has a density. There is no zero-inflated family of
    counts, because a Poisson distribution has zeros of its own.

    Args:
        of: the family of the numbers that are not 0: "lognormal", "gamma" or "exponential" for numbers above 0, "gaussian" for
            any number.
        alpha: the pseudo-count of a 0, and of a number that is not 0; None takes the fit's alpha.
        floor: the least variance of the numbers that are not 0, as a share of their variance over all classes.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES (0.0, 'a'), (0.0, 'a'), (2.0, 'a'), (0.0, 'b'), (5.0, 'b'), (6.5, 'b')) AS t(x, y)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="y", families={"x": nbsql.ZeroInflated(of="gamma")})
    >>> model.predict_one({"x": 0})["prediction"]
    'a'
    """

    of: Of = "lognormal"
    floor: float = 1e-9

    name: ClassVar[str] = "zero_inflated"
    macros: ClassVar[Macros] = macros_of("zero_inflated", "inputs aggregates cells drawn")
    centred: ClassVar[bool] = True
    zeros: ClassVar[bool] = True
    estimation_only: ClassVar[tuple[str, ...]] = (*Family.estimation_only, "floor")
    rules: ClassVar[dict[str, tuple[str, ...]]] = dict.fromkeys(NUMBERS, ("negative",))
    degree: ClassVar[None] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        choice(self.of, Of, "of")
        checked(self, non_negative, "floor")
        set_attributes(self, macros={**_NUMBERS[self.of].macros, **self.macros})
        if self.of == "gaussian":
            set_attributes(self, rules={})

    @property
    def formula(self) -> str:
        return self.of

    @property
    def distribution(self) -> str:
        return f"{self.name}_{self.of}"

    @property
    def estimate_options(self) -> dict[str, float | None]:
        return {"floor": self.floor, "lost": 0.0, "added": self.added_count}

    @property
    def sampling_kind(self) -> str | None:
        return _NUMBERS[self.of]().sampling_kind

    @property
    def parameters(self) -> list[Parameter]:
        numbers = _NUMBERS[self.of]().parameters
        inverse = "inverse_" if self.of == "exponential" else ""  # its rate is 1 / mean, as `rate` is the share of zeros here
        found = [Parameter(each.name, f"{inverse}{each.quantity}", neutral=each.neutral) for each in numbers]
        return [*found, Parameter("zero", "log_zero"), Parameter("other", "log_other")]
