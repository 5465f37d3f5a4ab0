"""`nbsql from-tables` and `from-statistics`: make a model from given probabilities, or from counts made elsewhere."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, get_args

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import Form, with_formats
from nbsql.cli.arguments import FAMILY, PRIOR
from nbsql.cli.description import FEATURES
from nbsql.cli.fit import naming_classes, report, typed
from nbsql.cli.session import Rehearsal, check_new_database, open_for_writing, rehearse_statements, show_warnings
from nbsql.engines.engine import Engine
from nbsql.family import Family, Nulls, Unseen


@click.command("from-tables", short_help="Make a model from given probabilities.")
@click.argument("database")
@click.argument("priors")
@click.argument("likelihoods", required=False)
@click.option("--name", required=True, metavar="MODEL", help="The name of the model, and of its schema.")
@click.option("--target", default="class", show_default=True, metavar="COLUMN", help="The name of the predicted column.")
@click.option(
    "--id", "id", multiple=True, metavar="COLUMN", help="A key column, which identifies rows in explanations. Repeatable."
)
@click.option(
    "--family",
    "families",
    type=FAMILY,
    multiple=True,
    help="The family of a feature that is not categorical (likelihoods of values), Gaussian (mean and variance) or "
    "Poisson (rate). Repeatable.",
)
@click.option("--replace", is_flag=True, help="Replace the model of that name.")
@with_formats(csv=FEATURES, sql="Print the statements; they run in a transaction that is rolled back.")
def from_tables(
    database: str, priors: str, likelihoods: str | None, *, name: str, target: str, id: tuple[str, ...],
    families: tuple[tuple[str, Family], ...], replace: bool, form: Form,
) -> None:  # fmt: skip
    """Make a model from probabilities of an expert, a book or another system, and store it in DATABASE as the schema --name.

    PRIORS is a source with the columns class and prior. LIKELIHOODS has the columns class and feature, and value and
    likelihood (or log_likelihood), or mean and variance, or rate.

    \b
      nbsql from-tables shop.duckdb priors.csv likelihoods.csv --name tennis --target play
      nbsql from-tables shop.duckdb priors likelihoods --name calls --family 'wait=exponential'
    """  # noqa: D301 - \b keeps the lines
    check_new_database(database, priors)
    opened: AbstractContextManager[Engine] = open_for_writing(database)
    if form == "sql":  # a missing database counts as an empty one
        opened = rehearse_statements(database if Path(database).exists() else ":memory:")
    with opened as engine:
        with show_warnings(engine):
            model = nbsql.from_tables(
                engine, priors=priors, likelihoods=likelihoods, families=dict(families), target=target, id=id, name=name,
                replace=replace,
            )  # fmt: skip
        if isinstance(engine, Rehearsal):
            tables.sql(engine.script)
            return
        report(engine, database, model, form)


@click.command("from-statistics", short_help="Make a model from counts made elsewhere.")
@click.argument("database")
@click.argument("statistics")
@click.option("--like", metavar="MODEL", help="A model whose features and options are copied.")
@click.option("--name", required=True, metavar="MODEL", help="The name of the model, and of its schema.")
@click.option("--target", metavar="COLUMN", help="Without --like, the name of the predicted column.  [default: class]")
@click.option(
    "--id", "id", multiple=True, metavar="COLUMN", help="A key column, which identifies rows in explanations. Repeatable."
)
@click.option("--weight", metavar="COLUMN", help="The column of row weights, for rows that the model learns later.")
@click.option(
    "--family",
    "families",
    type=FAMILY,
    multiple=True,
    help="Without --like, the family of a feature, if it does not follow from the cells. Repeatable.",
)
@click.option("--alpha", type=float, help="The pseudo-count of additive smoothing.  [default: 1]")
@click.option(
    "--estimate", type=click.Choice(["mean", "mode", "map", "mle"]), help="The estimate of every parameter.  [default: mean]"
)
@click.option("--prior", type=PRIOR, help="empirical, uniform, smoothed, or no=0.9,yes=0.1.  [default: empirical]")
@naming_classes
@click.option("--nulls", type=click.Choice(get_args(Nulls)), help="How a missing value is treated.  [default: skip]")
@click.option(
    "--unseen", type=click.Choice(get_args(Unseen)), help="How a value that is new to the model is scored.  [default: skip]"
)
@click.option("--replace", is_flag=True, help="Replace the model of that name.")
@with_formats(csv=FEATURES, sql="Print the statements; they run in a transaction that is rolled back.")
def from_statistics(
    database: str, statistics: str, *, like: str | None, name: str, replace: bool, form: Form, **given: Any
) -> None:
    """Make a model from counts: those of ad_hoc.sql, or the result of `nbsql sql DATABASE statistics` on another engine.

    STATISTICS is a source with the columns class, feature, value, n, mean and m2. Without --like the family of every feature
    follows from its cells.

    \b
      nbsql from-statistics shop.duckdb counts --name churn --target churned --id customer_id
      nbsql sql shop.duckdb statistics churn shop.customers --dialect bigquery
      nbsql from-statistics shop.duckdb answer.csv --like churn --name churn_of_all
    """  # noqa: D301 - \b keeps the lines
    options = {option: value for option, value in given.items() if value not in (None, ())}
    if "classes" in options:
        options["target"] = nbsql.Target(options.get("target", "class"), options.pop("classes"))
    if "families" in options:
        options["families"] = dict(options["families"])
    opened: AbstractContextManager[Engine] = (
        rehearse_statements(database) if form == "sql" else open_for_writing(database, create=False)
    )
    with opened as engine:
        with show_warnings(engine):
            if "prior" in options:
                options["prior"] = typed(engine, statistics, "class", options["prior"])
            model = nbsql.from_statistics(engine, statistics, like=like, name=name, replace=replace, **options)
        if isinstance(engine, Rehearsal):
            tables.sql(engine.script)
            return
        report(engine, database, model, form)
