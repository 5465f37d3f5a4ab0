"""Advice on values that differ only by case or blanks, and on classes that are missing, or words that were read as Booleans."""

import json
from collections.abc import Iterable, Mapping, Sequence

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import listed
from nbsql.rendering.dialect import plain_name, restore
from nbsql.spec.column import MISSING_WORDS
from nbsql.spec.derived import derive_argument

_SHOWN = 3  # groups of spellings
_TRUE = frozenset(["true", "t", "yes", "y", "1"])  # what DuckDB reads as true
_OFTEN_CLASSES = frozenset(["none", "unknown", "missing", "inf", "-inf"])  # words that also say something


def normal(text: str) -> str:
    """The text that all spellings share which differ only by case or blanks."""
    return " ".join(text.lower().split())


def spellings(values: Iterable[str]) -> list[list[str]]:
    """The groups of values that differ only by case or blanks."""
    groups: dict[str, list[str]] = {}
    for value in values:
        groups.setdefault(normal(value), []).append(value)
    return sorted(sorted(group) for group in groups.values() if len(group) > 1)


def advice_on_spellings(engine: Engine, column: str, values: Sequence[str], *, of_class: bool = False) -> str | None:
    """The line on the values of a category, or the classes, that differ only by case or blanks; None if there are none."""
    groups = spellings(values)
    if not groups:
        return None
    alike = " and ".join(", ".join(map(repr, group)) for group in groups[:_SHOWN])
    more = f" and {len(groups) - _SHOWN} more" if len(groups) > _SHOWN else ""
    cure = derive_argument(column, _expression(engine, column, groups))
    kind = "classes" if of_class else "values"
    return f"{column!r} has {kind} that differ only by case or blanks, {alike}{more}; take them for one: {cure}"


def advice_on_missing_classes(column: str, rows: Mapping[str, int]) -> str | None:
    """The line on classes whose labels are words for a missing value; None if there are none."""
    words = [label for label in rows if label.strip().lower() in MISSING_WORDS - _OFTEN_CLASSES]
    if not words:
        return None
    is_or_are = "is a class" if len(words) == 1 else "are classes"
    given = json.dumps(sorted({word.strip() for word in words}), ensure_ascii=False)
    n = sum(rows[word] for word in words)
    return (
        f"{listed(words)} {is_or_are} of {column!r}, in {n:,} of {sum(rows.values()):,} rows; "
        f"if there is no class in these rows, leave them out: ⟨missing={given}⟩"
    )


def advice_on_booleans(engine: Engine, source: Source, target: str) -> str | None:
    """The line on classes that a file has as yes and no, which DuckDB reads as true and false; None if there are none."""
    column = source.column(target)
    if source.as_texts is None or column is None or column.kind != "boolean":
        return None
    name = column.name
    values = engine.query_macro("first_values", source.as_texts(source.columns, [name]), name)
    words = sorted(word for (word,) in values if isinstance(word, str) and word)  # JSON has Booleans of its own
    yes, no = ([word for word in words if (word.strip().lower() in _TRUE) == side] for side in (True, False))
    if not yes or not no or {yes[0].strip().lower(), no[0].strip().lower()} == {"true", "false"}:
        return None
    dialect = engine.renderer.dialect
    written, (one, other) = plain_name(dialect, name), (restore(dialect.text(word.strip())) for word in (yes[0], no[0]))
    cure = derive_argument(name, f"CASE WHEN {written} THEN {one} WHEN NOT {written} THEN {other} END")
    return f"{yes[0]!r} and {no[0]!r} of {name!r} in the file are read as true and false; to keep these words: {cure}"


def _expression(engine: Engine, column: str, groups: Sequence[Sequence[str]]) -> str:
    """The expression that makes one value of each group."""
    dialect = engine.renderer.dialect
    sql, values = plain_name(dialect, column), [list(group) for group in groups]
    blanks = sorted({letter for group in values for value in group for letter in value if letter.isspace() and letter != " "})
    for before, after in [*((blank, " ") for blank in blanks), *[("  ", " ")] * 9]:
        if any(before in value for group in values for value in group):
            mark = restore(dialect.text(before)) if before.isprintable() else f"chr({ord(before)})"
            sql = f"replace({sql}, {mark}, {restore(dialect.text(after))})"
            values = [[value.replace(before, after) for value in group] for group in values]
    if any(value != value.strip() for group in values for value in group):
        sql, values = f"trim({sql})", [[value.strip() for value in group] for group in values]
    return f"lower({sql})" if any(len({*group}) > 1 for group in values) else sql
