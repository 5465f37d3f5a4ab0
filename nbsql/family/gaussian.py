"""The family of numbers with a normal density."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from nbsql.errors import InputError
from nbsql.family.base import Estimate, Family, Macros, macros_of
from nbsql.family.checks import checked, choice, finite, non_negative, set_attributes, true_or_false
from nbsql.family.kinds import Density


@dataclass(frozen=True, kw_only=True)
class NormalInverseGamma:
    """The conjugate prior of a normal density: the variance is inverse gamma (a, b), the mean normal (mean, variance / kappa).

    Args:
        mean: the expected mean of a class; None takes the mean over all classes.
        kappa: the number of rows that `mean` is worth.
        a: the shape of the variance's prior, which is worth 2 a rows.
        b: the scale of the variance's prior; None takes the scale whose estimate is the variance over all classes.

    >>> NormalInverseGamma(kappa=0.1, a=1.5)
    NormalInverseGamma(mean=None, kappa=0.1, a=1.5, b=None)
    """

    mean: float | None = None
    kappa: float = 1.0
    a: float = 2.0
    b: float | None = None

    def __post_init__(self) -> None:
        checked(self, lambda mean, _: finite(mean, "the mean of a prior"), "mean")
        checked(self, non_negative, "kappa", "a", "b")
        for name in ("a", "b"):
            if getattr(self, name) == 0:
                raise InputError(f"{name} of nbsql.NormalInverseGamma must be above 0")


@dataclass(frozen=True, kw_only=True)
class Gaussian(Density):
    """A number with a normal density in each class.

    Args:
        variance: "population" (m2 / n) or "sample" (m2 / (n - 1)).
        floor: the least variance, as a share of the feature's variance over all classes.
        smoothing: a constant added to every variance instead of the floor: this share of the largest variance over all classes
            among the numbers with a smoothing. It is scikit-learn's `var_smoothing`, for numbers of one scale, such as pixels.
        shared_variance: whether all classes share the variance within classes: the sum of their m2 over the sum of their n (of
            n - 1 for "sample"). The score of a class is then a linear function of the number.
        prior: a `NormalInverseGamma` prior on the mean and variance, for small classes; `estimate` then chooses the mean or the
            mode of their posterior.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES (1.0, 'a'), (2.0, 'a'), (5.0, 'b'), (6.5, 'b')) AS t(x, y)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="y", families={"x": nbsql.Gaussian(shared_variance=True)})
    >>> model.predict_one({"x": 5.5})["prediction"]
    'b'
    """

    variance: Literal["population", "sample"] = "population"
    floor: float = 1e-9
    smoothing: float = 0.0
    shared_variance: bool = False
    prior: NormalInverseGamma | None = None

    name: ClassVar[str] = "gaussian"
    macros: ClassVar[Macros] = macros_of("gaussian", "inputs aggregates cells density parameter weights drawn")
    quantities: ClassVar[tuple[str, ...]] = ("mean", "peak", "precision")
    neutral: ClassVar[Mapping[str, float | None]] = {"mean": None}
    centred: ClassVar[bool] = True
    needs_guard: ClassVar[bool] = True
    linear_cure: ClassVar[str] = "use ⟨quadratic()⟩, or fit it with ⟨nbsql.Gaussian(shared_variance=True)⟩"
    estimation_only: ClassVar[tuple[str, ...]] = (*Family.estimation_only, "variance", "floor", "smoothing", "prior")

    def __post_init__(self) -> None:
        super().__post_init__()
        choice(self.variance, Literal["population", "sample"], "variance")
        checked(self, non_negative, "floor", "smoothing")
        checked(self, true_or_false, "shared_variance")
        if self.smoothing and self.is_logarithmic:
            raise InputError(f"smoothing compares variances of numbers, and {self.name!r} has those of logarithms; use floor")
        if self.smoothing and (self.shared_variance or self.prior is not None):
            other = "shared_variance" if self.shared_variance else "a prior"
            raise InputError(f"smoothing and {other} are two ways to steady one variance; leave one of them out")
        if self.prior is not None:
            set_attributes(self, prior=_prior(self.prior))
            if self.shared_variance:
                raise InputError("shared_variance and a prior are two estimates of one variance; leave one of them out")
            if self.variance == "sample":
                raise InputError("variance='sample' and a prior are two estimates of one variance; leave one of them out")
            if self.estimate == "mle":
                raise InputError(
                    f"⟨estimate='mle'⟩ of {self.name!r} takes no prior; leave it out, or use ⟨estimate='mean'⟩ or 'mode'"
                )
            if self.estimate == "mean" and self.prior.a <= 1:
                raise InputError(
                    "⟨estimate='mean'⟩ needs a > 1, or no variance is expected; "
                    f"with a = {self.prior.a:g} use ⟨estimate='mode'⟩"
                )
        elif self.estimate == "mode":
            raise InputError(f"⟨estimate='mode'⟩ of {self.name!r} needs a prior: ⟨prior=nbsql.NormalInverseGamma()⟩")
        elif self.estimate == "mle" and self.variance == "sample":
            raise InputError("variance='sample' is not the maximum-likelihood estimate; leave it or ⟨estimate='mle'⟩ out")

    def with_estimate(self, estimate: Estimate) -> Family:
        if self.prior is None and estimate != "mean":  # without a prior there is no mode
            estimate = "mle" if self.variance == "population" else "mean"
        return super().with_estimate(estimate)

    @property
    def distribution(self) -> str:
        if self.prior is not None:
            return "normal_inverse_gamma"
        return "shared_gaussian" if self.shared_variance else "smoothed_gaussian" if self.smoothing else "gaussian"

    @property
    def estimate_options(self) -> dict[str, float | None]:
        if self.prior is None:
            lost = 1.0 if self.variance == "sample" else 0.0
            return {"smoothing": self.smoothing, "lost": lost} if self.smoothing else {"floor": self.floor, "lost": lost}
        prior, divisor = self.prior, 1.5 if self.estimate == "mode" else -1.0  # the variance is b / (a + divisor)
        return {
            "prior_mean": prior.mean, "kappa": prior.kappa, "a": prior.a, "b": prior.b, "divisor": divisor, "floor": self.floor,
        }  # fmt: skip

    @property
    def degree(self) -> int | None:
        return 1 if self.shared_variance else 2


def _prior(prior: Any) -> NormalInverseGamma:
    if isinstance(prior, NormalInverseGamma):
        return prior
    if isinstance(prior, Mapping):  # JSON and the command line give a mapping
        try:
            return NormalInverseGamma(**prior)
        except TypeError:
            pass
    raise InputError(f"prior must be ⟨nbsql.NormalInverseGamma(mean=..., kappa=..., a=..., b=...)⟩, not {prior!r}")
