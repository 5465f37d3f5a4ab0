"""`nbsql review`: lists the rows that a person should label next."""

from __future__ import annotations

import click

import nbsql
from nbsql.cli.answers import Form, answer, with_formats
from nbsql.cli.arguments import COLUMNS, COST, costs_by_label
from nbsql.cli.session import open_for_reading
from nbsql.model.reviewing import Review
from nbsql.plan import REVIEW


@click.command(short_help="List the rows that a person should label next.")
@click.argument("database")
@click.argument("model")
@click.argument("source")
@click.option(
    "--by",
    type=click.Choice(tuple(REVIEW.options)),
    default="margin",
    show_default=True,
    help="The criterion that ranks the rows.",
)
@click.option("-n", "count", type=click.IntRange(min=1), default=50, show_default=True, metavar="N", help="The most rows.")
@click.option("--cost", "costs", type=COST, multiple=True, help="The cost of a mistake, if not 1, for the expected cost.")
@click.option("--calibrated", is_flag=True, help="Use the probabilities that `nbsql calibrate` has calibrated.")
@click.option("--columns", type=COLUMNS, help="Return only these columns of SOURCE beside those added; '' for none.")
@with_formats
def review(
    database: str, model: str, source: str, *, by: Review, count: int, costs: tuple[tuple[str, str, float], ...],
    calibrated: bool, columns: list[str] | None, form: Form,
) -> None:  # fmt: skip
    """List the rows of SOURCE that a person should label next, the most informative for MODEL first, each with the reason.

    \b
      nbsql review shop.duckdb spam unlabelled -n 20
      nbsql review shop.duckdb spam unlabelled --by novelty --csv > to_label.csv
      nbsql review shop.duckdb spam unlabelled --by "expected cost" --cost ham:spam=10
    """  # noqa: D301 - \b keeps the lines
    with open_for_reading(database) as engine:
        loaded = nbsql.load(engine, model)
        priced = costs_by_label(loaded, costs)
        engine.announce("score")
        query = loaded.review(source, count, by=by, costs=priced, calibrated=calibrated, columns=columns)
        answer(engine, query, form, limit=count, empty=True)
