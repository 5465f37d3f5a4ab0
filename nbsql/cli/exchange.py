"""`nbsql merge`, `export`, `import`, `from-tables` and `from-statistics`: models of counts and probabilities."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

import nbsql
from nbsql.cli.answers import Form, with_formats, write_or_print
from nbsql.cli.arguments import FAMILY, PRIOR
from nbsql.cli.description import FEATURES, describing
from nbsql.cli.fit import report, typed
from nbsql.cli.fit_options import option_of_fit, takes
from nbsql.cli.options import by_name, command, naming, naming_classes, option, replacing, together
from nbsql.cli.session import check_new_database, open_for_writing, show_warnings
from nbsql.family import Family


@command("Merge several models into one.", takes(nbsql.merge))
@with_formats(csv=FEATURES, sql=None)
def merge(database: str, models: tuple[str, ...], *, name: str, replace: bool, form: Form) -> None:
    """Merge MODELS of DATABASE, which have the same target and features. Only counts are read, never rows.

    \b
      nbsql merge shop.duckdb january february --name winter
    """
    with open_for_writing(database, create=False) as engine:
        report(engine, database, nbsql.merge(engine, list(models), name=name, replace=replace), form)


@command("Read a model from a file.", takes(nbsql.import_), name="import")
@with_formats(csv=FEATURES, sql=None)
def import_(database: str, path: str, *, name: str, replace: bool, form: Form) -> None:
    """Read the model that `nbsql export` wrote to PATH, on any engine.

    \b
      nbsql import other.duckdb churn.parquet --name churn
    """
    with open_for_writing(database) as engine:
        report(engine, database, nbsql.import_(engine, path, name=name, replace=replace), form)


@command("Make a model from given probabilities.", "database", "priors", "likelihoods?")
@naming
@option("--target", default="class", metavar="COLUMN", help="The name of the predicted column.")
@option_of_fit("id")
@by_name(
    "--family", "families", type=FAMILY,
    help="The family of a feature that is not categorical (likelihoods of values), Gaussian (mean and variance) or "
    "Poisson (rate). Repeatable.",
)  # fmt: skip
@replacing
@describing
def from_tables(
    database: str, priors: str, likelihoods: str | None, *, families: tuple[tuple[str, Family], ...], form: Form, **options: Any
) -> None:
    """Make a model from probabilities of an expert, a book or another system, and store it in DATABASE as the schema --name.

    PRIORS is a source with the columns class and prior. LIKELIHOODS has the columns class and feature, and value and
    likelihood (or log_likelihood), or mean and variance, or rate.

    \b
      nbsql from-tables shop.duckdb priors.csv likelihoods.csv --name tennis --target play
      nbsql from-tables shop.duckdb priors likelihoods --name calls --family 'wait=exponential'
    """
    check_new_database(database, priors)
    with write_or_print(database, form, create=True, rehearse=True) as engine:
        with show_warnings(engine):
            model = nbsql.from_tables(engine, priors=priors, likelihoods=likelihoods, families=dict(families), **options)
        report(engine, database, model, form)


@command("Make a model from counts made elsewhere.", "database", "statistics")
@option("--like", metavar="MODEL", help="A model whose features and options are copied.")
@naming
@option("--target", metavar="COLUMN", help="Without --like, the name of the predicted column.  [default: class]")
@option_of_fit("id")
@option("--weight", metavar="COLUMN", help="The column of row weights, for rows that the model learns later.")
@by_name(
    "--family", "families", type=FAMILY,
    help="Without --like, the family of a feature, if it does not follow from the cells. Repeatable.",
)  # fmt: skip
@option("--prior", type=PRIOR, help="empirical, uniform, smoothed, or no=0.9,yes=0.1.  [default: empirical]")
@naming_classes
@together(*map(option_of_fit, ("alpha", "estimate", "nulls", "unseen")))
@replacing
@describing
def from_statistics(database: str, statistics: str, *, form: Form, **given: Any) -> None:
    """Make a model from counts: those of ad_hoc.sql, or the result of `nbsql sql DATABASE statistics` on another engine.

    STATISTICS is a source with the columns class, feature, value, n, mean and m2. Without --like the family of every feature
    follows from its cells.

    \b
      nbsql from-statistics shop.duckdb counts --name churn --target churned --id customer_id
      nbsql sql shop.duckdb statistics churn shop.customers --dialect bigquery
      nbsql from-statistics shop.duckdb answer.csv --like churn --name churn_of_all
    """
    is_default = {ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP}
    source_of = click.get_current_context().get_parameter_source
    options = {name: value for name, value in given.items() if source_of(name) not in is_default}  # the others are of --like
    if "classes" in options:
        options["target"] = nbsql.Target(options.get("target", "class"), options.pop("classes"))
    if "families" in options:
        options["families"] = dict(options["families"])
    with write_or_print(database, form, rehearse=True) as engine:
        with show_warnings(engine):
            if "prior" in options:
                options["prior"] = typed(engine, statistics, "class", options["prior"])
            model = nbsql.from_statistics(engine, statistics, **options)
        report(engine, database, model, form)
