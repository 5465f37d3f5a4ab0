"""`nbsql linear`, `quadratic`, `scorecard` and `relevance`: show a model as weights or points, and rank its features."""

from __future__ import annotations

from typing import Any, Literal

import click

import nbsql
from nbsql.answers.table import one_line
from nbsql.cli import tables
from nbsql.cli.answers import Form, answer, with_formats
from nbsql.cli.arguments import COLUMNS, labels_by_text
from nbsql.cli.options import command, limited, option, reads_model
from nbsql.model.scorecard import HEADINGS


@command("Show a model as weights: its linear form.", "database", "model")
@limited
@with_formats
@reads_model
def linear(model: nbsql.Model, *, limit: int, form: Form) -> None:
    """Show MODEL as weights: the score of a row is the sum of each weight times the quantity in the column `times`.

    Two classes share one score, which is above 0 if the larger label is predicted; of more classes each has its own score. The
    row without a feature is the bias.

    \b
      nbsql linear shop.duckdb churn
      nbsql linear shop.duckdb churn --csv > weights.csv
    """
    answer(model.linear(), form, limit=limit)


@command("Show a model as weights with squares: its quadratic form.", "database", "model")
@limited
@with_formats
@reads_model
def quadratic(model: nbsql.Model, *, limit: int, form: Form) -> None:
    """Show MODEL as weights, including those of squares and products of numbers, if each class has its own variances.

    \b
      nbsql quadratic shop.duckdb churn
      nbsql quadratic shop.duckdb churn --json
    """
    answer(model.quadratic(), form, limit=limit)


@command("Rank the features by their information about the class.", "database", "model")
@option("--values", is_flag=True, help="Rank the values and words instead of the features.")
@limited
@with_formats
@reads_model
def relevance(model: nbsql.Model, *, values: bool, limit: int, form: Form) -> None:
    """Rank the features of MODEL by their mutual information with the class, in nats, from the counts alone.

    \b
      nbsql relevance shop.duckdb churn
      nbsql relevance shop.duckdb churn --values --limit 100
    """
    answer(model.relevance(values=values), form, limit=limit, bars="mutual_information")


@command("Show a model as a scorecard, or give rows their points.", "database", "model", "source?")
@option("--points", type=float, default=600, help="The points of a row at the odds of --odds.")
@option("--odds", type=float, default=50, help="The odds of the target against the rest, to 1.")
@option("--double", type=float, default=20, help="The additional points for twice the odds.")
@option("--target", metavar="LABEL", help="The class that earns points; of two classes the larger label by default.")
@option("--digits", type=int, metavar="N", help="Round points to N digits; 0 makes them whole.")
@option(
    "--reasons", type=int, default=0, show_default=False, metavar="N",
    help="Return the N features that cost a row the most points.",
)  # fmt: skip
@option(
    "--against", type=click.Choice(["best", "average"]), default="best",
    help="The baseline of lost points: the best value of the feature, or its average row.",
)  # fmt: skip
@option("--dialect", metavar="NAME", help="Print the query of the points for another engine: bigquery, tsql, ...")
@option("--columns", type=COLUMNS, help="Only these columns of SOURCE beside the points; '' for none.")
@limited
@with_formats
@reads_model
def scorecard(
    model: nbsql.Model, source: str | None, *, target: str | None, reasons: int, against: Literal["best", "average"],
    dialect: str | None, columns: list[str] | None, limit: int, form: Form, **scale: Any,
) -> None:  # fmt: skip
    """Show the points of every value of MODEL; with SOURCE, the points of its rows.

    A row has POINTS points if the target is ODDS times as likely as the rest, and DOUBLE more points for twice the odds. More
    points mean that the target is likelier.

    \b
      nbsql scorecard shop.duckdb churn --target no --digits 0
      nbsql scorecard shop.duckdb churn new_customers --target no --digits 0 --reasons 3
      nbsql scorecard shop.duckdb churn shop.customers --target no --dialect bigquery
    """
    if source is None and (reasons or dialect is not None or columns is not None or against != "best"):
        raise click.UsageError("--reasons, --against, --dialect and --columns are for the points of rows; name a SOURCE")
    label = None if target is None else labels_by_text(model).get(target, target)
    card = model.scorecard(target=label, **scale)
    if source is not None and dialect is not None:
        tables.sql(card.sql(source, dialect=dialect, reasons=reasons, against=against, columns=columns))
    elif source is not None:
        scores = card.score(source, reasons=reasons, against=against, columns=columns)
        answer(scores, form, limit=limit, keep=1 + min(reasons, 3))
    elif form != "table":
        answer(card.lines, form, limit=limit)
    else:
        lines = card.table()
        tables.echo(*map(one_line, card.notes()), "")
        tables.table(HEADINGS, lines[:limit], right=range(2, 7), keep=1)
        if len(lines) > limit:
            tables.echo("", f"the first {limit} lines of {len(lines)}; --limit N shows more, --csv all")
