"""`nbsql sample` and `nbsql log-likelihood`: rows drawn from a model, and how probable it makes those of a source."""

from __future__ import annotations

import json

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import answering, check_form
from nbsql.cli.files import write
from nbsql.cli.session import reading, recording, still, writing

_ROWS = 20  # of a table on the terminal


@click.command(short_help="Draw rows from a model.")
@click.argument("database")
@click.argument("model")
@click.argument("n", type=click.IntRange(min=0))
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same rows.")
@click.option("--into", metavar="TABLE", help="Keep the rows as a new table of DATABASE.")
@answering
def sample(
    database: str, model: str, n: int, *, seed: int, into: str | None, as_json: bool, as_csv: bool, as_sql: bool
) -> None:  # fmt: skip
    """Draw N rows as MODEL has them: a class each, by the priors, then its features from their distributions in that class.

    \b
      nbsql sample shop.duckdb churn 10
      nbsql sample shop.duckdb churn 100000 --seed 7 --into drawn
      nbsql sample shop.duckdb churn 1000 --csv > drawn.csv
    """  # noqa: D301 - \b keeps the lines
    check_form(as_json=as_json, as_csv=as_csv, as_sql=as_sql)
    if into is not None and (as_json or as_csv):
        raise click.UsageError("--into keeps the rows in the database; leave out --json and --csv")
    if into is not None:
        _into(database, model, n, seed, into, as_sql=as_sql)
        return
    with reading(database) as engine:
        loaded = nbsql.load(engine, model)
        if as_sql:
            tables.sql(loaded.sample(n, seed=seed).sql)
        elif as_json or as_csv:
            write(engine, loaded.sample(n, seed=seed).sql, "json" if as_json else "csv", None)
        else:
            # The first rows of a sample are those of a shorter one, so that no more are drawn than shown.
            hidden, _ = tables.query(engine, loaded.sample(min(n, _ROWS), seed=seed).sql, keep=1)
            notes = [f"the first {_ROWS} of {n:,} rows; --csv prints all, --into TABLE keeps them"] if n > _ROWS else []
            notes += [f"{hidden} column{'' if hidden == 1 else 's'} left out; --csv has all"] if hidden else []
            if notes:
                tables.echo("", *notes)


def _into(database: str, name: str, n: int, seed: int, into: str, *, as_sql: bool) -> None:
    with recording(database) if as_sql else writing(database, create=False) as engine:
        nbsql.load(engine, name).sample(n, seed=seed).create_table(into)
        if as_sql:
            tables.sql("\n\n".join(engine.statements))  # type: ignore[attr-defined]
            return
        still(engine)
        tables.echo(f"drew {n:,} row{'' if n == 1 else 's'} from model {name} into the table {into} of {database}")


@click.command("log-likelihood", short_help="How probable a model makes the rows of a table.")
@click.argument("database")
@click.argument("model")
@click.argument("source")
@click.option("--labelled", is_flag=True, help="ln p(x, c), c the class that the row has, instead of ln p(x).")
@answering
def log_likelihood(
    database: str, model: str, source: str, *, labelled: bool, as_json: bool, as_csv: bool, as_sql: bool
) -> None:  # fmt: skip
    """Say how probable MODEL makes the rows of SOURCE: their log-likelihood, all together and on average, in nats.

    \b
      nbsql log-likelihood shop.duckdb churn holdout
      nbsql log-likelihood shop.duckdb churn holdout --labelled --json
    """  # noqa: D301 - \b keeps the lines
    check_form(as_json=as_json, as_csv=as_csv, as_sql=as_sql)
    with reading(database) as engine:
        statement = nbsql.load(engine, model).log_likelihood_sql(source, labelled=labelled)
        if as_sql:
            tables.sql(statement)
            return
        if engine.watch is not None:
            engine.watch("score")
        ((total, rows),) = engine.rows(statement)
        still(engine)
        numbers = {"rows": rows, "log_likelihood": total, "mean": total / rows if rows else None}
        if as_json:
            tables.echo(json.dumps(numbers, indent=2))
        elif as_csv:
            tables.echo(",".join(numbers), ",".join("" if number is None else str(number) for number in numbers.values()))
        else:
            what = "ln p(x, c)" if labelled else "ln p(x)"
            title = f"{what} of {rows:,} row{'' if rows == 1 else 's'} of {tables.plain(source)} by model {model}, in nats"
            tables.echo(title, "")
            shown = [["together", tables.number(total)], *([["a row", tables.number(total / rows)]] if rows else [])]
            tables.table(["", what], shown, right=[1])
