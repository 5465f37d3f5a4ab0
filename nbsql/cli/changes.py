"""`nbsql update`, `nbsql forget`, `nbsql rollback` and `nbsql compact`: change a model over time."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

import nbsql
from nbsql.answers.table import counted
from nbsql.cli import tables
from nbsql.cli.answers import Form, write_or_print
from nbsql.cli.description import describe, describing
from nbsql.cli.fit import classes
from nbsql.cli.options import command, option
from nbsql.cli.session import load_to_change, show_warnings


def changes_model(body: Callable[..., str]) -> Callable[..., None]:
    """A command with the arguments database and model, whose body changes the model and returns what it did.

    The model is described afterwards; with --sql the statements are printed instead, and nothing changes.
    """

    @wraps(body)
    def run(database: str, model: str, form: Form, **given: Any) -> None:
        with write_or_print(database, form, rehearse=True) as engine:
            with show_warnings(engine):
                loaded = load_to_change(engine, model)
                done = body(loaded, **given)
            if form == "table":
                tables.echo(f"model {loaded.name} in {database} {done}", "")
                classes(loaded)
            elif form != "sql":
                describe(engine, form, database, loaded, change=done)

    described: Callable[..., None] = describing(run)
    return described


@command("Learn more rows.", "database", "model", "source")
@option("--batch", metavar="NAME", help="The name in the ledger; by default the next number.")
@changes_model
def update(model: nbsql.Model, source: str, *, batch: str | None) -> str:
    """Learn the rows of SOURCE, too: MODEL is then the same as if it had been fitted on all rows at once.

    \b
      nbsql update shop.duckdb churn march.csv --batch 2026-03
    """
    model.update(source, batch=batch)
    name, _, label, rows, *_ = model.batches.fetchall()[-1]
    return f"learnt {counted(rows, 'row')} of {tables.plain(label)}, batch {tables.plain(name)}"


@command("Unlearn rows, or a batch.", "database", "model", "source?")
@option("--batch", metavar="NAME", help="Unlearn the rows of this batch of the ledger.")
@changes_model
def forget(model: nbsql.Model, source: str | None, *, batch: str | None) -> str:
    """Unlearn the rows of SOURCE, or those of --batch: MODEL is then the same as if it had never learnt them.

    \b
      nbsql forget shop.duckdb churn withdrawn
      nbsql forget shop.duckdb churn --batch 2026-03
    """
    if (source is None) == (batch is None):
        raise click.UsageError("name a SOURCE or a --batch, one of them")
    model.forget(source, batch=batch)
    _, _, label, rows, *_ = model.batches.fetchall()[-1]
    return f"forgot {counted(rows, 'row')} of {tables.plain(label)}"


@command("Undo the changes after a batch.", "database", "model", "batch")
@changes_model
def rollback(model: nbsql.Model, batch: str) -> str:
    """Undo every change of MODEL after BATCH, a line of its ledger (nbsql show --batches).

    \b
      nbsql rollback shop.duckdb churn 2026-03
    """
    before = len(model.batches.fetchall())
    model.rollback(batch)
    undone = before - len(model.batches.fetchall())
    return f"is as it was after batch {tables.plain(batch)}, {counted(undone, 'later change')} undone"


@command("Fold old batches into one.", "database", "model")
@option("--through", metavar="BATCH", help="The last batch to fold; by default all batches.")
@changes_model
def compact(model: nbsql.Model, *, through: str | None) -> str:
    """Fold the batches of MODEL into one. The model stays the same and takes less space, but earlier states are lost.

    \b
      nbsql compact shop.duckdb churn --through 2026-03
    """
    model.compact(through)
    name, _, folded, *_ = model.batches.fetchall()[0]
    return f"has {folded} folded into one, batch {tables.plain(name)}"
