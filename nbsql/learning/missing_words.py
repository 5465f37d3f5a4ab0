"""Words that stand for a missing value: the columns of texts without them, as numbers where all other values are numbers."""

import json
import math
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import reduce
from typing import Any

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, listed
from nbsql.family import named
from nbsql.rendering.dialect import folded, plain_name, restore
from nbsql.spec.derived import Derived
from nbsql.spec.options import Options
from nbsql.warn import warn_user


def check_missing(missing: Any) -> list[str]:
    """The words of a fit. Raises InputError unless they are texts."""
    listed = not isinstance(missing, str) and isinstance(missing, Iterable)
    words = list(missing) if listed else [missing]
    if not all(isinstance(word, str) for word in words):
        number = next((word for word in words if isinstance(word, (int, float))), None)
        cure = "" if number is None else f"; in a column of numbers, write ⟨derive={{'x': 'nullif(x, {number!r})'}}⟩"
        raise InputError(
            f"⟨missing⟩ must be a list of the words that stand for a missing value, ['NA', '?'], not {missing!r}{cure}"
        )
    return list(dict.fromkeys(word.strip() for word in words))


def without_words(engine: Engine, source: Source, options: Options) -> list[Derived]:
    """The columns of texts with NULL for the words of a fit, and as numbers where these are all that is no number.

    The id stays as it is, the class a text, and so does a column whose family, given by the user, takes texts.
    """
    words = check_missing(options.missing)
    given = options.id if isinstance(options.id, Iterable) and not isinstance(options.id, str) else [options.id]
    ids = {folded(name) for name in given if isinstance(name, str)}  # what is no name is refused where the options are resolved
    _warn_of_numbers(engine, source, options, [word for word in words if _is_number(word)], ids)
    columns = [column for column in source.columns if column.kind == "text" and folded(column.name) not in ids]
    if not words or not columns:
        return []
    names = [column.name for column in columns]
    counts = iter(engine.query_macro("texts_as_numbers", source.relation, names, words)[0])
    found = []
    for column in columns:
        with_words, others, no_numbers = next(counts), next(counts), next(counts)
        is_number = with_words > 0 and others > 0 and no_numbers == 0 and not _stays_text(column.name, options)
        expression = restore(engine.renderer.fragment("without_words", column.name, words, is_number))
        found.append(Derived(column.name, expression, ((column.name, column.type),), tuple(words)))
    return found


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(float(word)) and "_" not in word
    except ValueError:
        return False


def _warn_of_numbers(engine: Engine, source: Source, options: Options, numbers: list[str], ids: set[str]) -> None:
    """Warn of words that a column of numbers has as numbers, where they are values."""
    others = ids | {folded(name) for name in (*options.excluded, *options.derive, str(options.target))}
    names = [column.name for column in source.columns if column.is_number and folded(column.name) not in others]
    if not numbers or not names:
        return
    counts = engine.query_macro("counts_of_numbers", source.relation, names, [*map(float, numbers)])[0]
    found = {}
    for name in (name for name, count in zip(names, counts, strict=True) if count):
        found[name] = reduce("nullif({}, {})".format, numbers, plain_name(engine.renderer.dialect, name))
    if found:
        warn_user(
            f"⟨missing⟩ is of texts, and in the numbers of {listed(found)} {' or '.join(numbers)} counts as a number; "
            f"if it stands for a missing value, add ⟨derive={json.dumps(found, ensure_ascii=False)}⟩"
        )


def _stays_text(name: str, options: Options) -> bool:
    """Whether a column is the class, or has a family that takes texts."""
    families = [family for key, family in options.families.items() if column_matches_key(name, key)]
    return folded(name) == folded(str(options.target)) or any("text" in named(family).accepts for family in families)


def column_matches_key(name: str, key: Any) -> bool:
    """Whether a key of families, a name or a pattern, names a column."""
    return isinstance(key, str) and (folded(name) == folded(key) or fnmatchcase(folded(name), folded(key)))
