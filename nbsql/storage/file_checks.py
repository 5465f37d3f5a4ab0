"""Checks of what a model file may contain: types by name, expressions over columns, and cells; nothing executable."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from nbsql.errors import InputError, ModelError
from nbsql.rendering.dialect import Dialect
from nbsql.spec.spec import Spec

COLUMNS = {
    "slice": "text",
    "class": None,
    "feature": "text",
    "value": "text",
    "n": "float",
    "mean": "float",
    "m2": "float",
    "batch": "text",
}
_TEXT = r"'(?:[^']|'')*'"
_ENUM = rf"ENUM\({_TEXT}(?:, {_TEXT})*\)"
# Names with or without a width, and Spark's array<string> and map<string,int>.
_NAMED = r'(?:[A-Za-z_]|"[\w ]*")(?:[\w .]|"[\w ]*")*(?:\(\d+(?:, ?\d+)?\))?'
_ATOM = rf"(?:{_ENUM}|{_NAMED})"
_KIND = re.compile(rf"{_ATOM}(?:\[\])?|MAP\({_ATOM}, {_ATOM}\)|\w+<{_NAMED}(?:, ?{_NAMED})?>")
NAMED = re.compile(_NAMED)
_COLUMN = re.compile(r'\w+|"[^"]+"|`[^`]+`')


def check_spec(spec: Spec, dialect: Dialect, title: str) -> None:
    """Raise ModelError if a type in the spec of a file is none, InputError if an expression uses more than columns of a row."""
    types = [spec.target_type, *(kind for feature in spec.features for kind in feature.types)]
    types += [kind for dimension in spec.joins for kind in dimension.types]
    for kind in types:
        if not isinstance(kind, str) or not _KIND.fullmatch(kind):
            raise ModelError(f"{title} is damaged: it has a column of the type {kind!r}; export it again")
    for argument in ("slice_by", "segment_by"):
        expression = getattr(spec, argument)
        if expression is not None and not (isinstance(expression, str) and _COLUMN.fullmatch(expression.strip())):
            _check_expression(expression, dialect, f"{argument} of {title}")


def _check_expression(expression: Any, dialect: Dialect, subject: str) -> None:
    import sqlglot  # takes long to import, and few models need it
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        expressions = exp.select(expression, dialect=dialect.name).expressions
        ends = [token for token in sqlglot.tokenize(expression, read=dialect.name) if token.token_type.name == "SEMICOLON"]
        value = expressions[0] if len(expressions) == 1 and not ends else None
    except (SqlglotError, ValueError):
        value = None
    if value is None:
        raise InputError(f"{subject} is no expression over columns: {expression!r}")
    for part in value.walk():
        if isinstance(part, (exp.Query, exp.Anonymous, exp.AnonymousAggFunc, exp.NextValueFor, exp.Parameter, exp.Placeholder)):
            called = part.name if isinstance(part, (exp.Anonymous, exp.AnonymousAggFunc)) else type(part).__name__.lower()
            refused = f"and what comes from a file may not run {called}"
            raise InputError(f"{subject} is {expression!r}, {refused}; make a column of it, and fit again")


def check_cells(rows: Sequence[Sequence[Any]], spec: Spec, title: str) -> int:
    """The number of rows that a model has learnt from. Raises ModelError if the cells do not belong to such a model."""
    names = {feature.name for feature in spec.features}
    learnt = None
    for row in rows:
        *texts, n, mean, m2 = (row[0], row[1], row[3], row[2], *row[4:7])
        good = all(text is None or isinstance(text, str) for text in texts)
        good = good and all(x is None or (isinstance(x, (int, float)) and math.isfinite(x)) for x in (mean, m2))
        if not good or isinstance(n, bool) or not isinstance(n, (int, float)) or not math.isfinite(n):
            raise damaged_error(title, f"a cell holds {n!r}" if good else "a cell is none")
        if row[2] is not None and row[2] not in names:
            raise damaged_error(title, f"it has cells of {row[2]!r}, which is none of its features")
        if row[2] is None and row[7] != "weights":
            learnt = n + (learnt or 0.0)
    return check_row_count(learnt, title)


def check_row_count(learnt: float | None, title: str) -> int:
    """The number of rows learnt, from the sum of the counts of the classes. Raises ModelError if there are no such counts."""
    if learnt is None or not math.isfinite(learnt):
        raise damaged_error(title, "it has no cells of its classes")
    return round(learnt)


def damaged_error(title: str, fact: str) -> ModelError:
    """The error for a file whose parts do not fit together."""
    return ModelError(f"{title} is damaged: {fact}; export it again")
