"""`nbsql calibrate`: calibrates the posteriors of a model."""

from __future__ import annotations

from typing import Any

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import Form, print_value, with_formats
from nbsql.cli.arguments import FOLDS
from nbsql.cli.session import end_progress, open_for_writing, rehearse_statements, show_warnings
from nbsql.judging.calibration import METHODS, Method


@click.command(short_help="Calibrate the probabilities of a model.")
@click.argument("database")
@click.argument("model")
@click.argument("source")
@click.option("--method", type=click.Choice(METHODS), default="temperature", show_default=True, help="The calibration method.")
@click.option(
    "--folds", type=FOLDS, help="Score each of N folds by a model of the others; loo leaves out one row.  [default: 10]"
)
@click.option("--held-back", is_flag=True, help="MODEL has not learnt SOURCE, so use no folds.")
@click.option("--weight", metavar="COLUMN", help="Weights of the held-back rows and of the test rows.")
@click.option("--test", metavar="SOURCE", help="Rows that neither the model nor the calibration has seen, to evaluate both on.")
@with_formats(csv="Print CSV: on, rows, metric, before, after.", sql="Print the SQL, and change nothing.")
def calibrate(
    database: str, model: str, source: str, *, method: Method, folds: Any, held_back: bool, weight: str | None,
    test: str | None, form: Form,
) -> None:  # fmt: skip
    """Calibrate MODEL on SOURCE, the rows that it has learnt, and store the calibration with it.

    \b
      nbsql calibrate shop.duckdb churn customers --test holdout
      nbsql calibrate shop.duckdb churn validation --held-back --method platt
    """  # noqa: D301 - \b keeps the lines
    if held_back and folds is not None:
        raise click.UsageError("choose one of --folds and --held-back")
    if weight is not None and not held_back and test is None:
        raise click.UsageError("--weight is of rows held back, or of a test; folds count by the weight of the fit")
    dealt = None if held_back else folds or 10
    if form == "sql":
        with rehearse_statements(database) as rehearsal, show_warnings(rehearsal):
            loaded = nbsql.load(rehearsal, model)
            rehearsal.begin(loaded)
            loaded.calibrate(source, method=method, folds=dealt, weight=weight, test=test)
            tables.sql(rehearsal.script)
        return
    with open_for_writing(database, create=False) as engine, show_warnings(engine):
        found = nbsql.load(engine, model).calibrate(source, method=method, folds=dealt, weight=weight, test=test)
        end_progress(engine)
        if form != "table":
            names = ("on", "rows", "metric", "before", "after")
            print_value(engine, form, found.to_dict(), [dict(zip(names, row, strict=True)) for row in found.table()])
            return
        temperature = "" if found.temperature is None else f": T = {found.temperature:.4f}"
        tables.echo(f"model {model} calibrated by {method} on {found.rows:,} rows of {tables.plain(source)}{temperature}", "")
        lines = [
            [place, f"{rows:,}", name, f"{before:.4f}", f"{after:.4f}"] for place, rows, name, before, after in found.table()
        ]
        tables.table(["", "rows", "", "before", "after"], lines, right=(1, 3, 4))
