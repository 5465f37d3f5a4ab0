"""`nbsql show`, `nbsql list` and `nbsql drop`: show and remove the models of a database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import Form, objects, print_done, print_value, with_formats
from nbsql.cli.description import FEATURES, describe, feature_rows, spec_of, whole
from nbsql.cli.files import write
from nbsql.cli.fit import report
from nbsql.cli.session import open_for_reading, open_for_writing, record_statements
from nbsql.engines.engine import Engine
from nbsql.engines.postgres.address import without_passwords
from nbsql.errors import ModelError
from nbsql.model.overview import history, options_text

_ROWS = 40  # the default number of rows of likelihoods
_SIZES = ("classes", "features", "rows")  # the columns of sizes in the list of models


@click.command(short_help="Show a model: its features, classes, priors and likelihoods.")
@click.argument("database")
@click.argument("model")
@click.option("--families", is_flag=True, help="Show every feature with its family and all its options.")
@click.option("--priors", is_flag=True, help="Show the classes with their priors.")
@click.option("--likelihoods", is_flag=True, help="Show the likelihood of each value in each class.")
@click.option("--batches", is_flag=True, help="Show the ledger: what the model has learnt and forgotten, and when.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=_ROWS, show_default=True, metavar="N", help="The most rows of likelihoods."
)
@with_formats(csv=f"{FEATURES[:-1]}; or what is asked for.", sql="Print the SQL of what is asked for instead of running it.")
def show(
    database: str, model: str, *, families: bool, priors: bool, likelihoods: bool, batches: bool, limit: int, form: Form
) -> None:
    """Show what MODEL has learnt.

    \b
      nbsql show shop.duckdb churn
      nbsql show shop.duckdb churn --likelihoods --limit 100
      nbsql show shop.duckdb churn --batches
    """  # noqa: D301 - \b keeps the lines
    from rich.text import Text

    with open_for_reading(database) as engine:
        loaded = nbsql.load(engine, model)
        if form in ("json", "csv"):
            asked = {"families": families, "priors": priors, "likelihoods": likelihoods, "batches": batches}
            _values(engine, form, database, loaded, [part for part, wanted in asked.items() if wanted])
            return
        as_sql = form == "sql"
        queries = []
        nothing = not (priors or likelihoods or batches)
        if priors or (as_sql and nothing):
            queries.append(_order_rows(engine, loaded.priors, ["prior", "class"], ["prior"]))
        if likelihoods or (as_sql and nothing):
            queries.append(_order_rows(engine, loaded.likelihoods, ["feature", "value", "class"]))
        if as_sql:
            tables.sql("\n\n".join(f"{query};" for query in [*queries, *([loaded.batches.sql] if batches else [])]))
            return
        if not (families or batches or queries):
            report(engine, database, loaded)
            tables.echo("", *history(engine, loaded._spec, loaded._relations, ledger_at="--batches"))
            return
        if families:
            rows: list[list[str | Text | None]] = [
                [name, family.name, Text(options_text(family, complete=True))] for name, family in loaded.families.items()
            ]
            tables.table(["feature", "family", "options"], rows, wrap=True)
        for query in queries:
            if families or query is not queries[0]:
                tables.echo("")
            _, more = tables.query(engine, query, limit=limit, empty=False)
            if more:
                tables.echo("", f"the first {limit} rows; --limit N shows more")
        if batches:
            if families or queries:
                tables.echo("")
            lines = [
                [str(number), batch, operation, f"{count:,}", source, f"{at:%Y-%m-%d %H:%M}"]
                for batch, operation, source, count, at, number in loaded.batches
            ]
            tables.table(["", "batch", "operation", "rows", "source", "at (UTC)"], lines, right=[0, 3])


def _values(engine: Engine, form: Form, database: str, model: nbsql.Model, parts: Sequence[str]) -> None:
    """Print the requested parts of a model, or its description: one part as its rows, several as an object."""
    if not parts:
        describe(engine, form, database, model)
        return
    if form == "csv" and len(parts) > 1:
        raise click.UsageError(f"CSV is one table; choose one of {' and '.join(f'--{part}' for part in parts)}")
    queries = {
        "priors": lambda: _order_rows(engine, model.priors, ["prior", "class"], ["prior"]),
        "likelihoods": lambda: _order_rows(engine, model.likelihoods, ["feature", "value", "class"]),
        "batches": lambda: model.batches.sql,
    }
    if len(parts) == 1 and parts[0] in queries:
        write(engine, queries[parts[0]](), form, None)
        return
    found = {part: objects(engine, queries[part]()) if part in queries else feature_rows(engine, model) for part in parts}
    print_value(engine, form, found if len(parts) > 1 else found[parts[0]], found[parts[0]])


def _order_rows(engine: Engine, query: nbsql.Query, columns: list[str], descending: Sequence[str] = ()) -> str:
    return engine.renderer.statement("sorted_rows", engine.renderer.dialect.query(query.sql), columns, descending)


def _relation(engine: Engine, model: nbsql.Model, name: str) -> Any:
    return engine.renderer.dialect.ident(*engine.path(engine.current()[0], str(model.name)), name)


@click.command(name="list", short_help="List the models of a database.")
@click.argument("database")
@with_formats(sql=None)
def list_(database: str, *, form: Form) -> None:
    """List the models of DATABASE.

    \b
      nbsql list shop.duckdb
    """  # noqa: D301 - \b keeps the lines
    with open_for_reading(database) as engine:
        rows = [_line(engine, name) for name in nbsql.models(engine)]
        if form != "table":
            print_value(engine, form, rows, rows)
            return
        if not rows:
            tables.echo(
                f"no models in {database}; make one: {tables.command('fit', database)} SOURCE --target COLUMN --name MODEL"
            )
            return
        shown = [
            [line["model"], f"({line['error']})", "", "", "", ""]
            if line["error"]
            else [
                line["model"],
                line["target"],
                *(tables.number(line[size]) for size in _SIZES),
                f"{line['updated_at']:%Y-%m-%d %H:%M}",
            ]
            for line in rows
        ]
        tables.table(["model", "target", *_SIZES, "updated (UTC)"], shown, right=[2, 3, 4])


def _line(engine: Engine, name: str) -> dict[str, Any]:
    """The line of a model in the list, or the reason why it cannot be read."""
    keys = ("model", "target", *_SIZES, "updated_at", "error")
    try:
        model = nbsql.load(engine, name)
    except ModelError as error:
        return {**dict.fromkeys(keys), "model": name, "error": str(error)}
    _, row = spec_of(engine, model)
    sizes = [len(model.classes), len(model.families), whole(sum(prior[1] or 0 for prior in model.priors))]
    return dict(zip(keys, (name, model.target, *sizes, row[3], None), strict=True))


@click.command(short_help="Remove a model from the database.")
@click.argument("database")
@click.argument("model")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@with_formats(sql="Print the statements instead of running them.")
def drop(database: str, model: str, *, yes: bool, form: Form) -> None:
    """Remove MODEL from DATABASE: drop its schema, but nothing that nbsql did not create.

    \b
      nbsql drop shop.duckdb churn --yes
    """  # noqa: D301 - \b keeps the lines
    if form == "sql":
        with record_statements(database) as recorder:
            nbsql.load(recorder, model).drop()
            tables.sql(recorder.script)
        return
    with open_for_reading(database) as engine:
        name = str(nbsql.load(engine, model).name)
    if not yes:
        click.confirm(f"drop the model {name} of {without_passwords(database)}?", abort=True, err=form != "table")
    with open_for_writing(database, create=False) as engine:
        nbsql.load(engine, name).drop()
        print_done(engine, form, f"dropped {name}", dropped=name)
