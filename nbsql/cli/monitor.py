"""`nbsql monitor`: a model watched over time, and an exit status for what goes over a limit."""

from __future__ import annotations

from typing import Any

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import Form, answer, limited, with_formats
from nbsql.cli.arguments import LimitType
from nbsql.cli.session import open_for_reading
from nbsql.cli.terminal import styled

OUTSIDE = 3  # the exit status; 1 is that of errors, 2 that of a command that is written wrong


@click.command(short_help="Watch a model: what has moved, and how well it does, period by period.")
@click.argument("database")
@click.argument("model")
@click.argument("source")
@click.option("--reference", metavar="SOURCE", help="Rows to hold SOURCE against, instead of the counts of MODEL.")
@click.option(
    "--by", metavar="EXPRESSION", help="What period a row is of: a column, or an SQL expression; by default one for all."
)
@click.option("--weight", metavar="COLUMN", help="Weigh the rows: a weight w counts as w copies of the row.")
@click.option(
    "--fail-over", "over", type=LimitType(), multiple=True, help="End with exit status 3 where a metric is above. Repeatable."
)
@click.option(
    "--fail-under", "under", type=LimitType(), multiple=True, help="End with exit status 3 where a metric is below. Repeatable."
)
@limited
@with_formats
def monitor(
    database: str, model: str, source: str, *, reference: str | None, by: str | None, weight: str | None,
    over: tuple[tuple[str, float], ...], under: tuple[tuple[str, float], ...], limit: int, form: Form,
) -> None:  # fmt: skip
    """Say what the rows of SOURCE are like, period by period, beside the counts of MODEL, and how well it does on them.

    The metrics: psi, nulls and unseen of a feature; psi (of the score), posterior_psi, label_psi, rows, log_evidence,
    unexplained, labelled, unknown, accuracy and log_loss of all; predicted, posterior and actual of a class.

    \b
      nbsql monitor shop.duckdb churn customers --by month
      nbsql monitor shop.duckdb churn customers --by "date_trunc('week', seen_at)" --reference january
      nbsql monitor shop.duckdb churn customers --by month --fail-over psi=0.2 --fail-under accuracy=0.8
    """  # noqa: D301 - \b keeps the lines
    with open_for_reading(database) as engine:
        query = nbsql.load(engine, model).monitor(source, reference=reference, by=by, weight=weight)
        if form == "sql" or not (over or under):
            answer(engine, query, form, limit=limit, empty=True)
            return
        with engine.temporaries() as temporary:
            relation, renderer = temporary("monitored"), engine.renderer
            engine.create("monitor", relation, renderer.dialect.query(query.sql))
            shown = nbsql.Query(engine, renderer.statement("monitored_in_order", relation))
            answer(engine, shown, form, limit=limit, empty=True)
            outside = engine.ask("outside_limits", relation, over, under)
    for row in outside:
        click.echo(f"{styled('outside', fg='red', bold=True)}: {_line(*row)}", err=True)
    if outside:
        click.get_current_context().exit(OUTSIDE)


def _line(
    period: Any, feature: Any, label: Any, metric: str, value: float, _: Any, moved: Any, by_chance: Any,
    limit: float, side: str,
) -> str:  # fmt: skip
    """What is outside of a limit."""
    where = "in the rows of no period" if period is None else f"in {tables.plain(str(period))}"
    subject = "" if feature is None else f" of {tables.plain(str(feature))}"
    subject += "" if label is None else f" of class {tables.plain(str(label))}"
    most = "" if moved is None else f"; {tables.plain(str(moved))} moved most"
    chance = "" if by_chance is None else f", {by_chance:.4g} of it by chance"
    return f"{where}, {metric}{subject} is {value:.4g}, {side} {limit:g}{chance}{most}"
