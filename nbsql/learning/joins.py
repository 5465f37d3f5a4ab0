"""Joined sources: the joins of a fit, and those of a model with rows that lack the columns of its dimensions."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source, check_names, split_path
from nbsql.errors import DatabaseError, InputError, suggestion
from nbsql.learning.calendars import without_dates_of_dimensions
from nbsql.learning.derived_columns import derive_columns
from nbsql.learning.draft import Draft
from nbsql.learning.half_life import check_times, weigh_by_age
from nbsql.learning.look import looked_at
from nbsql.plan.joins import columns_read, missing_dimensions, number_joins
from nbsql.plan.rows import Joining
from nbsql.rendering.dialect import folded, restore
from nbsql.rendering.relations import Relations
from nbsql.spec.column import Column, Columns
from nbsql.spec.join import Dimension, Join, check_joins
from nbsql.spec.options import Options
from nbsql.spec.spec import Spec


class JoinedSource(Source):
    """A source joined with dimensions. Its rows are joined as they are read."""

    def __init__(self, engine: Engine, facts: Source, joins: Sequence[Joining]) -> None:
        relation = engine.renderer.fragment("joined_source", facts.relation, joins)
        own = {column.name: column for column in facts.columns}
        columns = [own.get(column.name, column) for column in engine.columns(relation)]
        super().__init__(relation, facts.label, columns, is_frame=facts.is_frame, release=facts.release)
        self._facts = facts
        self.joins, self.derived = joins, facts.derived

    @property
    def facts(self) -> Source:
        return self._facts


def training_source(engine: Engine, source: Any, options: Options) -> Source:
    """The source of a fit with these options: with derived columns, weighted by the age of rows, and joined with dimensions.

    Dates and times of the source have their parts; those of dimensions are left out. Columns have what a look at them suggests.
    """
    derived = derive_columns(engine, engine.source(source), options)
    aged = weigh_by_age(engine, derived, options.target, options.weight)
    check_times(engine, options.weight, options.target, aged)
    dated = without_dates_of_dimensions(join_source(engine, aged, options.joins), options)
    return looked_at(engine, dated, options)


def join_source(engine: Engine, source: Source, joins: Any) -> Source:
    """A source with the joins that the user asked for; the source itself if there are none.

    Raises InputError if a join cannot be made, or would multiply rows.
    """
    columns, dimensions = list(source.columns), []
    for join in check_joins(joins):
        dimension, added = _dimension(engine, source, columns, join)
        columns += added
        dimensions.append(dimension)
    if not dimensions:
        return source
    ident = engine.renderer.dialect.ident
    joined_dimensions = number_joins(engine.renderer, [(dimension, ident(*dimension.path)) for dimension in dimensions])
    for each in joined_dimensions:
        refuse_repeated_keys(engine, each)
    return JoinedSource(engine, source, joined_dimensions)


def _dimension(engine: Engine, source: Source, columns: Sequence[Column], join: Join) -> tuple[Dimension, list[Column]]:
    """A join as a model stores it, and the columns that it adds."""
    table = engine.source(join.table)
    path = table.path or tuple(split_path(restore(table.relation)))
    if len(path) < 2 and not table.path:
        raise InputError(f"a join takes a table or a view, not {join.table!r}; make a view of it")
    ours, theirs = Columns(columns, source.label), Columns(table.columns, table.label)
    on = [(ours.find(one), theirs.find(other)) for one, other in join.pairs]
    for one, other in on:
        if one.kind != other.kind and not (one.is_number and other.is_number):
            raise InputError(
                f"{one.name!r} of {source.label} is {one.type}, and {other.name!r} of {table.label} is {other.type}; cast one"
            )
    keys = {other.name for _, other in on}
    if join.columns is None:
        selected = [column for column in table.columns if column.name not in keys]
    else:
        selected = theirs.find_all(join.columns, f"columns of the join with {join.table!r}")
    added = [replace(column, name=join.prefix + column.name) for column in selected]
    check_names(added, table.label)
    existing = {folded(column.name): column for column in columns}
    for column in added:
        if folded(column.name) in existing:
            raise InputError(
                f"column {column.name!r} is in {source.label} and in {table.label}, which it is joined with; "
                f"tell them apart with ⟨prefix={f'{path[-1]}_'!r}⟩, or join fewer of its columns"
            )
    pairs = tuple((one.name, other.name) for one, other in on)
    column_names = tuple((column.name, join.prefix + column.name) for column in selected)
    rows = engine.query_value("row_count", table.relation)
    return Dimension(path, pairs, tuple(one.type for one, _ in on), column_names, rows), added


def dimensions_of_model(
    engine: Engine, dimensions: Iterable[Dimension], relations: Relations, origin: Relations | None = None
) -> tuple[Dimension, ...]:
    """Dimensions as a model at `relations` stores them: tables are named relative to the model's database.

    They are given relative to the current database, or to that of the model at `origin`. Raises InputError if one is a
    temporary table, which other sessions cannot read.
    """
    current = engine.current()[0]
    dimensions = list(dimensions)
    refuse_temporary(dimensions, relations)
    renamed = []
    for dimension in dimensions:
        path = dimension.path
        full_path = path if len(path) > 2 else (_database(origin, current), *path)
        path = full_path[1:] if folded(full_path[0]) == folded(_database(relations, current)) else full_path
        renamed.append(replace(dimension, path=path))
    return tuple(renamed)


def refuse_temporary(dimensions: Iterable[Dimension], relations: Relations) -> None:
    """Raise InputError if a permanent model would be joined with a temporary table."""
    for dimension in dimensions:
        path = dimension.path
        if not relations.temporary and (len(path) == 1 or path[0] == "temp" or path[0].startswith("pg_temp")):
            raise InputError(
                f"{dimension.title!r} is a temporary table, which a model with a name cannot be joined with; "
                "make it a table, or leave the name out"
            )


def _database(relations: Relations | None, current: str) -> str:
    return relations.database or current if relations is not None else current


# Rows of a model that lack the columns of its dimensions. ----------------------------------------------------------


def refuse_repeated_keys(engine: Engine, joining: Joining) -> None:
    """Raise InputError if a dimension has a key twice."""
    columns = [column for _, column in joining.pairs]
    for *key, rows in engine.query_macro("repeated_key", joining.relation, columns):
        key_text = ", ".join(f"{column!r} {value!r}" for column, value in zip(columns, key, strict=True))
        raise InputError(
            f"{joining.dimension.title} has {rows} rows of {key_text}, and a join needs one row per key; "
            "make a view with one row per key"
        )


def join_dimensions(
    engine: Engine, spec: Spec, relations: Relations, source: Source, title: str, *, reads_target: bool = False
) -> Source:
    """A source, which may be joined already, joined with the dimensions whose columns a model reads and the source lacks.

    `reads_target` says whether the class is read, too. Raises InputError if the source has only some columns of a dimension, or
    lacks its key, or if the dimension is gone.
    """
    names = {folded(column.name) for column in source.columns}
    missing = missing_dimensions(spec, names, columns_read(spec, judged=reads_target), source.label, title)
    if not missing:
        return source
    names |= {folded(name) for dimension in missing for name in dimension.names}
    for dimension in missing:
        for key, _ in dimension.on:
            if folded(key) not in names:
                hint = suggestion(key, source.names)
                raise InputError(f"no column {key!r} in {source.label}, by which {title} joins {dimension.title}{hint}")
    joins = number_joins(engine.renderer, [(dimension, _relation(engine, relations, dimension)) for dimension in missing])
    for joining in joins:
        _check_dimension(engine, joining, title)
    return JoinedSource(
        engine, source, [replace(joining, is_scored_by_key=_is_small(engine, joining, source)) for joining in joins]
    )


def _is_small(engine: Engine, joining: Joining, source: Source) -> bool:
    """Whether a dimension has no more rows than a table (further rows are not counted), or few, if the source is a query."""
    rows: int = engine.query_value("row_count", joining.relation)
    if not source.is_table:
        return rows <= engine.renderer.layout.dimension_rows
    some = engine.renderer.fragment("excerpt", source.relation, max(rows, 1))
    return bool(engine.query_value("row_count", some) >= rows)


def _relation(engine: Engine, relations: Relations, dimension: Dimension) -> Markup:
    database = relations.database if len(dimension.path) == 2 else None
    return engine.renderer.dialect.ident(*([database] if database is not None else ()), *dimension.path)


def _check_dimension(engine: Engine, joining: Joining, title: str) -> None:
    """Raise InputError if a dimension has changed."""
    path = ".".join(joining.dimension.path)
    try:
        columns = [column.name for column in engine.columns(joining.relation)]
    except DatabaseError:
        raise InputError(
            f"no table {path}, which {title} joins its source with; make it, or give a source that has its columns"
        ) from None
    for name in [*(key for _, key in joining.pairs), *(column for column, _ in joining.columns)]:
        if all(folded(name) != folded(column) for column in columns):
            raise InputError(f"no column {name!r} in {path}, which {title} joins its source with{suggestion(name, columns)}")
    refuse_repeated_keys(engine, joining)


def name_dimensions(draft: Draft) -> Draft:
    """The step of a fit that gives the spec its dimensions, as the model stores them."""
    if not draft.source.joins:
        return draft
    dimensions = (joining.dimension for joining in draft.source.joins)
    return draft.with_spec(joins=dimensions_of_model(draft.engine, dimensions, draft.relations))
