"""Models that move: merged, built from statistics, and imported from files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from nbsql.engines.connect import Connection, opened
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, path_text
from nbsql.evaluation.learnt import have_same_counts
from nbsql.learning.derive import merge_specs
from nbsql.learning.follow import learn_changes
from nbsql.learning.half_life import check_gaps
from nbsql.library.spec_from_cells import CountsOptions, spec_of_cells
from nbsql.library.verbs import load
from nbsql.model import Model
from nbsql.model.destination import destination_for
from nbsql.plan import Entry
from nbsql.rendering.dialect import folded
from nbsql.spec.spec import Spec
from nbsql.storage.calibration import restore_calibration
from nbsql.storage.files import read_file
from nbsql.storage.state import ModelState
from nbsql.warn import warn_user

if TYPE_CHECKING:
    from typing_extensions import Unpack


def merge(
    con: Connection,
    models: Sequence[str | tuple[str, str] | Model],
    *,
    name: str | None = None,
    replace: bool = False,
    database: str | None = None,
) -> Model:
    """One model of all that several models have learnt, as if it were fitted on all their rows. Only counts move, no rows.

    Args:
        con: a connection, session, path or address, as `nbsql.fit` takes it.
        models: their names; (database, name) for a model in an attached database; or models of this connection.
        name: the name of the new model; None makes a transient model.
        replace: whether to replace an existing model of that name, which may be one of those merged.
        database: the attached database to store the model in; None is the current one.

    Raises:
        InputError: a model is named twice, so that its rows would count twice.
        ModelError: the models do not have the same target and features, or the name is taken.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
    >>> con = duckdb.connect()
    >>> sites = [nbsql.fit(con, data, target="play", name=name) for name in ("north", "south")]
    >>> both = nbsql.merge(con, ["north", "south"], name="both")
    >>> sum(n for _, n, *_ in both.priors)
    8.0
    """
    if isinstance(models, str) or not isinstance(models, Sequence) or not models:
        raise InputError(f"merge takes a list of models, such as ['january', 'february'], not {models!r}")
    with opened(con) as engine, engine.transaction(name):
        resolved = [_resolve_model(engine, model) for model in models]
        spec = merge_specs([(model.title, model.spec) for model in resolved])
        statistics = [model.relations["statistics"] for model in resolved]
        for number, model in enumerate(resolved):
            if statistics[number] in statistics[:number]:
                raise InputError(f"merge would count the rows of {model.title} twice; name each model once")
        names = [str(model.name or f"model {number}") for number, model in enumerate(resolved, start=1)]
        batches = [batch if names.count(batch) == 1 else f"{batch} ({number})" for number, batch in enumerate(names, start=1)]
        cells = engine.renderer.fragment("merged_cells", list(zip(statistics, batches, strict=True)))
        if spec.half_life is not None:
            slices = engine.renderer.subquery("slices", engine.renderer.fragment("subquery", cells))
            check_gaps(engine, spec.half_life, slices, "the merged models")
        entries = [
            Entry(number, batch, "merge", model.title, round(engine.query_value("rows_learnt", cell)))
            for number, (batch, model, cell) in enumerate(zip(batches, resolved, statistics, strict=True), start=1)
        ]
        parts = [(entry.rows, relation) for entry, relation in zip(entries, statistics, strict=True)]
        for one, other in combinations(range(len(parts)), 2):
            if have_same_counts(engine, parts[one], parts[other]):
                warn_user(
                    f"models {one + 1} and {other + 1} of those to merge have the same counts in each class and value: if they "
                    "have learnt the same rows, the merged model counts them twice; leave one of them out"
                )
        place = destination_for(engine, name, database, replace=replace)
        return place.publish(*place.derive(spec, cells, entries, origin=resolved[0].relations))


def from_statistics(
    con: Connection,
    statistics: Any,
    *,
    like: str | Model | None = None,
    name: str | None = None,
    replace: bool = False,
    database: str | None = None,
    **options: Unpack[CountsOptions],
) -> Model:
    """The model of counts from elsewhere, as if it were fitted on the rows there. Only counts move, no rows.

    It is a model like any other, which can also learn and forget. Without `like`, the family of a feature is inferred from
    its cells: means with sums of squares are Gaussian, true and false Bernoulli, other values categorical. The counts of
    `ad_hoc.sql` have a column kind that names the family, words included.

    Args:
        con: a connection, the path of a DuckDB file, or the address of a PostgreSQL server.
        statistics: a relation or frame with the columns class, feature, value, n, mean and m2: the result of
            `Model.sql("statistics", ..., dialect=...)`, the `statistics` of a model, or the counts of `ad_hoc.sql`. Cells of
            the classes themselves have no feature.
        like: the model that wrote the query, or its name: the new model has its features and options.
        name: the name of the new model; None makes a transient model.
        replace: whether to replace an existing model of that name, which may be `like`.
        database: the attached database to store the model in; None is the current one.
        options: without `like`: target, the name of the predicted column ("class"); and families, id, weight, alpha,
            estimate, prior, nulls and unseen, as `nbsql.fit` takes them.

    Raises:
        InputError: a column is missing, a cell does not belong to such a model, or it is unclear what a feature's cells are.
        ModelError: the model `like` does not follow from counts, or the name is taken.

    >>> import duckdb, nbsql
    >>> con = duckdb.connect()
    >>> days = "FROM (VALUES ('sun', 'dry'), ('rain', 'wet'), ('rain', 'wet')) AS t(sky, day)"
    >>> _ = con.execute(f"CREATE TABLE days AS {days}")
    >>> model = nbsql.fit(con, "SELECT * FROM days LIMIT 2", target="day")
    >>> cells = con.sql(model.sql("statistics", "days", dialect="duckdb"))  # as if run elsewhere
    >>> from_statistics(con, cells, like=model).predict("SELECT 'rain' AS sky").fetchall()
    [('rain', 'wet', 0.8181818181818181)]
    >>> from_statistics(con, cells, target="day", alpha=0.5).predict("SELECT 'rain' AS sky").fetchall()
    [('rain', 'wet', 0.8695652173913044)]
    """
    if like is not None and options:
        raise InputError(f"⟨like=...⟩ brings the options of its model; leave out {', '.join(f'⟨{name}⟩' for name in options)}")
    with opened(con, create=like is None) as engine, engine.transaction(name):
        spec_and_title = None if like is None else _countable_spec(engine, like)
        with engine.source(statistics) as source:
            _check_columns(source)
            spec, title = spec_and_title or (spec_of_cells(engine, source, options), "the model")
            _check_cells(engine, spec, source, title)
            render = engine.renderer.fragment
            cells = render("cells_counted_elsewhere", source.relation, engine.renderer.dialect.query(spec.target_type))
            rows = round(engine.query_value("rows_learnt", render("subquery", cells)))
            place = destination_for(engine, name, database, replace=replace)
            return place.publish(*place.derive(spec, cells, [Entry(1, "1", "import", source.label, rows)]))


def _countable_spec(engine: Engine, like: str | Model) -> tuple[Spec, str]:
    """The spec of a model that follows from counts, and its name in messages."""
    from nbsql.queries.standalone.statistics import check_countable  # imports sqlglot, which takes long

    state = learn_changes(like.state.refreshed() if isinstance(like, Model) else load(engine, like).state)
    check_countable(state.spec, state.title)
    return state.spec, state.title


def _check_columns(source: Source) -> None:
    """Raise InputError unless a source has the columns of cells."""
    names = {folded(column.name) for column in source.columns}
    for column in ("class", "feature", "value", "n", "mean", "m2"):
        if column not in names:
            raise InputError(f"no column {column!r} in {source.label}; a cell has class, feature, value, n, mean and m2")


def _check_cells(engine: Engine, spec: Spec, source: Source, title: str) -> None:
    """Raise InputError unless a source holds the cells of a model."""
    unknown, wrong, _, classes, _ = engine.query_macro("summary_of_cells", source.relation, spec.features)[0]
    if unknown is not None:
        raise InputError(f"{source.label} has cells of {unknown!r}, which is no feature of {title}")
    if wrong:
        cells, hold = ("1 cell", "holds") if wrong == 1 else (f"{wrong} cells", "hold")
        raise InputError(f"{cells} of {source.label} {hold} no count; n and m2 must be at least 0")
    if not classes:
        raise InputError(f"{source.label} has no cells of the classes themselves, whose feature is NULL")


def _resolve_model(engine: Engine, model: str | tuple[str, str] | Model) -> ModelState:
    if isinstance(model, Model):
        if not engine.shares(model.state.engine):
            named = "pass its name, or (database, name) of an attached database, or " if model.name else ""
            raise InputError(f"{model.state.title} is of another connection; {named}export it there and import it here")
        return learn_changes(model.state.refreshed())
    if isinstance(model, str):
        return learn_changes(load(engine, model).state)
    if isinstance(model, tuple) and len(model) == 2:
        return learn_changes(load(engine, model[1], database=model[0]).state)
    raise InputError(f"a model to merge is a name, a pair (database, name) or a model, not {model!r}")


def import_(
    con: Connection,
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    replace: bool = False,
    database: str | None = None,
) -> Model:
    """The model that `Model.export` wrote to a file, on any engine, with its calibration if it had one.

    Nothing in the file is executed: it is read as types, names and values. An expression in it (`slice_by`, `segment_by`) may
    use only the columns of a row and well-known functions.

    Raises:
        InputError: there is no such file, it is not the file of a model, it has an expression that is not allowed, or it
            joins tables of another engine.
        ModelError: the file is damaged or of a newer version of nbsql, the name is taken, or it has labels or categories that
            the types of this engine cannot tell apart.
        NotSupportedError: it has columns of a type that this engine does not have.

    >>> import duckdb, nbsql, tempfile
    >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     nbsql.fit(duckdb.connect(), data, target="play").export(f"{folder}/weather.parquet")
    ...     nbsql.import_(duckdb.connect(), f"{folder}/weather.parquet", name="weather").classes
    ['no', 'yes']
    """
    text = path_text(path)
    return import_file(con, text, text, name=name, replace=replace, database=database)


def import_file(con: Connection, path: str, title: str, *, name: str | None, replace: bool, database: str | None) -> Model:
    """As `import_`, of a file that the ledger calls `title`."""
    with opened(con, create=True) as engine, engine.transaction(name):
        content = read_file(engine, path)
        place = destination_for(engine, name, database, replace=replace)
        entries = [Entry(1, "1", "import", ", ".join([title, *content.spec.shared]), content.rows)]
        plan, classes = place.derive(content.spec, content.cells, entries, weights=content.weights, origin=place.final)
        if content.calibration is not None:
            plan = restore_calibration(engine, plan, classes, content.calibration)
        return place.publish(plan, classes)
