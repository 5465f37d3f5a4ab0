"""`nbsql fit`: fits a model, and shows the family of each column."""

from collections.abc import Mapping, Sequence
from typing import Any

import click
import duckdb

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import FEATURES, Form, describe, with_formats
from nbsql.cli.families import AUTO
from nbsql.cli.fit_options import TARGET_OR_NONE, takes
from nbsql.cli.method_options import METHOD_OPTIONS, classifier_of
from nbsql.cli.options import command
from nbsql.cli.session import check_new_database, open_for_reading, open_for_writing, or_memory, show_warnings
from nbsql.engines.duckdb.engine import DuckDB
from nbsql.engines.engine import Engine
from nbsql.model.overview import ROWS, classes_of, heading, weighted_features
from nbsql.spec.half_life import HalfLife
from nbsql.spec.options import Best, Segments, Smoothed
from nbsql.tuning.families import with_auto

# The options that are arguments of the value of another option, among them those of methods.
_ARGUMENTS = {*METHOD_OPTIONS, "more_families", "best", "best_by", "prior_alpha", "segment_shrinkage", "half_life", "at"}


@command("Fit a model to a table and store it in the database.", takes(nbsql.fit, target=TARGET_OR_NONE))
@with_formats(csv=FEATURES, sql="Print the statements instead of running them.")
def fit(
    database: str, source: str, *, name: str, target: str | None, no_target: bool, replace: bool, form: Form, **given: Any
) -> None:
    """Fit a model that predicts the column --target of SOURCE, and store it in DATABASE as the schema --name.

    A target and a name are enough: each other column is a feature, with a family chosen by a look at its values, and keys are
    left out. If the fit fails, the database is unchanged.

    \b
      nbsql fit shop.duckdb customers --target churned --name churn --id customer_id
      nbsql fit mail.duckdb mail.csv --target label --name spam --family 'body=text(stop_words=english)'
    """
    check_new_database(database, source)
    if (target is None) != no_target:
        raise click.UsageError("name the column to predict, --target COLUMN, or say --no-target")
    classes = given.pop("classes")
    options = {"target": None if target is None else nbsql.Target(target, classes), **chosen(given)}
    if form == "sql":
        with open_for_reading(or_memory(database)) as engine:  # a missing database counts as an empty one
            tables.sql(nbsql.fit_sql(engine, source, name=name, replace=replace, **options))
        return
    with open_for_writing(database) as engine:
        with show_warnings(engine):
            model = nbsql.fit(engine, source, name=name, replace=replace, **options)
        report(engine, database, model, form)
        if form == "table":
            _suggest_commands(engine, database, model, source)


def chosen(given: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments of a fit from the options of a command."""
    options = {name: value for name, value in given.items() if name not in _ARGUMENTS}
    features = list(given["features"]) or None
    if given["best_by"] is not None and given["best"] is None:
        raise click.UsageError("--best-by goes with --best N, whose features it ranks")
    if given["best"] is not None:
        options["features"] = Best(given["best"], by=given["best_by"] or "mutual_information", among=features)
    else:
        options["features"] = features
    options["method"] = classifier_of(given)
    if (given["half_life"] is None) != (given["at"] is None):
        raise click.UsageError("--half-life goes with --at, the column of when a row was")
    if given["half_life"] is not None:
        options["weight"] = HalfLife(given["half_life"], at=given["at"], weight=given["weight"])
    (options["prior"],) = smoothed([given["prior"]], given.get("prior_alpha"))
    if (shrinkage := given.get("segment_shrinkage")) is not None:
        if given["segment_by"] is None:
            raise click.UsageError("--segment-shrinkage goes with --segment-by, which makes the segments")
        options["segment_by"] = Segments(given["segment_by"], shrinkage=shrinkage)
    families, more = dict(given["families"]), given.get("more_families") or {}
    if given.get("more_families") == AUTO:
        if click.get_current_context().command.name != "fit":
            raise click.UsageError("--families auto is of fit; nbsql auto shows what it tries")
        return {**options, "families": with_auto(families), "derive": dict(given["derive"])}
    options["missing"] = [*more.get("missing", ()), *given["missing"]]
    several = {"families": families, "derive": dict(given["derive"])}
    return {**options, **{name: {**more.get(name, {}), **values} for name, values in several.items()}}


def smoothed(priors: Sequence[Any], alpha: float | None) -> list[Any]:
    """The priors, with the pseudo-count in those that are smoothed."""
    if alpha is not None and "smoothed" not in priors:
        raise click.UsageError("--prior-alpha is of --prior smoothed")
    return [Smoothed(alpha) if prior == "smoothed" and alpha is not None else prior for prior in priors]


def report(engine: Engine, database: str, model: nbsql.Model, form: Form = "table") -> None:
    """Print the inferred families, and the number of rows; nothing if the SQL is printed instead."""
    if form != "table":
        if form != "sql":
            describe(engine, form, database, model)
        return
    tables.echo(heading(f"model {model.name} in {database}", model.state.spec), "")
    features = weighted_features(model.state)
    if features.rows:
        tables.table(features.columns, features.rows[:ROWS], right=features.right, indent=2)
        if len(features.rows) > ROWS:
            more = tables.command("show", database, str(model.name), "--families")
            tables.echo(f"  … and {len(features.rows) - ROWS} more: {more}")
        tables.echo("")
    classes(model)


def classes(model: nbsql.Model) -> None:
    """Print the classes, the most probable first."""
    found = classes_of(model.state)
    tables.table(found.columns, found.rows[:ROWS], right=found.right, indent=2)
    if len(found.rows) > ROWS:
        tables.echo(f"  … and {len(found.rows) - ROWS} more")


def _suggest_commands(engine: Engine, database: str, model: nbsql.Model, source: str) -> None:
    name, dialect = str(model.name), engine.renderer.dialect
    command, macro = ("predict", "predict") if model.state.spec.has_target else ("unusual", "log_evidence")
    table = "your_table" if " " in source.strip() or "." in source or source == "-" else source
    if isinstance(engine, DuckDB):
        schema, asked = (dialect.query(name) if _plain(engine, name) else dialect.ident(name)), dialect.text(table)
    else:
        schema, asked = (dialect.query(engine.query_value("quoted_name", word)) for word in (name, table))
    in_sql = engine.renderer.statement("example_call", schema, asked, macro)
    tables.echo(
        "",
        "next:",
        f"  {tables.command(command, database, name, source)}",
        f"  {tables.command('explain', database, name, source, '--row', '1')}",
        f"  {in_sql};    -- in SQL, from any client of {engine.title}",
    )


def _plain(engine: DuckDB, name: str) -> bool:
    """Whether a name needs no quotes in SQL."""
    if not name.isidentifier():
        return False
    try:
        engine.connection.extract_statements(f"FROM {name}.predict('x')")
    except duckdb.ParserException:
        return False
    return True
