"""`nbsql update`, `nbsql forget`, `nbsql rollback` and `nbsql compact`: change a model over time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import Form, with_formats
from nbsql.cli.description import FEATURES, describe
from nbsql.cli.fit import classes
from nbsql.cli.session import Rehearsal, open_for_writing, rehearse_statements, show_warnings
from nbsql.engines.engine import Engine

_answering = with_formats(csv=FEATURES, sql="Print the statements; they run in a transaction that is rolled back.")


@click.command(short_help="Learn more rows.")
@click.argument("database")
@click.argument("model")
@click.argument("source")
@click.option("--batch", metavar="NAME", help="The name in the ledger; by default the next number.")
@_answering
def update(database: str, model: str, source: str, *, batch: str | None, form: Form) -> None:
    """Learn the rows of SOURCE, too: MODEL is then the same as if it had been fitted on all rows at once.

    \b
      nbsql update shop.duckdb churn march.csv --batch 2026-03
    """  # noqa: D301 - \b keeps the lines

    def act(loaded: nbsql.Model) -> str:
        loaded.update(source, batch=batch)
        name, _, label, rows, *_ = loaded.batches.fetchall()[-1]
        return f"learnt {_rows(rows)} of {tables.plain(label)}, batch {tables.plain(name)}"

    _change(database, model, act, form)


@click.command(short_help="Unlearn rows, or a batch.")
@click.argument("database")
@click.argument("model")
@click.argument("source", required=False)
@click.option("--batch", metavar="NAME", help="Unlearn the rows of this batch of the ledger.")
@_answering
def forget(database: str, model: str, source: str | None, *, batch: str | None, form: Form) -> None:
    """Unlearn the rows of SOURCE, or those of --batch: MODEL is then the same as if it had never learnt them.

    \b
      nbsql forget shop.duckdb churn withdrawn
      nbsql forget shop.duckdb churn --batch 2026-03
    """  # noqa: D301 - \b keeps the lines
    if (source is None) == (batch is None):
        raise click.UsageError("name a SOURCE or a --batch, one of them")

    def act(loaded: nbsql.Model) -> str:
        loaded.forget(source, batch=batch)
        _, _, label, rows, *_ = loaded.batches.fetchall()[-1]
        return f"forgot {_rows(rows)} of {tables.plain(label)}"

    _change(database, model, act, form)


@click.command(short_help="Undo the changes after a batch.")
@click.argument("database")
@click.argument("model")
@click.argument("batch")
@_answering
def rollback(database: str, model: str, batch: str, *, form: Form) -> None:
    """Undo every change of MODEL after BATCH, a line of its ledger (nbsql show --batches).

    \b
      nbsql rollback shop.duckdb churn 2026-03
    """  # noqa: D301 - \b keeps the lines

    def act(loaded: nbsql.Model) -> str:
        before = len(loaded.batches.fetchall())
        loaded.rollback(batch)
        undone = before - len(loaded.batches.fetchall())
        return f"is as it was after batch {tables.plain(batch)}, {_count(undone, 'later change')} undone"

    _change(database, model, act, form)


@click.command(short_help="Fold old batches into one.")
@click.argument("database")
@click.argument("model")
@click.option("--through", metavar="BATCH", help="The last batch to fold; by default all batches.")
@_answering
def compact(database: str, model: str, *, through: str | None, form: Form) -> None:
    """Fold the batches of MODEL into one. The model stays the same and takes less space, but earlier states are lost.

    \b
      nbsql compact shop.duckdb churn --through 2026-03
    """  # noqa: D301 - \b keeps the lines

    def act(loaded: nbsql.Model) -> str:
        loaded.compact(through)
        name, _, folded, *_ = loaded.batches.fetchall()[0]
        return f"has {folded} folded into one, batch {tables.plain(name)}"

    _change(database, model, act, form)


def _change(database: str, name: str, act: Callable[[nbsql.Model], str], form: Form) -> None:
    """Change a model and describe it, or print the statements that would run."""
    opened: AbstractContextManager[Engine] = (
        rehearse_statements(database) if form == "sql" else open_for_writing(database, create=False)
    )
    with opened as engine:
        with show_warnings(engine):
            model = nbsql.load(engine, name)
            if isinstance(engine, Rehearsal):
                engine.begin(model)
            done = act(model)
        if isinstance(engine, Rehearsal):
            tables.sql(engine.script)
            return
        if form != "table":
            describe(engine, form, database, model, change=done)
            return
        tables.echo(f"model {model.name} in {database} {done}", "")
        classes(engine, model)


def _rows(count: int) -> str:
    return _count(count, "row")


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
