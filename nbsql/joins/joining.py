"""Sources that are joined with dimension tables: by a fit, and by a model of such a fit when it meets rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from nbsql.dialect import folded, restore
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source, check_names, parts
from nbsql.errors import DatabaseError, InputError, suggestion
from nbsql.joins.join import Dimension, Join, asked_joins, read
from nbsql.relations import Relations
from nbsql.render import Renderer
from nbsql.resolve import Columns
from nbsql.spec import Column, Spec

if TYPE_CHECKING:
    from nbsql.context import Context

# A dimension of no more rows is scored row by row for any source, which may be one row; a larger one for a table of more rows.
FEW_ROWS = 100_000

_NUMBERS = ("integer", "float", "decimal")


@dataclass(frozen=True)
class Joining:
    """A dimension as a statement joins it (sql/macros/joins.sql).

    Args:
        place: its number among the joins, from 1.
        dimension: which, with the columns that are read.
        relation: where it is.
        pairs: for every column of the key, an expression over the source, or over a dimension before, and the column of the
            dimension that it equals.
        by_key: whether its rows are few enough to be scored before they are joined (nbsql/joins/partial.py).
        scored: what the macros know of the model, of the features by which they are; None: of none.
        kept: the columns that are joined by themselves; None: all.
    """

    place: int
    dimension: Dimension
    relation: Markup
    pairs: tuple[tuple[Markup, str], ...]
    by_key: bool = False
    scored: Context | None = None
    kept: tuple[tuple[str, str], ...] | None = None

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a column of the dimension and its name in the joined source."""
        return self.dimension.columns

    @property
    def passed(self) -> tuple[tuple[str, str], ...]:
        """Those of them that the joined source has."""
        return self.columns if self.kept is None else self.kept


class Joined(Source):
    """A source and the dimensions that it is joined with: itself a source, whose rows are joined as they are read."""

    def __init__(self, engine: Engine, facts: Source, joins: Sequence[Joining]) -> None:
        relation = engine.renderer.fragment("joined", facts.relation, joins)
        super().__init__(relation, facts.label, engine.columns(relation), is_frame=facts.is_frame, release=facts.release)
        self._facts = facts
        self.joins = joins

    @property
    def facts(self) -> Source:
        return self._facts


def joinings(
    renderer: Renderer, dimensions: Iterable[tuple[Dimension, Markup]], keys: Mapping[str, str] | None = None
) -> list[Joining]:
    """Dimensions as a statement joins them.

    Args:
        renderer: of the engine.
        dimensions: and where they are, in the order in which they are joined.
        keys: names that columns of the source have in the statement, where they are others.
    """
    ident, word = renderer.dialect.ident, renderer.dialect.word
    brought: dict[str, int] = {}
    found = []
    for number, (dimension, relation) in enumerate(dimensions, start=1):
        pairs = []
        for key, column in dimension.on:
            place = word(f"dimension_{brought[key]}") if key in brought else word("source")
            pairs.append((Markup(".").join([place, ident((keys or {}).get(key, key))]), column))
        found.append(Joining(number, dimension, relation, tuple(pairs)))
        brought |= dict.fromkeys(dimension.names, number)
    return found


def narrowed(renderer: Renderer, joins: Sequence[Joining], columns: set[str], keys: Mapping[str, str]) -> list[Joining]:
    """The joins that bring some columns, with no others; `keys` as for `joinings`."""
    wanted = set(columns)
    found: list[tuple[Dimension, Markup]] = []
    for joining in reversed(joins):
        kept = tuple(pair for pair in joining.columns if pair[1] in wanted)
        if kept:
            wanted |= {key for key, _ in joining.dimension.on}
            found.insert(0, (replace(joining.dimension, columns=kept), joining.relation))
    return joinings(renderer, found, keys)


# At a fit. -------------------------------------------------------------------------------------------------------------


def joined(engine: Engine, source: Source, joins: Any) -> Source:
    """A source joined as asked for; itself, if nothing is.

    Raises:
        InputError: a join cannot be made, or would multiply rows.
    """
    columns, dimensions = list(source.columns), []
    wanted = asked_joins(joins)
    if wanted:
        engine.need("joins")
    for join in wanted:
        dimension, brought = _dimension(engine, source, columns, join)
        columns += brought
        dimensions.append(dimension)
    if not dimensions:
        return source
    ident = engine.renderer.dialect.ident
    found = joinings(engine.renderer, [(dimension, ident(*dimension.path)) for dimension in dimensions])
    for each in found:
        _refuse_repeated(engine, each)
    return Joined(engine, source, found)


def _dimension(engine: Engine, source: Source, columns: Sequence[Column], join: Join) -> tuple[Dimension, list[Column]]:
    """A join as a model keeps it, and the columns that it brings."""
    found = engine.source(join.table)
    path = found.path or tuple(parts(restore(found.relation)))
    if len(path) < 2 and not found.path:
        raise InputError(f"a join takes a table or a view, not {join.table!r}; make a view of it")
    ours, theirs = Columns(columns, source.label), Columns(found.columns, found.label)
    on = [(ours.find(one), theirs.find(other)) for one, other in join.pairs]
    for one, other in on:
        if _comparable(one) != _comparable(other):
            raise InputError(
                f"{one.name!r} of {source.label} is {one.type}, and {other.name!r} of {found.label} is {other.type}; cast one"
            )
    keys = {other.name for _, other in on}
    if join.columns is None:
        taken = [column for column in found.columns if column.name not in keys]
    else:
        taken = theirs.find_all(join.columns, f"columns of the join with {join.table!r}")
    brought = [replace(column, name=join.prefix + column.name) for column in taken]
    check_names(brought, found.label)
    known = {folded(column.name): column for column in columns}
    for column in brought:
        if folded(column.name) in known:
            raise InputError(
                f"column {column.name!r} is in {source.label} and in {found.label}, which it is joined with; "
                f"tell them apart with prefix={f'{path[-1]}_'!r}, or name the columns to take"
            )
    pairs = tuple((one.name, other.name) for one, other in on)
    columns_taken = tuple((column.name, join.prefix + column.name) for column in taken)
    rows = engine.ask("row_count", found.relation)[0][0]
    return Dimension(path, pairs, tuple(one.type for one, _ in on), columns_taken, rows), brought


def _comparable(column: Column) -> str:
    """Columns of one such kind can be equal."""
    return "number" if column.kind in _NUMBERS else column.kind


def _refuse_repeated(engine: Engine, joining: Joining) -> None:
    """Raise InputError if a dimension has a key twice."""
    columns = [column for _, column in joining.pairs]
    for *key, rows in engine.ask("repeated_key", joining.relation, columns):
        said = ", ".join(f"{column!r} {value!r}" for column, value in zip(columns, key, strict=True))
        raise InputError(
            f"{joining.dimension.title} has {rows} rows of {said}, and a join takes one row a key; make a view with one a key"
        )


def kept(
    engine: Engine, dimensions: Iterable[Dimension], relations: Relations, origin: Relations | None = None
) -> tuple[Dimension, ...]:
    """Dimensions as a model keeps them: a table is named from the database of the model.

    Args:
        engine: where.
        dimensions: of which a table is named from the current database, or from that of the model `origin`.
        relations: of the model.
        origin: another model.

    Raises:
        InputError: one is a temporary table, which nobody else could read.
    """
    here = engine.current()[0]
    dimensions = list(dimensions)
    refuse_temporary(dimensions, relations)
    found = []
    for dimension in dimensions:
        path = dimension.path
        whole = path if len(path) > 2 else (_database(origin, here), *path)
        path = whole[1:] if folded(whole[0]) == folded(_database(relations, here)) else whole
        found.append(replace(dimension, path=path))
    return tuple(found)


def refuse_temporary(dimensions: Iterable[Dimension], relations: Relations) -> None:
    """Raise InputError if a model that is to be at `relations`, and to stay, is joined with what ends with the session."""
    for dimension in dimensions:
        path = dimension.path
        if not relations.temporary and (len(path) == 1 or path[0] == "temp" or path[0].startswith("pg_temp")):
            raise InputError(
                f"{dimension.title!r} is a temporary table, which a model with a name cannot be joined with; "
                "make it a table, or leave the name out"
            )


def _database(relations: Relations | None, current: str) -> str:
    return relations.path[0] if relations is not None and len(relations.path) > 1 else current


# When a model meets rows. ----------------------------------------------------------------------------------------------


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
    _refuse_repeated(engine, joining)
