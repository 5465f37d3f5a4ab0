"""Values of the caller's, such as labels, as texts that are written as the type of a column writes them."""

import re
import struct
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.errors import DatabaseError, InputError, listed
from nbsql.family.checks import shortest
from nbsql.spec.column import INTEGER, ZONED, value_kind

_ZONE = re.compile(r":\d\d(\.\d+)?\s*(z|utc|[+-]\d\d(:?\d\d)?)$", re.IGNORECASE)
_BOOLEANS = ("true", "false")
_SINGLE = ("float", "real")  # types of 32 bits, of DuckDB, Spark and PostgreSQL


def comparable(label: str, kind: str) -> str | Decimal:
    """What equal labels of a type have in common: PostgreSQL writes a NUMERIC as 0.5 or 0.50, as it was given."""
    return Decimal(label) if kind == "numeric" else label


def places_of_labels(
    engine: Engine, given: Sequence[Any], texts: Sequence[str], kind: str, labels: Callable[[], Sequence[Any]]
) -> list[int | None]:
    """The places of given labels among those of a model, `texts`; None for a label of no class.

    A label is given as its text, as a value that Python calls equal, or as a value that the type `kind` writes alike.
    """
    words = [shortest(label) for label in given]
    places = {text: place for place, text in enumerate(texts)}
    if not all(word in places for word in words):
        known = [*labels()]
        places |= {word: known.index(label) for word, label in zip(words, given, strict=True) if label in known}
    others = [word for word in words if word not in places and _can_be(word, kind)]
    if others:
        classes = {comparable(text, kind): place for place, text in enumerate(texts)}
        written = {word: text for word, text in _written(engine, others, kind).items() if text is not None}
        places |= {word: classes[key] for word, text in written.items() if (key := comparable(text, kind)) in classes}
    return [places.get(word) for word in words]


def _can_be(word: str, kind: str) -> bool:
    """Whether a cast of a text to a type cannot fail, as that would end the caller's transaction."""
    of = value_kind(kind)
    if of in ("number", "boolean"):
        return True  # as `_plain` takes no other texts
    reads = UUID if kind.lower() == "uuid" else datetime.fromisoformat if str(of).startswith(("date", "timestamp")) else None
    try:
        return reads is not None and bool(reads(word if reads is UUID else word[:19]))
    except ValueError:
        return False


def texts_as_written(
    engine: Engine, values: Iterable[str], kind: str, rule: str, written: Callable[[Markup], Markup] | None = None
) -> dict[str, str]:
    """Texts of values as a type writes them, by text; `written` is the text of an expression, by default as labels have it.

    Raises InputError, which begins with `rule`, for a value that the type does not have: nothing is rounded.
    """
    try:
        found = _written(engine, values, kind, written)
    except DatabaseError as error:
        raise InputError(f"{rule}: {error}") from None
    if foreign := [value for value, text in found.items() if text is None]:
        raise InputError(f"{rule}: {listed(foreign)} {'is none' if len(foreign) == 1 else 'are none'}")
    return {value: str(text) for value, text in found.items()}


def _written(
    engine: Engine, values: Iterable[str], kind: str, written: Callable[[Markup], Markup] | None = None
) -> dict[str, str | None]:
    """Texts of values as a type writes them, by text; None for a value that the type does not have."""
    values = [*dict.fromkeys(values)]
    of = value_kind(kind)
    if of is None or (of == "text" and kind.lower() != "uuid") or not values:
        return {value: value for value in values}
    plain = {value: text for value in values if (text := _plain(value, kind)) is not None}
    render = engine.renderer.fragment
    type_name = engine.renderer.dialect.query(kind)
    expression = written(render("cast_text", type_name)) if written is not None else render("label_text", type_name)
    if of == "date":
        expression = render("written_time", type_name, expression)
    rows = dict(engine.query_macro("texts_as_written", [*plain.values()], expression)) if plain else {}
    texts = {value: rows[text] for value, text in plain.items() if _is_same(text, rows[text], kind)}
    return {value: texts.get(value) for value in values}


def _plain(value: str, kind: str) -> str | None:
    """A text that every engine can read as a value of a type; None if there is none."""
    of = value_kind(kind)
    if of == "boolean":
        return value.lower() if value.lower() in _BOOLEANS else None
    if of in ZONED:  # a time without a zone would be one of the session's
        return value if _ZONE.search(value) else None
    if of != "number":
        return value
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    if not INTEGER.fullmatch(kind) or not number.is_finite():
        return value
    return str(int(number)) if number == number.to_integral_value() and number.adjusted() < 40 else None


def _is_same(given: str, written: str | None, kind: str) -> bool:
    if value_kind(kind) != "number" or written is None:
        return written is not None
    if kind.lower() in _SINGLE and given == str(struct.unpack("f", struct.pack("f", float(written)))[0]):
        return True  # 0.10000000149011612, as which Python has a 0.1 of 32 bits
    return Decimal(given) == Decimal(written)
