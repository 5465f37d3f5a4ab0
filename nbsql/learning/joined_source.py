"""Joined sources, and the joins of a model with rows that lack the columns of its dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import DatabaseError, InputError, suggestion
from nbsql.plan.joins import columns_read, has_few_rows, missing_dimensions, number_joins
from nbsql.plan.rows import Joining
from nbsql.rendering.dialect import folded
from nbsql.rendering.relations import Relations
from nbsql.spec.join import Dimension
from nbsql.spec.spec import Spec


class JoinedSource(Source):
    """A source joined with dimensions. Its rows are joined as they are read."""

    def __init__(self, engine: Engine, facts: Source, joins: Sequence[Joining]) -> None:
        relation = engine.renderer.fragment("joined_source", facts.relation, joins)
        super().__init__(relation, facts.label, engine.columns(relation), is_frame=facts.is_frame, release=facts.release)
        self._facts = facts
        self.joins = joins

    @property
    def facts(self) -> Source:
        return self._facts


def refuse_repeated_keys(engine: Engine, joining: Joining) -> None:
    """Raise InputError if a dimension has a key twice."""
    columns = [column for _, column in joining.pairs]
    for *key, rows in engine.ask("repeated_key", joining.relation, columns):
        key_text = ", ".join(f"{column!r} {value!r}" for column, value in zip(columns, key, strict=True))
        raise InputError(
            f"{joining.dimension.title} has {rows} rows of {key_text}, and a join takes one row a key; "
            "make a view with one a key"
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
                columns = [column.name for column in source.columns]
                raise InputError(
                    f"no column {key!r} in {source.label}, by which {title} joins {dimension.title}{suggestion(key, columns)}"
                )
    joins = number_joins(engine.renderer, [(dimension, _relation(engine, relations, dimension)) for dimension in missing])
    for joining in joins:
        _check_dimension(engine, joining, title)
    return JoinedSource(
        engine, source, [replace(joining, is_scored_by_key=_is_small(engine, joining, source)) for joining in joins]
    )


def _is_small(engine: Engine, joining: Joining, source: Source) -> bool:
    """Whether a dimension has no more rows than a table (further rows are not counted), or few, if the source is a query."""
    rows: int = engine.ask("row_count", joining.relation)[0][0]
    if not source.is_table:
        return has_few_rows(rows)
    some = engine.renderer.fragment("excerpt", source.relation, max(rows, 1))
    return bool(engine.ask("row_count", some)[0][0] >= rows)


def _relation(engine: Engine, relations: Relations, dimension: Dimension) -> Markup:
    """The relation of a model's dimension."""
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
