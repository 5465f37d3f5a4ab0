"""`nbsql predict`, `nbsql impute`, `nbsql explain` and `nbsql sql`: apply a model to a source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import Form, with_formats
from nbsql.cli.arguments import COLUMNS, COST, THRESHOLD, costs_by_label, labels_by_text
from nbsql.cli.files import FORMATS, format_of, is_piped, stream, write
from nbsql.cli.fit import fit
from nbsql.cli.session import end_progress, open_for_reading, open_for_writing, record_statements
from nbsql.cli.words import explained
from nbsql.engines.duckdb.engine import DuckDB
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.model.scoring import Verb
from nbsql.plan import VERBS

_ROWS = 20  # the default number of rows of a table
_FIRST = 5_000  # rows that are written to a pipe before the others are scored
_EXPLAINED = 1  # the default number of explained rows

_Scored = Callable[[nbsql.Model, Source], nbsql.Query]

_limit = click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Use only the first N rows of SOURCE.")
_format = click.option(
    "--format",
    "file_format",
    type=click.Choice(["table", *FORMATS]),
    help="The format; by default a table, or the format of --output's ending.",
)
_output = click.option("--output", "-o", type=click.Path(dir_okay=False), help="A file to write to instead of the terminal.")


_into_table = click.option("--into", metavar="TABLE", help="Store the rows as a new table of DATABASE.")
_labelled = click.option("--labelled", is_flag=True, help="For a column, take the known class of a row as certain.")
_columns = click.option("--columns", type=COLUMNS, help="Return only these columns of SOURCE beside those added; '' for none.")


@click.command(short_help="Score a table: the predicted class of every row, and its probability.")
@click.argument("database")
@click.argument("model")
@click.argument("source")
@click.option("--proba", is_flag=True, help="Add the probability of every class, probability_<label>.")
@click.option("--cost", "costs", type=COST, multiple=True, help="The cost of a mistake, if not 1. Repeatable.")
@click.option(
    "--threshold",
    "thresholds",
    type=THRESHOLD,
    multiple=True,
    help="Predict a class if its probability reaches P. Repeatable.",
)
@click.option("--top-k", type=click.IntRange(min=1), metavar="K", help="Return the K most probable classes, one row each.")
@click.option("--target", metavar="COLUMN", help="Predict this column of the model from the others, instead of the class.")
@_labelled
@click.option(
    "--coverage",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="P",
    help="Add the smallest set of classes that contains the true one this often; needs `nbsql calibrate --method conformal`.",
)
@click.option("--by-class", is_flag=True, help="With --coverage, guarantee it in each class.")
@click.option("--calibrated", is_flag=True, help="Use the probabilities that `nbsql calibrate` has calibrated.")
@_columns
@_into_table
@_limit
@_format
@_output
@with_formats
def predict(
    database: str, model: str, source: str, *, proba: bool, costs: tuple[tuple[str, str, float], ...],
    thresholds: tuple[tuple[str, float], ...], top_k: int | None, target: str | None, labelled: bool, coverage: float | None,
    by_class: bool, calibrated: bool, columns: list[str] | None, into: str | None, limit: int | None,
    file_format: str | None, output: str | None, form: Form,
) -> None:  # fmt: skip
    """Score the rows of SOURCE with MODEL: return all their columns, the predicted class, and its probability.

    \b
      nbsql predict shop.duckdb churn new_customers
      nbsql predict shop.duckdb churn new_customers.csv --output scored.parquet
      curl -s https://shop.example/today.csv | nbsql predict shop.duckdb churn - --csv | head
      nbsql predict shop.duckdb churn new_customers --proba --into scored
      nbsql predict shop.duckdb spam inbox --cost ham:spam=10
      nbsql predict shop.duckdb churn new_customers --target plan
    """  # noqa: D301 - \b keeps the lines
    if sum(map(bool, (proba, costs, thresholds, top_k, coverage))) > 1:
        raise click.UsageError("choose one of --proba, --cost, --threshold, --top-k and --coverage")
    if target is not None and proba:
        raise click.UsageError("--target has no --proba; --top-k has its values, a row each")

    def scored(loaded: nbsql.Model, found: Source) -> nbsql.Query:
        if proba:
            return loaded.predict_proba(found, calibrated=calibrated, columns=columns)
        labels = labels_by_text(loaded)
        reached = {labels.get(label, label): threshold for label, threshold in thresholds}
        return loaded.predict(
            found, target=target, labelled=labelled, costs=costs_by_label(loaded, costs), thresholds=reached or None,
            top_k=top_k, coverage=coverage, by_class=by_class, calibrated=calibrated, columns=columns,
        )  # fmt: skip

    def added(loaded: nbsql.Model) -> int:
        return 2 + (len(loaded.classes) if proba else bool(costs or top_k or coverage))

    _answer(database, model, source, scored, added, into, limit, file_format, output, form, rows=top_k or 1)


@click.command(short_help="Fill the missing values of a table from the rest of each row.")
@click.argument("database")
@click.argument("model")
@click.argument("source")
@click.option("--features", type=COLUMNS, help="Fill only these columns.")
@_labelled
@_into_table
@_limit
@_format
@_output
@with_formats
def impute(
    database: str, model: str, source: str, *, features: list[str] | None, labelled: bool, into: str | None, limit: int | None,
    file_format: str | None, output: str | None, form: Form,
) -> None:  # fmt: skip
    """Fill the missing values in the rows of SOURCE with those that MODEL predicts from the rest of each row.

    For each column that can be filled a column is added: probability_<column>, the probability of the filled value, or for a
    number deviation_<column>, its standard deviation. It is empty if the row had a value.

    \b
      nbsql impute shop.duckdb churn customers --into customers_filled
      nbsql impute shop.duckdb churn customers.csv --features plan,age --output filled.parquet
    """  # noqa: D301 - \b keeps the lines

    def filled(loaded: nbsql.Model, found: Source) -> nbsql.Query:
        return loaded.impute(found, features=features, labelled=labelled)

    _answer(database, model, source, filled, lambda _: 2, into, limit, file_format, output, form, done="filled")


def _answer(
    database: str, model: str, source: str, scored: _Scored, added: Callable[[nbsql.Model], int], into: str | None,
    limit: int | None, file_format: str | None, output: str | None, form: Form, rows: int = 1, done: str = "scored",
) -> None:  # fmt: skip
    """Output scored rows. A table always shows the added columns, the last ones; `rows` counts rows for each source row."""
    if into is not None and (file_format is not None or output is not None or form in ("json", "csv")):
        raise click.UsageError("--into keeps the rows in the database; leave out --format, --output, --json and --csv")
    wanted = _wanted(file_format, output, form)
    if into is not None:
        _into(database, model, source, scored, into, limit, form, done)
        return
    with open_for_reading(database) as engine:
        loaded = nbsql.load(engine, model)
        found = _ordered(_first(engine, source, limit))
        if form == "sql":
            tables.sql(scored(loaded, found).sql)
            return
        _at_work(engine, "score")
        if wanted == "table":
            shown = limit or _ROWS
            query = scored(loaded, _excerpt(engine, found, shown + 1))
            _table(engine, query, shown * min(rows, len(loaded.classes)), added(loaded))
        elif output is None and is_piped() and wanted in ("csv", "jsonl") and limit is None and _keeps_order(engine, found):
            parts = (_excerpt(engine, found, _FIRST), _excerpt(engine, found, None, _FIRST))
            stream(engine, [scored(loaded, part).sql for part in parts], wanted)
        else:
            write(engine, scored(loaded, found).sql, wanted, output)


def _wanted(file_format: str | None, output: str | None, form: Form) -> str:
    """The output format: --json and --csv are short for --format json and --format csv."""
    if form in ("json", "csv"):
        if file_format not in (None, form):
            raise click.UsageError(f"choose one of --{form} and --format {file_format}")
        return format_of(form, output)
    return format_of(file_format, output)


def _keeps_order(engine: Engine, found: Source) -> bool:
    """Whether two queries can read the first rows and the rest of a source: true for DuckDB's tables and files."""
    return isinstance(engine, DuckDB) and (found.is_table or found.relation == engine.renderer.dialect.ident(found.label))


def _table(engine: Engine, query: nbsql.Query, limit: int, added: int) -> None:
    hidden, more = tables.query(engine, query.sql, keep=min(added, 6), limit=limit)
    notes = []
    if more:
        notes.append(f"the first {limit} rows; --limit N shows more")
    if hidden:
        notes.append(tables.left_out(hidden, "--format csv has all"))
    if notes:
        tables.echo("", *notes)


def _into(
    database: str, name: str, source: str, scored: _Scored, into: str,
    limit: int | None, form: Form, done: str,
) -> None:  # fmt: skip
    with record_statements(database) if form == "sql" else open_for_writing(database, create=False) as engine:
        model = nbsql.load(engine, name)
        query = nbsql.Query(engine, scored(model, _first(engine, source, limit)).sql)
        query.create_table(into)
        if form == "sql":
            tables.sql(engine.script)  # type: ignore[attr-defined]
            return
        end_progress(engine)
        count = engine.ask("row_count", engine.renderer.dialect.ident(into))[0][0]
        tables.echo(f"{done} {count:,} row{'' if count == 1 else 's'} of {source} into the table {into} of {database}")


@click.command(short_help="Explain predictions: the contribution of each value of a row.")
@click.argument("database")
@click.argument("model")
@click.argument("source")
@click.option("--row", type=click.IntRange(min=1), metavar="N", help="The first row of SOURCE to explain, from 1.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="The number of rows; by default one on the terminal, all in a file.",
)
@_format
@_output
@with_formats
def explain(
    database: str, model: str, source: str, *, row: int | None, limit: int | None,
    file_format: str | None, output: str | None, form: Form,
) -> None:  # fmt: skip
    """Explain the predictions of MODEL for SOURCE.

    The terminal shows one row: how many times likelier each of its values is in the predicted class than in the runner-up. The
    product of these numbers and the prior odds is the odds. A file has the contribution of every feature to every class, in
    nats.

    \b
      nbsql explain shop.duckdb churn new_customers --row 7
      nbsql explain shop.duckdb churn new_customers --output reasons.csv
    """  # noqa: D301 - \b keeps the lines
    wanted = _wanted(file_format, output, form)
    if row is not None and limit is None:
        limit = 1
    with open_for_reading(database) as engine:
        loaded = nbsql.load(engine, model)
        first = row or 1
        if wanted == "table" and limit is None and form != "sql":
            limit = _EXPLAINED
        found = _first(engine, source, limit, first - 1)
        statement = loaded.sql("explain", found)
        if form == "sql":
            tables.sql(statement)
            return
        _at_work(engine, "explain")
        if wanted == "table":
            if not explained(engine, statement, loaded.target, first):
                raise nbsql.InputError(f"{source} has no row {first}")
        else:
            write(engine, statement, wanted, output)


class _SQL(click.Command):
    """The command `sql`; `sql DATABASE fit SOURCE ...` is short for `fit DATABASE SOURCE ... --sql`."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of the command that the arguments are meant for."""
        if args[1:2] == ["fit"]:
            return fit.make_context("fit", [args[0], *args[2:], "--sql"], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command(name="sql", cls=_SQL, short_help="Print the SQL that scores a table, or fits a model.")
@click.argument("database")
@click.argument("verb", type=click.Choice([*VERBS, "statistics"]))
@click.argument("model")
@click.argument("source")
@click.option(
    "--inline", is_flag=True, help="Write the model's parameters into the query, which then needs no tables of the model."
)
@click.option("--dialect", metavar="NAME", help="Write such a query for the engine that has SOURCE: bigquery, tsql, ...")
@_columns
def sql(
    database: str, verb: Verb, model: str, source: str, *, inline: bool, dialect: str | None, columns: list[str] | None
) -> None:
    """Print the query of VERB for SOURCE without running it. The query needs the tables of the model, but not nbsql.

    If VERB is fit, followed by SOURCE and the options of `nbsql fit`, print the statements that make a model.

    \b
      nbsql sql shop.duckdb fit customers --target churned --name churn | duckdb shop.duckdb
      nbsql sql shop.duckdb log_evidence churn new_customers | duckdb shop.duckdb
      nbsql sql shop.duckdb predict churn new_customers --inline | duckdb elsewhere.duckdb
      nbsql sql shop.duckdb predict churn shop.customers --dialect bigquery --columns customer_id
    """  # noqa: D301 - \b keeps the lines
    with open_for_reading(database) as engine:
        tables.sql(nbsql.load(engine, model).sql(verb, source, inline=inline, dialect=dialect, columns=columns))


def _first(engine: Engine, source: str, limit: int | None, offset: int = 0) -> Source:
    found = engine.source(source)
    return found if limit is None and not offset else _excerpt(engine, found, limit, offset)


def _excerpt(engine: Engine, found: Source, limit: int | None, offset: int = 0) -> Source:
    """A source with some of the rows of another, under the same name in messages."""
    relation: Any = engine.renderer.fragment("excerpt", found.relation, limit, offset)
    return Source(relation, found.label, found.columns, is_frame=found.is_frame)


def _ordered(found: Source) -> Source:
    """The source with the order of its scored rows preserved, because `explain --row` counts rows in that order."""
    return Source(found.relation, found.label, found.columns, is_table=found.is_table, is_frame=True)


def _at_work(engine: Engine, task: str) -> None:
    engine.announce(task)
