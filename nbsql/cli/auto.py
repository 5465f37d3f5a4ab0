"""`nbsql auto`: families and a method chosen by cross-validated log loss."""

from __future__ import annotations

from typing import Any

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import Form, objects, print_value, with_formats
from nbsql.cli.fit import chosen, modelling, typed
from nbsql.cli.session import end_progress, open_for_reading, open_for_writing, show_warnings
from nbsql.model.place import place_for
from nbsql.tuning.auto import BUDGET, FOLDS
from nbsql.tuning.methods import METHODS
from nbsql.tuning.sweep import family_text


@click.command(short_help="Choose families and a method, and keep the best model.")
@click.argument("database")
@click.argument("source")
@modelling
@click.option("--keep-all", is_flag=True, help="Keep all columns as features.")
@click.option("--no-calibration", is_flag=True, help="Do not try a temperature.")
@click.option(
    "--methods", metavar="NAMES", show_default=",".join(map(str, METHODS)), help="The classifiers to try, separated by commas."
)
@click.option("--folds", type=click.IntRange(min=2), default=FOLDS, show_default=True, help="The number of folds.")
@click.option("--fold", metavar="COLUMN", help="A column with the fold of each row, instead.")
@click.option(
    "--budget", type=click.IntRange(min=1), default=BUDGET, show_default=True, help="About how many rows to evaluate on."
)
@click.option("--name", metavar="MODEL", help="Store the chosen model under this name.")
@click.option("--replace", is_flag=True, help="Replace the model of that name.")
@with_formats(csv="Print CSV: feature, family, alone, log_loss, gain, standard_error, chosen.", sql=None)
def auto(
    database: str,
    source: str,
    *,
    target: str,
    keep_all: bool,
    no_calibration: bool,
    methods: str | None,
    folds: int,
    fold: str | None,
    budget: int,
    name: str | None,
    replace: bool,
    form: Form,
    **given: Any,
) -> None:
    """Choose the families of the columns of SOURCE and the method by cross-validated log loss, and show what was tried.

    \b
      nbsql auto shop.duckdb customers --target churned --id customer_id
      nbsql auto shop.duckdb customers --target churned --id customer_id --name churn
    """  # noqa: D301 - \b keeps the lines
    wanted = METHODS if methods is None else [each.strip() for each in methods.split(",")]
    options: dict[str, Any] = {**chosen(given), "methods": wanted}
    with open_for_writing(database, create=False) if name else open_for_reading(database) as engine:
        if name:
            place_for(engine, name, None, replace=replace)  # refuse a name that is taken before the work, not after it
        with show_warnings(engine):
            options["prior"] = typed(engine, source, target, options["prior"])
            found = nbsql.auto(
                engine, source, target=target, leave_out=not keep_all, calibrate=not no_calibration, folds=folds, fold=fold,
                budget=budget, **options,
            )  # fmt: skip
            if name:
                found.best(name=name, replace=replace)
        end_progress(engine)
        method = getattr(found.method, "name", "naive")
        if form != "table":
            tried = objects(engine, found.tried.sql)
            settings = objects(engine, found.ranking.sql)
            print_value(engine, form, {"rows": found.rows, "method": method, "settings": settings, "tried": tried}, tried)
            return
        tables.echo(f"{found.rows:,} rows of {tables.plain(source)} predicted by models that have not met them", "")
        tables.query(engine, found.ranking.sql)
        if method != "naive":
            tables.echo("", f"method: {method}")
        lines = [[column, family_text(family)] for column, family in found.families.items()]
        lines += [[column, "left out"] for column in found.exclude]
        if lines:
            tables.echo("")
            tables.table(["column", "chosen"], lines)
        if name:
            tables.echo("", f"model {name} in {database} is that of the first")
