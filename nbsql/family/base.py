"""The base class of the families: how a column is distributed in a class, and with which options."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, get_args

from nbsql.errors import InputError, suggestion, written

Nulls = Literal["skip", "category", "error"]
Unseen = Literal["skip", "smooth"]
Estimate = Literal["mean", "mode", "mle"]

NUMBERS = ("integer", "float", "decimal")  # kinds of columns
SCALARS = ("text", "boolean", *NUMBERS, "temporal")


_LARGEST = 2**62  # of whole numbers, to which engines may still add some


def choice(value: str, allowed: Any, name: str) -> None:
    """Raise InputError unless `value` is one of the values of the Literal `allowed`."""
    options = get_args(allowed)
    if not isinstance(value, str) or value not in options:
        known = ", ".join(map(repr, options))
        raise InputError(f"{name} must be one of {known}, not {written(value)}{suggestion(written(value), options)}")


def is_finite(value: Any) -> bool:
    """Whether it is a number that a double holds, and neither a boolean nor an infinity."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def non_negative(value: Any, name: str) -> float:
    """`value` as a float. Raises InputError unless it is a finite number of at least 0."""
    if not is_finite(value) or value < 0:
        raise InputError(f"{name} must be a finite number of at least 0, not {written(value)}")
    return float(value)


def finite(value: Any, name: str) -> float:
    """`value` as a float. Raises InputError unless it is a finite number."""
    if not is_finite(value):
        raise InputError(f"{name} must be a finite number, not {written(value)}")
    return float(value)


def whole_number(value: Any, name: str, least: int | None = 1, most: int | None = None) -> int:
    """`value`. Raises InputError unless it is a whole number of at least `least`, and at most `most`; None is no limit."""
    limits = "" if least is None else f" of at least {least}" if most is None else f" from {least} to {most}"
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)  # NumPy's, too
    if not is_whole or (least is not None and value < least) or (most is not None and value > most):
        raise InputError(f"{name} must be a whole number{limits}, not {written(value)}")
    if abs(value) >= _LARGEST:
        raise InputError(f"{name} must be a whole number below 2^62, not {written(value)}")
    return int(value)


def true_or_false(value: Any, name: str) -> bool:
    """`value`. Raises InputError unless it is True or False."""
    if not isinstance(value, bool):
        raise InputError(f"{name} must be True or False, not {value!r}")
    return value


def set_attributes(options: Any, **values: Any) -> None:
    """Set attributes of a frozen dataclass while it is made: options in their own form, and facts that follow from them."""
    for name, value in values.items():
        object.__setattr__(options, name, value)


def checked(options: Any, check: Callable[[Any, str], Any], *names: str) -> None:
    """Replace options of a frozen dataclass by what `check` returns for their values and names; one that is None stays None.

    An option that may not be None is refused by `check`: its default in the class is another.
    """
    for name in names:
        value = getattr(options, name)
        if value is not None or getattr(type(options), name, None) is not None:
            set_attributes(options, **{name: check(value, name)})


def estimate_named(value: Any) -> Any:
    """The estimate of that name, with "map" as "mode"; None stays None."""
    if value is None:
        return None
    choice(value, Literal["mean", "mode", "map", "mle"], "estimate")
    return "mode" if value == "map" else value


def label(value: Any) -> str:
    """A value as text, in the form in which DuckDB casts it."""
    text = str(value)
    return text.lower() if text in ("True", "False") and not isinstance(value, str) else text  # NumPy's, too


def shortest(value: Any) -> str:
    """A value as text, a number without zeros at the end of its fraction.

    >>> shortest(1.0), shortest("1.0")
    ('1', '1.0')
    """
    text = label(value)
    number = value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value
    is_fraction = isinstance(number, (float, Decimal)) and "." in text and "e" not in text.lower()
    return text.rstrip("0").removesuffix(".") if is_fraction else text


def texts(values: Any, rule: str) -> tuple[str, ...]:
    """`values` as a tuple. Raises InputError, which begins with `rule`, unless it is a list of texts."""
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        raise InputError(f"{rule}, not {values!r}")
    found = tuple(values)
    for value in found:
        if not isinstance(value, str):
            raise InputError(f"{rule}, and {value!r} is no text")
    return found


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
    paired: bool = False  # whether this belongs to a pair of columns, which the macro <family>_pairs lists


@dataclass(frozen=True, kw_only=True)
class Family:
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
    smoothed: ClassVar[bool] = True  # smoothed by pseudo-counts, the parameters of a Dirichlet prior
    alpha_by_value: ClassVar[bool] = False  # alpha may be a mapping with one pseudo-count for each value
    centred: ClassVar[bool] = False  # counted with sums of squares, which need a centre
    number: ClassVar[bool] = False  # scored from <name>_inputs and parameters, by <name>_term or its density
    density: ClassVar[bool] = False  # a number whose density is a formula: <name>_density (sql/macros/families/numbers.sql)
    quantities: ClassVar[tuple[str, ...]] = ()  # of a density: the quantities that it reads, which are all its parameters
    zeros: ClassVar[bool] = False  # zeros are counted apart, so that the density is that of the other numbers
    level: ClassVar[bool] = False  # a category: counted by GROUP BY value, scored by a lookup
    bag: ClassVar[bool] = False  # tokens: unnested, counted and looked up one by one
    scores_add_up: ClassVar[bool] = True  # the score of a bag is the sum of the scores of its tokens
    has_categories: ClassVar[bool] = False  # a missing value can be a category
    needs_guard: ClassVar[bool] = False  # guarding its term against missing values costs as much as the term itself
    over_columns: ClassVar[bool] = False  # one feature over several columns
    by_column: ClassVar[bool] = True  # the score of a feature over several columns is a sum over its columns
    linear_cure: ClassVar[str] = "use quadratic()"  # the advice in an error, if the score is a square
    # The macro that compares two of its distributions: <divergence>_divergence (sql/macros/judging/drift.sql).
    divergence: ClassVar[str] = "normal"
    has_steps: ClassVar[bool] = False  # <name>_steps computes values once a row, which the terms of all classes read
    units: ClassVar[str] = "counts"  # the word for its values in messages
    accepts: ClassVar[tuple[str, ...]]  # the kinds of columns that may have this family

    # Facts that follow from the options of some families, which set them in `__post_init__`.
    presence: ClassVar[bool] = False  # a token counts at most once a row, and its absence is scored, too
    complement: ClassVar[bool] = False  # a class is scored by the counts of all others; such features alone use no priors
    normalised_weights: ClassVar[bool] = False  # the weights of a class are divided by their sum, for a complement
    idf: ClassVar[bool] = False  # a token weighs more the fewer bags contain it (inverse document frequency)
    # The weight of a token differs from the number of its occurrences (sql/macros/estimating/tfidf.sql).
    reweights_tokens: ClassVar[bool] = False
    # The number of most informative values that are kept (sql/macros/families/best_values.sql); None keeps all.
    value_limit: ClassVar[int | None] = None
    least_count: ClassVar[int] = 0  # how often a value must occur to be counted as a value
    multiplier: ClassVar[str] = "is"  # of a looked-up score in the linear form: "is", "has" or "count" (linear.sql)
    # Its columns are scored as features of their own in a row whose combination of values was never seen.
    backs_off: ClassVar[bool] = False
    # The answer to its question depends on the classes, so that it leaks the classes of held-out rows.
    supervised: ClassVar[bool] = False
    # The option that makes the cells depend on all rows at once, such as "norm='l2'"; None if cells can be added.
    non_additive_option: ClassVar[str | None] = None
    # A part of its term, the macro <name>_common, is the same in all classes and does not affect the posterior.
    has_common_term: ClassVar[bool] = False

    estimation_only: ClassVar[tuple[str, ...]] = ("alpha", "estimate", "unseen")  # options that do not change the counts
    # By the kind of the column: the rules that training rows must obey (sql/macros/counting/rules.sql).
    rules: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __post_init__(self) -> None:
        if not (isinstance(self.alpha, Mapping) and self.alpha_by_value):
            checked(self, non_negative, "alpha")
        if self.nulls is not None:
            choice(self.nulls, Nulls, "nulls")
            if self.nulls == "category" and not self.has_categories:
                raise InputError(f"nulls='category' needs a family with categories, not {self.name!r}; use 'skip' or 'error'")
        if self.unseen is not None:
            choice(self.unseen, Unseen, "unseen")
        set_attributes(self, estimate=estimate_named(self.estimate))
        if self.smoothed and self.estimate == "mle" and any(self.pseudo_counts):
            raise InputError(
                f"estimate='mle' of {self.name!r} takes no pseudo-counts, and it has {max(self.pseudo_counts):g}; "
                "leave them out, or use estimate='mean' or 'mode'"
            )
        if self.smoothed and self.estimate == "mode" and any(alpha < 1 for alpha in self.pseudo_counts):
            raise InputError(
                f"estimate='mode' of {self.name!r} needs every pseudo-count at 1 (no smoothing) or above: "
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
        if self.presence or self.reweights_tokens or self.value_limit is not None:
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
    def counting_options(self) -> dict[str, Any]:
        """The options that determine the counts: families with equal options share their cells."""
        fields = (item.name for item in dataclasses.fields(self) if item.name not in self.estimation_only)
        return {name: getattr(self, name) for name in fields}

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
    def question(self) -> str | None:
        """The macro that asks for facts about the column, such as quantiles, before it is counted; None if there is none."""
        return None

    def with_answer(self, rows: Sequence[Sequence[Any]]) -> Family:  # noqa: ARG002
        """The family completed with the rows that the macro `question` returned."""
        return self

    def without_answer(self) -> Family:
        """The family without an answer that depended on the classes, for rows that must not influence it."""
        return self

    @property
    def sampling_kind(self) -> str | None:
        """What a random draw makes (sample.sql): a "value", "number", "vector" or "bag"; None if it cannot be drawn."""
        if self.bag or (self.over_columns and not self.level):
            return None
        return "value" if self.smoothed else "number"

    @property
    def in_wide_scan(self) -> bool:
        """Whether the wide scan counts the feature, by the macros <name>_inputs, <name>_aggregates and <name>_cells."""
        return self.number or self.presence or self.idf

    @property
    def has_parameter_term(self) -> bool:
        """Whether the macro <name>_term adds a term that is computed from parameters."""
        return self.number or self.presence

    @property
    def has_lookups(self) -> bool:
        """Whether its values are in the table of lookups."""
        return self.level or self.bag

    @property
    def parameters(self) -> list[Parameter]:
        """The parameters that scoring reads from the one-row table; values in the table of lookups are not among them."""
        if self.quantities:
            return [Parameter(quantity, quantity) for quantity in self.quantities]
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
