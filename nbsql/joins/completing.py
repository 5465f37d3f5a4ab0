"""What a model joins rows with that lack the columns of its dimensions."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from nbsql.dialect import folded
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import DatabaseError, InputError, suggestion
from nbsql.joins.join import Dimension, read
from nbsql.joins.joining import Joined, Joining, joinings, refuse_repeated
from nbsql.relations import Relations
from nbsql.spec import Spec

# A dimension of no more rows is scored row by row for any source, which may be one row; a larger one for a table of more rows.
FEW_ROWS = 100_000


def completed(engine: Engine, spec: Spec, relations: Relations, source: Source, title: str, *, judged: bool = False) -> Source:
    """A source with what it lacks of the columns that a model reads from dimensions.

    Args:
        engine: where.
        spec: of the model.
        relations: of the model.
        source: which may have been joined already.
        title: what messages call the model.
        judged: whether the class is read.

    Raises:
        InputError: the source has some columns of a dimension and lacks others, or lacks its key; or the dimension is gone.
    """
    names = {folded(column.name) for column in source.columns}
    lacking = _lacking(spec, names, read(spec, judged=judged), source.label, title)
    if not lacking:
        return source
    names |= {folded(name) for dimension in lacking for name in dimension.names}
    for dimension in lacking:
        for key, _ in dimension.on:
            if folded(key) not in names:
                known = [column.name for column in source.columns]
                raise InputError(
                    f"no column {key!r} in {source.label}, by which {title} joins {dimension.title}{suggestion(key, known)}"
                )
    found = joinings(engine.renderer, [(dimension, _relation(engine, relations, dimension)) for dimension in lacking])
    for joining in found:
        _check(engine, joining, title)
    return Joined(engine, source, [replace(joining, by_key=_is_small(engine, joining, source)) for joining in found])


def _is_small(engine: Engine, joining: Joining, source: Source) -> bool:
    """Whether a dimension has no more rows than a source, which are not counted any further; or few, where that takes long."""
    rows: int = engine.ask("row_count", joining.relation)[0][0]
    if not source.is_table:
        return rows <= FEW_ROWS
    some = engine.renderer.fragment("excerpt", source.relation, max(rows, 1))
    return bool(engine.ask("row_count", some)[0][0] >= rows)


def needed(spec: Spec) -> list[Dimension]:
    """The dimensions of a model, with the columns to take from each for a source that has none of them."""
    judged = {folded(name) for name in (spec.target, spec.weight) if name is not None}
    return _lacking(spec, judged, read(spec, judged=False), "", "")


def _lacking(spec: Spec, names: set[str], wanted: set[str], label: str, title: str) -> list[Dimension]:
    """The dimensions that columns are to be taken from, of a source of these names, with the columns to take from each."""
    besides = {folded(name) for name in (*spec.id, spec.target, spec.weight) if name is not None}
    found: list[Dimension] = []
    for dimension in reversed(spec.joins):
        decisive = [name for name in dimension.names if folded(name) in wanted]
        absent = [name for name in decisive if folded(name) not in names]
        if not absent:
            continue
        if len(absent) < len(decisive):
            present = next(name for name in decisive if name not in absent)
            raise InputError(
                f"{label} has {present!r} and no {absent[0]!r}, and {title} takes both from {dimension.title}; "
                f"leave {present!r} out, or give it both"
            )
        columns = tuple(pair for pair in dimension.columns if folded(pair[1]) in (wanted | besides) - names)
        found.insert(0, replace(dimension, columns=columns))
        wanted |= {folded(key) for key, _ in dimension.on}
    return found


def _relation(engine: Engine, relations: Relations, dimension: Dimension) -> Markup:
    """Where the dimension of a model is."""
    outside = len(relations.path) > 1 and len(dimension.path) < 3
    return engine.renderer.dialect.ident(*(relations.path[:1] if outside else ()), *dimension.path)


def _check(engine: Engine, joining: Joining, title: str) -> None:
    """Raise InputError if a dimension is not what it was."""
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
    refuse_repeated(engine, joining)
