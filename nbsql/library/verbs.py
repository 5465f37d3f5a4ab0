"""Models by name: fitted, loaded, listed and dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace as changed
from typing import TYPE_CHECKING, Any, Literal

from nbsql.engines.connect import Connection, lasting_relations, opened, relations_in
from nbsql.engines.steps import script
from nbsql.errors import in_words, suggestion
from nbsql.evaluation.hopeless import hopeless
from nbsql.evaluation.learnt import remember
from nbsql.family import Family
from nbsql.learning.fit import fit as fit_source
from nbsql.learning.fit import fit_statements
from nbsql.learning.half_life import refuse_half_life
from nbsql.learning.joins import refuse_temporary, training_source
from nbsql.learning.look import advice_of_look
from nbsql.model import Model
from nbsql.model.destination import destination_for
from nbsql.plan import Statement
from nbsql.queries.query import Query
from nbsql.spec.features import looks_at_values
from nbsql.spec.keywords import FitOptions, ModelOptions, SmoothedOptions, UnnamedFitOptions
from nbsql.spec.option_hints import option_hint
from nbsql.spec.options import Options, Target, candidate_options
from nbsql.spec.resolve import resolve
from nbsql.spec.signature import shows_options
from nbsql.storage import schema as schemas
from nbsql.storage.state import read_state
from nbsql.tuning.families import columns_to_choose, with_families
from nbsql.warn import warn_user

if TYPE_CHECKING:
    from typing_extensions import Unpack


@shows_options(SmoothedOptions)
def fit(
    con: Connection,
    source: Any,
    *,
    target: str | Target | None,
    name: str | None = None,
    families: Literal["auto"] | Mapping[str, str | Family] | None = None,
    replace: bool = False,
    database: str | None = None,
    **options: Unpack[SmoothedOptions],
) -> Model:
    """The model of `target` given the other columns of `source`, fitted where the data is.

    With a name, the model is a schema of the database: other processes, and the DuckDB shell, use it as
    `FROM name.predict('table')`. The fit is one transaction: either the whole model exists afterwards, or nothing has
    changed.

    Args:
        con: a DuckDB connection, or the path of a database file; or a psycopg connection, or a postgresql:// address; or a
            SparkSession.
        source: a table, view or SELECT text; on DuckDB also a file, a relation, a pandas, Polars or Arrow frame, or anything
            else that streams Arrow, which is read once and kept; on Spark also a DataFrame.
        target: the column that holds the class, of any scalar type. Rows where it is NULL are left out.
            `nbsql.Target("day", classes=["dry", "wet", "snow"])` also names all possible labels, including those that no row
            has yet. None makes a model of all rows as one class, which finds `Model.unusual` rows; values that were never seen
            are then smoothed, unless `unseen` says otherwise.
        name: the name of the model. None makes a transient model for this connection only, even on a read-only database. It
            is dropped when neither the model nor a query of it is held any more.
        families: families that override the inferred ones, by column: a name ("poisson") or an instance (`nbsql.Gaussian()`).
            A family over several columns is named by its key: {"words": nbsql.Multinomial(["w1", "w2"])}. "auto", for all
            columns or for some, chooses by cross-validated log loss, as `nbsql.auto` does, and leaves no column out.
        options: each of them.
        replace: whether to replace an existing model of that name.
        database: the attached database to store the model in; None is the current one.

    Raises:
        InputError: an argument or the data cannot be used.
        ModelError: the name is taken.
        DatabaseError: the database is locked, read-only or refuses a statement.
        NotSupportedError: PostgreSQL or Spark does not support what is asked for, or not yet.

    >>> import duckdb
    >>> con = duckdb.connect()
    >>> data = "SELECT * FROM (VALUES ('sunny', 'no'), ('rain', 'yes'), ('rain', 'yes')) AS t(outlook, play)"
    >>> fit(con, data, target="play").predict("SELECT 'rain' AS outlook").fetchall()
    [('rain', 'yes', 0.8181818181818181)]
    """
    columns, given = columns_to_choose({} if families is None else families)
    known = SmoothedOptions.__optional_keys__
    for argument in options.keys() - known:  # as Python says
        hint = option_hint(argument, options) or suggestion(argument, known)
        raise TypeError(in_words(f"fit() got an unexpected keyword argument {argument!r}{hint}"))
    settings = Options.of(target, {**options, "families": given})
    with opened(con, create=True) as engine, engine.transaction(name):
        place = destination_for(engine, name, database, replace=replace)
        with training_source(engine, source, settings) as data:
            refuse_temporary((joining.dimension for joining in data.joins), place.final)
            asked = settings
            if columns is None or columns:
                refuse_half_life(options)
                settings = with_families(engine, data, settings, columns)
            model = place.publish(*fit_source(engine, data, settings, place.relations, replaces=place.replaces, asked=asked))
            remember(model.state, data)
            if looks_at_values(settings) and (line := hopeless(model.state, data)) is not None:
                warn_user(line)
            return model


@shows_options(ModelOptions)
def classify(
    con: Connection,
    train: Any,
    new: Any,
    *,
    target: str | Target,
    columns: Sequence[str] | None = None,
    **options: Unpack[ModelOptions],
) -> Query:
    """The rows of `new` with `prediction` and `probability`, as `train` teaches them: `fit` and `predict` in one call.

    The model is transient, even on a read-only database, and is dropped with the query.

    Args:
        con: as for `fit`.
        train: rows whose class is known, as the source of `fit`.
        new: the rows to predict, as the source of `Model.predict`.
        target: the column of `train` that holds the class. Rows where it is NULL are left out.
        columns: the columns of `new` to return; [] returns none of them, None all.
        options: each of them.

    Raises:
        InputError: an argument or the data cannot be used.

    >>> import duckdb
    >>> data = "SELECT * FROM (VALUES ('sunny', 'no'), ('rain', 'yes'), ('rain', 'yes')) AS t(outlook, play)"
    >>> classify(duckdb.connect(), data, "SELECT 'rain' AS outlook", target="play").fetchall()
    [('rain', 'yes', 0.8181818181818181)]
    """
    return fit(con, train, target=target, **options).predict(new, columns=columns)


@shows_options(UnnamedFitOptions)
def fit_sql(
    con: Connection, source: Any, *, target: str | Target | None, name: str = "model", **options: Unpack[UnnamedFitOptions]
) -> str:
    """The statements that `fit` would run, as one script, which creates the model entirely or not at all.

    It takes the arguments of `fit`, but families follow from the types of the columns; a warning names those that a look at the
    values suggests. With `replace`, the script replaces an existing model of that name whenever it is run.
    `fit_sql` reads the classes of the source and writes nothing.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
    >>> print(nbsql.fit_sql(duckdb.connect(), data, target="play", name="weather")[:17])
    BEGIN TRANSACTION
    """
    settings = Options.of(target, options, beside=("replace", "database"))
    with opened(con, close=True) as engine:
        database = engine.database(options.get("database"))
        relations = relations_in(engine, database, name)
        render, first = engine.renderer.statement, []
        if options.get("replace"):
            schemas.check_new_name(engine, database, name, replace=True)
            existing = engine.schema(database, name)
            if existing is not None:
                schemas.check_contents(engine, database, existing, existing)
            first.append(Statement("drop schema", render("drop_schema_if_exists", relations.schema)))
        else:
            message = engine.in_words(schemas.taken(name))
            if check := render("check_new", None if database == engine.current()[0] else database, name, message):
                first.append(Statement("check that the model is new", check))
        with training_source(engine, source, changed(settings, infer="types")) as data:
            if (advice := advice_of_look(engine, data, settings)) is not None:
                warn_user(advice)
            statements = [*first, *fit_statements(engine, data, changed(settings, infer="types"), relations)]
            return script(engine, statements, name if options.get("replace") else None)


def load(con: Connection, name: str, *, database: str | None = None) -> Model:
    """The model of that name.

    Raises:
        ModelError: there is no such model, or it is damaged or of a newer version of nbsql.

    >>> import duckdb
    >>> con = duckdb.connect()
    >>> golf = fit(con, "SELECT * FROM (VALUES ('sun', 'no'), ('rain', 'yes')) AS t(sky, play)", target="play", name="golf")
    >>> load(con, "golf").families["sky"].alpha
    1.0
    """
    with opened(con) as engine:
        where = engine.database(database)
        schema = schemas.find(engine, where, name)
        if (owner := engine.foreign_owner(schema)) is not None:
            warn_user(
                f"model {schema!r} belongs to {owner!r}, whose functions run with your rights when you use it; "
                "load only models of roles that you trust"
            )
        return Model(read_state(engine, lasting_relations(engine, where, schema), schema))


def models(con: Connection, *, database: str | None = None) -> list[str]:
    """The names of the models in a database.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
    >>> con = duckdb.connect()
    >>> _ = nbsql.fit(con, data, target="play", name="weather")
    >>> nbsql.models(con)
    ['weather']
    """
    with opened(con, close=True) as engine:
        return schemas.model_names(engine, engine.database(database))


def drop(con: Connection, name: str, *, database: str | None = None) -> None:
    """Remove the model of that name, also one that is damaged or of another version of nbsql, which cannot be loaded.

    Raises:
        ModelError: there is no such model, or its schema holds something that nbsql did not make.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
    >>> con = duckdb.connect()
    >>> _ = nbsql.fit(con, data, target="play", name="weather")
    >>> nbsql.drop(con, "weather")
    >>> nbsql.models(con)
    []
    """
    with opened(con, close=True) as engine, engine.transaction(name):
        where = engine.database(database)
        schema = schemas.find(engine, where, name, complete=False)
        engine.check_in_script(where, schema, f"there is no model {schema!r}", exists=True)
        schemas.drop_schema(engine, where, schema)


class InferredFamilies(dict[str, Family]):
    """Families by feature, and in `why` what those were inferred from that follow from the values of their columns.

    >>> data = "SELECT i % 2 AS y, i % 5 AS x FROM range(600) AS r(i)"
    >>> import duckdb
    >>> families(duckdb.connect(), data, target="y").why
    {'x': '5 whole numbers'}
    """

    why: Mapping[str, str]


@shows_options(FitOptions)
def families(con: Connection, source: Any, *, target: str | Target | None, **options: Unpack[FitOptions]) -> InferredFamilies:
    """The families that `fit` would give to the features with these arguments, without fitting; `why` says what suggests them.

    >>> import duckdb
    >>> found = families(duckdb.connect(), "SELECT 1.5 AS x, 'a' AS y, TRUE AS z", target="y")
    >>> {name: str(family) for name, family in found.items()}
    {'x': 'gaussian', 'z': 'bernoulli'}
    """
    settings = Options.of(target, options, beside=("name", "replace", "database"))
    with opened(con, close=True) as engine, training_source(engine, source, settings) as data:
        spec = resolve(data.columns, candidate_options(settings)[0], data.label)
    found = InferredFamilies({feature.name: feature.family for feature in spec.features})
    found.why = {feature.name: feature.why for feature in spec.features if feature.why}
    return found
