"""`nbsql linear`, `nbsql quadratic` and `nbsql relevance`: show a model as weights, and rank its features."""

from __future__ import annotations

import click

import nbsql
from nbsql.cli.answers import Form, answer, limited, with_formats
from nbsql.cli.session import open_for_reading


@click.command(short_help="Show a model as weights: its linear form.")
@click.argument("database")
@click.argument("model")
@limited
@with_formats
def linear(database: str, model: str, *, limit: int, form: Form) -> None:
    """Show MODEL as weights: the score of a row is the sum of each weight times the quantity in the column `times`.

    Two classes share one score, which is above 0 if the larger label is predicted; of more classes each has its own score. The
    row without a feature is the bias.

    \b
      nbsql linear shop.duckdb churn
      nbsql linear shop.duckdb churn --csv > weights.csv
    """  # noqa: D301 - \b keeps the lines
    with open_for_reading(database) as engine:
        weights = nbsql.load(engine, model).linear()
        answer(engine, weights, form, limit=limit)


@click.command(short_help="Show a model as weights with squares: its quadratic form.")
@click.argument("database")
@click.argument("model")
@limited
@with_formats
def quadratic(database: str, model: str, *, limit: int, form: Form) -> None:
    """Show MODEL as weights, including those of squares and products of numbers, if each class has its own variances.

    \b
      nbsql quadratic shop.duckdb churn
      nbsql quadratic shop.duckdb churn --json
    """  # noqa: D301 - \b keeps the lines
    with open_for_reading(database) as engine:
        weights = nbsql.load(engine, model).quadratic()
        answer(engine, weights, form, limit=limit)


@click.command(short_help="Rank the features by their information about the class.")
@click.argument("database")
@click.argument("model")
@click.option("--values", is_flag=True, help="Rank the values and words instead of the features.")
@limited
@with_formats
def relevance(database: str, model: str, *, values: bool, limit: int, form: Form) -> None:
    """Rank the features of MODEL by their mutual information with the class, in nats, from the counts alone.

    \b
      nbsql relevance shop.duckdb churn
      nbsql relevance shop.duckdb churn --values --limit 100
    """  # noqa: D301 - \b keeps the lines
    with open_for_reading(database) as engine:
        ranking = nbsql.load(engine, model).relevance(values=values)
        answer(engine, ranking, form, limit=limit, bars="mutual_information")
