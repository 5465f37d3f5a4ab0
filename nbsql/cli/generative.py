"""`nbsql sample` and `nbsql log-likelihood`: draw rows from a model, and compute the log-likelihood of rows."""

from __future__ import annotations

import click

import nbsql
from nbsql.answers.table import counted
from nbsql.cli import tables
from nbsql.cli.answers import Form, print_done, print_value, with_formats, write_or_print
from nbsql.cli.files import write
from nbsql.cli.options import check_into, command, into_table, option, reads_model
from nbsql.cli.session import end_progress, open_for_reading

_ROWS = 20  # the default number of rows of a table


@command("Draw rows from a model.", "database", "model", click.argument("n", type=click.IntRange(min=0)))
@option("--seed", type=int, default=0, help="The same seed gives the same rows.")
@into_table
@with_formats
def sample(database: str, model: str, n: int, *, seed: int, into: str | None, replace: bool, form: Form) -> None:
    """Draw N rows from MODEL: first a class by the priors, then the features from their distributions in that class.

    \b
      nbsql sample shop.duckdb churn 10
      nbsql sample shop.duckdb churn 100000 --seed 7 --into drawn
      nbsql sample shop.duckdb churn 1000 --csv > drawn.csv
    """
    check_into(into, replace=replace)
    if into is not None:
        if form in ("json", "csv"):
            raise click.UsageError("--into keeps the rows in the database; leave out --json and --csv")
        with write_or_print(database, form) as engine:
            nbsql.load(engine, model).sample(n, seed=seed).create_table(into, replace=replace)
            print_done(engine, form, f"drew {counted(n, 'row')} from model {model} into the table {into} of {database}")
        return
    with open_for_reading(database) as engine:
        loaded = nbsql.load(engine, model)
        if form == "sql":
            tables.sql(loaded.sample(n, seed=seed).sql)
        elif form != "table":
            write(engine, loaded.sample(n, seed=seed).sql, form, None)
        else:
            # A shorter sample is the beginning of a longer one, so that only the rows that are shown need to be drawn.
            hidden, _ = tables.query(engine, loaded.sample(min(n, _ROWS), seed=seed).sql, keep=1)
            more = f"the first {_ROWS} of {n:,} rows; --csv prints all, --into TABLE keeps them"
            tables.notes(hidden, "--csv has all", more if n > _ROWS else None)


@command("Compute the log-likelihood of the rows of a table.", "database", "model", "source")
@option("--labelled", is_flag=True, help="Use ln p(x, c), with the class c of the row, instead of ln p(x).")
@with_formats
@reads_model
def log_likelihood(model: nbsql.Model, source: str, *, labelled: bool, form: Form) -> None:
    """Compute the log-likelihood of the rows of SOURCE under MODEL, in total and on average, in nats.

    \b
      nbsql log-likelihood shop.duckdb churn holdout
      nbsql log-likelihood shop.duckdb churn holdout --labelled --json
    """
    engine, statement = model._engine, model.log_likelihood_sql(source, labelled=labelled)
    if form == "sql":
        tables.sql(statement)
        return
    engine.announce("score")
    ((total, rows),) = engine.rows(statement)
    end_progress(engine)
    numbers = {"rows": rows, "log_likelihood": total, "mean": total / rows if rows else None}
    if form != "table":
        print_value(engine, form, numbers, [numbers])
        return
    what = "ln p(x, c)" if labelled else "ln p(x)"
    tables.echo(f"{what} of {counted(rows, 'row')} of {tables.plain(source)} by model {model.name}, in nats", "")
    shown = [["total", tables.number(total)], *([["mean per row", tables.number(total / rows)]] if rows else [])]
    tables.table(["", what], shown, right=[1])
