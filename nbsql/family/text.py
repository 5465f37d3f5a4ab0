"""The family of texts, which the database cuts into words or characters."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from nbsql.errors import InputError, written
from nbsql.family.base import Family, Macros, macros_of
from nbsql.family.checks import checked, set_attributes, texts, true_or_false, whole_number
from nbsql.family.tokens import Bag

STOP_WORDS: dict[str, tuple[str, ...]] = {
    # The function words of English: articles, pronouns, prepositions, conjunctions, auxiliaries, and the fragments that
    # contractions leave behind once they are cut at the apostrophe.
    "english": tuple(
        """
        a an the this that these those some any each every either neither both all such no nor not only own same other another
        i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
        it its itself they them their theirs themselves one who whom whose which what
        and or but if then else than so because as until while though although whether unless since
        of at by for with about against between into through during before after above below to from up down in out on off over
        under near per via within without among upon toward towards onto across along behind beside besides beyond despite
        again further once here there when where why how ever never always also too very just more most less least few many much
        quite rather still yet already even almost
        am is are was were be been being have has had having do does did doing done can could may might must shall should will
        would ought
        s t d ll m o re ve don didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn mustn needn shan ain
        """.split()
    )
}

WORD = r"[\p{L}\p{N}][\p{L}\p{M}\p{N}]*"
ASCII_WORD = "[A-Za-z0-9]+"  # its matches in a text of ASCII are those of WORD

# What cuts a text into words, which its characters are instead.
_OF_WORDS = ("pattern", "stop_words", "min_length", "ngrams")


@dataclass(frozen=True, kw_only=True)
class Text(Bag):
    """A text, which the database cuts into words or characters in the same way for fitting and for scoring.

    Args:
        event: "multinomial" scores every occurrence of a word; "bernoulli" scores the presence or absence of every word of the
            vocabulary (McCallum and Nigam 1998); "complement" scores how much a text differs from those of all other classes
            (Rennie et al. 2003).
        weight_norm: whether the weights of a class are divided by their sum; for the complement only.
        tfidf: whether the count of a word is multiplied by ln((1 + N) / (1 + df)) + 1, where df of the N texts contain it.
        norm: "l2" divides the counts of a text by the root of the sum of their squares, so that long texts weigh no more.
        best: the size of a vocabulary of the most informative words (n-grams), chosen by their counts; None keeps all.
        best_by: the measure of information: "mutual_information" or "chi_square", as in `Model.relevance(values=True)`.
        vocabulary: the words of the vocabulary, seen or not; all others are left out. None takes the words of the training
            rows.
        min_known: how many different words of the vocabulary a row must have for `predict(certain=...)` to decide it.
        pattern: a regular expression for a word, in RE2 syntax, whose word class is ASCII only; by default a run of Unicode
            letters, marks (such as the vowel signs of Hindi) and digits, which does not begin with a mark.
        lower: whether the text is folded to lower case first.
        accents: whether letters keep their accents. False takes all marks off, also the vowel signs of Hindi or Thai.
        normal_form: "C" makes one character of a letter and its accents, so that both spellings of "é" are one; None takes the
            characters as they are.
        stop_words: the words to leave out: None, "english" (203 function words, not scikit-learn's list), or a list.
        min_length: the least length of a word, in characters.
        min_count: the least number of times that a word (n-gram) must occur in the training data to be in the vocabulary.
        ngrams: the longest run of words that is a term; or a pair of the shortest and the longest run.
        characters: the longest run of characters that is a term, instead of words; or a pair of the shortest and the longest.
            For languages without blanks, codes and names.
        within_words: whether runs of characters stay within words, each of which has a blank on either side.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES ('a free prize', 'spam'), ('lunch on friday', 'ham')) AS t(said, y)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="y", families={"said": nbsql.Text(stop_words="english")})
    >>> model.predict_one({"said": "free lunch, a prize"})["prediction"]
    'spam'
    """

    pattern: str = WORD
    lower: bool = True
    accents: bool = True
    normal_form: Literal["C"] | None = "C"
    stop_words: Sequence[str] | None = None
    min_length: int = 1
    min_count: int = 1
    ngrams: tuple[int, int] = (1, 1)
    characters: tuple[int, int] | None = None
    within_words: bool = False

    name: ClassVar[str] = "text"
    macros: ClassVar[Macros] = macros_of("text", "drawn", Bag.macros)
    accepts: ClassVar[tuple[str, ...]] = ("text",)

    def __post_init__(self) -> None:
        checked(self, whole_number, "min_length", "min_count")
        super().__post_init__()
        checked(self, true_or_false, "lower", "accents", "within_words")
        if self.normal_form not in (None, "C"):
            raise InputError(f"normal_form must be 'C' or None, not {self.normal_form!r}")
        if not isinstance(self.pattern, str) or not self.pattern:
            raise InputError(f"pattern must be a regular expression, not {self.pattern!r}")
        if isinstance(self.stop_words, str):
            if self.stop_words not in STOP_WORDS:
                known = ", ".join(map(repr, STOP_WORDS))
                raise InputError(f"no stop words {self.stop_words!r}; name one of {known}, or give a list of words")
            set_attributes(self, stop_words=STOP_WORDS[self.stop_words])
        elif self.stop_words is not None:
            set_attributes(self, stop_words=texts(self.stop_words, "stop_words must be 'english' or a list of words"))
        for option in ("stop_words", "vocabulary"):  # written as the words of a text are
            if getattr(self, option) is not None:
                set_attributes(self, **{option: tuple(map(self._as_in_texts, getattr(self, option)))})
        set_attributes(self, ngrams=_run_lengths(self.ngrams, "ngrams"))
        if self.characters is not None:
            set_attributes(self, characters=_run_lengths(self.characters, "characters"))
            for item in dataclasses.fields(self):
                if item.name in _OF_WORDS and getattr(self, item.name) != item.default:
                    raise InputError(f"characters=... cuts no words; leave out {item.name}, or characters")
        elif self.within_words:
            raise InputError("within_words=True goes with runs of characters: characters=(2, 4)")

    def _as_in_texts(self, word: str) -> str:
        """A word in the form of those of a text: without accents, or in normal form C (sql/macros/counting/tokens.sql)."""
        if not self.accents:
            word = "".join(
                each for each in unicodedata.normalize("NFD", word) if not unicodedata.category(each).startswith("M")
            )
        return word if self.accents and self.normal_form is None else unicodedata.normalize("NFC", word)

    @property
    def is_of_words(self) -> bool:
        """Whether its words have the default pattern, which the engine can find faster than by a regular expression."""
        return self.pattern == WORD

    @property
    def of_ascii(self) -> Text:
        """The family that cuts a text of ASCII into the same words, by a pattern that takes less time to compile."""
        return dataclasses.replace(self, pattern=ASCII_WORD) if self.is_of_words and self.characters is None else self

    @property
    def of_terms(self) -> Family:
        return _Terms(**self.options)

    @property
    def is_typed(self) -> bool:
        """Whether a page without a database can cut a typed sentence into the same words."""
        return self.is_of_words and self.lower and self.accents and self.min_length == 1

    @property
    def checked_pattern(self) -> str | None:
        """The regular expression that an engine must understand; None for the default one."""
        return None if self.is_of_words else self.pattern

    @property
    def has_overlaps(self) -> bool:
        """Whether a word or character is part of several terms, which therefore do not come one by one."""
        return self.characters is not None or tuple(self.ngrams) != (1, 1)

    @property
    def sampling_kind(self) -> str | None:
        return None if self.has_overlaps else super().sampling_kind

    @property
    def least_occurrences(self) -> int:
        return self.min_count if self.min_count > 1 else 0  # 0 and not 1, as the weight of a word may be below 1


@dataclass(frozen=True, kw_only=True)
class _Terms(Text):
    accepts: ClassVar[tuple[str, ...]] = ("tokens",)

    @property
    def of_terms(self) -> Family:
        return self


def _run_lengths(lengths: Any, option: str) -> tuple[int, int]:
    """The shortest and the longest run of an option: a pair, or the longest alone beside 1."""
    pair = (1, lengths) if isinstance(lengths, int) and not isinstance(lengths, bool) else lengths
    try:
        low, high = pair
    except (TypeError, ValueError):
        low = high = 0
    if not (isinstance(low, int) and isinstance(high, int) and 1 <= low <= high <= 10):
        raise InputError(f"{option} must be a whole number from 1 to 10, or a pair (shortest, longest), not {written(lengths)}")
    return low, high
