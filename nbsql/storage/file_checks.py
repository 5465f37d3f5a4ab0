"""Checks of what a model file may contain: types by name, and expressions over columns; nothing executable."""

import hashlib
import json
import mmap
import re
from pathlib import Path
from typing import Any

from nbsql.errors import InputError, ModelError
from nbsql.family.checks import is_finite
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
_PURE = set(  # functions of their arguments alone, which not every version of sqlglot knows
    "replace translate reverse strpos prefix suffix ascii printf format try_strptime date_part make_date hour weekday "
    "list_contains cardinality list_sum list_max trunc even isfinite sin cos tan atan2 radians degrees factorial gamma "
    "bit_count hash".split()
)

NO_CHECKSUM = f"sha256:{0:064d}"  # stands in a file for its checksum, which is that of the file with this text


def write_checksum(path: Path) -> None:
    """Write the checksum of a file into it, in the place of `NO_CHECKSUM`. It covers every byte, metadata included."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as content:
        place = content.rfind(NO_CHECKSUM.encode())
        content[place : place + len(NO_CHECKSUM)] = f"sha256:{hashlib.sha256(content).hexdigest()}".encode()


def check_checksum(path: str, checksum: str, title: str) -> None:
    """Raise ModelError unless the bytes of a file are those that were written with its checksum."""
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as content:
        place = content.rfind(checksum.encode())
        if place >= 0 and len(checksum) == len(NO_CHECKSUM):
            content[place : place + len(NO_CHECKSUM)] = NO_CHECKSUM.encode()
        if f"sha256:{hashlib.sha256(content).hexdigest()}" != checksum:
            raise damaged_error(title, "its bytes are not those that were written, by its checksum")


def check_spec(spec: Spec, dialect: Dialect, title: str) -> None:
    """Raise ModelError if a type in the spec of a file is none, InputError if an expression uses more than columns of a row."""
    types = [spec.target_type, *(kind for feature in spec.features for kind in feature.types)]
    types += [kind for dimension in spec.joins for kind in dimension.types]
    types += [kind for each in spec.derived for _, kind in each.reads]
    for kind in types:
        if not isinstance(kind, str) or (kind and not _KIND.fullmatch(kind)):
            raise ModelError(f"{title} is damaged: it has a column of the type {kind!r}; export it again")
    expressions = [(argument, getattr(spec, argument)) for argument in ("slice_by", "segment_by")]
    expressions += [(f"derived column {each.name!r}", each.expression) for each in spec.derived if each.part is None]
    for argument, expression in expressions:
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
            if called.lower() in _PURE and not isinstance(part.parent, exp.Dot):  # one of a schema is somebody's own
                continue
            refused = f"and what comes from a file may not run {called}"
            raise InputError(f"{subject} is {expression!r}, {refused}; make a column of it, and fit again")


def check_calibration(text: str, title: str) -> list[dict[str, Any]]:
    """The rows of a calibration in a file. Raises ModelError unless they are rows, and their temperature is above 0."""
    try:
        rows = [dict(row) for row in json.loads(text)]
    except (RecursionError, TypeError, ValueError):
        raise damaged_error(title, "its calibration is no text of JSON") from None
    for row in rows:
        temperature = row.get("temperature")
        if row.get("method") == "temperature" and (temperature is None or not is_finite(temperature) or temperature <= 0):
            raise damaged_error(title, f"its temperature is {temperature!r}, and not a number above 0")
    return rows


def damaged_error(title: str, fact: str) -> ModelError:
    """The error for a file whose parts do not fit together."""
    return ModelError(f"{title} is damaged: {fact}; export it again")
