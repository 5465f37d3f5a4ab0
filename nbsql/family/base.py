"""The base class of the families: how a column is distributed in a class, and with which options."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal

from nbsql.errors import InputError
from nbsql.family.checks import checked, choice, estimate_named, non_negative, set_attributes

Nulls = Literal["skip", "category", "error"]
Unseen = Literal["skip", "smooth"]
Estimate = Literal["mean", "mode", "mle"]
Macros = dict[str, str]
Kind = Literal["level", "density", "tokens", "matrix", "pairs", "weight"]
Cell = Literal[
    "level", "label", "bin", "place", "list", "part", "boolean", "number", "token", "column", "matrix", "pair", "weight"
]

NUMBERS = ("integer", "float", "decimal")  # kinds of columns
SCALARS = ("text", "boolean", *NUMBERS, "temporal")

_LOOKED_UP = ("level", "label", "bin", "place", "list", "token", "pair")


def macros_of(name: str, parts: str, others: Macros | None = None) -> Macros:
    """The names of macros, <name>_<part>, by the part of a family that they are; and those of `others`, but for these parts."""
    return {**(others or {}), **{part: f"{name}_{part}" for part in parts.split()}}


def _without(value: Any) -> Any:
    """The value that stands for an option in families that do not have it."""
    return value


@dataclass(frozen=True)
class Parameter:
    """A parameter of a feature that scoring reads: one number for each class."""

    name: str  # the beginning of the column's name: mean_3_1 is the `mean` of the third feature in the first class
    quantity: str  # "score" for the score of a value, or a quantity that the macro <distribution>_quantities computes
    value: str | None = None  # the value that is scored; None for numbers and for the category of missing values
    unseen: bool = False  # whether this is the score of a value never seen
    total: bool = False  # whether this is a sum over all values
    column: int | None = None  # the number of the column, for a feature over several columns
    # Whether the number is the same in all classes. A table with a column for each class stores it once, in the column of the
    # first class.
    common: bool = False
    # The value at which it adds nothing to a score, which is linear in its distance from it; None for a place, such as a mean.
    neutral: float | None = 0.0
    paired: bool = False  # whether this belongs to a pair of columns, which the macro <family>_pairs lists


class _Options(type):
    """Lists in `help` and in completions what a user may set, and not what nbsql asks a family."""

    def __dir__(cls) -> list[str]:
        return ["__init__", *(option.name for option in fields(cls) if not option.name.startswith("_"))]  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class Family(metaclass=_Options):
    """The base class of all families.

    Args:
        alpha: the pseudo-count of additive smoothing; None takes the fit's alpha.
        nulls: how a missing value is treated. "skip" leaves it out of the counts and the score, "category" makes it a value of
            its own, "error" refuses to fit; None takes the fit's option.
        unseen: how a value that training never saw is scored. "skip" leaves it out, "smooth" gives it the likelihood of a count
            of 0; None takes the fit's option.
        estimate: how a parameter is estimated from its posterior distribution: by its "mean", or by its "mode", the most
            probable value (MAP; "map" is accepted, too). "mle" is the maximum-likelihood estimate, which has no prior. None
            takes the fit's option.

    >>> import nbsql
    >>> nbsql.Poisson(a=1, b=1).name
    'poisson'
    >>> isinstance(nbsql.Text(), nbsql.Family)
    True
    """

    alpha: float | Mapping[str, float] | None = field(default=None, hash=False)  # a dict has no hash
    nulls: Nulls | None = None
    unseen: Unseen | None = None
    estimate: Estimate | None = None

    name: ClassVar[str]
    # How its rows become cells and its cells become a score:
    #   level    one of several values, each with a likelihood
    #   density  a number, whose density in a class has a formula (sql/macros/families/numbers.sql)
    #   tokens   several values with counts, each of which adds to the score
    #   matrix   several numbers, with a covariance matrix
    #   pairs    pairs of values, which correct the score of the levels that they are of
    #   weight   a number of a logistic model, which is not counted
    kind: ClassVar[Kind]
    cell: ClassVar[Cell]  # what one of its cells belongs to, in `statistics`
    alpha_by_value: ClassVar[bool] = False  # alpha may be a mapping with one pseudo-count for each value
    centred: ClassVar[bool] = False  # counted with sums of squares, which need a centre
    near_zero: ClassVar[float] = 1e-140  # how near to 0 numbers have squares, and sums of them, that no double holds
    near_zero_cure: ClassVar[str] = "their squares vanish; take another unit: ⟨derive={'x': '... * 1e200'}⟩"  # of a column 'x'
    quantities: ClassVar[tuple[str, ...]] = ()  # of a density: the quantities that it reads, which are all its parameters
    neutral: ClassVar[Mapping[str, float | None]] = {}  # of a density: those of its parameters that are not 0
    zeros: ClassVar[bool] = False  # zeros are counted apart, so that the density is that of the other numbers
    needs_guard: ClassVar[bool] = False  # guarding its term against missing values costs as much as the term itself
    over_columns: ClassVar[bool] = False  # one feature over several columns
    linear_cure: ClassVar[str] = "use ⟨quadratic()⟩"  # the advice in an error, if the score is a square
    units: ClassVar[str] = "counts"  # the word for its values in messages
    accepts: ClassVar[tuple[str, ...]]  # the kinds of columns that may have this family

    # Facts that follow from the options of some families, which set them in `__post_init__`.
    presence: ClassVar[bool] = False  # a token counts at most once a row, and its absence is scored, too
    complement: ClassVar[bool] = False  # a class is scored by the counts of all others; such features alone use no priors
    normalised_weights: ClassVar[bool] = False  # the weights of a class are divided by their sum, for a complement
    # The weight of a token differs from the number of its occurrences (sql/macros/estimating/tfidf.sql).
    reweights_tokens: ClassVar[bool] = False
    least_count: ClassVar[int] = 0  # how often a value must occur to be counted as a value
    # What its `fit_query` finds depends on the classes, so that it leaks the classes of held-out rows.
    supervised: ClassVar[bool] = False
    # The option that makes the cells depend on all rows at once, such as "norm='l2'"; None if cells can be added.
    non_additive_option: ClassVar[str | None] = None

    macros: ClassVar[Macros] = {}  # the names of its macros by part (sql/macros/families)
    estimation_only: ClassVar[tuple[str, ...]] = ("alpha", "estimate", "unseen")  # options that do not change the counts
    # By the kind of the column: the rules that training rows must obey (sql/macros/counting/rules.sql).
    rules: ClassVar[dict[str, tuple[str, ...]]] = {}

    # Options that some families have, as the others answer for them.
    columns = integers = gaps = parent_names = all_parents = _without(())
    parent = edges = norm = best = backoff = shrinkage = checked_pattern = by_share = _without(None)
    tfidf = impute = is_ratio = monotone = shared = product = has_overlaps = shared_variance = is_typed = _without(False)
    smoothing = _without(0.0)
    min_known = _without(0)

    def __post_init__(self) -> None:
        if not (isinstance(self.alpha, Mapping) and self.alpha_by_value):
            checked(self, non_negative, "alpha")
        if self.nulls is not None:
            choice(self.nulls, Nulls, "nulls")
            if self.nulls == "category" and not self.has_categories:
                raise InputError(f"⟨nulls='category'⟩ needs a family with categories, not {self.name!r}; use 'skip' or 'error'")
        if self.unseen is not None:
            choice(self.unseen, Unseen, "unseen")
        set_attributes(self, estimate=estimate_named(self.estimate))
        if self.smoothed and self.estimate == "mle" and any(self.pseudo_counts):
            raise InputError(
                f"⟨estimate='mle'⟩ of {self.name!r} takes no pseudo-counts, and it has {max(self.pseudo_counts):g}; "
                "leave them out, or use ⟨estimate='mean'⟩ or 'mode'"
            )
        if self.smoothed and self.estimate == "mode" and any(alpha < 1 for alpha in self.pseudo_counts):
            raise InputError(
                f"⟨estimate='mode'⟩ of {self.name!r} needs every pseudo-count at 1 (no smoothing) or above: "
                f"a Dirichlet distribution with alpha = {min(self.pseudo_counts):g} has no mode"
            )
        if self.complement and self.pseudo_counts and self.added_to_count(min(self.pseudo_counts)) == 0:
            raise InputError(
                f"the complement needs alpha > {min(self.pseudo_counts):g}, "
                "or a word that no other class holds would weigh infinitely"
            )

    def with_estimate(self, estimate: Estimate) -> Family:
        """The same family with the fit's estimate, unless it has its own."""
        return self if self.estimate is not None else dataclasses.replace(self, estimate=estimate)

    def with_defaults(self, *, alpha: float, nulls: Nulls, unseen: Unseen) -> Family:
        """The same family with the fit's options in place of those that are None."""
        if nulls == "category" and not self.has_categories:
            nulls = "skip"
        if self.presence or self.reweights_tokens or self.best is not None:
            unseen = "skip"
        return dataclasses.replace(
            self,
            alpha=alpha if self.alpha is None else self.alpha,
            nulls=nulls if self.nulls is None else self.nulls,
            unseen=unseen if self.unseen is None else self.unseen,
        )

    def to_dict(self) -> dict[str, Any]:
        """The family as a dictionary for JSON."""
        return {"family": self.name, **dataclasses.asdict(self)}

    def __str__(self) -> str:
        return self.name

    @property
    def pseudo_counts(self) -> list[float]:
        """The known pseudo-counts, each a parameter of a Dirichlet prior."""
        return [self.alpha] if isinstance(self.alpha, float) else []

    @property
    def options(self) -> dict[str, Any]:
        """The values of all options by name."""
        return {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}

    @property
    def changed_options(self) -> dict[str, Any]:
        """The options that differ from the defaults of the class."""
        defaults = {item.name: item.default for item in dataclasses.fields(self)}
        return {name: value for name, value in self.options.items() if value != defaults[name]}

    @property
    def counting_options(self) -> dict[str, Any]:
        """The options that determine the counts: families with equal options share their cells."""
        return {name: value for name, value in self.options.items() if name not in self.estimation_only}

    def check_given(self, where: str, mean: float | None, variance: float | None, rate: float | None) -> None:
        """Raise InputError unless the distribution can have these numbers; a variance or a rate is already above 0."""

    # Attributes that the macros read. ------------------------------------------------------------------------------

    def added_to_count(self, pseudo_count: float) -> float:
        """The number that a pseudo-count adds to a count: 1 less for the mode, (n + a - 1) / (N + A - K), than for the mean."""
        return pseudo_count - 1 if self.estimate == "mode" else pseudo_count

    @property
    def added_count(self) -> float:
        """The number that is added to the count of a value that is not declared."""
        return self.added_to_count(self.alpha) if isinstance(self.alpha, float) else 0.0

    @property
    def declared(self) -> list[tuple[str, float]]:
        """The declared values, which exist even if no row has them, each with the number that is added to its count."""
        return []

    @property
    def distribution(self) -> str:
        """The name of the distribution; the macro <distribution>_likelihoods estimates it."""
        return "dirichlet" if self.smoothed else self.name

    @property
    def smoothed(self) -> bool:
        """Whether it is smoothed by pseudo-counts, the parameters of a Dirichlet prior."""
        return self.kind in ("level", "tokens") or self.zeros

    @property
    def has_categories(self) -> bool:
        """Whether a missing value can be a category."""
        return self.kind in ("level", "weight") and self.cell != "place"

    @property
    def divergence(self) -> str:
        """The macro that compares two of its distributions: <divergence>_divergence (sql/macros/evaluation/drift.sql)."""
        return self.name if self.kind == "density" and not self.centred else "normal"

    @property
    def formula(self) -> str:
        """The name of the density's formula: the macro <formula>_density (sql/macros/families/numbers.sql)."""
        return self.name

    @property
    def is_logarithmic(self) -> bool:
        """Whether the density is that of the number's logarithm."""
        return self.formula == "lognormal"

    @property
    def estimate_options(self) -> dict[str, float | None]:
        """The numbers that <distribution>_estimate reads beside the cells, by name (sql/macros/families/numbers.sql)."""
        return {}

    @property
    def fit_query(self) -> str | None:
        """The macro that asks for facts about the column, such as quantiles, before it is counted; None if there is none."""
        return None

    def with_fitted(self, rows: Sequence[Sequence[Any]]) -> Family:  # noqa: ARG002
        """The family completed with the rows that the macro `fit_query` returned."""
        return self

    @property
    def of_terms(self) -> Family:
        """The family of its values once texts are cut into lists of terms."""
        return self

    def without_fitted(self) -> Family:
        """The family without an answer that depended on the classes, for rows that must not influence it."""
        return self

    @property
    def of_ascii(self) -> Family:
        """The family that finds the same in a text of ASCII, in less time; itself unless it is one of texts."""
        return self

    @property
    def sampling_kind(self) -> str | None:
        """What a random draw makes (sample.sql): a "value", "number", "vector" or "bag"; None if it cannot be drawn."""
        if "drawn" not in self.macros or self.bag:
            return None
        return "value" if self.smoothed else "number"

    def is_cut(self, number: int) -> bool:
        """Whether its column of that number, from 0, is cut into bins."""
        return number == 0 and self.edges is not None

    @property
    def is_integer(self) -> bool:
        """Whether it is a distribution of whole numbers."""
        return "whole" in self.rules.get("float", ())

    @property
    def in_wide_scan(self) -> bool:
        """Whether the wide scan counts the feature, by the macros <name>_inputs, <name>_aggregates and <name>_cells."""
        return not self.has_lookups or self.presence or self.tfidf

    @property
    def has_parameter_term(self) -> bool:
        """Whether the macro <name>_term adds a term that is computed from parameters."""
        return not self.has_lookups or self.presence

    @property
    def has_lookups(self) -> bool:
        """Whether its values are in the table of lookups; others are known before any row is read, and have parameters."""
        return self.cell in _LOOKED_UP

    @property
    def level(self) -> bool:
        """Whether a row has one of its values, which is counted by GROUP BY and looked up."""
        return self.has_lookups and self.kind == "level"

    @property
    def bag(self) -> bool:
        """Whether a row has several of its values, which are counted and looked up one by one."""
        return self.has_lookups and self.kind != "level"

    @property
    def parameters(self) -> list[Parameter]:
        """The parameters that scoring reads from the one-row table; values in the table of lookups are not among them."""
        if self.quantities:
            return [Parameter(each, each, neutral=self.neutral.get(each, 0.0)) for each in self.quantities]
        found = []
        if self.unseen == "smooth":
            found.append(Parameter("unseen", "score", unseen=True))
        if self.level and self.nulls == "category":
            found.append(Parameter("missing", "score"))
        return found

    @property
    def degree(self) -> int | None:
        """The degree of the score as a polynomial of the number or count; None if it is not a polynomial (linear.sql)."""
        return 1

    @property
    def allows_zero(self) -> bool:
        """Whether a likelihood may be 0, in which case 0 ln 0 needs care."""
        return min([added for _, added in self.declared] or [self.added_count]) == 0


@dataclass(frozen=True)
class OverColumns(Family):
    """A family whose single feature reads several columns."""

    columns: Sequence[str] = ()

    over_columns: ClassVar[bool] = True

    def of(self, columns: Sequence[str], integers: Sequence[str]) -> OverColumns:  # noqa: ARG002
        """The same family with its columns spelt as in the catalogue; `integers` names the columns of whole numbers."""
        return dataclasses.replace(self, columns=tuple(columns))
