"""Models that travel: merged, and read from files."""

from __future__ import annotations

import os
from collections.abc import Sequence

from nbsql.calibration import restore_calibration
from nbsql.derived import derive, mergeable, read_file
from nbsql.engines.engine import Engine
from nbsql.errors import InputError
from nbsql.library import load
from nbsql.model import Model
from nbsql.places import Connection, opened, opened_for, place_for
from nbsql.plan import Entry


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
        con: a DuckDB connection, or the path of a database file.
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
        relations, replaces = place_for(engine, name, database, replace=replace)
        plan, classes = derive(engine, spec, cells, entries, relations, replaces, origin=found[0]._relations)
    return Model(engine, plan, classes, name)


def _resolved(engine: Engine, model: str | tuple[str, str] | Model) -> Model:
    if isinstance(model, Model):
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
    with opened_for(con, "nbsql.import_") as engine, engine.transaction():
        found = read_file(engine, os.fspath(path))
        rows = round(engine.ask("rows_learnt", engine.renderer.fragment("subquery", found.cells))[0][0])
        relations, replaces = place_for(engine, name, database, replace=replace)
        entries = [Entry(1, "1", "import", os.fspath(path), rows)]
        plan, classes = derive(
            engine, found.spec, found.cells, entries, relations, replaces, weights=found.weights, origin=relations
        )
        if found.calibration is not None:
            restore_calibration(engine, plan, classes, found.calibration)
    return Model(engine, plan, classes, name)
