"""`nbsql scorecard`: shows a model as points for each value, and computes the points of rows."""

from __future__ import annotations

from typing import Literal

import click

import nbsql
from nbsql.answers.table import one_line
from nbsql.cli import tables
from nbsql.cli.answers import Form, answer, limited, with_formats
from nbsql.cli.arguments import COLUMNS, labels_by_text
from nbsql.cli.session import open_for_reading
from nbsql.model.scorecard import HEADINGS


@click.command(short_help="Show a model as a scorecard, or give rows their points.")
@click.argument("database")
@click.argument("model")
@click.argument("source", required=False)
@click.option("--points", type=float, default=600, show_default=True, help="The points of a row at the odds of --odds.")
@click.option("--odds", type=float, default=50, show_default=True, help="The odds of the target against the rest, to 1.")
@click.option("--double", type=float, default=20, show_default=True, help="The additional points for twice the odds.")
@click.option("--target", metavar="LABEL", help="The class that earns points; of two classes the larger label by default.")
@click.option("--digits", type=int, metavar="N", help="Round points to N digits; 0 makes them whole.")
@click.option("--reasons", type=int, default=0, metavar="N", help="Return the N features that cost a row the most points.")
@click.option(
    "--against",
    type=click.Choice(["best", "average"]),
    default="best",
    show_default=True,
    help="The baseline of lost points: the best value of the feature, or its average row.",
)
@click.option("--dialect", metavar="NAME", help="Print the query of the points for another engine: bigquery, tsql, ...")
@click.option("--columns", type=COLUMNS, help="Only these columns of SOURCE beside the points; '' for none.")
@limited
@with_formats
def scorecard(
    database: str, model: str, source: str | None, *, points: float, odds: float, double: float, target: str | None,
    digits: int | None, reasons: int, against: Literal["best", "average"], dialect: str | None, columns: list[str] | None,
    limit: int, form: Form,
) -> None:  # fmt: skip
    """Show the points of every value of MODEL; with SOURCE, the points of its rows.

    A row has POINTS points if the target is ODDS times as likely as the rest, and DOUBLE more points for twice the odds. More
    points mean that the target is likelier.

    \b
      nbsql scorecard shop.duckdb churn --target no --digits 0
      nbsql scorecard shop.duckdb churn new_customers --target no --digits 0 --reasons 3
      nbsql scorecard shop.duckdb churn shop.customers --target no --dialect bigquery
    """  # noqa: D301 - \b keeps the lines
    if source is None and (reasons or dialect is not None or columns is not None or against != "best"):
        raise click.UsageError("--reasons, --against, --dialect and --columns are for the points of rows; name a SOURCE")
    with open_for_reading(database) as engine:
        loaded = nbsql.load(engine, model)
        label = None if target is None else labels_by_text(loaded).get(target, target)
        card = loaded.scorecard(points=points, odds=odds, double=double, target=label, digits=digits)
        if source is None:
            if form != "table":
                answer(engine, card.lines, form, limit=limit)
                return
            lines = card.table()
            tables.echo(*map(one_line, card.notes()), "")
            tables.table(HEADINGS, lines[:limit], right=range(2, 7), keep=1)
            if len(lines) > limit:
                tables.echo("", f"the first {limit} lines of {len(lines)}; --limit N shows more, --csv all")
        elif dialect is not None:
            tables.sql(card.sql(source, dialect=dialect, reasons=reasons, against=against, columns=columns))
        else:
            answer(engine, card.score(source, reasons=reasons, against=against, columns=columns), form, limit=limit)
