"""Commands that answer with the rows of one query: as a table on the terminal, JSON, CSV, or the SQL itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.files import write
from nbsql.engines.engine import Engine

_ROWS = 30  # of a table on the terminal, unless asked for more

_OPTIONS = (
    click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    click.option("--csv", "as_csv", is_flag=True, help="Print CSV."),
    click.option("--sql", "as_sql", is_flag=True, help="Print the SQL instead of running it."),
)

limited = click.option(
    "--limit", type=click.IntRange(min=1), default=_ROWS, show_default=True, metavar="N", help="Rows of the table."
)


def answering(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say in which form it answers."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def check_form(*, as_json: bool, as_csv: bool, as_sql: bool) -> None:
    """Refuse more than one form."""
    if as_json + as_csv + as_sql > 1:
        raise click.UsageError("choose one of --json, --csv and --sql")


def answer(engine: Engine, query: nbsql.Query, *, limit: int, as_json: bool, as_csv: bool, as_sql: bool) -> None:
    """Show the rows of a query in the form that was asked for; of a table, the first ones."""
    if as_sql:
        tables.sql(query.sql)
    elif as_json or as_csv:
        write(engine, query.sql, "json" if as_json else "csv", None)
    else:
        _, more = tables.query(engine, query.sql, limit=limit, empty=False)
        if more:
            tables.echo("", f"the first {limit} rows; --limit N shows more, --csv all")
