"""Models by name: fitted, loaded, listed, and made of given probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from nbsql.engines.connect import Connection, lasting_relations, opened, relations_in
from nbsql.engines.steps import script
from nbsql.errors import ModelError
from nbsql.family import Estimate, Family, Nulls, Unseen, estimate_named
from nbsql.learning.fit import Fit
from nbsql.learning.half_life import refuse_half_life, weigh_by_age
from nbsql.learning.joins import join_source
from nbsql.model import Model, existing_plan, updated_at
from nbsql.model.place import key_columns, open_place, place_for
from nbsql.models.from_tables import build_model
from nbsql.plan import Statement
from nbsql.plan.classes import class_columns
from nbsql.spec.half_life import HalfLife
from nbsql.spec.join import Join
from nbsql.spec.method import Method
from nbsql.spec.options import Best, Forward, Naming, Options, Placing, PriorArgument, Segments, candidates
from nbsql.spec.resolve import resolve
from nbsql.spec.spec import Spec
from nbsql.storage import schema as schemas
from nbsql.tuning.auto import columns_to_choose, with_families
from nbsql.tuning.forward import select_forward

if TYPE_CHECKING:
    from typing_extensions import Unpack


def fit(
    con: Connection,
    source: Any,
    *,
    target: str,
    name: str | None = None,
    id: str | Sequence[str] = (),
    features: Sequence[str] | Best | Forward | None = None,
    exclude: Sequence[str] = (),
    joins: Sequence[Join] | Join = (),
    families: Literal["auto"] | Mapping[str, str | Family] | None = None,
    weight: str | HalfLife | None = None,
    method: Method = "naive",
    alpha: float | None = None,
    estimate: Estimate | Literal["map"] | None = None,
    prior: PriorArgument = "empirical",
    nulls: Nulls = "skip",
    unseen: Unseen = "skip",
    slice_by: str | None = None,
    segment_by: str | Segments | None = None,
    classes: Sequence[Any] | None = None,
    replace: bool = False,
    database: str | None = None,
) -> Model:
    """The model of `target` given the other columns of `source`, fitted where the data is.

    With a name, the model is a schema of the database: other processes, and the DuckDB shell, use it by
    `FROM name.predict('table')`. One transaction: the model is there whole, or nothing has changed.

    Args:
        con: a DuckDB connection, or the path of a database file; or a connection of psycopg's, or a postgresql:// address;
            or a SparkSession.
        source: table, view, SELECT text, and on DuckDB a file, a relation, a pandas, Polars or Arrow frame, or what else
            streams Arrow, which is read once and held; on Spark a DataFrame.
        target: the column of the class, of any scalar type. Rows where it is NULL are left out.
        name: of the model. None makes a transient model, for this connection only, also on a read-only database.
        id: key column or columns; they are no features and come back in `explain`.
        features: the feature columns; None takes every column that has no other role; `nbsql.Best(20)` those of them that tell
            most of the class, each by itself, `nbsql.Forward(20)` together.
        exclude: columns that are no features.
        joins: dimension tables that some features live in (`nbsql.Join`); the columns of their keys are no features, unless
            `features` names them. The model keeps them, and joins by itself what it scores or learns later.
        families: overrides of the inferred families, by column: a name ("poisson") or an instance (`nbsql.Gaussian()`).
            A family over several columns is named by its key: {"words": nbsql.Multinomial(["w1", "w2"])}. "auto", for all or
            for some, chooses by cross-validated log loss, as `nbsql.auto` does, and leaves no column out.
        weight: column of row weights, at least 0; a weight w counts as w copies of the row. `nbsql.HalfLife("30 days",
            at="day")` halves what a row counts with every 30 days of its age.
        method: "naive"; "joint", which counts equal rows (`nbsql.JointBayes`); "lda" or "qda", linear or quadratic discriminant
            analysis (`nbsql.LDA`, `nbsql.QDA`); "tan", a tree of categories that depend on each other (`nbsql.TAN`);
            "aode", which has each of them depend on every other in turn (`nbsql.AODE`);
            "logistic", weights that are learnt (`nbsql.Logistic`); "em", which learns of rows without a class too (`nbsql.EM`).
            A word stands for the defaults, and an instance has options, `nbsql.Logistic(penalty=2)`. `nbsql.Mixture(2)` splits
            every class in two.
        alpha: pseudo-count of additive smoothing; 0 is the maximum-likelihood estimate. None is 1, and 0 for the joint method
            and for "mle".
        estimate: what every parameter is taken to be, where its family does not say: the "mean" of its posterior distribution
            (None, too), the "mode" (or "map"), its most probable value, or "mle", the maximum-likelihood estimate. It is of the
            smoothed prior, too.
        prior: "empirical" n_c / N, "uniform" 1 / C, "smoothed" (n_c + a) / (N + a C) with a = alpha, or another a by
            `nbsql.Smoothed(a)`, or {label: probability}.
        nulls: "skip" leaves a missing value out of counts and score, "category" makes it a value of its own, "error" refuses.
        unseen: a value never met in training is skipped, or has the likelihood of a count of 0 ("smooth").
        slice_by: a SQL expression over the columns, such as "date_trunc('month', sent_at)"; statistics are kept by its value.
        segment_by: a SQL expression over the columns, such as "region": a model a segment, by which its rows are scored. Rows
            of a segment never met, or of none, are scored by the model of all rows. A column given so is no feature.
            `nbsql.Segments("region", shrinkage=3)` says how far a segment leans on the whole; with 0 each is estimated from its
            own rows, but for the values of categories, which are those of all segments.
        classes: all labels that there may be, those still to come too; a row of another one is refused, by `update` as well. A
            class that no row has yet has the prior that `prior` gives a count of 0, and of every feature the limit of
            smoothing. None: those that the rows have.
        replace: whether to replace an existing model of that name.
        database: the attached database to store the model in; None is the current one.

    Raises:
        InputError: an argument or the data cannot be used.
        ModelError: the name is taken.
        DatabaseError: the database is locked, read-only or refuses a statement.
        NotSupportedError: PostgreSQL or Spark does not have what is asked for, or not yet.

    >>> import duckdb
    >>> con = duckdb.connect()
    >>> data = "SELECT * FROM (VALUES ('sunny', 'no'), ('rain', 'yes'), ('rain', 'yes')) AS t(outlook, play)"
    >>> fit(con, data, target="play").predict("SELECT 'rain' AS outlook").fetchall()
    [('rain', 'yes', 0.8181818181818181)]
    """
    columns, given = columns_to_choose(families or {})
    options = Options(
        target=target, features=features, exclude=exclude or (), joins=joins, families=given, id=id, weight=weight,
        method=method, alpha=alpha, estimate=estimate_named(estimate), prior=prior, nulls=nulls, unseen=unseen,
        slice_by=slice_by, segment_by=segment_by, classes=classes,
    )  # fmt: skip
    with opened(con, create=True) as engine, engine.transaction():
        place = place_for(engine, name, database, replace=replace)
        found = join_source(engine, weigh_by_age(engine, engine.source(source), target, weight), joins)
        try:
            place.check_joins(joining.dimension for joining in found.joins)
            if columns is None or columns:
                refuse_half_life({"weight": weight})
                options = with_families(engine, found, options, columns)
            task = Fit(engine, found, options, place.relations)
            if isinstance(features, Forward):
                task.spec = select_forward(engine, found, task.spec, features)
            return place.publish(*task.run(replaces=place.replaces))
        finally:
            found.release()


def fit_sql(con: Connection, source: Any, *, target: str, name: str = "model", **options: Unpack[Placing]) -> str:
    """The statements that `fit` would run, as one text: a script, which makes the model whole or not at all.

    Takes the arguments of `fit`; with `replace` the script takes the place of the model of that name, whenever it is run. Reads
    the classes of the source and writes nothing.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
    >>> print(nbsql.fit_sql(duckdb.connect(), data, target="play", name="weather")[:17])
    BEGIN TRANSACTION
    """
    asked = Options.of(target, options, beside=("classes", "replace", "database"))
    with opened(con, close=True) as engine:
        database = engine.database(options.get("database"))
        relations = relations_in(engine, database, name)
        first = []
        if options.get("replace"):
            schemas.check_new_name(engine, database, name, replace=True)
            existing = engine.schema(database, name)
            if existing is not None:
                schemas.check_contents(engine, database, existing, existing)
            first.append(Statement("drop schema", engine.renderer.statement("drop_schema_if_exists", relations.schema)))
        found = join_source(engine, weigh_by_age(engine, engine.source(source), target, asked.weight), asked.joins)
        try:
            return script(engine, [*first, *Fit(engine, found, asked, relations).statements()])
        finally:
            found.release()


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
        relations = lasting_relations(engine, where, schema)
        stamp = updated_at(engine, relations)
        rows = engine.ask("spec_text", relations["spec"])
        if len(rows) != 1:
            raise ModelError(
                f"model {schema!r} is damaged: its table 'spec' has {len(rows)} rows; fit it again with replace=True"
            )
        plan = existing_plan(engine, Spec.from_json(rows[0][0], schema), relations)
        return Model(engine, plan, class_columns(engine.rows(plan.class_order())), schema, stamp=stamp)


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


def families(con: Connection, source: Any, *, target: str, **options: Unpack[Naming]) -> dict[str, Family]:
    """The families that `fit` with these arguments would give to the features, without fitting.

    >>> import duckdb
    >>> found = families(duckdb.connect(), "SELECT 1.5 AS x, 'a' AS y, TRUE AS z", target="y")
    >>> {name: str(family) for name, family in found.items()}
    {'x': 'gaussian', 'z': 'bernoulli'}
    """
    asked = Options.of(target, options, beside=("classes", "name", "replace", "database"))
    with opened(con, close=True) as engine:
        found = join_source(engine, weigh_by_age(engine, engine.source(source), target, asked.weight), asked.joins)
        try:
            spec = resolve(found.columns, candidates(asked)[0], found.label)
        finally:
            found.release()
    return {feature.name: feature.family for feature in spec.features}


def from_tables(
    con: Connection,
    *,
    priors: Any,
    likelihoods: Any = None,
    families: Mapping[str, str | Family] | None = None,
    logarithms: bool = False,
    target: str = "class",
    id: str | Sequence[str] = (),
    name: str | None = None,
    replace: bool = False,
    database: str | None = None,
) -> Model:
    """The model of given probabilities: what an expert, a book or another system knows. Nothing is estimated.

    It predicts, explains and evaluates as others do, in SQL too; it cannot learn, as it has no counts. A value without a
    likelihood in any class is left out of the score; one without a likelihood in some classes has 0 there.

    Args:
        con: a connection, session, path or address, as `nbsql.fit` takes it.
        priors: {class: probability}, or a relation or frame with the columns class and prior.
        likelihoods: {class: {feature: {value: likelihood}}}; for numbers {"mean": m, "variance": v} or {"rate": r}; a tuple of
            columns is a feature whose values are tuples, or with {"mean": [...], "covariance": [[...], ...]} one of several
            numbers. Or a relation or frame with the columns class, feature, and value and likelihood, or mean and variance, or
            rate, such as `Model.likelihoods` has; a list as value is one of `nbsql.Joint`, and a pair of columns,
            '["a","b"]', one whose variance is their covariance.
        families: of features that are not categorical (values), Gaussian (mean and variance) or Poisson (rate).
        logarithms: the likelihoods of values are natural logarithms, of any sign: of densities, or weights of another library.
            Of a relation the column log_likelihood has them, which is read where it has no likelihood, too.
        target: what the predicted column is called in rows whose class is known.
        id: key column or columns, which come back in `explain`.
        name: the name of the model; None makes a transient model.
        replace: whether to replace an existing model of that name.
        database: the attached database to store the model in; None is the current one.

    Raises:
        InputError: a number is no probability, the priors do not sum to 1, or a class lacks a feature.
        ModelError: the name is taken.

    >>> import duckdb
    >>> day = {"yes": {"wind": {"weak": 0.75, "strong": 0.25}}, "no": {"wind": {"weak": 0.5, "strong": 0.5}}}
    >>> model = from_tables(duckdb.connect(), priors={"yes": 0.5, "no": 0.5}, likelihoods=day)
    >>> model.predict("SELECT 'weak' AS wind").fetchall()[0][:2]
    ('weak', 'yes')
    """
    ids = key_columns(id)
    with open_place(con, name, database, replace=replace) as place:
        return build_model(place, priors, likelihoods, families or {}, target, ids, logarithms=logarithms)
