"""`nbsql update`, `nbsql forget`, `nbsql rollback` and `nbsql compact`: change a model over time."""

from __future__ import annotations

from collections.abc import Callable

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import Form, write_or_print
from nbsql.cli.description import describe, describing
from nbsql.cli.fit import classes
from nbsql.cli.options import command, option
from nbsql.cli.session import load_to_change, show_warnings
from nbsql.cli.tables import counted


@command("Learn more rows.", "database", "model", "source")
@option("--batch", metavar="NAME", help="The name in the ledger; by default the next number.")
@describing
def update(database: str, model: str, source: str, *, batch: str | None, form: Form) -> None:
    """Learn the rows of SOURCE, too: MODEL is then the same as if it had been fitted on all rows at once.

    \b
      nbsql update shop.duckdb churn march.csv --batch 2026-03
    """

    def act(loaded: nbsql.Model) -> str:
        loaded.update(source, batch=batch)
        name, _, label, rows, *_ = loaded.batches.fetchall()[-1]
        return f"learnt {counted(rows, 'row')} of {tables.plain(label)}, batch {tables.plain(name)}"

    _change(database, model, act, form)


@command("Unlearn rows, or a batch.", "database", "model", "source?")
@option("--batch", metavar="NAME", help="Unlearn the rows of this batch of the ledger.")
@describing
def forget(database: str, model: str, source: str | None, *, batch: str | None, form: Form) -> None:
    """Unlearn the rows of SOURCE, or those of --batch: MODEL is then the same as if it had never learnt them.

    \b
      nbsql forget shop.duckdb churn withdrawn
      nbsql forget shop.duckdb churn --batch 2026-03
    """
    if (source is None) == (batch is None):
        raise click.UsageError("name a SOURCE or a --batch, one of them")

    def act(loaded: nbsql.Model) -> str:
        loaded.forget(source, batch=batch)
        _, _, label, rows, *_ = loaded.batches.fetchall()[-1]
        return f"forgot {counted(rows, 'row')} of {tables.plain(label)}"

    _change(database, model, act, form)


@command("Undo the changes after a batch.", "database", "model", "batch")
@describing
def rollback(database: str, model: str, batch: str, *, form: Form) -> None:
    """Undo every change of MODEL after BATCH, a line of its ledger (nbsql show --batches).

    \b
      nbsql rollback shop.duckdb churn 2026-03
    """

    def act(loaded: nbsql.Model) -> str:
        before = len(loaded.batches.fetchall())
        loaded.rollback(batch)
        undone = before - len(loaded.batches.fetchall())
        return f"is as it was after batch {tables.plain(batch)}, {counted(undone, 'later change')} undone"

    _change(database, model, act, form)


@command("Fold old batches into one.", "database", "model")
@option("--through", metavar="BATCH", help="The last batch to fold; by default all batches.")
@describing
def compact(database: str, model: str, *, through: str | None, form: Form) -> None:
    """Fold the batches of MODEL into one. The model stays the same and takes less space, but earlier states are lost.

    \b
      nbsql compact shop.duckdb churn --through 2026-03
    """

    def act(loaded: nbsql.Model) -> str:
        loaded.compact(through)
        name, _, folded, *_ = loaded.batches.fetchall()[0]
        return f"has {folded} folded into one, batch {tables.plain(name)}"

    _change(database, model, act, form)


def _change(database: str, name: str, act: Callable[[nbsql.Model], str], form: Form) -> None:
    """Change a model and describe it, or print the statements that would run."""
    with write_or_print(database, form, rehearse=True) as engine:
        with show_warnings(engine):
            model = load_to_change(engine, name)
            done = act(model)
        if form == "table":
            tables.echo(f"model {model.name} in {database} {done}", "")
            classes(engine, model)
        elif form != "sql":
            describe(engine, form, database, model, change=done)
