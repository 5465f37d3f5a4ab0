"""`nbsql show`, `nbsql list` and `nbsql drop`: the models of a database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.fit import differing, report
from nbsql.cli.session import reading, recording, writing
from nbsql.components import Components
from nbsql.engines.address import without_passwords
from nbsql.engines.engine import Engine
from nbsql.errors import ModelError
from nbsql.spec import Spec

_ROWS = 40  # of a table of likelihoods, unless asked for more
_CHANGES = 5  # the newest lines of the ledger in an overview


@click.command(short_help="Show a model: its features, classes, priors and likelihoods.")
@click.argument("database")
@click.argument("model")
@click.option("--families", is_flag=True, help="Every feature with its family and all its options.")
@click.option("--priors", is_flag=True, help="The classes with their priors.")
@click.option("--likelihoods", is_flag=True, help="The smoothed tables: how likely each value is in each class.")
@click.option("--batches", is_flag=True, help="The ledger: what it has learnt and forgotten, and when.")
@click.option("--limit", type=click.IntRange(min=1), default=_ROWS, show_default=True, metavar="N", help="Rows of likelihoods.")
@click.option("--sql", "as_sql", is_flag=True, help="Print the SQL of what is asked for instead of running it.")
def show(
    database: str, model: str, *, families: bool, priors: bool, likelihoods: bool, batches: bool, limit: int, as_sql: bool
) -> None:
    """Show what MODEL has learnt.

    \b
      nbsql show shop.duckdb churn
      nbsql show shop.duckdb churn --likelihoods --limit 100
      nbsql show shop.duckdb churn --batches
    """  # noqa: D301 - \b keeps the lines
    from rich.text import Text

    with reading(database) as engine:
        loaded = nbsql.load(engine, model)
        queries = []
        nothing = not (priors or likelihoods or batches)
        if priors or (as_sql and nothing):
            queries.append(_ordered(engine, loaded.priors, ["prior", "class"], ["prior"]))
        if likelihoods or (as_sql and nothing):
            queries.append(_ordered(engine, loaded.likelihoods, ["feature", "value", "class"]))
        if as_sql:
            tables.sql("\n\n".join(f"{query};" for query in [*queries, *([loaded.batches.sql] if batches else [])]))
            return
        if not (families or batches or queries):
            report(engine, database, loaded)
            tables.echo("", *_history(engine, loaded))
            return
        if families:
            rows: list[list[str | Text | None]] = [
                [name, family.name, Text(differing(family, complete=True))] for name, family in loaded.families.items()
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


def _ordered(engine: Engine, query: nbsql.Query, columns: list[str], descending: Sequence[str] = ()) -> str:
    return engine.renderer.statement("ordered", engine.renderer.dialect.query(query.sql), columns, descending)


def _history(engine: Engine, model: nbsql.Model) -> list[str]:
    """What the model was asked for and learnt from."""
    spec, row = _spec(engine, model)
    prior = f"{spec.prior.kind} (alpha {spec.prior.alpha:g})" if spec.prior.kind == "smoothed" else spec.prior.kind
    asked = [f"alpha {spec.defaults['alpha']:g}", f"prior {prior}"]
    asked += [f"{name} {spec.defaults[name]}" for name in ("nulls", "unseen") if spec.defaults[name] != "skip"]
    asked += [f"estimate {spec.defaults['estimate']}"] if spec.defaults.get("estimate") else []
    asked += [f"weight {spec.weight}"] if spec.weight else []
    asked += [f"id {', '.join(spec.id)}"] if spec.id else []
    asked += [f"slices by {tables.plain(spec.slice_by)}"] if spec.slice_by else []
    asked += [f"components {_components(spec.components)}"] if spec.components is not None else []
    lines = [", ".join([*asked, f"nbsql {row[1]}"])]
    ledger = engine.ask("everything", _relation(engine, model, "batches"))
    for _, operation, source, count, at, _ in sorted(ledger, key=lambda row: row[5])[-_CHANGES:]:
        lines.append(f"{operation}: {count:,} rows of {tables.plain(source)}, {at:%Y-%m-%d %H:%M} UTC")
    if len(ledger) > _CHANGES:
        lines.append(f"... and {len(ledger) - _CHANGES} changes before; --batches shows all")
    return lines


def _components(components: Components) -> str:
    asked = components.asked
    return (
        str(asked) if isinstance(asked, int) else ", ".join(f"{tables.plain(label)} {count}" for label, count in asked.items())
    )


def _spec(engine: Engine, model: nbsql.Model) -> tuple[Spec, tuple[Any, ...]]:
    row = engine.ask("everything", _relation(engine, model, "spec"))[0]
    return Spec.from_json(row[0], str(model.name)), row


def _relation(engine: Engine, model: nbsql.Model, name: str) -> Any:
    return engine.renderer.dialect.ident(*engine.path(engine.current()[0], str(model.name)), name)


@click.command(name="list", short_help="List the models of a database.")
@click.argument("database")
def list_(database: str) -> None:
    """List the models of DATABASE.

    \b
      nbsql list shop.duckdb
    """  # noqa: D301 - \b keeps the lines
    with reading(database) as engine:
        rows = [_line(engine, name) for name in nbsql.models(engine)]
        if not rows:
            tables.echo(
                f"no models in {database}; make one: {tables.command('fit', database)} SOURCE --target COLUMN --name MODEL"
            )
            return
        tables.table(["model", "target", "classes", "features", "rows", "updated (UTC)"], rows, right=[2, 3, 4])


def _line(engine: Engine, name: str) -> list[str]:
    try:
        model = nbsql.load(engine, name)
    except ModelError as error:
        return [name, f"({error})", "", "", "", ""]
    _, row = _spec(engine, model)
    sizes = [len(model.classes), len(model.families), sum(prior[1] or 0 for prior in model.priors)]
    return [name, model.target, *map(tables.number, sizes), f"{row[3]:%Y-%m-%d %H:%M}"]


@click.command(short_help="Remove a model from the database.")
@click.argument("database")
@click.argument("model")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--sql", "as_sql", is_flag=True, help="Print the statements instead of running them.")
def drop(database: str, model: str, *, yes: bool, as_sql: bool) -> None:
    """Remove MODEL from DATABASE: its schema, and nothing that nbsql did not make.

    \b
      nbsql drop shop.duckdb churn --yes
    """  # noqa: D301 - \b keeps the lines
    if as_sql:
        with recording(database) as recorder:
            nbsql.load(recorder, model).drop()
            tables.sql("\n\n".join(recorder.statements))
        return
    with reading(database) as engine:
        name = str(nbsql.load(engine, model).name)
    if not yes:
        click.confirm(f"drop the model {name} of {without_passwords(database)}?", abort=True)
    with writing(database, create=False) as engine:
        nbsql.load(engine, name).drop()
    tables.echo(f"dropped {name}")
