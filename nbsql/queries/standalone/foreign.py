"""Sources and derived columns in the dialect of an engine that nbsql is not connected to, and the kinds of its columns."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlglot
from markupsafe import Markup
from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from nbsql.engines.engine import Engine
from nbsql.errors import InputError, NotSupportedError
from nbsql.plan.derived import Layer, columns_of_source, derived_of, translated_expression, with_derived
from nbsql.rendering.dialect import folded, restore
from nbsql.rendering.renderer import Renderer
from nbsql.spec.derived import Derived, layers
from nbsql.spec.spec import Feature, Spec


def comparison_kind(engine: Engine, type_name: str) -> str:
    """The kind by which values of a type are compared: "text", "integer", "number" or "boolean"; "other" if engines differ."""
    try:
        type_ = exp.DataType.build(type_name, dialect=engine.renderer.dialect.name).this if type_name else None
    except SqlglotError:
        return "other"
    if type_ is None or type_ in exp.DataType.TEXT_TYPES or type_ in _TEXTS:
        return "text"
    if type_ == exp.DataType.Type.BOOLEAN:
        return "boolean"
    if type_ in exp.DataType.INTEGER_TYPES:
        return "integer"
    return "number" if type_ in exp.DataType.NUMERIC_TYPES else "other"


def is_single(engine: Engine, type_name: str) -> bool:
    """Whether a type holds floats of 32 bits."""
    return bool(exp.DataType.build(type_name, dialect=engine.renderer.dialect.name).this == exp.DataType.Type.FLOAT)


def category_kind(engine: Engine, feature: Feature, *, numbers: bool) -> str:
    """The kind by which the values of a category are compared. `numbers` says whether they may be fractions.

    Raises NotSupportedError if engines write the values of this type differently.
    """
    type_name = feature.types[0] if feature.types else ""
    kind = "integer" if feature.whole else comparison_kind(engine, type_name)
    if kind == "other" or (kind == "number" and not numbers):
        raise NotSupportedError(
            f"{feature.name!r} is a category of the type {type_name}, which every engine writes in its own way; "
            "make it a text, or leave it out of the model"
        )
    return kind


# Types whose values every engine casts to the same text. A date is written 2026-01-31.
_TEXTS = {exp.DataType.Type.ENUM, exp.DataType.Type.UUID, exp.DataType.Type.DATE, exp.DataType.Type.NAME}


def source_relation(source: Any, renderer: Renderer) -> Markup:
    """A source as it stands after FROM: a table, as the user writes it, or a SELECT in parentheses.

    Raises InputError if it is neither, as the dialect parses it.
    """
    name = renderer.dialect.name
    if not isinstance(source, str):
        kind = type(source).__name__
        raise InputError(f"a source for the dialect {name!r} is the name of a table or a SELECT as text, not {kind}")
    text = _strip_trailing(source, name)
    table = _parse(text, name, into=exp.Table)
    if isinstance(table, exp.Table) and all(isinstance(part, exp.Identifier) for part in table.parts):
        has_suffix = any(value for key, value in table.args.items() if key not in ("this", "db", "catalog"))  # such as an alias
        if not has_suffix:
            return renderer.dialect.query(text)
    if isinstance(_parse(text, name), exp.Query):
        return renderer.fragment("subquery", renderer.dialect.query(text))
    raise InputError(f"a source for the dialect {name!r} is the name of a table or one SELECT, not {source!r}")


def _parse(text: str, dialect: str, into: Any = None) -> Any:
    """The single statement, or the table, in a text; None if there is none or more than one."""
    try:
        statements = [sqlglot.parse_one(text, read=dialect, into=into)] if into else sqlglot.parse(text, read=dialect)
    except SqlglotError:
        return None
    return statements[0] if len(statements) == 1 else None


def _strip_trailing(text: str, dialect: str) -> str:
    """A query without trailing semicolons and comments, so that it can be put in parentheses."""
    try:
        tokens = sqlglot.tokenize(text, read=dialect)
    except SqlglotError:
        return text
    while tokens and tokens[-1].token_type == TokenType.SEMICOLON:
        tokens.pop()
    return text[: tokens[-1].end + 1].strip() if tokens else text


def scored_elsewhere(spec: Spec, relation: Markup, renderer: Renderer, dialect: str) -> tuple[Spec, Markup, list[str]]:
    """A spec and a source of another engine, with derived columns added under names of nbsql's own, which come third.

    The columns of the source are not known, so that none of them can be replaced. `dialect` is that of the model's engine.
    """
    names: dict[str, str] = {}  # the names by which the columns derived so far are read
    added: list[str] = []
    for layer in layers(derived_of(spec)):
        made = {each.name: f"nbsql_derived_{number}" for number, each in enumerate(layer, start=len(added) + 1)}
        columns = [(made[each.name], _translated(each, names, dialect, renderer)) for each in layer]
        relation = renderer.fragment("derived_source", relation, [Layer(columns, passes_all=True)])
        names |= {folded(name): new for name, new in made.items()}
        added += made.values()

    def renamed(columns: Sequence[str]) -> tuple[str, ...]:
        return tuple(names.get(folded(name), name) for name in columns)

    features = tuple(replace(feature, columns=renamed(feature.columns)) for feature in spec.features)
    return replace(spec, features=features), relation, added


def judged_elsewhere(spec: Spec, relation: Markup, renderer: Renderer, dialect: str) -> Markup:
    """A source of another engine, with only the columns that the model counts, and those derived."""
    derived = derived_of(spec, judged=True)
    if not derived:
        return relation
    foreign = [replace(each, expression=restore(_translated(each, {}, dialect, renderer)), words=()) for each in derived]
    return with_derived(renderer, relation, foreign, columns_of_source(spec, judged=True))


def _translated(each: Derived, names: Mapping[str, str], dialect: str, renderer: Renderer) -> Markup:
    """The expression of a derived column in another dialect; `names` has the new names of columns by their folded names."""
    columns = {folded(name): names.get(folded(name), name) for name, _ in each.reads}
    return renderer.dialect.query(translated_expression(renderer, each, dialect, columns, f"derived column {each.name!r}"))
