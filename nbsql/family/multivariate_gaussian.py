"""The family of several numbers with a multivariate normal density."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from nbsql.errors import InputError, listed, written
from nbsql.family.base import NUMBERS, Cell, Estimate, Family, Kind, Macros, OverColumns, Parameter, macros_of
from nbsql.family.checks import checked, choice, is_finite, set_attributes, texts, true_or_false

Toward = Literal["identity", "pooled"]


@dataclass(frozen=True)
class MultivariateGaussian(OverColumns):
    """Several numbers with a multivariate normal density in each class: linear or quadratic discriminant analysis.

    Formula: ln p(x | c) = -(p ln 2 pi + ln det S_c + (x - m_c)' S_c^-1 (x - m_c)) / 2. A row that lacks one of the numbers
    is left out of the estimates, with a warning that counts such rows, and this feature adds nothing to its score. With
    `nbsql.Weighted` it is one more feature of these columns.

    Args:
        columns: the columns of the numbers.
        shared: whether all classes share the covariance matrix within classes (LDA); otherwise each class has its own (QDA).
        shrinkage: the s of (1 - s) S + s tr(S) / p I, from 0 to 1. "ledoit-wolf" estimates for every class, from standardised
            numbers, the s that is best for a normal density (Ledoit and Wolf, 2004), as scikit-learn's shrinkage="auto" does.
        toward: what the covariance of a class is shrunk toward: "identity" is tr(S) / p I, which depends on the units of the
            columns; "pooled" is the covariance within classes, (1 - s) S_c + s S (Friedman, Regularized discriminant analysis,
            JASA 84, 1989), which does not.
        variance: "population" divides the co-moments by n, "sample" by n - 1 (if shared, by n less the number of classes).
        impute: whether a missing number is replaced by the mean over all classes at the time of the fit.
        scales: powers of two near the standard deviations of the columns, as the fit found them.
        means: the imputed values, as the fit found them.
        fourth: for each class the mean fourth power of the length of its standardised rows, as the fit found it.

    >>> MultivariateGaussian(["length", "width"]).shared
    True
    """

    shared: bool = True
    shrinkage: float | str | None = None
    toward: Toward = "identity"
    variance: Literal["population", "sample"] = "population"
    impute: bool = False
    scales: Sequence[float] | None = None
    means: Sequence[float] | None = None
    fourth: Mapping[str, float] | None = field(default=None, hash=False)

    name: ClassVar[str] = "multivariate_gaussian"
    macros: ClassVar[Macros] = macros_of(
        "multivariate_gaussian", "inputs aggregates sums whole term common steps first_steps value pairs weights drawn"
    )
    kind: ClassVar[Kind] = "matrix"
    cell: ClassVar[Cell] = "matrix"
    units: ClassVar[str] = "numbers"
    estimation_only: ClassVar[tuple[str, ...]] = (*OverColumns.estimation_only, "shared", "shrinkage", "toward", "variance")
    centred: ClassVar[bool] = True
    accepts: ClassVar[tuple[str, ...]] = NUMBERS
    sampling_kind: ClassVar[str] = "vector"

    def __post_init__(self) -> None:
        super().__post_init__()
        set_attributes(self, columns=texts(self.columns, "MultivariateGaussian takes a list of columns"))
        choice(self.variance, Literal["population", "sample"], "variance")
        for name, least in (("scales", 0.0), ("means", -math.inf)):
            if getattr(self, name) is not None:  # JSON stores a list
                set_attributes(self, **{name: self._numbers(name, least)})
        checked(self, true_or_false, "shared", "impute")
        set_attributes(self, shrinkage=shrinkage_named(self.shrinkage, self.toward))
        if self.shared and self.toward == "pooled":
            raise InputError("⟨toward='pooled'⟩ shrinks the matrices of the classes, and ⟨shared=True⟩ has one; leave it out")
        if self.ledoit_wolf:
            only = OverColumns.estimation_only  # the fit measures `fourth`, too
            set_attributes(self, non_additive_option=f"shrinkage={self.shrinkage!r}", estimation_only=only)
        if self.estimate == "mode":
            raise InputError("⟨estimate='mode'⟩ needs a prior, which 'multivariate_gaussian' does not have; use shrinkage")

    def with_estimate(self, estimate: Estimate) -> Family:
        plain = self.shrinkage is None and self.variance == "population"
        return super().with_estimate("mle" if estimate != "mean" and plain else "mean")

    # What the fit measures before it counts. -----------------------------------------------------------------------

    def _numbers(self, name: str, least: float) -> tuple[float, ...]:
        """The option of that name. Raises InputError unless it is a list of one finite number above `least` for each column."""
        given = getattr(self, name)
        numbers = tuple(given) if isinstance(given, (list, tuple)) else ()
        fit = all(type(number) in (int, float) and least < number < math.inf for number in numbers)
        if len(numbers) != len(self.columns) or not fit:
            above = " above 0" if least == 0 else ""
            raise InputError(
                f"{name} must be a finite number{above} for each of {listed(self.columns)}, not {given!r}; leave it out"
            )
        return tuple(map(float, numbers))

    @property
    def fit_query(self) -> str | None:
        known = self.scales is not None and not (self.impute and self.means is None)
        return None if known and not (self.ledoit_wolf and self.fourth is None) else "multivariate_gaussian_question"

    def with_fitted(self, rows: Sequence[Sequence[Any]]) -> Family:
        spreads, means, fourth = rows[0]
        return replace(
            self,
            scales=self.scales or tuple(_scale(spread) for spread in spreads),
            means=tuple(mean or 0.0 for mean in means) if self.impute else None,
            fourth={label: float(value) for label, value in fourth or [] if value is not None} if self.ledoit_wolf else None,
        )

    @property
    def ledoit_wolf(self) -> bool:
        """Whether the shrinkage is estimated by the Ledoit-Wolf formula."""
        return self.shrinkage == "ledoit-wolf"

    # What the macros read. -----------------------------------------------------------------------------------------

    @property
    def degree(self) -> int | None:
        return 1 if self.shared else 2

    @property
    def quoted_columns(self) -> list[str]:
        """The names of the columns as JSON strings; in the statistics a pair of columns is the value ["a","b"]."""
        return [json.dumps(column, ensure_ascii=False) for column in self.columns]

    def moments_of(self, means: Sequence[float], covariance: Sequence[Sequence[float]]) -> Iterator[tuple[str, float, float]]:
        """The cells of weight 1 with these means and this covariance matrix: for each cell the value, the mean and m2."""
        scales = self.scales or [1.0] * len(self.columns)
        for i, column in enumerate(self.columns):
            yield column, means[i], covariance[i][i]
            for j in range(i + 1, len(self.columns)):
                s, t = scales[i], scales[j]
                squares = covariance[i][i] / (s * s) + covariance[j][j] / (t * t) + 2 * covariance[i][j] / (s * t)
                yield f"[{self.quoted_columns[i]},{self.quoted_columns[j]}]", means[i] / s + means[j] / t, squares

    def covariance_of(self, variances: Mapping[str, float]) -> list[list[float]]:
        """The covariance matrix from the m2 of the cells divided by their n; the inverse of `moments_of`."""
        scales = self.scales or [1.0] * len(self.columns)

        def covariance(i: int, j: int) -> float:
            i, j = min(i, j), max(i, j)
            s, t, a, b = scales[i], scales[j], variances[self.columns[i]], variances[self.columns[j]]
            if i == j:
                return a
            pair = variances[f"[{self.quoted_columns[i]},{self.quoted_columns[j]}]"]
            return (pair - a / (s * s) - b / (t * t)) * s * t / 2

        return [[covariance(i, j) for j in range(len(self.columns))] for i in range(len(self.columns))]

    @property
    def fixed_shrinkage(self) -> float:
        """The shrinkage toward the identity that the user chose; 0 if there is none or if it is estimated."""
        return self.shrinkage if isinstance(self.shrinkage, float) and self.toward == "identity" else 0.0

    @property
    def pooled_shrinkage(self) -> float:
        """The shrinkage toward the covariance within classes; 0 if there is none."""
        return self.shrinkage if isinstance(self.shrinkage, float) and self.toward == "pooled" else 0.0

    @property
    def parameters(self) -> list[Parameter]:
        columns = list(enumerate(self.columns, start=1))
        found = [Parameter("peak", "score", unseen=True)]
        if self.shared:
            found += [Parameter("mean", "location", column, True, column=j, common=True, neutral=None) for j, column in columns]
            found += [Parameter("slope", "score", value=column, unseen=True, column=j) for j, column in columns]
        else:
            found += [Parameter("mean", "location", value=column, column=j, neutral=None) for j, column in columns]
        pairs = len(columns) * (len(columns) + 1) // 2
        return found + [Parameter("white", "score", column=k, common=self.shared, paired=True) for k in range(1, pairs + 1)]


def shrinkage_named(shrinkage: Any, toward: Toward = "identity") -> float | Literal["ledoit-wolf"] | None:
    """The shrinkage of a covariance matrix. Raises InputError unless it is None, a number from 0 to 1, or "ledoit-wolf".

    The last is of the identity alone, and "pooled" needs a number.
    """
    choice(toward, Toward, "toward")
    if toward == "pooled" and (shrinkage is None or shrinkage == "ledoit-wolf"):
        raise InputError(f"⟨toward='pooled'⟩ needs a number, such as ⟨shrinkage=0.2⟩, not {written(shrinkage)}")
    if shrinkage is None or shrinkage == "ledoit-wolf":
        return "ledoit-wolf" if shrinkage else None
    if isinstance(shrinkage, (bool, str)) or not is_finite(shrinkage) or not 0 <= shrinkage <= 1:
        raise InputError(f"shrinkage must be None, a number from 0 to 1 or 'ledoit-wolf', not {written(shrinkage)}")
    return float(shrinkage)


def powers_of_two(variances: Sequence[float]) -> list[float]:
    """For each variance the power of two that is nearest to the standard deviation."""
    return [2.0 ** round(math.log2(math.sqrt(variance))) for variance in variances]


def _scale(spread: float | None) -> float:
    """A power of 2 ** 20 near the spread of a column: 1 unless the spread is very large or very small."""
    if spread is None or not math.isfinite(spread) or spread <= 0:
        return 1.0
    return float(2.0 ** (20 * round(math.log2(spread) / 20)))
