"""Converts vectorizers of words and characters into families of texts, and their options back."""

import re
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import groupby
from typing import Any

from nbsql.errors import NotSupportedError
from nbsql.family import Text
from nbsql.family.text import WORD

# Patterns of a word in Python, whose word class includes all Unicode letters, and their equivalents in RE2, whose does not.
PATTERNS = {r"(?u)\b\w\w+\b": r"[\p{L}\p{N}_]{2,}", r"(?u)\b\w+\b": r"[\p{L}\p{N}_]+"}

_LETTERS_AND_DIGITS = r"[\p{L}\p{N}]+"
_COMPOSED = partial(unicodedata.normalize, "NFC")


def word_pattern(pattern: str, least: int) -> str | None:
    """The pattern in Python of words of at least `least` characters; None if that of the family has none."""
    if pattern == WORD:
        return rf"(?u)[^\W_](?:[^\W_]|[{_marks()}]){{{least - 1},}}"
    if pattern == _LETTERS_AND_DIGITS:
        return rf"(?u)[^\W_]{{{least},}}"
    return next((python for python, known in PATTERNS.items() if known == pattern and least == 1), None)


@cache
def _marks() -> str:
    """The marks of Unicode as the contents of a class of characters, which Python has none of."""
    marks = [code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)).startswith("M")]
    runs = [[code for _, code in run] for _, run in groupby(enumerate(marks), lambda pair: pair[1] - pair[0])]
    return "".join(f"\\U{run[0]:08X}-\\U{run[-1]:08X}" for run in runs)


def _cut_by(pattern: str) -> dict[str, Any] | None:
    """The options of a family whose words a pattern in Python matches; None if no family's do."""
    if pattern in PATTERNS:
        return {"pattern": PATTERNS[pattern]}
    for known, fewer in ((WORD, 1), (_LETTERS_AND_DIGITS, 0)):
        before = str(word_pattern(known, fewer)).removesuffix("{0,}")
        length = re.fullmatch(re.escape(before) + r"\{(\d+),\}", pattern)
        if length:
            return {"pattern": known, "min_length": int(length[1]) + fewer}
    return None


def accents_function(family: Text) -> Any:
    """The option `strip_accents` of a vectorizer that reads texts as the family does.

    Raises NotSupportedError for texts without accents: scikit-learn's forms take off more, such as the ligature of ﬁ.
    """
    if not family.accents:
        raise NotSupportedError("scikit-learn has no form of texts with accents=False; fit the model without it")
    return _COMPOSED if family.normal_form else None


def is_vectorizer(transformer: Any) -> bool:
    """Whether the transformer cuts texts into words."""
    return type(transformer).__name__ in ("CountVectorizer", "TfidfVectorizer")


def text_family(vectorizer: Any) -> tuple[Text, list[tuple[str, float | None]]]:
    """The family that cuts texts as a vectorizer does, and the words in the order of its columns, with the idf of each.

    Raises NotSupportedError if an option has no equivalent.
    """
    name = type(vectorizer).__name__
    usual = {"tokenizer": None, "preprocessor": None, "strip_accents": None, "input": "content"}
    composed = getattr(vectorizer.strip_accents, "func", None) is unicodedata.normalize and (
        vectorizer.strip_accents.args == _COMPOSED.args
    )
    for option, value in usual.items():
        if getattr(vectorizer, option) != value and not (option == "strip_accents" and composed):
            raise no_counterpart(f"{name}({option}={getattr(vectorizer, option)!r})", f"fit it with {option}={value!r}")
    family = Text(
        **_terms_of(vectorizer, name),
        lower=vectorizer.lowercase,
        normal_form="C" if composed else None,
        event="bernoulli" if vectorizer.binary else "multinomial",
    )
    words = sorted(vectorizer.vocabulary_, key=vectorizer.vocabulary_.get)
    if name == "CountVectorizer":
        return family, [(word, None) for word in words]
    family, idfs = with_tfidf(family, vectorizer, len(words))
    return family, list(zip(words, idfs, strict=True))


def _terms_of(vectorizer: Any, name: str) -> dict[str, Any]:
    """The options of a family whose terms are those of a vectorizer."""
    lengths = (int(vectorizer.ngram_range[0]), int(vectorizer.ngram_range[1]))
    if vectorizer.analyzer in ("char", "char_wb"):
        return {"characters": lengths, "within_words": vectorizer.analyzer == "char_wb"}
    if vectorizer.analyzer != "word":
        raise no_counterpart(f"{name}(analyzer={vectorizer.analyzer!r})", "fit it with analyzer='word', 'char' or 'char_wb'")
    cut = _cut_by(vectorizer.token_pattern)
    if cut is None:
        raise no_counterpart(
            f"{name}(token_pattern={vectorizer.token_pattern!r})", f"the patterns that do are {' and '.join(PATTERNS)}"
        )
    stop_words = vectorizer.get_stop_words()
    return {**cut, "stop_words": sorted(stop_words) if stop_words else None, "ngrams": lengths}


def with_tfidf(family: Text, transformer: Any, count: int) -> tuple[Text, Sequence[float | None]]:
    """The family with the weights of a TfidfTransformer or a TfidfVectorizer, and the idf of each of `count` words."""
    name = type(transformer).__name__
    if transformer.sublinear_tf:
        raise no_counterpart(f"{name}(sublinear_tf=True)", "fit it with sublinear_tf=False")
    if transformer.norm not in (None, "l2"):
        raise no_counterpart(f"{name}(norm={transformer.norm!r})", "fit it with norm='l2' or None")
    if family.presence:
        raise no_counterpart(f"{name} of binary counts", "leave one of them out")
    family = replace(family, tfidf=bool(transformer.use_idf), norm=transformer.norm)
    return family, [float(idf) for idf in transformer.idf_] if transformer.use_idf else [None] * count


def no_counterpart(what: str, cure: str) -> NotSupportedError:
    """The error for a feature of scikit-learn without an equivalent in SQL."""
    return NotSupportedError(f"{what} does not map to SQL; {cure}")
