"""`nbsql from-tables` and `from-statistics`: a model of given probabilities, or of what another engine has counted."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.arguments import FamilyType
from nbsql.cli.fit import report
from nbsql.cli.session import Rehearsal, check_new_database, rehearsing, told, writing
from nbsql.engines.engine import Engine
from nbsql.family import Family


@click.command("from-tables", short_help="Make a model of given probabilities.")
@click.argument("database")
@click.argument("priors")
@click.argument("likelihoods", required=False)
@click.option("--name", required=True, metavar="MODEL", help="The name of the model, and of its schema.")
@click.option("--target", default="class", show_default=True, metavar="COLUMN", help="What the predicted column is called.")
@click.option("--id", "id", multiple=True, metavar="COLUMN", help="A key column, named in explanations. Repeatable.")
@click.option(
    "--family",
    "families",
    type=FamilyType(),
    multiple=True,
    help="The family of a feature that is not categorical (likelihoods of values), Gaussian (mean and variance) or "
    "Poisson (rate). Repeatable.",
)
@click.option("--replace", is_flag=True, help="Take the place of the model of that name.")
@click.option("--sql", "as_sql", is_flag=True, help="Print the statements; they run in a transaction that is rolled back.")
def from_tables(
    database: str, priors: str, likelihoods: str | None, *, name: str, target: str, id: tuple[str, ...],
    families: tuple[tuple[str, Family], ...], replace: bool, as_sql: bool,
) -> None:  # fmt: skip
    """Make a model of the probabilities of an expert, a book or another system, and keep it in DATABASE as the schema --name.

    PRIORS is a source with the columns class and prior; LIKELIHOODS has class, feature, and value and likelihood, or mean
    and variance, or rate.

    \b
      nbsql from-tables shop.duckdb priors.csv likelihoods.csv --name tennis --target play
      nbsql from-tables shop.duckdb priors likelihoods --name calls --family 'wait=exponential'
    """  # noqa: D301 - \b keeps the lines
    check_new_database(database, priors)
    opened: AbstractContextManager[Engine] = writing(database)
    if as_sql:  # a database that is not there yet would be an empty one
        opened = rehearsing(database if Path(database).exists() else ":memory:")
    with opened as engine:
        with told(engine):
            model = nbsql.from_tables(
                engine, priors=priors, likelihoods=likelihoods, families=dict(families), target=target, id=id, name=name,
                replace=replace,
            )  # fmt: skip
        if isinstance(engine, Rehearsal):
            tables.sql("\n\n".join(engine.statements))
            return
        report(engine, database, model)


@click.command("from-statistics", short_help="Make a model of what another engine has counted.")
@click.argument("database")
@click.argument("statistics")
@click.option("--like", required=True, metavar="MODEL", help="The model whose features and options it has.")
@click.option("--name", required=True, metavar="MODEL", help="The name of the model, and of its schema.")
@click.option("--replace", is_flag=True, help="Take the place of the model of that name.")
@click.option("--sql", "as_sql", is_flag=True, help="Print the statements; they run in a transaction that is rolled back.")
def from_statistics(database: str, statistics: str, *, like: str, name: str, replace: bool, as_sql: bool) -> None:
    """Make a model of the answer of `nbsql sql DATABASE statistics ... --dialect NAME`, which another engine has given.

    STATISTICS is a source with the columns class, feature, value, n, mean and m2.

    \b
      nbsql sql shop.duckdb statistics churn shop.customers --dialect bigquery
      nbsql from-statistics shop.duckdb answer.csv --like churn --name churn_of_all
    """  # noqa: D301 - \b keeps the lines
    opened: AbstractContextManager[Engine] = rehearsing(database) if as_sql else writing(database, create=False)
    with opened as engine:
        with told(engine):
            model = nbsql.from_statistics(engine, statistics, like=like, name=name, replace=replace)
        if isinstance(engine, Rehearsal):
            tables.sql("\n\n".join(engine.statements))
            return
        report(engine, database, model)
