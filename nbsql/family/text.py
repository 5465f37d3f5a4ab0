"""Text, cut into words in the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from nbsql.errors import InputError
from nbsql.family.bag import Bag
from nbsql.family.base import texts
from nbsql.family.stop_words import STOP_WORDS

LETTERS_AND_DIGITS = r"[\p{L}\p{N}]+"


@dataclass(frozen=True, kw_only=True)
class Text(Bag):
    """A text, cut into words in the database; the same way for fitting and for scoring.

    Args:
        event: "multinomial" counts every occurrence of a word, "bernoulli" the presence or absence of every word of the
            vocabulary (McCallum and Nigam 1998), "complement" how little a text is like those of all other classes (Rennie et
            al. 2003).
        weight_norm: of the complement: divide the weights of a class by their sum.
        tfidf: a word counts as often as it occurs, times ln((1 + N) / (1 + df)) + 1, where df of the N texts hold it.
        norm: "l2" divides the counts of a text by the root of the sum of their squares, so that long texts weigh no more.
        best: so many words (n-grams) that tell most of the class are the vocabulary, chosen by their counts; None for all.
        best_by: "mutual_information" or "chi_square", as `Model.relevance(values=True)` has them.
        vocabulary: the tokens that there are, seen or not; all others are left out. None: those that training meets.
        pattern: what a word is, in RE2 syntax, whose word class is ASCII only; by default a run of Unicode letters and digits.
        lower: fold to lower case first.
        stop_words: words to leave out: None, "english" (203 function words, not scikit-learn's list), or a list.
        min_length: the least length of a word, in characters.
        min_count: words (n-grams) met fewer times in the whole training data are no part of the vocabulary.
        ngrams: runs of up to so many words are terms too; or a pair, the shortest and the longest run.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES ('a free prize', 'spam'), ('lunch on friday', 'ham')) AS t(said, y)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="y", families={"said": nbsql.Text(stop_words="english")})
    >>> model.predict_one({"said": "free lunch, a prize"})["prediction"]
    'spam'
    """

    pattern: str = LETTERS_AND_DIGITS
    lower: bool = True
    stop_words: Sequence[str] | None = None
    min_length: int = 1
    min_count: int = 1
    ngrams: tuple[int, int] = (1, 1)

    name: ClassVar[str] = "text"
    accepts: ClassVar[tuple[str, ...]] = ("text",)

    def __post_init__(self) -> None:
        super().__post_init__()
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
            object.__setattr__(self, "stop_words", texts(self.stop_words, "stop_words must be 'english' or a list of words"))
        object.__setattr__(self, "ngrams", _run_lengths(self.ngrams))

    @property
    def letters_and_digits(self) -> bool:
        """Whether words are what they are by default, which can be found faster than by matching a pattern."""
        return self.pattern == LETTERS_AND_DIGITS

    @property
    def sampling_kind(self) -> str | None:
        return (
            super().sampling_kind if tuple(self.ngrams) == (1, 1) else None
        )  # n-grams overlap: no text has them independently

    @property
    def least_occurrences(self) -> int:
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
