"""Converts vectorizers of words into families of texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from nbsql.errors import NotSupportedError
from nbsql.family import Text
from nbsql.family.text import LETTERS_AND_DIGITS

# Patterns of a word in Python, whose word class includes all Unicode letters, and their equivalents in RE2, whose does not.
PATTERNS = {r"(?u)\b\w\w+\b": r"[\p{L}\p{N}_]{2,}", r"(?u)\b\w+\b": r"[\p{L}\p{N}_]+"}

_LETTERS_AND_DIGITS = re.compile(r"\(\?u\)\[\^\\W_\]\{(\d+),\}")  # the form in which `to_sklearn` writes a family's pattern


def is_vectorizer(transformer: Any) -> bool:
    """Whether the transformer cuts texts into words."""
    return type(transformer).__name__ in ("CountVectorizer", "TfidfVectorizer")


def text_family(vectorizer: Any) -> tuple[Text, list[tuple[str, float | None]]]:
    """The family that cuts texts as a vectorizer does, and the words in the order of its columns, with the idf of each.

    Raises NotSupportedError if an option has no equivalent.
    """
    name = type(vectorizer).__name__
    usual = {"analyzer": "word", "tokenizer": None, "preprocessor": None, "strip_accents": None, "input": "content"}
    for option, value in usual.items():
        if getattr(vectorizer, option) != value:
            raise no_counterpart(f"{name}({option}={getattr(vectorizer, option)!r})", f"fit it with {option}={value!r}")
    letters_and_digits = _LETTERS_AND_DIGITS.fullmatch(vectorizer.token_pattern)
    if vectorizer.token_pattern not in PATTERNS and letters_and_digits is None:
        raise no_counterpart(
            f"{name}(token_pattern={vectorizer.token_pattern!r})", f"the patterns that do are {' and '.join(PATTERNS)}"
        )
    stop_words = vectorizer.get_stop_words()
    family = Text(
        pattern=PATTERNS.get(vectorizer.token_pattern, LETTERS_AND_DIGITS),
        min_length=int(letters_and_digits[1]) if letters_and_digits else 1,
        lower=vectorizer.lowercase,
        stop_words=sorted(stop_words) if stop_words else None,
        ngrams=(int(vectorizer.ngram_range[0]), int(vectorizer.ngram_range[1])),
        event="bernoulli" if vectorizer.binary else "multinomial",
    )
    words = sorted(vectorizer.vocabulary_, key=vectorizer.vocabulary_.get)
    if name == "CountVectorizer":
        return family, [(word, None) for word in words]
    family, idfs = with_tfidf(family, vectorizer, len(words))
    return family, list(zip(words, idfs, strict=True))


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
