"""Sources with derived columns: those of a fit, and those that a model has for whatever it reads."""

from collections.abc import Mapping, Sequence
from typing import Any

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import DatabaseError, InputError, no_column
from nbsql.learning.calendars import calendar_parts, with_parts
from nbsql.learning.missing_words import without_words
from nbsql.plan.derived import derived_of, with_derived
from nbsql.plan.expressions import columns_in_expression
from nbsql.rendering.dialect import folded, restore
from nbsql.spec.column import NO_TYPE, Column, value_kind
from nbsql.spec.derived import Derived, check_derive
from nbsql.spec.options import Options
from nbsql.spec.rules import is_learnt_time, learnt_texts, no_features
from nbsql.spec.spec import Spec


def derive_columns(engine: Engine, source: Source, options: Options) -> Source:
    """The source of a fit without the words for missing values, and with the columns that the user derives, and parts of dates.

    It is the source itself if there is nothing to derive, or it has these columns. Raises InputError unless each is one
    expression of one value over the columns of the source and those derived before it.
    """
    if source.derived:
        return source
    derive, words = check_derive(options.derive), without_words(engine, source, options)
    found = _extended(engine, source, tuple(words)) if words else source
    for name, expression in derive.items():
        engine.check_expression(expression, found, f"derive[{name!r}]", alone=True)
        read = {folded(each) for each in columns_in_expression(expression, engine.renderer.dialect.name)}
        reads = tuple((column.name, column.type) for column in found.columns if folded(column.name) in read)
        found = _extended(engine, source, (*found.derived, Derived(name, expression, reads)))
    parts = calendar_parts(engine, found, options)
    if any(parts.values()):
        found = _extended(engine, source, (*found.derived, *(each for derived in parts.values() for each in derived)))
    if parts:
        found.columns = with_parts(found.columns, parts)
    return _released(found, source)


def source_with_derived_columns(engine: Engine, spec: Spec, source: Source, title: str, *, judged: bool) -> Source:
    """A source with the columns that a model derives and needs; with `judged` also for the class, the weight and the slices.

    A source that has a derived column already, and not what it is derived from, keeps it. Raises InputError if it lacks both.
    """
    if not spec.derived or source.derived:
        return source
    required, texts = derived_of(spec, judged=judged), {name: column for name, *column in learnt_texts(spec, spec.derived)}
    present = {folded(column.name): column for column in source.columns}
    made: list[Derived] = []
    features = {column for feature in spec.features for column in feature.columns}
    absent = [each for each in required if each.words and each.name in features and folded(each.name) not in present]
    if absent:
        raise no_features([each.name for each in absent], source.names, source.label, title)
    for each in spec.derived:
        known = {*present, *(folded(other.name) for other in made)}
        missing = [name for name, _ in each.reads if folded(name) not in known]
        if each not in required and (missing or not (judged or each.name in spec.id)):
            continue
        if missing and folded(each.name) in present:
            continue
        if missing:
            raise no_column(missing[0], source.names, source.label, f"from which {title} derives {each.name!r}")
        made += _texts(engine, each, source, made, title, texts)
        made += _times(engine, each, source, made, title) if each.part is not None else []
        made.append(each)
    try:
        return _released(_extended(engine, source, tuple(made)), source) if made else source
    except DatabaseError:
        own = {folded(each.name) for each in made}
        for each in made if engine.exact else ():
            for name in (name for name, _ in each.reads if folded(name) not in own and name not in source.names):
                raise no_column(name, source.names, source.label, f"from which {title} derives {each.name!r}") from None
        read = [(each, learnt, source.column(name)) for each in made for name, learnt in each.reads if folded(name) not in own]
        for each, learnt, column in read:
            if column is not None and value_kind(learnt) not in (None, column.value_kind):
                raise _wrong_type(column, source, title, learnt, f", from which it derives {each.name!r}") from None
        raise


def _texts(
    engine: Engine, each: Derived, source: Source, made: Sequence[Derived], title: str, texts: Mapping[str, Any]
) -> list[Derived]:
    """The columns that an expression reads as texts, and that are of another type here, as texts.

    `texts` has the kinds that each may have, and the word for what was learnt. Raises InputError if one has others.
    """
    changed = {folded(other.name) for other in made}
    found = []
    for name, kind in each.reads:
        column = source.column(name)
        if column is None or folded(name) in changed or value_kind(kind) != "text" or column.kind == "text":
            continue
        kinds, learnt = texts[name]
        if column.value_kind not in (None, *kinds) and _has_values(engine, source, column):
            raise _wrong_type(column, source, title, learnt)
        text = restore(engine.renderer.fragment("column_as_text", column.name))
        found.append(Derived(column.name, text, ((column.name, column.type),)))
    return found


def _times(engine: Engine, each: Derived, source: Source, made: Sequence[Derived], title: str) -> list[Derived]:
    """The column of which a part is taken, without a value, if it has none. Raises InputError if it has others than learnt."""
    ((name, learnt),) = each.reads
    column = source.column(name)
    if column is None or folded(name) in {folded(other.name) for other in made} or is_learnt_time(each, column):
        return []
    if column.type not in NO_TYPE and _has_values(engine, source, column):
        raise _wrong_type(column, source, title, learnt, f", of which {each.name!r} is a part")
    return [Derived(column.name, f"CAST(NULL AS {learnt})", ((column.name, column.type),))]


def _wrong_type(column: Column, source: Source, title: str, learnt: str, role: str = "") -> InputError:
    return InputError(
        f"column {column.name!r} of {source.label} is {column.type}, and {title} has learnt {learnt} there{role}; "
        f"read it as {learnt}, or cast it"
    )


def _has_values(engine: Engine, source: Source, column: Column) -> bool:
    return bool(engine.query_value("values_of_columns", source.relation, [column.name]))


def _extended(engine: Engine, source: Source, derived: tuple[Derived, ...]) -> Source:
    names = source.names
    read = source.relation
    if source.as_texts is not None and any("try_cast" in each.expression.lower() for each in derived):
        read = engine.renderer.fragment("apart_from_reader", read)
    relation = with_derived(engine.renderer, read, derived, names, exact=engine.exact)
    changed = {folded(each.name) for each in derived}
    own = {column.name: column for column in source.columns if folded(column.name) not in changed}
    columns = [own.get(column.name, column) for column in engine.columns(relation)]
    found = Source(relation, source.label, columns, is_frame=source.is_frame)
    found.needs, found.derived, found.added = source, derived, [column.name for column in columns[len(names) :]]
    return found


def _released(found: Source, source: Source) -> Source:
    """The source with derived columns, which releases the one that it reads."""
    if found is not source and source.is_registered:
        found.release_with(source)
    return found
