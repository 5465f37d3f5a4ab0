"""The commands that change a model over time, made from its verbs, and `nbsql export`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

import nbsql
from nbsql.cli.answers import Form, print_done, with_formats, write_or_print
from nbsql.cli.description import describe, describing
from nbsql.cli.fit import classes
from nbsql.cli.options import reads_model
from nbsql.cli.session import load_to_change, show_warnings
from nbsql.cli.tables import echo, plain
from nbsql.cli.verbs import method_of, verb_command
from nbsql.queries.table import counted

_Line = Sequence[Any]  # of the ledger: batch, operation, source, rows


def _change_command(verb: str, *examples: str, said: Callable[[Sequence[_Line], int], str]) -> click.Command:
    """The command of a verb that changes a model: `said` is what it did, from the ledger and how many lines it had before.

    The model is described afterwards; with --sql the statements are printed instead, and nothing changes.
    """

    def run(database: str, model: str, form: Form, **given: Any) -> None:
        if verb == "forget" and (given["source"] is None) == (given["batch"] is None):
            raise click.UsageError("name a SOURCE or a --batch, one of them")
        with write_or_print(database, form, rehearse=True) as engine:
            with show_warnings(engine):
                loaded = load_to_change(engine, model)
                before = len(loaded.batches.fetchall())
                method_of(verb)(loaded, **given)
                done = said(loaded.batches.fetchall(), before)
            if form == "table":
                echo(f"model {loaded.name} in {database} {done}", "")
                classes(loaded)
            elif form != "sql":
                describe(engine, form, database, loaded, change=done)

    return verb_command(verb, examples, describing(run))


def _rows(line: _Line) -> str:
    return f"{counted(line[3], 'row')} of {plain(line[2])}"


def _undone(ledger: Sequence[_Line], before: int) -> str:
    return f"is as it was after batch {plain(ledger[-1][0])}, {counted(before - len(ledger), 'later change')} undone"


def _followed(ledger: Sequence[_Line], _: int) -> str:
    """What a model has learnt from the table that it follows."""
    places = [place for place, line in enumerate(ledger) if line[1] in ("follow", "unfollow")]
    if not places or ledger[places[-1]][1] == "unfollow":
        return "follows no table, and has nothing to learn"
    table = ledger[places[-1]][2]
    learnt, forgotten = (
        sum(line[3] for line in ledger[places[-1] :] if line[1] == operation and line[2] == table)
        for operation in ("follow", "forget")
    )
    return f"follows {plain(table)}: {counted(learnt, 'row')} learnt, {counted(forgotten, 'row')} forgotten since then"


def _export(model: nbsql.Model, path: str, *, form: Form, **given: Any) -> None:
    model.export(path, **given)
    name = str(model.name)
    print_done(model.state.engine, form, f"model {name} written to {path}", model=name, path=path)


CHANGES = (
    _change_command(
        "update", "churn march.csv --batch 2026-03",
        said=lambda ledger, _: f"learnt {_rows(ledger[-1])}, batch {plain(ledger[-1][0])}",
    ),
    _change_command(
        "forget", "churn withdrawn", "churn --batch 2026-03", said=lambda ledger, _: f"forgot {_rows(ledger[-1])}"
    ),
    _change_command("follow", "churn customers", "churn customers --present learnt", said=_followed),
    _change_command("refresh", "churn", said=_followed),
    _change_command("unfollow", "churn", said=lambda ledger, _: f"follows {plain(ledger[-1][2])} no longer"),
    _change_command("rollback", "churn 2026-03", said=_undone),
    _change_command(
        "compact", "churn --through 2026-03",
        said=lambda ledger, _: f"has {ledger[0][2]} folded into one, batch {plain(ledger[0][0])}",
    ),
)  # fmt: skip

EXPORT = verb_command(
    "export",
    ["churn churn.parquet", "churn shared.parquet --least 10"],
    with_formats(sql=None)(reads_model(_export)),
)
