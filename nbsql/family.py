"""The families of features: how a column is distributed in a class, and with which options.

A family has a dataclass here and, where its SQL is its own, a file in `sql/macros/families/`. The class attributes say how
a family is counted, estimated and scored; the macros of that name do it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from nbsql.errors import InputError, suggestion
from nbsql.stop_words import STOP_WORDS

Nulls = Literal["skip", "category", "error"]
Unseen = Literal["skip", "smooth"]


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


@dataclass(frozen=True, kw_only=True)
class Family:
    """What all families share.

    Args:
        alpha: pseudo-count of additive smoothing; None takes the fit's.
        nulls: "skip" leaves a missing value out of counts and score, "category" makes it a value of its own, "error"
            refuses to fit; None takes the fit's.
        unseen: a value never met in training is left out of the score ("skip") or has the likelihood of a count of 0
            ("smooth"); None takes the fit's.
    """

    alpha: float | Mapping[str, float] | None = None
    nulls: Nulls | None = None
    unseen: Unseen | None = None

    name: ClassVar[str]
    centred: ClassVar[bool] = False  # counted with sums of squares, which need a centre
    number: ClassVar[bool] = False  # scored from <name>_inputs and parameters: <name>_term
    level: ClassVar[bool] = False  # a category: counted by GROUP BY value, scored by a lookup
    bag: ClassVar[bool] = False  # tokens: unnested, counted and looked up one by one
    has_categories: ClassVar[bool] = False  # whether a missing value can be a category
    over_columns: ClassVar[bool] = False  # one feature of several columns
    accepts: ClassVar[tuple[str, ...]]  # the kinds of column it can be asked for
    rules: ClassVar[dict[str, tuple[str, ...]]] = {}  # kind of column -> what training rows must keep (sql/macros/rules.sql)

    def __post_init__(self) -> None:
        if self.alpha is not None:
            object.__setattr__(self, "alpha", non_negative(self.alpha, "alpha"))
        if self.nulls is not None:
            choice(self.nulls, Nulls, "nulls")
            if self.nulls == "category" and not self.has_categories:
                raise InputError(f"nulls='category' needs a family with categories, not {self.name!r}; use 'skip' or 'error'")
        if self.unseen is not None:
            choice(self.unseen, Unseen, "unseen")

    def with_defaults(self, *, alpha: float, nulls: Nulls, unseen: Unseen) -> Family:
        """The same family with what was left out taken from the fit."""
        if nulls == "category" and not self.has_categories:
            nulls = "skip"
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

    # What the macros read. -----------------------------------------------------------------------------------------

    @property
    def pseudo_count(self) -> float:
        """The pseudo-count of a value that is not declared."""
        return self.alpha if isinstance(self.alpha, float) else 0.0

    @property
    def declared(self) -> list[tuple[str, float]]:
        """Values that exist though no row has them, with their pseudo-counts."""
        return []

    @property
    def distribution(self) -> str:
        """Which macro estimates it: <distribution>_likelihoods."""
        return "dirichlet"

    @property
    def scanned(self) -> bool:
        """Whether the wide scan counts it: <name>_inputs, <name>_aggregates and <name>_cells."""
        return self.number

    @property
    def presence(self) -> bool:
        """Whether a token counts once a row, and its absence counts too."""
        return False

    @property
    def least_count(self) -> int:
        """How often a value must be met to be one."""
        return 0

    @property
    def compiled(self) -> str:
        """Which macro lists the parameters: <compiled>_parameters."""
        return self.name if self.number or self.parametrised_term else "level"

    @property
    def parametrised_term(self) -> bool:
        """Whether <name>_term adds something from the parameters alone."""
        return self.number

    @property
    def looked_up(self) -> bool:
        return self.level or self.bag

    @property
    def parametrised(self) -> bool:
        if self.number or self.parametrised_term:
            return True
        return self.unseen == "smooth" or (self.level and self.nulls == "category")

    @property
    def allows_zero(self) -> bool:
        """Whether a likelihood may be 0, so that 0 ln 0 must be told apart."""
        return min([self.pseudo_count, *(alpha for _, alpha in self.declared)]) == 0


@dataclass(frozen=True, kw_only=True)
class Categorical(Family):
    """Categories: P(v | c) = (n_cv + alpha) / (n_c + alpha K), K the values seen in any class or declared.

    Args:
        levels: values that count in K though no row may have them.

    >>> Categorical(alpha=0.5, levels=["rain", "snow"]).levels
    ('rain', 'snow')
    """

    levels: Sequence[Any] = ()

    name: ClassVar[str] = "categorical"
    level: ClassVar[bool] = True
    has_categories: ClassVar[bool] = True
    accepts: ClassVar[tuple[str, ...]] = ("text", "boolean", "integer", "float", "decimal", "temporal")

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.levels, str):
            raise InputError(f"levels must be a list, not the text {self.levels!r}")
        object.__setattr__(self, "levels", tuple(map(_label, self.levels)))

    @property
    def declared(self) -> list[tuple[str, float]]:
        return [(level, self.pseudo_count) for level in self.levels]


def _label(value: Any) -> str:
    """A level as DuckDB casts it to text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Bernoulli(Family):
    """Yes or no, BOOLEAN or 0/1: P(true | c) = (n_true + alpha) / (n + alpha + beta).

    Args:
        alpha: pseudo-count of true; None takes the fit's.
        beta: pseudo-count of false; None takes alpha.
    """

    alpha: float | None = None
    beta: float | None = None

    name: ClassVar[str] = "bernoulli"
    number: ClassVar[bool] = True
    has_categories: ClassVar[bool] = True
    accepts: ClassVar[tuple[str, ...]] = ("boolean", "integer", "float", "decimal")
    rules: ClassVar[dict[str, tuple[str, ...]]] = {"integer": ("binary",), "float": ("binary",), "decimal": ("binary",)}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.beta is not None:
            object.__setattr__(self, "beta", non_negative(self.beta, "beta"))

    @property
    def declared(self) -> list[tuple[str, float]]:
        return [("true", self.pseudo_count), ("false", self.pseudo_count if self.beta is None else self.beta)]


@dataclass(frozen=True, kw_only=True)
class Gaussian(Family):
    """A number with a normal density in each class.

    Args:
        variance: "population" (m2 / n) or "sample" (m2 / (n - 1)).
        floor: the least variance, as a share of the feature's variance over all classes.
    """

    variance: Literal["population", "sample"] = "population"
    floor: float = 1e-9

    name: ClassVar[str] = "gaussian"
    centred: ClassVar[bool] = True
    number: ClassVar[bool] = True
    accepts: ClassVar[tuple[str, ...]] = ("integer", "float", "decimal")

    @property
    def distribution(self) -> str:
        return "gaussian"

    def __post_init__(self) -> None:
        super().__post_init__()
        choice(self.variance, Literal["population", "sample"], "variance")
        object.__setattr__(self, "floor", non_negative(self.floor, "floor"))


@dataclass(frozen=True)
class Poisson(Family):
    """A count with a Poisson distribution in each class, of rate (sum of x + a) / (n + b).

    Args:
        a: shape of the Gamma prior on the rate.
        b: rate of that prior.
    """

    a: float = 0.0
    b: float = 0.0

    name: ClassVar[str] = "poisson"
    number: ClassVar[bool] = True
    accepts: ClassVar[tuple[str, ...]] = ("integer", "float", "decimal")
    rules: ClassVar[dict[str, tuple[str, ...]]] = {
        "integer": ("negative",),
        "float": ("negative", "whole"),
        "decimal": ("negative", "whole"),
    }

    @property
    def distribution(self) -> str:
        return "poisson"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "a", non_negative(self.a, "a"))
        object.__setattr__(self, "b", non_negative(self.b, "b"))


@dataclass(frozen=True)
class Multinomial(Family):
    """Columns of counts that share one total: x_t ln((n_ct + alpha_t) / (n_c + sum of alpha)), summed over the columns t.

    Args:
        columns: the count columns.
        alpha: one pseudo-count, or one a column: {"w1": 0.5, "w2": 2}.
    """

    columns: Sequence[str] = ()

    name: ClassVar[str] = "multinomial"
    number: ClassVar[bool] = True
    over_columns: ClassVar[bool] = True
    accepts: ClassVar[tuple[str, ...]] = ("integer", "float", "decimal")
    rules: ClassVar[dict[str, tuple[str, ...]]] = {kind: ("negative",) for kind in ("integer", "float", "decimal")}

    def __post_init__(self) -> None:
        if isinstance(self.columns, str) or not all(isinstance(column, str) for column in self.columns):
            raise InputError(f"Multinomial takes a list of columns, not {self.columns!r}")
        object.__setattr__(self, "columns", tuple(self.columns))
        if isinstance(self.alpha, Mapping):
            alphas = {column: non_negative(alpha, "alpha") for column, alpha in self.alpha.items()}
            unknown = [column for column in alphas if column not in self.columns]
            if unknown:
                raise InputError(f"alpha names {unknown[0]!r}, which is no column of Multinomial{suggestion(unknown[0], self.columns)}")
            dataclasses.replace(self, alpha=None)  # checks the options that all families share
            object.__setattr__(self, "alpha", alphas)
        else:
            super().__post_init__()

    @property
    def declared(self) -> list[tuple[str, float]]:
        alphas = self.alpha if isinstance(self.alpha, Mapping) else {}
        return [(column, alphas.get(column, self.pseudo_count)) for column in self.columns]


@dataclass(frozen=True, kw_only=True)
class Tokens(Family):
    """A bag of tokens, VARCHAR[]: ln((n_ct + alpha) / (n_c + alpha V)) an occurrence, V the tokens seen."""

    name: ClassVar[str] = "tokens"
    bag: ClassVar[bool] = True
    accepts: ClassVar[tuple[str, ...]] = ("tokens",)


@dataclass(frozen=True, kw_only=True)
class TokenCounts(Family):
    """A bag of tokens with their counts, MAP(VARCHAR, number), scored as `Tokens`."""

    name: ClassVar[str] = "token_counts"
    bag: ClassVar[bool] = True
    accepts: ClassVar[tuple[str, ...]] = ("token counts",)
    rules: ClassVar[dict[str, tuple[str, ...]]] = {"token counts": ("negative_counts",)}


@dataclass(frozen=True, kw_only=True)
class Text(Family):
    """A text, cut into words in the database; the same way for fitting and for scoring.

    Args:
        event: "multinomial" counts every occurrence of a word, "bernoulli" the presence or absence of every word of the
            vocabulary (McCallum and Nigam 1998).
        pattern: what a word is, in RE2 syntax; by default a run of Unicode letters and digits.
        lower: fold to lower case first.
        stop_words: words to leave out: None, "english", or a list.
        min_length: the least length of a word, in characters.
        min_count: words (n-grams) met fewer times in the whole training data are no part of the vocabulary.
        ngrams: runs of up to so many words are terms too; or a pair, the shortest and the longest run.
    """

    event: Literal["multinomial", "bernoulli"] = "multinomial"
    pattern: str = r"[\p{L}\p{N}]+"
    lower: bool = True
    stop_words: Sequence[str] | None = None
    min_length: int = 1
    min_count: int = 1
    ngrams: tuple[int, int] = (1, 1)

    name: ClassVar[str] = "text"
    bag: ClassVar[bool] = True
    accepts: ClassVar[tuple[str, ...]] = ("text",)

    def __post_init__(self) -> None:
        super().__post_init__()
        choice(self.event, Literal["multinomial", "bernoulli"], "event")
        for name in ("min_length", "min_count"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(f"{name} must be a whole number of at least 1, not {value!r}")
        if not isinstance(self.pattern, str) or not self.pattern:
            raise InputError(f"pattern must be a regular expression, not {self.pattern!r}")
        if isinstance(self.stop_words, str):
            if self.stop_words not in STOP_WORDS:
                known = ", ".join(map(repr, STOP_WORDS))
                raise InputError(f"no stop words {self.stop_words!r}; name one of {known}, or give a list of words")
            object.__setattr__(self, "stop_words", STOP_WORDS[self.stop_words])
        elif self.stop_words is not None:
            object.__setattr__(self, "stop_words", tuple(self.stop_words))
        object.__setattr__(self, "ngrams", _run_lengths(self.ngrams))
        if self.event == "bernoulli" and self.alpha == 0:
            raise InputError("Text(event='bernoulli') needs alpha > 0: without smoothing a word that every text of a class holds cannot be absent")

    @property
    def presence(self) -> bool:
        return self.event == "bernoulli"

    @property
    def distribution(self) -> str:
        return "presence" if self.presence else "dirichlet"

    @property
    def scanned(self) -> bool:
        return self.presence

    @property
    def parametrised_term(self) -> bool:
        return self.presence

    @property
    def least_count(self) -> int:
        return self.min_count if self.min_count > 1 else 0  # not 1: a word may weigh less


def _run_lengths(ngrams: Any) -> tuple[int, int]:
    pair = (1, ngrams) if isinstance(ngrams, int) and not isinstance(ngrams, bool) else ngrams
    try:
        low, high = pair
    except (TypeError, ValueError):
        low = high = 0
    if not (isinstance(low, int) and isinstance(high, int) and 1 <= low <= high <= 10):
        raise InputError(f"ngrams must be a whole number from 1 to 10, or a pair (shortest, longest), not {ngrams!r}")
    return low, high


FAMILIES: dict[str, type[Family]] = {
    family.name: family for family in (Categorical, Bernoulli, Gaussian, Poisson, Multinomial, Tokens, TokenCounts, Text)
}

# The rule of inference looks at the type alone, so that fitting the same table tomorrow gives the same model.
INFERRED: dict[str, type[Family]] = {
    "text": Categorical,
    "boolean": Bernoulli,
    "integer": Gaussian,
    "float": Gaussian,
    "decimal": Gaussian,
    "tokens": Tokens,
    "token counts": TokenCounts,
}


def named(family: str | Family) -> Family:
    """The family of that name with its default options, or the instance itself.

    Raises:
        InputError: the name is no family's.
    """
    if isinstance(family, Family):
        return family
    if isinstance(family, type) and issubclass(family, Family):
        return family()
    if not isinstance(family, str):
        raise InputError(f"a family is a name or an instance such as nbsql.Gaussian(), not {family!r}")
    if family not in FAMILIES:
        known = ", ".join(map(repr, FAMILIES))
        raise InputError(f"no family {family!r}{suggestion(family, FAMILIES) or f'; the families are {known}'}")
    return FAMILIES[family]()


def from_dict(options: Mapping[str, Any]) -> Family:
    """The family that `Family.to_dict` wrote."""
    arguments = dict(options)
    return FAMILIES[arguments.pop("family")](**arguments)
