"""The families of bags of tokens, and their base."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from nbsql.errors import InputError
from nbsql.family.base import Cell, Family, Kind, Macros, Parameter, macros_of
from nbsql.family.checks import checked, choice, set_attributes, texts, true_or_false, whole_number

Event = Literal["multinomial", "complement"]
Norm = Literal["l2"]
BestBy = Literal["mutual_information", "chi_square"]


@dataclass(frozen=True, kw_only=True)
class Bag(Family):
    """A bag of tokens; the options are described where users name them, at `Tokens` and `Text`."""

    event: Literal["multinomial", "bernoulli", "complement"] = "multinomial"
    weight_norm: bool = False
    tfidf: bool = False
    norm: Norm | None = None
    best: int | None = None
    best_by: BestBy = "mutual_information"
    vocabulary: Sequence[str] | None = None
    min_known: int = 0

    kind: ClassVar[Kind] = "tokens"
    macros: ClassVar[Macros] = macros_of("text", "inputs aggregates cells term weights")
    cell: ClassVar[Cell] = "token"
    estimation_only: ClassVar[tuple[str, ...]] = (*Family.estimation_only, "weight_norm", "best", "best_by", "min_known")
    events: ClassVar[tuple[str, ...]] = ("multinomial", "bernoulli", "complement")

    def __post_init__(self) -> None:
        set_attributes(
            self,
            presence=self.event == "bernoulli",
            complement=self.event == "complement",
            normalised_weights=self.weight_norm,
            reweights_tokens=self.tfidf or self.norm is not None,
        )
        super().__post_init__()
        choice(self.event, Literal[self.events], "event")
        choice(self.best_by, BestBy, "best_by")
        checked(self, true_or_false, "weight_norm", "tfidf")
        checked(self, whole_number, "best")
        set_attributes(self, min_known=whole_number(self.min_known, "min_known", 0))
        if self.vocabulary is not None:
            set_attributes(self, vocabulary=texts(self.vocabulary, "vocabulary must be a list of words"))
        for message, applies in self._contradictions.items():
            if applies:
                raise InputError(message)
        if not self.reweights_tokens:
            set_attributes(self, least_count=self.least_occurrences)
        if self.norm is not None and (self.tfidf or self.least_occurrences > 0):
            set_attributes(self, non_additive_option=f"norm={self.norm!r}")

    @property
    def _contradictions(self) -> dict[str, bool]:
        """What is said of options that contradict each other, and whether these do."""
        presence, reweights, unmet = self.presence, self.reweights_tokens, "⟨unseen='smooth'⟩"
        is_smooth, is_best, is_declared = self.unseen == "smooth", self.best is not None, self.vocabulary is not None
        bernoulli = f"{type(self).__name__}(event='bernoulli') needs alpha > {max(self.pseudo_counts, default=0):g}"
        all_words = "a declared vocabulary is all the words there are; leave out"
        never_met = "a declared vocabulary has words never met, which have no frequency"
        return {
            f"norm must be None or 'l2', not {self.norm!r}": self.norm not in (None, "l2"),
            f"weight_norm=True needs event='complement', not {self.event!r}": self.weight_norm and not self.complement,
            "event='bernoulli' asks whether a word is there, not how often; leave out tfidf and norm": presence and reweights,
            f"{unmet} needs event='multinomial': to the Bernoulli model a new word is no word at all": presence and is_smooth,
            f"{bernoulli}, or a word that every text of a class holds could not be absent": (
                presence and isinstance(self.alpha, float) and self.added_count == 0
            ),
            f"{unmet} needs tfidf=False and norm=None: a token never met has no frequency in bags": reweights and is_smooth,
            "best and norm cannot go together: the length of a bag is that of all its tokens; leave one out": (
                is_best and self.norm is not None
            ),
            f"{unmet} would count the tokens that best leaves out; leave out one of them": is_best and is_smooth,
            f"{all_words} best": is_declared and is_best,
            f"{all_words} {unmet}": is_declared and is_smooth,
            "vocabulary is empty; name a word, or leave it out": is_declared and not self.vocabulary,
            f"{never_met}; leave out tfidf, norm and min_count": is_declared and (reweights or self.least_occurrences > 0),
        }

    @property
    def by_share(self) -> Family | None:
        """The family of the same tokens by their shares of a row; None with an option that excludes it."""
        known = self.best is not None or self.vocabulary is not None or self.least_occurrences > 0
        is_plain = self.event == "multinomial" and not (self.reweights_tokens or known or self.unseen == "smooth")
        return replace(self, norm="l2", alpha=0.01) if is_plain else None

    @property
    def declared(self) -> list[tuple[str, float]]:
        return [(token, self.added_count) for token in dict.fromkeys(self.vocabulary or ())]

    @property
    def least_occurrences(self) -> int:
        """How often a token must occur in the training data to be in the vocabulary."""
        return 0

    @property
    def distribution(self) -> str:
        return "presence" if self.presence else "complement" if self.complement else "dirichlet"

    @property
    def degree(self) -> int | None:
        return 1 if self.norm is None else None

    @property
    def sampling_kind(self) -> str | None:
        return "bag" if self.distribution == "dirichlet" and not self.reweights_tokens else None

    @property
    def parameters(self) -> list[Parameter]:
        return [Parameter("absent", "log_absence", total=True)] if self.presence else super().parameters


@dataclass(frozen=True, kw_only=True)
class Tokens(Bag):
    """A bag of tokens, VARCHAR[], scored by ln((n_ct + alpha) / (n_c + alpha V)) an occurrence, V the number of tokens seen.

    Args:
        event: "multinomial" scores every occurrence of a token; "bernoulli" scores the presence or absence of every token of
            the vocabulary (McCallum and Nigam 1998); "complement" scores how much a bag differs from those of all other classes
            (Rennie et al. 2003).
        weight_norm: whether the weights of a class are divided by their sum; for the complement only.
        tfidf: whether the count of a token is multiplied by ln((1 + N) / (1 + df)) + 1, where df of the N bags contain it.
        norm: "l2" divides the counts of a bag by the root of the sum of their squares, so that long bags weigh no more.
        best: the size of a vocabulary of the most informative tokens, chosen by their counts; None keeps all tokens.
        best_by: the measure of information: "mutual_information" or "chi_square", as in `Model.relevance(values=True)`.
        vocabulary: the tokens of the vocabulary, seen or not; all others are left out. None takes the tokens of the training
            rows.
        min_known: how many different tokens of the vocabulary a row must have for `predict(certain=...)` to decide it.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES (['free', 'prize'], 'spam'), (['lunch', 'friday'], 'ham')) AS t(said, y)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="y", families={"said": nbsql.Tokens()})
    >>> model.predict_one({"said": ["prize"]})["prediction"]
    'spam'
    """

    name: ClassVar[str] = "tokens"
    macros: ClassVar[Macros] = macros_of("tokens", "drawn", Bag.macros)
    accepts: ClassVar[tuple[str, ...]] = ("tokens",)


@dataclass(frozen=True, kw_only=True)
class TokenCounts(Tokens):
    """A bag of tokens with counts, MAP(VARCHAR, number). It is scored as `Tokens` is, and has the same options.

    >>> import duckdb, nbsql
    >>> data = "SELECT MAP {'free': 2} AS said, 'spam' AS y UNION ALL SELECT MAP {'lunch': 1}, 'ham'"
    >>> model = nbsql.fit(duckdb.connect(), data, target="y")
    >>> model.predict("SELECT MAP {'free': 1} AS said").fetchall()[0][1]
    'spam'
    """

    name: ClassVar[str] = "token_counts"
    macros: ClassVar[Macros] = macros_of("token_counts", "drawn", Bag.macros)
    accepts: ClassVar[tuple[str, ...]] = ("token counts",)
    rules: ClassVar[dict[str, tuple[str, ...]]] = {"token counts": ("negative_counts",)}
