"""Advice on columns of texts that would be numbers, but for some words or for how they are written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import listed
from nbsql.family import Categorical
from nbsql.rendering.dialect import restore
from nbsql.spec.column import MISSING_WORDS
from nbsql.spec.spec import Feature
from nbsql.warn import warn_user

MOST_VALUES = 1_000  # the values of a category that are looked at, the most frequent ones
_LEAST_NUMBERS = 3  # different ones, below which digits are names
_MOST_WORDS = 5  # that may stand for a missing value
_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d\d?)?")
_WRITTEN = re.compile(r"[$€£¥]?\s*[+-]?\s*[$€£¥]?\s*\d[\d.,']*\s*[%$€£¥]?")
_SIMPLE = re.compile(r"[a-z_][a-z0-9_]*")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")

Values = Sequence[tuple[str, float]]  # a value and the number of its rows


def advice_on_texts(engine: Engine, values: Sequence[tuple[str, str, float]], features: Sequence[Feature]) -> Mapping[str, str]:
    """A line for each category that would be a number, by its name, from rows of `most_frequent_values` (model.sql)."""
    of_texts = {feature.name: feature.column for feature in features}
    found = {}
    for name, rows in groupby(values, key=lambda row: row[0]):
        line = _advice(engine, name, of_texts[name], [(value, n) for _, value, n in rows]) if name in of_texts else None
        if line is not None:
            found[name] = line
    return found


def warn_of_texts(engine: Engine, source: Source, features: Sequence[Feature]) -> None:
    """Warn about columns of texts that would be numbers, for which no family is tried."""
    kinds = {column.name: column.kind for column in source.columns}
    texts = [feature for feature in features if isinstance(feature.family, Categorical) and kinds[feature.column] == "text"]
    if texts:
        cells = engine.renderer.fragment("texts_as_cells", source.relation, [feature.column for feature in texts])
        names = [feature.name for feature in texts]
        for line in advice_on_texts(engine, engine.ask("most_frequent_values", cells, names, MOST_VALUES), texts).values():
            warn_user(line)


def _advice(engine: Engine, name: str, column: str, values: Values) -> str | None:
    total = sum(n for _, n in values)
    others = [(value.strip(), n) for value, n in values if not _WRITTEN.fullmatch(value.strip())]
    written = [value.strip() for value, _ in values if _WRITTEN.fullmatch(value.strip())]
    words = sorted({value for value, _ in others})
    in_words = sum(n for _, n in others)
    is_word = all(word.lower() in MISSING_WORDS or not any(letter.isdigit() for letter in word) for word in words)
    if len(written) < _LEAST_NUMBERS or len(words) > _MOST_WORDS or 2 * in_words > total or not is_word:
        return None
    if any(re.fullmatch(r"0\d+", value) for value in written):
        return None  # codes
    plain = all(_NUMBER.fullmatch(value) for value in written)
    if plain and not words:
        return None  # texts by the type of their column
    cures = [f"missing={json.dumps(words, ensure_ascii=False)}"] if words else []
    if not plain:
        expression = _expression(engine, column, written)
        if expression is None:
            return None
        cures.append(f"derive={{{json.dumps(column, ensure_ascii=False)}: {json.dumps(expression, ensure_ascii=False)}}}")
    but = f" but for {listed(words)} in {in_words:,g} of {total:,g} rows" if words else f", written as {written[0]!r}"
    return f"{name!r} holds numbers{but}, and is taken for a category; read them as such: {', '.join(cures)}"


def _expression(engine: Engine, column: str, written: Sequence[str]) -> str | None:
    """An expression of the number in a text; None if the texts do not follow one rule."""
    dialect = engine.renderer.dialect
    sql = column if _SIMPLE.fullmatch(column) else restore(dialect.ident(column))
    plain, share = list(written), any("%" in value for value in written)
    if share and not all("%" in value for value in written):
        return None
    replaced = list(_replacements(written))
    for before, after in replaced:
        plain = [value.replace(before, after) for value in plain]
        sql = f"replace({sql}, {restore(dialect.text(before))}, {restore(dialect.text(after))})"
    if not all(_NUMBER.fullmatch(value.strip()) for value in plain):
        return None
    cast = f"CAST(trim({sql}) AS {restore(engine.renderer.fragment('double'))})"
    return f"{cast} / 100" if share else cast


def _replacements(written: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The texts to replace, in order: currencies, the separators of thousands, and a decimal comma."""
    for sign in "$€£¥%' ":
        if any(sign in value for value in written):
            yield sign, ""
    digits = [re.sub(r"[^\d.,]", "", value) for value in written]
    with_comma = [value for value in digits if "," in value]
    if not with_comma:
        return
    has_both = [value for value in with_comma if "." in value]
    comma_last = all(value.rindex(",") > value.rindex(".") for value in has_both)
    if (has_both and comma_last) or (not has_both and not all(_THOUSANDS.fullmatch(value) for value in with_comma)):
        if any("." in value for value in digits):
            yield ".", ""
        yield ",", "."
    else:
        yield ",", ""
