"""Builds scikit-learn transformers that read columns in the same way as a model."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.preprocessing import OneHotEncoder

from nbsql.errors import NotSupportedError
from nbsql.sklearn.words import accents_function, word_pattern
from nbsql.spec.spec import Feature

_TYPES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), int),
    **dict.fromkeys(("FLOAT", "DOUBLE"), float),
    "BOOLEAN": lambda text: text == "true",
}


def vectorizer(family: Any, words: Sequence[str], idf: Sequence[float | None] = ()) -> Any:
    """A CountVectorizer, or a TfidfVectorizer, that cuts texts as the family does, with these words and their idf.

    Raises NotSupportedError if the family's pattern may have another meaning in Python.
    """
    if family.characters is not None:
        cut: dict[str, Any] = {
            "analyzer": "char_wb" if family.within_words else "char",
            "ngram_range": tuple(family.characters),
        }
    else:
        pattern = word_pattern(family.pattern, family.min_length)
        if pattern is None:
            raise NotSupportedError(
                f"the pattern {family.pattern!r} of a text is RE2's, and may mean another thing to scikit-learn"
            )
        stop_words = list(family.stop_words) if family.stop_words else None
        cut = {"token_pattern": pattern, "stop_words": stop_words, "ngram_range": tuple(family.ngrams)}
    options = {
        **cut, "lowercase": family.lower, "strip_accents": accents_function(family), "binary": family.presence,
        "vocabulary": {word: place for place, word in enumerate(words)},
    }  # fmt: skip
    if family.reweights_tokens:
        found = TfidfVectorizer(norm=family.norm, use_idf=family.tfidf, **options).fit([""])
        if family.tfidf:
            found.idf_ = np.array(idf, dtype=float)
        return found
    found = CountVectorizer(**options)
    found._validate_vocabulary()
    return found


def frame_of(columns: Mapping[str, Any]) -> Any:
    """A frame to fit a transformer on, for the names and types of its columns. Raises NotSupportedError without pandas."""
    try:
        import pandas as pd
    except ImportError:
        raise NotSupportedError("transformers of columns are fitted on a frame; install pandas: pip install pandas") from None
    return pd.DataFrame(columns)


def values_of(feature: Feature, texts: Sequence[str]) -> tuple[list[str], Any]:
    """The values of a category in scikit-learn's order, both as text and in the type of their column."""
    kind = feature.types[0] if feature.types else ""
    cast = _TYPES.get(kind, float if kind.startswith("DECIMAL") else str)
    if feature.family.cell == "boolean" and kind != "BOOLEAN":  # a column of 0 and 1
        cast = {"false": 0, "true": 1}.__getitem__
    typed = [cast(text) for text in texts]
    order = sorted(range(len(typed)), key=typed.__getitem__)
    values = [typed[place] for place in order]
    return [texts[place] for place in order], np.array(values, dtype=object if cast is str else None)


def linear_columns(
    features: Sequence[Feature], weights: Sequence[tuple[Any, ...]]
) -> tuple[Any, Mapping[tuple[str, Any], int]]:
    """A ColumnTransformer that computes the quantities that weights multiply, and the position of each feature and value.

    The weights are the rows of the model's linear form: class, feature, value, times, weight. Raises NotSupportedError if
    scikit-learn has no transformer for a feature, or pandas is not installed.
    """
    values: dict[str, list[Any]] = {}
    times: dict[str, str] = {}
    for _, name, value, kind, _ in weights:
        if name is not None:
            times.setdefault(name, kind)
            if times[name] != kind or (kind == "is" and value is None) or kind == "unseen":
                raise NotSupportedError(
                    f"feature {name!r} has a weight of missing or unknown values, which scikit-learn has not"
                )
            if value not in values.setdefault(name, []):
                values[name].append(value)
    steps: list[tuple[str, Any, Any]] = []
    places: dict[tuple[str, Any], int] = {}
    frame: dict[str, Any] = {}
    for feature in features:
        known = values.get(feature.name, [])
        kind, column = times.get(feature.name), feature.column
        if kind == "x":
            columns = [value if value is not None else column for value in known]
            steps.append((feature.name, "passthrough", columns))
            frame |= {each: [0.0] for each in columns}
        elif kind == "is" and feature.family.cell in ("level", "boolean"):
            known, typed = values_of(feature, known)
            steps.append((feature.name, OneHotEncoder(categories=[typed], handle_unknown="ignore"), [column]))
            frame[column] = typed[:1]
        elif kind in ("count", "has") and feature.family.accepts == ("text",) and not feature.family.reweights_tokens:
            known = sorted(known)
            steps.append((feature.name, vectorizer(feature.family, known), column))
            frame[column] = [known[0]]
        elif kind is not None:
            raise NotSupportedError(
                f"feature {feature.name!r} is {feature.family.name}, which no transformer of scikit-learn reads"
            )
        for value in known:
            places[feature.name, value] = len(places)
    transformer = ColumnTransformer(steps)
    transformer.fit(frame_of(frame))
    return transformer, places
