"""Models that travel: merged, and read from files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from nbsql.components import refuse_components
from nbsql.derived import mergeable, read_file
from nbsql.dialect import folded
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.judging.calibration import restore_calibration
from nbsql.library import load
from nbsql.making import place_for
from nbsql.model import Model
from nbsql.places import Connection, opened
from nbsql.plan import Entry
from nbsql.segments import refuse_segments
from nbsql.spec import Spec


def merge(
    con: Connection,
    models: Sequence[str | tuple[str, str] | Model],
    *,
    name: str | None = None,
    replace: bool = False,
    database: str | None = None,
) -> Model:
    """One model of what several have learnt, as if it were fitted on all their rows. Only counts move, never a row.

    Args:
        con: a connection, session, path or address, as `nbsql.fit` takes it.
        models: their names; (database, name) for one in an attached database; or models of this connection.
        name: of the new model; None makes a transient one.
        replace: take the place of the model of that name, which may be one of those merged.
        database: the attached database to keep the model in; None for the current one.

    Raises:
        ModelError: they do not model the same target by the same features, or the name is taken.
    """
    if isinstance(models, str) or not isinstance(models, Sequence) or not models:
        raise InputError(f"merge takes a list of models, such as ['january', 'february'], not {models!r}")
    with opened(con) as engine, engine.transaction():
        found = [_resolved(engine, model) for model in models]
        spec = mergeable([(model._title, model._spec) for model in found])
        names = [str(model.name or f"model {number}") for number, model in enumerate(found, start=1)]
        batches = [batch if names.count(batch) == 1 else f"{batch} ({number})" for number, batch in enumerate(names, start=1)]
        statistics = [model._relations["statistics"] for model in found]
        cells = engine.renderer.fragment("merged", list(zip(statistics, batches, strict=True)))
        entries = [
            Entry(number, batch, "merge", model._title, round(engine.ask("rows_learnt", cell)[0][0]))
            for number, (batch, model, cell) in enumerate(zip(batches, found, statistics, strict=True), start=1)
        ]
        place = place_for(engine, name, database, replace=replace)
        return place.publish(*place.derive(spec, cells, entries, origin=found[0]._relations))


def from_statistics(
    con: Connection,
    statistics: Any,
    *,
    like: str | Model,
    name: str | None = None,
    replace: bool = False,
    database: str | None = None,
) -> Model:
    """The model of what another engine has counted, as if it were fitted on the rows there. Only counts move, never a row.

    Args:
        con: a connection, the path of a DuckDB file, or the address of a PostgreSQL server.
        statistics: the answer of `Model.sql("statistics", ..., dialect=...)`, a relation or frame with its columns.
        like: the model that wrote the query, or its name: the new one has its features and options.
        name: of the new model; None makes a transient one.
        replace: take the place of the model of that name, which may be `like`.
        database: the attached database to keep the model in; None for the current one.

    Raises:
        InputError: a column is missing, or a cell is none of such a model.
        ModelError: the models of `like` do not follow from counts, or the name is taken.

    >>> import duckdb, nbsql
    >>> con = duckdb.connect()
    >>> days = "FROM (VALUES ('sun', 'dry'), ('rain', 'wet'), ('rain', 'wet')) AS t(sky, day)"
    >>> _ = con.execute(f"CREATE TABLE days AS {days}")
    >>> model = nbsql.fit(con, "SELECT * FROM days LIMIT 2", target="day")
    >>> cells = con.sql(model.sql("statistics", "days", dialect="duckdb"))  # elsewhere, as it were
    >>> from_statistics(con, cells, like=model).predict("SELECT 'rain' AS sky").fetchall()
    [('rain', 'wet', 0.8181818181818181)]
    """
    from nbsql.frozen.statistics import check_countable  # with sqlglot, which takes long to import

    with opened(con) as engine, engine.transaction():
        model = like if isinstance(like, Model) else load(engine, like)
        model._refresh()
        spec, title = model._spec, model._title
        refuse_segments(spec, title, "what another engine has counted")
        refuse_components(spec, title, "what another engine has counted")
        check_countable(spec, title)
        source = engine.source(statistics)
        try:
            _look_over(engine, spec, source, title)
            render = engine.renderer.fragment
            cells = render("cells_counted_elsewhere", source.relation, engine.renderer.dialect.query(spec.target_type))
            rows = round(engine.ask("rows_learnt", render("subquery", cells))[0][0])
            place = place_for(engine, name, database, replace=replace)
            return place.publish(*place.derive(spec, cells, [Entry(1, "1", "import", source.label, rows)]))
        finally:
            source.release()


def _look_over(engine: Engine, spec: Spec, source: Source, title: str) -> None:
    """Raise InputError unless a source holds the cells of a model."""
    names = {folded(column.name) for column in source.columns}
    for column in ("class", "feature", "value", "n", "mean", "m2"):
        if column not in names:
            raise InputError(f"no column {column!r} in {source.label}; a cell has class, feature, value, n, mean and m2")
    unknown, wrong, classes = engine.ask("looked_over", source.relation, spec.features)[0]
    if unknown is not None:
        raise InputError(f"{source.label} has cells of {unknown!r}, which is no feature of {title}")
    if wrong:
        cells = "1 cell" if wrong == 1 else f"{wrong} cells"
        hold = "holds" if wrong == 1 else "hold"
        raise InputError(f"{cells} of {source.label} {hold} no count; n and m2 must be at least 0")
    if not classes:
        raise InputError(f"{source.label} has no cells of the classes themselves, whose feature is NULL")


def _resolved(engine: Engine, model: str | tuple[str, str] | Model) -> Model:
    if isinstance(model, Model):
        if not engine.shares(model._engine):
            named = "pass its name, or (database, name) of an attached database, or " if model.name else ""
            raise InputError(f"{model._title} is of another connection; {named}export it there and import it here")
        model._refresh()
        return model
    if isinstance(model, str):
        return load(engine, model)
    if isinstance(model, tuple) and len(model) == 2:
        return load(engine, model[1], database=model[0])
    raise InputError(f"a model to merge is a name, a pair (database, name) or a model, not {model!r}")


def import_(
    con: Connection,
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    replace: bool = False,
    database: str | None = None,
) -> Model:
    """The model that `Model.export` wrote to a file, with its calibration, if it had one.

    Raises:
        InputError: there is no such file, or it is none of a model.
        ModelError: the file is damaged or of a newer version of nbsql, or the name is taken.
    """
    with opened(con) as engine, engine.transaction():
        found = read_file(engine, os.fspath(path))
        rows = round(engine.ask("rows_learnt", engine.renderer.fragment("subquery", found.cells))[0][0])
        place = place_for(engine, name, database, replace=replace)
        entries = [Entry(1, "1", "import", os.fspath(path), rows)]
        plan, classes = place.derive(found.spec, found.cells, entries, weights=found.weights, origin=place.final)
        if found.calibration is not None:
            restore_calibration(engine, plan, classes, found.calibration)
        return place.publish(plan, classes)
