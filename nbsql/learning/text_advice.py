"""Advice on columns of texts that would be numbers or dates, but for some words or for how they are written."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby, product
from typing import NamedTuple

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import listed, together
from nbsql.rendering.dialect import plain_name, restore
from nbsql.spec.column import MISSING_WORDS
from nbsql.spec.derived import derive_argument
from nbsql.spec.spec import Feature
from nbsql.warn import warn_user

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
_TIME = re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?")
_AS_CATEGORY = "and is taken for a category"


def advice_on_dates(
    engine: Engine, name: str, column: str, values: Sequence[tuple[str, float]], taken: str = _AS_CATEGORY
) -> str | None:
    """The line on a column, with the number of rows of its values, that would be dates; None if it would not."""
    texts = [value.strip(_CUT) for value, _ in values]
    words = sorted({text for text in texts if text.lower() in MISSING_WORDS})
    dates = [text for text in texts if text not in words]
    if len(dates) < _LEAST_DATES:
        return None
    but = f" but for {listed(words)}" if words else ""
    kind = _kind_to_cast_to(engine, dates)
    what, if_so = ("times", "if these are of the day, ") if kind == "TIME" else ("dates", "")
    subject = f"{name!r} holds {what}{but}, written as {dates[0]!r}, {taken}"
    missing = [f"⟨missing={_json(words)}⟩"] if words else []
    if kind is not None:
        cast = f"CAST({plain_name(engine.renderer.dialect, column)} AS {kind})"
        return f"{subject}; {if_so}read them as such: {together(*missing, derive_argument(column, cast))}"
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
            cure = together(*missing, _derive(engine, column, [each]))
            return f"{subject}; if the day comes first, read them as such: {cure}"
    return f"{subject}; read them as such: {together(*missing, _derive(engine, column, chosen))}"


def _kind_to_cast_to(engine: Engine, texts: Sequence[str]) -> str | None:
    """The type to which the texts can be cast: times such as 14:05, or all by ISO 8601, as in 2024-03-01T12:30Z; else None."""
    if engine.renderer.dialect.name != "spark" and all(map(_TIME.fullmatch, texts)):  # whose type of times is newer than it
        return "TIME"
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


MOST_VALUES = 1_000  # the values of a category that are looked at, the most frequent ones
_LEAST_NUMBERS = 3  # different ones, below which digits are names
_MOST_WORDS = 5  # that may stand for a missing value
_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d\d?)?")
_CURRENCY = r"[$€£¥₹₽₺₩₪]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|Rs|kr|zł)\b"
_SCALES = {"k": 1_000, "K": 1_000, "M": 1_000_000, "bn": 1_000_000_000, "-": -1}  # a sign at the end, as SAP writes it
_INVISIBLE = "\u00a0\u2009\u202f"  # the blanks between thousands that look like any other
_SIGN, _BLANK = r"[-+−]?", f" '’{_INVISIBLE}"
_COLUMN = "\0"  # the name of the column in an expression
_CUT = " \t\n\r\v\f"  # around a text, which a cast leaves out; other blanks are replaced
_WRITTEN = re.compile(
    rf"[{_INVISIBLE}]*(?P<open>\(?){_SIGN}\s*(?P<before>{_CURRENCY})?\s*{_SIGN}"
    rf"(?P<digits>[.,]?\d(?:[\d.,{_BLANK}]*\d)?\.?(?:[eE][+-]?\d\d?)?)\s*"
    rf"(?P<scale>k|K|M|bn|(?<=[.,]\d\d)-)?(?P<after>{_CURRENCY}|%|(?<=\d)°?[^\W\d_]+|(?<=\s)°?[^\W\d_]+)?(?P<close>\)?)[{_INVISIBLE}]*"
)
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d?(?:,\d{2})+,\d{3}")  # a 0 before a comma is before the decimals

Values = Sequence[tuple[str, float]]  # a value and the number of its rows


def advice_on_texts(engine: Engine, values: Sequence[tuple[str, str, float]], features: Sequence[Feature]) -> Mapping[str, str]:
    """A line for each category that would be a number or a date, by its name, from rows of `most_frequent_values`.

    Categories that would be numbers but for the same words share a line.
    """
    of_texts = {feature.name: feature.column for feature in features}
    found = dict[str, str]()
    alike = dict[_Numbers, dict[str, str]]()
    for name, rows in groupby(values, key=lambda row: row[0]):
        if name not in of_texts:
            continue
        of_rows = [(value, n) for _, value, n in rows]
        advice = _advice(engine, name, of_texts[name], of_rows)
        if isinstance(advice, _Numbers):
            found[name] = _line(engine, [name], [of_texts[name]], advice.but, advice)
            alike.setdefault(advice._replace(but="", example=""), {})[name] = advice.example
        elif line := advice or advice_on_dates(engine, name, of_texts[name], of_rows):
            found[name] = line
    for numbers, examples in alike.items():
        if len(examples) > 1:
            but = f" but for {listed(numbers.words)}" if numbers.words else f", written as {next(iter(examples.values()))!r}"
            line = _line(engine, [*examples], [of_texts[name] for name in examples], but, numbers)
            found |= dict.fromkeys(examples, line)
    return found


class _Numbers(NamedTuple):
    """The numbers that a column of texts holds, and how they are read: by words that are missing, by an expression, or both."""

    but: str
    example: str
    words: tuple[str, ...]
    by_missing: bool  # whether the words are for `missing`, and not left out by the expression
    expression: str  # of the column _COLUMN, or ""


def _line(engine: Engine, names: Sequence[str], columns: Sequence[str], but: str, numbers: _Numbers) -> str:
    """The line on some columns whose numbers are read alike."""
    dialect, words = engine.renderer.dialect, numbers.words
    derived = {each: numbers.expression.replace(_COLUMN, plain_name(dialect, each)) for each in columns if numbers.expression}
    cures = [f"⟨missing={_json(words)}⟩"] if words and numbers.by_missing else []
    cures += [f"⟨derive={_json(derived)}⟩"] if derived else []
    hold, are = ("holds", _AS_CATEGORY) if len(names) == 1 else ("hold", "and are taken for categories")
    return f"{listed(names)} {hold} numbers{but}, {are}; {_read(words)} {together(*cures)}"


def _read(words: Sequence[str]) -> str:
    """The words before a cure, for columns in which only some words are no numbers; they may well be values."""
    if all(word.lower() in MISSING_WORDS for word in words):
        return "read them as such:"
    return f"if {'this' if len(words) == 1 else 'these'} only {'says' if len(words) == 1 else 'say'} that a value is missing:"


def advice_on_keys(engine: Engine, source: Source, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The name of each column of texts that is taken for a key and holds dates, and the line that reads them."""
    for name in names:
        if source.kinds[name] == "text":
            first = engine.renderer.fragment("excerpt", source.relation, MOST_VALUES)  # as values hardly repeat
            cells = engine.renderer.fragment("texts_as_cells", first, [name])
            values = engine.query_macro("most_frequent_values", cells, [name], MOST_VALUES)
            line = advice_on_dates(engine, name, name, [(value, n) for _, value, n in values], "and is left out as a key")
            if line is not None:
                yield name, line


def days_as_numbers(engine: Engine, relation: Markup, names: Sequence[str]) -> list[str]:
    """Those columns of whole numbers, by a look at their most frequent ones, that are days such as 20240131."""
    if not names:
        return []
    cells = engine.renderer.fragment("texts_as_cells", relation, names)
    values = engine.query_macro("most_frequent_values", cells, names, MOST_VALUES)
    of_names = {name: [value for _, value, _ in rows] for name, rows in groupby(values, key=lambda row: row[0])}
    return [name for name, texts in of_names.items() if all(_formats(text.removesuffix(".0"), ["%Y%m%d"]) for text in texts)]


def advice_on_days(engine: Engine, column: str, kind: str) -> str:
    """The line on a column of such numbers, of which those before and after a new year differ most."""
    dialect = engine.renderer.dialect
    number = plain_name(dialect, column) if kind == "integer" else f"CAST({plain_name(dialect, column)} AS BIGINT)"
    text = f"CAST({number} AS VARCHAR)"
    date = f"CAST(strptime({text}, '%Y%m%d') AS DATE)" if dialect.name == "duckdb" else "CAST(... AS DATE)"
    taken = "holds days, written as whole numbers, and is taken for a number"
    return f"{column!r} {taken}; read them as dates: {derive_argument(column, date)}"


def warn_of_texts(engine: Engine, source: Source, features: Sequence[Feature]) -> None:
    """Warn about columns of texts that would be numbers, for which no family is tried."""
    kinds = source.kinds
    texts = [feature for feature in features if feature.family.cell == "level" and kinds[feature.column] == "text"]
    if texts:
        cells = engine.renderer.fragment("texts_as_cells", source.relation, [feature.column for feature in texts])
        names = [feature.name for feature in texts]
        values = engine.query_macro("most_frequent_values", cells, names, MOST_VALUES)
        for line in dict.fromkeys(advice_on_texts(engine, values, texts).values()):
            warn_user(line)


def _advice(engine: Engine, name: str, column: str, values: Values) -> _Numbers | str | None:
    """The numbers of a column that would be one, the line on one of several units, or None of any other column."""
    total = sum(n for _, n in values)
    parsed = {value: found for value, _ in values if (found := _WRITTEN.fullmatch(value.strip(_CUT))) and _is_closed(found)}
    words = sorted({value.strip(_CUT) for value, _ in values if value not in parsed})
    in_words = sum(n for value, n in values if value not in parsed)
    is_word = all(word.lower() in MISSING_WORDS or not any(letter.isdigit() for letter in word) for word in words)
    if len(parsed) < _LEAST_NUMBERS or len(words) > _MOST_WORDS or 2 * in_words > total or not is_word:
        return None
    if any(re.fullmatch(r"0\d+", found["digits"]) for found in parsed.values()):
        return None  # codes
    written = [value.strip(_CUT) for value in parsed]
    if not words and all(_NUMBER.fullmatch(value) and value.lstrip("+-").isdigit() for value in written):
        return None  # whole numbers that are texts by the type of their column, as keys are
    units = {found["before"] or found["after"] or "" for found in parsed.values()}
    if len(units - {""}) > 1 or units == {"", "%"}:
        if not all(re.fullmatch(f"{_CURRENCY}|%|", unit) for unit in units):
            return None
        with_units = ", ".join(f"some with {unit!r}" if unit else "some without" for unit in sorted(units, reverse=True))
        cure = f'⟨derive={{{_json(column)}: "..."}}⟩'
        return f"{name!r} holds numbers, {with_units}, {_AS_CATEGORY}; say what they are: {cure}"
    are_numbers = bool(words) and all(_NUMBER.fullmatch(value.strip()) for value in parsed)  # as `missing` reads them
    are_grouped = are_numbers and (".", "") in _separators([found["digits"] for found in parsed.values()], "")
    sql = _COLUMN
    for word in words if are_grouped else ():
        sql = f"nullif({sql}, {restore(engine.renderer.dialect.text(word))})"
    expression = _expression(engine, sql, list(parsed.values()))
    if expression is None:
        return None
    first = next((value for value in written if not value.isdigit()), written[0])
    but = f" but for {listed(words)} in {in_words:,.15g} of {total:,.15g} rows" if words else f", written as {first!r}"
    return _Numbers(but, first, tuple(words), not are_grouped, "" if are_numbers and not are_grouped else expression)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_closed(found: re.Match[str]) -> bool:
    return len(found["open"]) == len(found["close"])


def _expression(engine: Engine, name: str, parsed: Sequence[re.Match[str]]) -> str | None:
    """An expression of the number in a text, a column's name in SQL; None if the texts do not follow one rule."""
    dialect = engine.renderer.dialect
    unit = next((found["before"] or found["after"] for found in parsed if found["before"] or found["after"]), "")
    if unit and not re.fullmatch(f"{_CURRENCY}|%", unit) and not all(found["after"] for found in parsed):
        return None  # letters after some numbers are no unit
    scales = sorted({found["scale"] for found in parsed if found["scale"]})
    if "-" in scales and len(scales) > 1:
        return None
    sql, plain = name, [found[0] for found in parsed]
    for before, after in [*_marks(plain, [unit, *scales]), *_separators([found["digits"] for found in parsed], unit)]:
        plain = [value.replace(before, after) for value in plain]
        mark = f"chr({ord(before)})" if before in _INVISIBLE else restore(dialect.text(before))
        sql = f"replace({sql}, {mark}, {restore(dialect.text(after))})"
    if not all(_NUMBER.fullmatch(value.strip(_CUT)) for value in plain):
        return None
    cast = f"CAST({sql if sql == name else f'trim({sql})'} AS {restore(engine.renderer.fragment('double'))})"
    if scales:
        cases = " ".join(f"WHEN {name} LIKE {restore(dialect.text(f'%{scale}%'))} THEN {_SCALES[scale]}" for scale in scales)
        return f"{cast} * CASE {cases} ELSE 1 END"
    return f"{cast} / 100" if unit == "%" else cast


def _marks(written: Sequence[str], units: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The texts to replace: signs, units, and the blanks and apostrophes between thousands."""
    for mark, after in [
        ("(", "-"),
        (")", ""),
        ("−", "-"),
        *((unit, "") for unit in units if unit),
        *((each, "") for each in _BLANK),
    ]:
        if any(mark in value for value in written):
            yield mark, after


def _separators(digits: Sequence[str], unit: str) -> Iterator[tuple[str, str]]:
    """The replacements of the separators of thousands, and of a decimal comma."""
    numbers = [re.sub(r"[^\d.,]", "", value) for value in digits]
    commas, dots = ([value for value in numbers if mark in value] for mark in ",.")
    both = [value for value in commas if "." in value]
    dots_group = bool(dots) and all(_THOUSANDS.fullmatch(value.split(",")[0].replace(".", ",")) for value in dots)
    if both:
        is_decimal = all(value.rindex(",") > value.rindex(".") for value in both)
    else:
        is_decimal = not all(_THOUSANDS.fullmatch(value) for value in commas)
    others = [value for value in numbers if "." not in value]
    are_short = len(dots) >= _LEAST_NUMBERS and any(others) and all(len(value) <= 3 for value in others)  # 987 beside 1.234
    is_money = bool(unit) and bool(re.fullmatch(_CURRENCY, unit))
    is_grouped = is_money or (are_short and unit != "%") or any(value.count(".") > 1 for value in dots)
    if dots_group and (is_decimal if commas else is_grouped):
        yield ".", ""
    if commas:
        yield ",", "." if is_decimal else ""
