"""`nbsql sample` and `nbsql log-likelihood`: draw rows from a model, and compute the log-likelihood of rows."""

from __future__ import annotations

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import Form, print_value, with_formats
from nbsql.cli.files import write
from nbsql.cli.session import end_progress, open_for_reading, open_for_writing, record_statements

_ROWS = 20  # the default number of rows of a table


@click.command(short_help="Draw rows from a model.")
@click.argument("database")
@click.argument("model")
@click.argument("n", type=click.IntRange(min=0))
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same rows.")
@click.option("--into", metavar="TABLE", help="Store the rows as a new table of DATABASE.")
@with_formats
def sample(
    database: str, model: str, n: int, *, seed: int, into: str | None, form: Form
) -> None:  # fmt: skip
    """Draw N rows from MODEL: first a class by the priors, then the features from their distributions in that class.

    \b
      nbsql sample shop.duckdb churn 10
      nbsql sample shop.duckdb churn 100000 --seed 7 --into drawn
      nbsql sample shop.duckdb churn 1000 --csv > drawn.csv
    """  # noqa: D301 - \b keeps the lines
    if into is not None and form in ("json", "csv"):
        raise click.UsageError("--into keeps the rows in the database; leave out --json and --csv")
    if into is not None:
        _into(database, model, n, seed, into, form)
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
            notes = [f"the first {_ROWS} of {n:,} rows; --csv prints all, --into TABLE keeps them"] if n > _ROWS else []
            notes += [tables.left_out(hidden, "--csv has all")] if hidden else []
            if notes:
                tables.echo("", *notes)


def _into(database: str, name: str, n: int, seed: int, into: str, form: Form) -> None:
    with record_statements(database) if form == "sql" else open_for_writing(database, create=False) as engine:
        nbsql.load(engine, name).sample(n, seed=seed).create_table(into)
        if form == "sql":
            tables.sql(engine.script)  # type: ignore[attr-defined]
            return
        end_progress(engine)
        tables.echo(f"drew {n:,} row{'' if n == 1 else 's'} from model {name} into the table {into} of {database}")


@click.command("log-likelihood", short_help="Compute the log-likelihood of the rows of a table.")
@click.argument("database")
@click.argument("model")
@click.argument("source")
@click.option("--labelled", is_flag=True, help="Use ln p(x, c), with the class c of the row, instead of ln p(x).")
@with_formats
def log_likelihood(
    database: str, model: str, source: str, *, labelled: bool, form: Form
) -> None:  # fmt: skip
    """Compute the log-likelihood of the rows of SOURCE under MODEL, in total and on average, in nats.

    \b
      nbsql log-likelihood shop.duckdb churn holdout
      nbsql log-likelihood shop.duckdb churn holdout --labelled --json
    """  # noqa: D301 - \b keeps the lines
    with open_for_reading(database) as engine:
        statement = nbsql.load(engine, model).log_likelihood_sql(source, labelled=labelled)
        if form == "sql":
            tables.sql(statement)
            return
        engine.announce("score")
        ((total, rows),) = engine.rows(statement)
        end_progress(engine)
        numbers = {"rows": rows, "log_likelihood": total, "mean": total / rows if rows else None}
        if form != "table":
            print_value(engine, form, numbers, [numbers])
        else:
            what = "ln p(x, c)" if labelled else "ln p(x)"
            title = f"{what} of {rows:,} row{'' if rows == 1 else 's'} of {tables.plain(source)} by model {model}, in nats"
            tables.echo(title, "")
            shown = [["together", tables.number(total)], *([["a row", tables.number(total / rows)]] if rows else [])]
            tables.table(["", what], shown, right=[1])
