"""The commands that show what a model has learnt, made from its verbs."""

from typing import Any

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import Form, answer, print_done, print_value, with_formats, write_or_print
from nbsql.cli.files import write
from nbsql.cli.options import check_into, into_table, limited, reads_model
from nbsql.cli.session import end_progress, open_for_reading
from nbsql.cli.verbs import query_command, values_of, verb_command
from nbsql.errors import counted
from nbsql.model.scorecard import HEADINGS, Scorecard
from nbsql.queries.table import one_line

_ROWS = 20  # the default number of rows of a sample


def _sample(database: str, model: str, n: int, *, seed: int, into: str | None, replace: bool, form: Form) -> None:
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


def _log_likelihood(model: nbsql.Model, source: str, *, labelled: bool, form: Form) -> None:
    engine, statement = model.state.engine, model.log_likelihood_sql(source, labelled=labelled)
    if form == "sql":
        tables.sql(statement)
        return
    engine.announce("score")
    ((rows, total, mean),) = engine.rows(statement)
    end_progress(engine)
    numbers = {"rows": rows, "log_likelihood": total, "mean": mean}
    if form != "table":
        print_value(engine, form, numbers, [numbers])
        return
    what = "ln p(x, c)" if labelled else "ln p(x)"
    tables.echo(f"{what} of {counted(rows, 'row')} of {tables.plain(source)} by model {model.name}, in nats", "")
    shown = [["total", tables.number(total)], *([["mean per row", tables.number(mean)]] if rows else [])]
    tables.table(["", what], shown, right=[1])


def _scorecard(
    model: nbsql.Model, source: str | None, *, dialect: str | None, limit: int, form: Form, reasons: int, **given: Any
) -> None:
    rows = {"reasons": reasons, "against": given.pop("against"), "columns": given.pop("columns")}
    if source is None and (dialect is not None or rows != {"reasons": 0, "against": "best", "columns": None}):
        raise click.UsageError("--reasons, --against, --dialect and --columns are for the points of rows; name a SOURCE")
    card = model.scorecard(**values_of(model, given))
    if source is not None and dialect is not None:
        tables.sql(card.sql(source, dialect=dialect, **rows))
    elif source is not None:
        answer(card.score(source, **rows), form, limit=limit, keep=1 + min(reasons, 3))
    elif form != "table":
        answer(card.lines, form, limit=limit)
    else:
        lines = card.table()
        tables.echo(*map(one_line, card.notes()), "")
        tables.table(HEADINGS, lines[:limit], right=range(2, 7), keep=1)
        if len(lines) > limit:
            tables.echo("", f"the first {limit} lines of {len(lines)}; --limit N shows more, --csv all")


LEARNT = (
    query_command("batches", "churn", empty=True),
    query_command("priors", "churn"),
    query_command("likelihoods", "churn --csv > likelihoods.csv"),
    query_command("statistics", "churn --csv > cells.csv"),
    query_command("counts", "churn --csv > cells.csv"),
    query_command("segments", "by_region"),
    query_command("components", "mixture"),
    query_command("relevance", "churn", "churn --values --limit 100", bars="mutual_information"),
    query_command("discrimination", "churn no yes"),
    query_command("profile", "churn age", "churn age customers", empty=True),
    query_command("weights", "churn", "churn --degree 2 --csv > weights.csv"),
    query_command("linear", "churn", "churn --csv > weights.csv"),
    query_command("quadratic", "churn", "churn --json"),
    verb_command(
        "scorecard",
        [
            "churn --target no --digits 0", "churn new_customers --target no --digits 0 --reasons 3",
            "churn shop.customers --target no --dialect bigquery",
        ],
        with_formats(reads_model(_scorecard)), limited, more=[Scorecard.score, Scorecard.sql],
        source=click.argument("source", required=False),
    ),
    verb_command(
        "sample", ["churn 10", "churn 100000 --seed 7 --into drawn", "churn 1000 --csv > drawn.csv"], with_formats(_sample),
        into_table,
    ),
)  # fmt: skip

JUDGED = (
    query_command("dependence", "churn customers", "churn customers --features age,visits,plan"),
    query_command("class_shares", "churn new_customers"),
    query_command("drift", "churn 2026-01 2026-02", empty=True),
    query_command("compare", "churn last_year holdout", empty=True),
    query_command("unusual", "shape orders", "shape orders -n 5 --csv", empty=True, keep=1),
    query_command(
        "review",
        "spam unlabelled -n 20",
        "spam unlabelled --by novelty --csv > to_label.csv",
        'spam unlabelled --by "expected cost" --cost ham:spam=10',
        empty=True,
        keep=1,  # the reason
    ),
    verb_command(
        "log_likelihood",
        ["churn holdout", "churn holdout --labelled --json"],
        with_formats(reads_model(_log_likelihood)),
        left_out=["mean"],
    ),
)
