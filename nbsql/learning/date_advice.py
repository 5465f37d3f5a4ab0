"""Advice on columns of texts that would be dates or times."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime
from itertools import product

from nbsql.engines.engine import Engine
from nbsql.errors import listed
from nbsql.rendering.dialect import plain_name, restore
from nbsql.spec.column import MISSING_WORDS
from nbsql.spec.derived import derive_argument

_LEAST_DATES = 3  # different ones
_LONGEST = 32  # characters of a date with its time
_DAYS = (
    "%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%Y", "%m-%d-%Y",
    "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%b %d, %Y", "%B %d, %Y", "%b %d %Y",
)  # fmt: skip
_TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M:%S", " %I:%M %p")
_FORMATS = [day + time for day, time in product(_DAYS, _TIMES)]
_ISO = re.compile(  # as casts of DuckDB since 1.5 read it: a zone and a fraction come after seconds
    r"(\d{4}-\d\d-\d\d)(?:[T ](?P<time>(?:[01]\d|2[0-3]):[0-5]\d"
    r"(?::[0-5]\d(?:\.\d{1,9})?(?P<zone>Z|[+-](?:0\d|1[0-5])(?::?[0-5]\d)?)?)?))?"
)
_AS_CATEGORY = "and is taken for a category"


def advice_on_dates(
    engine: Engine, name: str, column: str, values: Sequence[tuple[str, float]], taken: str = _AS_CATEGORY
) -> str | None:
    """The line on a column, with the number of rows of its values, that would be dates; None if it would not."""
    texts = [value.strip() for value, _ in values]
    words = sorted({text for text in texts if text.lower() in MISSING_WORDS})
    dates = [text for text in texts if text not in words]
    if len(dates) < _LEAST_DATES:
        return None
    but = f" but for {listed(words)}" if words else ""
    subject = f"{name!r} holds dates{but}, written as {dates[0]!r}, {taken}"
    missing = f"⟨missing={json.dumps(words, ensure_ascii=False)}⟩, " if words else ""
    if (kind := _kind_of_iso(engine, dates)) is not None:
        cast = f"CAST({plain_name(engine.renderer.dialect, column)} AS {kind})"
        return f"{subject}; read them as such: {missing}{derive_argument(column, cast)}"
    usual = list[str]()  # the formats of those before it, which are tried first
    found = list[list[str]]()
    for text in dates:
        formats = _formats(text, usual) or _formats(text, _FORMATS)
        if not formats:
            return None
        usual = list(dict.fromkeys([*usual, *formats]))
        found.append(formats)
    found = [_formats(text, usual) for text in dates]
    chosen = _fewest(found, usual)
    for each in chosen:
        other = _swapped(each)
        if other != each and other in chosen:
            return f"{subject}; the day comes first in some and the month in others, which only you can tell apart"
        if other != each and all(other in formats for formats in found if each in formats):
            cure = f"{missing}{_derive(engine, column, [each])}"
            return f"{subject}; if the day comes first, read them as such: {cure}"
    return f"{subject}; read them as such: {missing}{_derive(engine, column, chosen)}"


def _kind_of_iso(engine: Engine, texts: Sequence[str]) -> str | None:
    """The type to which the texts can be cast, if all are written by ISO 8601, as in 2024-03-01T12:30:05.25Z; else None."""
    found = [match for text in texts if (match := _ISO.fullmatch(text)) and _formats(match[1], _DAYS[:1])]
    if len(found) < len(texts):
        return None
    has_offset = any(match["zone"] not in (None, "Z") for match in found)  # a cast to TIMESTAMP drops it, or applies it
    if has_offset and engine.renderer.dialect.name != "spark":
        return "TIMESTAMPTZ"
    return "TIMESTAMP" if any(match["time"] for match in found) else "DATE"


def _formats(text: str, formats: Sequence[str]) -> list[str]:
    """The formats, of these, by which a text is a date."""
    found = []
    for each in formats if 6 <= len(text) <= _LONGEST and any(letter.isdigit() for letter in text) else ():
        try:
            datetime.strptime(text, each)
        except ValueError:
            continue
        found.append(each)
    return found


def _fewest(found: Sequence[Sequence[str]], formats: Sequence[str]) -> list[str]:
    """A few formats by which all texts are dates: each time the one of most of those that are left."""
    left, chosen = list(found), list[str]()
    while left:
        best = max(formats, key=lambda each: (sum(each in of_one for of_one in left), -_FORMATS.index(each)))
        chosen.append(best)
        left = [of_one for of_one in left if best not in of_one]
    return chosen


def _swapped(each: str) -> str:
    """The format with the month before the day, or the day before the month, where both are usual."""
    other = each.replace("%d", "%0").replace("%m", "%d").replace("%0", "%m")
    return other if other in _FORMATS else each


def _derive(engine: Engine, column: str, formats: Sequence[str]) -> str:
    """The argument that makes dates of the texts, or times if any has one; DuckDB knows several formats at once."""
    dialect = engine.renderer.dialect
    name, kind = plain_name(dialect, column), "TIMESTAMP" if any("%M" in each for each in formats) else "DATE"
    if dialect.name == "duckdb":
        texts = ", ".join(restore(dialect.text(each)) for each in formats)
        sql = f"CAST(strptime({name}, {texts if len(formats) == 1 else f'[{texts}]'}) AS {kind})"
    else:
        sql = f"CAST(... AS {kind})"
    return derive_argument(column, sql)
