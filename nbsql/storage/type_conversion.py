"""Translation of a model between engines: the names of types, and values as each engine writes them."""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.errors import DatabaseError, InputError, ModelError, NotSupportedError
from nbsql.plan.derived import translated_expression
from nbsql.rendering.dialect import folded
from nbsql.spec.derived import Derived
from nbsql.spec.spec import Feature, Spec

DIALECT_NAMES = {"DuckDB": "duckdb", "PostgreSQL": "postgres", "Spark": "spark"}
ENGINES = tuple(DIALECT_NAMES)

_UNSCALED = ("DOUBLE", "numeric", "double")  # decimals with any number of digits
# The names of types on each engine. If several rows have a name of an engine, the first applies.
_NAMES = [
    ("BOOLEAN", "boolean", "boolean"),
    ("SMALLINT", "smallint", "smallint"),
    ("INTEGER", "integer", "int"),
    ("BIGINT", "bigint", "bigint"),
    ("DOUBLE", "double precision", "double"),
    ("TINYINT", "smallint", "tinyint"),
    ("UTINYINT", "smallint", "smallint"),
    ("USMALLINT", "integer", "int"),
    ("UINTEGER", "bigint", "bigint"),
    _UNSCALED,
    ("UBIGINT", "numeric", "decimal(20,0)"),
    ("HUGEINT", "numeric", "decimal(38,0)"),
    ("UHUGEINT", "numeric", "decimal(38,0)"),
    ("FLOAT", "real", "float"),
    ("UUID", "uuid", "string"),
    ("DATE", "date", "date"),
    ("TIME", "time without time zone", "string"),
    ("TIME WITH TIME ZONE", "time with time zone", "string"),
    ("TIMESTAMP", "timestamp without time zone", "timestamp_ntz"),
    ("TIMESTAMP_S", "timestamp without time zone", "timestamp_ntz"),
    ("TIMESTAMP_MS", "timestamp without time zone", "timestamp_ntz"),
    ("TIMESTAMP_NS", "timestamp without time zone", "timestamp_ntz"),
    ("TIMESTAMP WITH TIME ZONE", "timestamp with time zone", "timestamp"),
    ("INTERVAL", "interval", "string"),
    ('"NULL"', "integer", "void"),
]
_TEXT = ("VARCHAR", "text", "string")
_TOKENS = ("VARCHAR[]", "text[]", "array<string>")
_TOKEN_COUNTS = ("MAP(VARCHAR, DOUBLE)", None, "map<string,double>")
_DECIMAL = ("DECIMAL({},{})", "numeric", "decimal({},{})")
_MOST_DIGITS = 38
_SCALED = re.compile(r"(?:decimal|numeric)\((\d+), ?(\d+)\)", re.IGNORECASE)
_INFINITIES = {math.inf: "Infinity", -math.inf: "-Infinity"}
_NUMBER = re.compile(r"-?(\d+)(?:\.(\d+))?")
# How the other engine writes times before Christ, and how this one does. DuckDB reads PostgreSQL's as if they were after.
_ERAS = {
    "DuckDB": (re.compile(r"(\S+)( .+)? BC(\S*)"), r"\1 (BC)\2\3"),
    "PostgreSQL": (re.compile(r"(\S+) \(BC\)( .+)?"), r"\1\2 BC"),
}


def converted_type(kind: str, of: str, to: str) -> str:
    """The name on one engine of a type of another; the type of texts if there is no similar one.

    Raises NotSupportedError if there is no type for it at all.

    >>> converted_type("DECIMAL(4,2)", "DuckDB", "PostgreSQL"), converted_type("mood", "PostgreSQL", "Spark")
    ('numeric', 'string')
    """
    if not kind:  # it is not known
        return kind
    ours, theirs = ENGINES.index(of), ENGINES.index(to)
    scaled = _SCALED.fullmatch(kind)
    if scaled is not None:
        return (_DECIMAL if int(scaled[1]) <= _MOST_DIGITS else _UNSCALED)[theirs].format(*scaled.groups())
    lower = kind.lower()
    if lower.startswith("map"):
        target_type = _TOKEN_COUNTS[theirs]
        if target_type is None:
            raise NotSupportedError(f"columns of the type {kind} are not available on {to}; they are on {of}")
        return target_type
    if lower.endswith("[]") or lower.startswith("array<"):
        return _TOKENS[theirs]
    if lower == _TEXT[ours].lower():
        return _TEXT[theirs]
    return next((row[theirs] for row in _NAMES if row[ours].lower() == lower), _TEXT[theirs])


def with_types_of_engine(features: Iterable[Feature], of: str, to: str) -> tuple[Feature, ...]:
    """The features with the types of their columns named as on another engine."""
    return tuple(replace(each, types=tuple(converted_type(kind, of, to) for kind in each.types)) for each in features)


def type_of(texts: Iterable[str], kind: str, of: str, to: str) -> str:
    """As `converted_type`, for a column with these values: PostgreSQL's numeric has any number of digits.

    >>> type_of(["1.50", "22.25"], "numeric", "PostgreSQL", "DuckDB")
    'DECIMAL(38,2)'
    """
    decimals = [_NUMBER.fullmatch(text) for text in texts] if kind == "numeric" else []
    matches = [decimal for decimal in decimals if decimal is not None]
    scale, whole = (max((len(decimal[part] or "") for decimal in matches), default=0) for part in (2, 1))
    if to == ENGINES[0] and matches and len(matches) == len(decimals) and scale == 0 and whole > _MOST_DIGITS:
        return "HUGEINT"
    if matches and len(matches) == len(decimals) and scale + whole <= _MOST_DIGITS:
        return _DECIMAL[ENGINES.index(to)].format(_MOST_DIGITS, scale)
    return converted_type(kind, of, to)


@dataclass(frozen=True)
class Cells:
    """The cells and the calibration of a model file."""

    rows: list[list[Any]]  # a list for each cell: slice, class (as text), feature, value, n, mean, m2, batch
    calibration: list[dict[str, Any]] | None  # a row for each class and knot; None: the model is not calibrated


def translate(engine: Engine, spec: Spec, cells: Cells, of: str, title: str) -> tuple[Spec, Cells]:
    """The spec and the cells of a model of the engine `of`, as this engine would have counted them.

    Numbers, times and intervals may be written differently here. Where they are texts, they are parsed and written again: as
    a category, a label, or a declared level. Raises InputError if it has joins, whose tables are on the other engine,
    ModelError if a value does not have its type here or two classes become one, NotSupportedError if a type is not here.
    """
    to = engine.title
    if spec.joins:
        raise InputError(f"{title} joins tables of {of}, which {to} does not reach; fit it there on a view that joins them")
    labels_seen = {row[1] for row in cells.rows} - {None} | {*spec.classes}
    target_type = type_of(labels_seen, spec.target_type, of, to)
    labels = _rewrite_values(engine, target_type, labels_seen, title)
    if len(set(labels.values())) < len(labels):
        one = f"classes of the type {spec.target_type}, of which {target_type} of {to} makes one"
        raise ModelError(f"{title} has {one}; cast the target, and fit again")

    def label(text: Any) -> Any:
        return labels.get(text, text)

    features, values = [], {}
    for feature in spec.features:
        if feature.family.checked_pattern is not None:
            engine.check_pattern(feature.family.checked_pattern)
        if feature.family.cell in ("level", "list"):
            values_of_feature = {row[3] for row in cells.rows if row[2] == feature.name} - {None}
            translated_feature, values[feature.name] = _translate_category(engine, feature, values_of_feature, of, title)
        else:
            (translated_feature,) = with_types_of_engine([feature], of, to)
        features.append(translated_feature)
    rows = [
        [row[0], label(row[1]), row[2], values[row[2]](row[3]) if row[2] in values and row[3] is not None else row[3], *row[4:]]
        for row in cells.rows
    ]
    calibration = cells.calibration and [{**row, "class": label(row.get("class"))} for row in cells.calibration]
    prior = replace(spec.prior, given=tuple((label(c), p) for c, p in spec.prior.given))
    components = spec.components
    if components is not None:
        components = replace(components, splits=tuple(replace(each, label=label(each.label)) for each in components.splits))
    classes = tuple(map(label, spec.classes))
    derived = tuple(_translate_derived(engine, each, of, title) for each in spec.derived)
    whole = replace(
        spec,
        features=tuple(features),
        target_type=target_type,
        prior=prior,
        components=components,
        classes=classes,
        derived=derived,
    )
    return whole, Cells(rows, calibration)


def _translate_derived(engine: Engine, each: Derived, of: str, title: str) -> Derived:
    """A derived column of another engine's model, in the SQL of this one."""
    names = {folded(name): name for name, _ in each.reads}
    subject = f"derived column {each.name!r} of {title}"
    reads = tuple((name, converted_type(kind, of, engine.title)) for name, kind in each.reads)
    made = translated_expression(engine.renderer, each, DIALECT_NAMES[of], names, subject, reads[0][1] if reads else None)
    return replace(each, expression=made, reads=reads)


def _translate_category(
    engine: Engine, feature: Feature, values: set[str], of: str, title: str
) -> tuple[Feature, Callable[[str], str]]:
    """A category of another engine's model with its levels as written here, and the function that rewrites a value."""
    family: Any = feature.family
    is_listed = family.cell == "list"
    lists = {value: json.loads(value) if is_listed else [value] for value in values}
    alphas = family.alpha if isinstance(family.alpha, Mapping) else {}
    levels = set() if is_listed else {*family.levels, *alphas}
    columns = [
        {each[number] for each in lists.values() if number < len(each)} - {None} | levels
        for number in range(len(feature.columns))
    ]
    for number, parent in enumerate(family.all_parents if family.parent else (), start=1):
        columns[number] |= {*parent.labels}
    kinds = feature.types or ["text"] * len(columns)
    types = tuple(type_of(texts, kind, of, engine.title) for texts, kind in zip(columns, kinds, strict=True))
    feature = replace(feature, types=types)
    tables = [_rewrite_column(engine, feature, number, texts, title) for number, texts in enumerate(columns)]
    if is_listed:
        written = {
            value: [table.get(each) for table, each in zip(tables, items, strict=False)] for value, items in lists.items()
        }
        joint = {value: json.dumps(items, ensure_ascii=False, separators=(",", ":")) for value, items in written.items()}
        if family.parent:
            of_parents = zip(family.all_parents, tables[1:], strict=True)
            parents = [replace(parent, values=[table[value] for value in parent.labels]) for parent, table in of_parents]
            feature = replace(feature, family=family.with_parents(parents))
        return feature, joint.__getitem__
    (table,) = tables
    alpha = {table[level]: count for level, count in alphas.items()} if alphas else family.alpha
    family = replace(family, alpha=alpha, levels=[table[level] for level in family.levels])
    return replace(feature, family=family), table.__getitem__


def _rewrite_column(engine: Engine, feature: Feature, number: int, texts: set[str], title: str) -> dict[str, str]:
    """The values of a column of a category as written here, by how they are written on the other engine."""
    column, family = feature.columns[number], feature.family
    if family.is_cut(number):
        return {text: text for text in texts}
    whole = column in family.integers if family.cell == "list" else feature.whole

    def written(x: Markup) -> Markup:
        return engine.renderer.fragment("text_as_fitted", feature, column, whole, x)

    return _rewrite_values(engine, feature.types[number], texts, title, written)


def _rewrite_values(
    engine: Engine, kind: str, texts: Iterable[str], title: str, written: Callable[[Markup], Markup] | None = None
) -> dict[str, str]:
    """Values of a type as written here, by how they are written on the other engine."""
    values = sorted(texts)
    if kind == _TEXT[ENGINES.index(engine.title)] or not values:
        return {text: text for text in values}
    sent = {text: text for text in values}
    if engine.title in _ERAS and kind.lower().startswith(("date", "timestamp")):
        there, here = _ERAS[engine.title]
        sent = {text: before.expand(here) if (before := there.fullmatch(text)) else text for text in values}
    render = engine.renderer.fragment
    type_name = engine.renderer.dialect.query(kind)
    expression = written(render("cast_text", type_name)) if written is not None else render("label_text", type_name)
    try:
        found = dict(engine.query_macro("texts_as_written", sorted(sent.values()), expression))
        written_by_text = {text: found[each] for text, each in sent.items()}
        reason = next((repr(text) for text, here in written_by_text.items() if here is None), "")
    except DatabaseError as error:
        written_by_text, reason = {}, str(error)
    if reason:
        raise ModelError(f"{title} has values that are no {kind} of {engine.title} ({reason}); cast the column, and fit again")
    return written_by_text


def json_of(rows: Sequence[Sequence[Any]]) -> str:
    """Cells as a text of JSON objects. It has no infinity, which is a text there that all engines read as a number."""
    names = ("slice", "class", "feature", "value", "n", "mean", "m2", "batch")
    listed = [(_INFINITIES.get(value, value) for value in row) for row in rows]
    return json.dumps([dict(zip(names, row, strict=True)) for row in listed], ensure_ascii=False)
