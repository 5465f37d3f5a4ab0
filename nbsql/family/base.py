"""What the families of features share: how a column is distributed in a class, and with which options."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

from nbsql.errors import InputError, suggestion

Nulls = Literal["skip", "category", "error"]
Unseen = Literal["skip", "smooth"]
Estimate = Literal["mean", "mode", "mle"]


def choice(value: str, allowed: Any, name: str) -> None:
    """Raise InputError unless `value` is one of a Literal's."""
    options = get_args(allowed)
    if value not in options:
        known = ", ".join(map(repr, options))
        raise InputError(f"{name} must be one of {known}, not {value!r}{suggestion(str(value), options)}")


def non_negative(value: Any, name: str) -> float:
    """`value` as a float; InputError unless it is a finite number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        raise InputError(f"{name} must be a finite number of at least 0, not {value!r}")
    return float(value)


def estimate_named(value: Any) -> Any:
    """The estimate of that name; None stays None."""
    if value is None:
        return None
    choice(value, Literal["mean", "mode", "map", "mle"], "estimate")
    return "mode" if value == "map" else value


def label(value: Any) -> str:
    """A value as DuckDB casts it to text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def texts(values: Any, rule: str) -> tuple[str, ...]:
    """`values` as a tuple; InputError with the rule unless it is a list of texts."""
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        raise InputError(f"{rule}, not {values!r}")
    found = tuple(values)
    for value in found:
        if not isinstance(value, str):
            raise InputError(f"{rule}, and {value!r} is no text")
    return found


@dataclass(frozen=True)
class Parameter:
    """A number a class that scoring reads for a feature.

    Args:
        name: begins the name of its column: mean_3_1 is the `mean` of the third feature in the first class.
        quantity: what it is of a likelihood: its "score", or what the macro <distribution>_quantities computes.
        value: the value whose likelihood it is; None for numbers and for the category of missing values.
        unseen: whether it is the likelihood of a value never seen.
        total: whether it is a sum over all values.
        column: the number of the column, for a feature over several.
        common: whether it is the same in all classes; a table with a column a class has it once, as that of the first.
        paired: whether it is one of a pair of columns, which the macro <family>_pairs lists.
    """

    name: str
    quantity: str
    value: str | None = None
    unseen: bool = False
    total: bool = False
    column: int | None = None
    common: bool = False
    paired: bool = False


@dataclass(frozen=True, kw_only=True)
class Family:
    """What all families share.

    Args:
        alpha: pseudo-count of additive smoothing; None takes the fit's.
        nulls: "skip" leaves a missing value out of counts and score, "category" makes it a value of its own, "error"
            refuses to fit; None takes the fit's.
        unseen: a value never met in training is left out of the score ("skip") or has the likelihood of a count of 0
            ("smooth"); None takes the fit's.
        estimate: what a parameter is taken to be once the data has been seen: the "mean" of its posterior distribution; the
            "mode", its most probable value (MAP, and "map" will do, too); or "mle", the maximum-likelihood estimate, which has
            no prior. None takes the fit's.

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
    smoothed: ClassVar[bool] = True  # by pseudo-counts, the parameters of a Dirichlet prior
    alpha_by_value: ClassVar[bool] = False  # whether alpha may be one a value
    centred: ClassVar[bool] = False  # counted with sums of squares, which need a centre
    number: ClassVar[bool] = False  # scored from <name>_inputs and parameters, by <name>_term or its density
    density: ClassVar[bool] = False  # a number whose density is a formula: <name>_density (sql/macros/families/numbers.sql)
    zeros: ClassVar[bool] = False  # whether a 0 is counted apart, so that the density is that of the other numbers
    level: ClassVar[bool] = False  # a category: counted by GROUP BY value, scored by a lookup
    bag: ClassVar[bool] = False  # tokens: unnested, counted and looked up one by one
    scores_add_up: ClassVar[bool] = True  # whether what a bag says is the sum of what its tokens say
    has_categories: ClassVar[bool] = False  # whether a missing value can be a category
    needs_guard: ClassVar[bool] = False  # whether a guard of its term against missing values costs as much as the term
    over_columns: ClassVar[bool] = False  # one feature of several columns
    by_column: ClassVar[bool] = True  # whether the score of such a feature is a sum over its columns
    linear_cure: ClassVar[str] = "use quadratic()"  # where the score is a square
    divergence: ClassVar[str] = (
        "normal"  # how far two of its distributions are apart: <divergence>_divergence (sql/macros/judging/drift.sql)
    )
    units: ClassVar[str] = "counts"  # what a message calls its values
    accepts: ClassVar[tuple[str, ...]]  # the kinds of column it can be asked for
    estimation_only: ClassVar[tuple[str, ...]] = (
        "alpha",
        "estimate",
        "unseen",
    )  # options that change the estimates and no count
    rules: ClassVar[
        dict[str, tuple[str, ...]]
    ] = {}  # kind of column -> what training rows must keep (sql/macros/counting/rules.sql)

    def __post_init__(self) -> None:
        if self.alpha is not None and not (isinstance(self.alpha, Mapping) and self.alpha_by_value):
            object.__setattr__(self, "alpha", non_negative(self.alpha, "alpha"))
        if self.nulls is not None:
            choice(self.nulls, Nulls, "nulls")
            if self.nulls == "category" and not self.has_categories:
                raise InputError(f"nulls='category' needs a family with categories, not {self.name!r}; use 'skip' or 'error'")
        if self.unseen is not None:
            choice(self.unseen, Unseen, "unseen")
        object.__setattr__(self, "estimate", estimate_named(self.estimate))
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
        """The same family with the estimate of the fit, if it has none of its own."""
        return self if self.estimate is not None else dataclasses.replace(self, estimate=estimate)

    def with_defaults(self, *, alpha: float, nulls: Nulls, unseen: Unseen) -> Family:
        """The same family with what was left out taken from the fit."""
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
        """The family as JSON holds it."""
        return {"family": self.name, **dataclasses.asdict(self)}

    def __str__(self) -> str:
        return self.name

    @property
    def pseudo_counts(self) -> list[float]:
        """The pseudo-counts that are known, each the parameter of a Dirichlet prior."""
        return [self.alpha] if isinstance(self.alpha, float) else []

    @property
    def counting_options(self) -> dict[str, Any]:
        """The options that say what is counted: families that share these share their cells."""
        fields = (item.name for item in dataclasses.fields(self) if item.name not in self.estimation_only)
        return {name: getattr(self, name) for name in fields}

    def check_given(self, where: str, mean: float | None, variance: float | None, rate: float | None) -> None:
        """Raise InputError if these are no numbers of its distribution; a variance and a rate are above 0 already."""

    # What the macros read. -----------------------------------------------------------------------------------------

    def added_to_count(self, pseudo_count: float) -> float:
        """What a pseudo-count adds to a count: the mode, (n + a - 1) / (N + A - K), is the mean of one less."""
        return pseudo_count - 1 if self.estimate == "mode" else pseudo_count

    @property
    def added_count(self) -> float:
        """What is added to the count of a value that is not declared."""
        return self.added_to_count(self.alpha) if isinstance(self.alpha, float) else 0.0

    @property
    def declared(self) -> list[tuple[str, float]]:
        """Values that exist though no row has them, with what is added to their counts."""
        return []

    @property
    def distribution(self) -> str:
        """Which macro estimates it: <distribution>_likelihoods."""
        return "dirichlet"

    @property
    def formula(self) -> str:
        """Whose density it has: <formula>_density (sql/macros/families/numbers.sql)."""
        return self.name

    @property
    def is_logarithmic(self) -> bool:
        """Whether its density is one of its logarithm."""
        return self.formula == "lognormal"

    @property
    def estimate_options(self) -> dict[str, float | None]:
        """The numbers that <distribution>_estimate reads beside the cells, by name (sql/macros/families/numbers.sql)."""
        return {}

    @property
    def in_wide_scan(self) -> bool:
        """Whether the wide scan counts it: <name>_inputs, <name>_aggregates and <name>_cells."""
        return self.number

    @property
    def presence(self) -> bool:
        """Whether a token counts once a row, and its absence counts too."""
        return False

    @property
    def unregularised(self) -> Family:
        """The family as its rows are distributed, whatever is shared or shrunk in an estimate."""
        return self

    @property
    def question(self) -> str | None:
        """The macro of what must be known of the column before it can be counted; None if nothing is."""
        return None

    def with_answer(self, rows: Sequence[Sequence[Any]]) -> Family:  # noqa: ARG002
        """The family that knows the rows of the answer; one that asks nothing learns nothing."""
        return self

    def without_answer(self) -> Family:
        """The family before the classes of the rows answered, for rows that are to have no say in it."""
        return self

    @property
    def sampling_kind(self) -> str | None:
        """How it is drawn at random (sample.sql): a "value", "number", "vector" or "bag"; None if it cannot be."""
        if self.bag or (self.over_columns and not self.level):
            return None
        return "value" if self.smoothed else "number"

    @property
    def backs_off(self) -> bool:
        """Whether its columns are features of their own where their values together were never seen."""
        return False

    @property
    def supervised(self) -> bool:
        """Whether what it asks of the column depends on the classes, so that held-back rows are known to it."""
        return False

    @property
    def non_additive_option(self) -> str | None:
        """The option that makes cells depend on all rows at once, such as "norm='l2'"; None: those of two sources add up."""
        return None

    @property
    def complement(self) -> bool:
        """Whether a class is scored by all others; priors do not enter a model of nothing else."""
        return False

    @property
    def normalised_weights(self) -> bool:
        """Whether the weights of a complement are divided by their sum."""
        return False

    @property
    def idf(self) -> bool:
        """Whether a token weighs the more the fewer bags hold it."""
        return False

    @property
    def reweights_tokens(self) -> bool:
        """Whether a token counts for something else than how often it occurs (sql/macros/estimating/tfidf.sql)."""
        return False

    @property
    def value_limit(self) -> int | None:
        """How many of its values are kept, the most telling ones (sql/macros/families/best_values.sql); None for all."""
        return None

    @property
    def least_count(self) -> int:
        """How often a value must be met to be one."""
        return 0

    @property
    def multiplier(self) -> str:
        """What the score of a value that is looked up is multiplied with (sql/macros/scoring/linear.sql)."""
        return "is"

    @property
    def has_parameter_term(self) -> bool:
        """Whether <name>_term adds something from the parameters alone."""
        return self.number

    @property
    def has_steps(self) -> bool:
        """Whether <name>_steps are computed once a row, for its term to read with a column a class."""
        return False

    @property
    def has_common_term(self) -> bool:
        """Whether <name>_common is a part of its term that is the same in all classes, and so tells none from another."""
        return False

    @property
    def has_lookups(self) -> bool:
        """Whether its values are in the lookups."""
        return self.level or self.bag

    @property
    def parameters(self) -> list[Parameter]:
        """What scoring reads of it in the one-row table of parameters; a category's looked-up values are not among it."""
        found = []
        if self.unseen == "smooth":
            found.append(Parameter("unseen", "score", unseen=True))
        if self.level and self.nulls == "category":
            found.append(Parameter("missing", "score"))
        return found

    @property
    def degree(self) -> int | None:
        """Of the polynomial that its score is in the number or the count that it reads; None if it is none (linear.sql)."""
        return None

    @property
    def allows_zero(self) -> bool:
        """Whether a likelihood may be 0, so that 0 ln 0 must be told apart."""
        return min([added for _, added in self.declared] or [self.added_count]) == 0
