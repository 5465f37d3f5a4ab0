"""`nbsql show`, `nbsql list` and `nbsql drop`: show and remove the models of a database."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import (
    FEATURES,
    Form,
    describe,
    feature_rows,
    objects,
    print_done,
    print_value,
    whole,
    with_formats,
    write_or_print,
)
from nbsql.cli.files import write
from nbsql.cli.fit import report
from nbsql.cli.options import AT_LEAST_1, command, option
from nbsql.cli.session import open_for_reading
from nbsql.engines.engine import Engine
from nbsql.engines.postgres.address import without_passwords
from nbsql.errors import DatabaseError, ModelError
from nbsql.model.overview import history, options_text
from nbsql.storage.schema import find

_SIZES = ("classes", "features", "rows")  # the columns of sizes in the list of models


@command("Show a model: its features, classes, priors and likelihoods.", "database", "model")
@option("--families", is_flag=True, help="Show every feature with its family and all its options.")
@option("--priors", is_flag=True, help="Show the classes with their priors.")
@option("--likelihoods", is_flag=True, help="Show the likelihood of each value in each class.")
@option("--batches", is_flag=True, help="Show the ledger: what the model has learnt and forgotten, and when.")
@option("--limit", type=AT_LEAST_1, default=40, metavar="N", help="The most rows of likelihoods.")
@with_formats(
    csv=f"{FEATURES[:-1]}; or what is asked for.",
    sql="Print the SQL of the priors and likelihoods, or of what is asked for, instead.",
)
def show(
    database: str, model: str, *, families: bool, priors: bool, likelihoods: bool, batches: bool, limit: int, form: Form
) -> None:
    """Show what MODEL has learnt.

    \b
      nbsql show shop.duckdb churn
      nbsql show shop.duckdb churn --likelihoods --limit 100
      nbsql show shop.duckdb churn --batches
    """
    wanted = {"families": families, "priors": priors, "likelihoods": likelihoods, "batches": batches}
    parts = [part for part, is_wanted in wanted.items() if is_wanted]
    with open_for_reading(database) as engine:
        loaded = nbsql.load(engine, model)
        loaded.refresh()
        queries = {
            "priors": _order_rows(engine, loaded.priors, ["prior", "class"], ["prior"]),
            "likelihoods": _order_rows(engine, loaded.likelihoods, ["feature", "value", "class"]),
            "batches": loaded.batches.sql,
        }
        if form == "sql":
            if families:
                raise click.UsageError("--families is no query; leave out --sql, or take --json")
            printed = [part for part in parts if part in queries] or ["priors", "likelihoods"]
            tables.sql("\n\n".join(f"{queries[part]};" for part in printed))
        elif not parts and form == "table":
            report(engine, database, loaded)
            tables.echo("", *history(loaded.state, ledger_at="--batches"))
        elif not parts:
            describe(engine, form, database, loaded)
        elif form == "table":
            for part in parts:
                if part != parts[0]:
                    tables.echo("")
                _table(engine, loaded, part, queries, limit)
        else:
            _values(engine, form, loaded, parts, queries)


def _table(engine: Engine, model: nbsql.Model, part: str, queries: Mapping[str, str], limit: int) -> None:
    if part == "families":
        from rich.text import Text

        rows: list[list[Any]] = [
            [name, family.name, Text(options_text(family, complete=True))] for name, family in model.families.items()
        ]
        tables.table(["feature", "family", "options"], rows, wrap=True)
    elif part == "batches":
        lines = [
            [str(number), batch, operation, f"{count:,}", source, f"{at:%Y-%m-%d %H:%M}"]
            for batch, operation, source, count, at, number in model.batches
        ]
        tables.table(["", "batch", "operation", "rows", "source", "at (UTC)"], lines, right=[0, 3])
    else:
        _, more = tables.query(engine, queries[part], limit=limit, empty=False)
        if more:
            tables.echo("", f"the first {limit} rows; --limit N shows more")


def _values(engine: Engine, form: Form, model: nbsql.Model, parts: Sequence[str], queries: Mapping[str, str]) -> None:
    """Print the requested parts of a model: one part as its rows, several as an object."""
    if form == "csv" and len(parts) > 1:
        raise click.UsageError(f"CSV is one table; choose one of {' and '.join(f'--{part}' for part in parts)}")
    if len(parts) == 1 and parts[0] in queries:
        write(engine, queries[parts[0]], form, None)
        return
    found = {part: objects(engine, queries[part]) if part in queries else feature_rows(model) for part in parts}
    print_value(engine, form, found if len(parts) > 1 else found[parts[0]], found[parts[0]])


def _order_rows(engine: Engine, query: nbsql.Query, columns: list[str], descending: Sequence[str] = ()) -> str:
    return engine.renderer.statement("sorted_rows", engine.renderer.dialect.query(query.sql), columns, descending)


@command("List the models of a database.", "database", name="list")
@with_formats(sql=None)
def list_(database: str, *, form: Form) -> None:
    """List the models of DATABASE.

    \b
      nbsql list shop.duckdb
    """
    with open_for_reading(database) as engine:
        rows = [_line(engine, name) for name in nbsql.models(engine)]
        if form != "table":
            print_value(engine, form, rows, rows)
            return
        if not rows:
            make_one = f"{tables.command('fit', database)} SOURCE --target COLUMN --name MODEL"
            tables.echo(f"no models in {database}; make one: {make_one}")
            return
        shown = []
        for line in rows:
            facts = [f"({line['error']})", "", "", "", ""]
            if line["error"] is None:
                sizes = [tables.number(line[size]) for size in _SIZES]
                facts = [line["target"], *sizes, f"{line['updated_at']:%Y-%m-%d %H:%M}"]
            shown.append([line["model"], *facts])
        tables.table(["model", "target", *_SIZES, "updated (UTC)"], shown, right=[2, 3, 4])


def _line(engine: Engine, name: str) -> dict[str, Any]:
    """The line of a model in the list, or the reason why it cannot be read."""
    keys = ("model", "target", *_SIZES, "updated_at", "error")
    try:
        model = nbsql.load(engine, name)
        updated_at = engine.query_macro("all_rows", model.state.relations["spec"])[0][3]
        sizes = [len(model.classes), len(model.families), whole(sum(prior[1] or 0 for prior in model.priors))]
    except (ModelError, DatabaseError) as error:
        return {**dict.fromkeys(keys), "model": name, "error": str(error)}
    return dict(zip(keys, (name, model.target, *sizes, updated_at, None), strict=True))


@command("Remove a model from the database.", "database", "model")
@option("--yes", is_flag=True, help="Do not ask for confirmation.")
@with_formats(sql="Print the statements instead of running them.")
def drop(database: str, model: str, *, yes: bool, form: Form) -> None:
    """Remove MODEL from DATABASE: drop its schema, but nothing that nbsql did not create.

    \b
      nbsql drop shop.duckdb churn --yes
    """
    if form != "sql" and not yes:
        with open_for_reading(database) as engine:
            model = find(engine, engine.database(None), model, complete=False)
        click.confirm(f"drop the model {model} of {without_passwords(database)}?", abort=True, err=form != "table")
    with write_or_print(database, form) as engine:
        found = find(engine, engine.database(None), model, complete=False)
        nbsql.drop(engine, found)
        print_done(engine, form, f"dropped {found}", dropped=found)
