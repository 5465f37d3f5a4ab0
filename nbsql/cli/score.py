"""`nbsql predict`, `impute`, `explain`, `review` and `sql`: apply a model to a source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
from markupsafe import Markup

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import Form, answer, print_done, with_formats, write_or_print
from nbsql.cli.arguments import COLUMNS, COST, THRESHOLD, Costs, costs_by_label, labels_by_text
from nbsql.cli.files import FORMATS, format_of, is_piped, stream, write
from nbsql.cli.fit import fit
from nbsql.cli.options import (
    AT_LEAST_1,
    by_name,
    calibrated,
    check_into,
    columns,
    command,
    into_table,
    option,
    reads_model,
    together,
)
from nbsql.cli.session import open_for_reading
from nbsql.cli.words import explained
from nbsql.engines.duckdb.engine import DuckDB
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.model.scoring import Verb
from nbsql.plan import REVIEW, VERBS

_ROWS = 20  # the default number of rows of a table
_FIRST = 5_000  # rows that are written to a pipe before the others are scored

_Scored = Callable[[nbsql.Model, Source], nbsql.Query]

_labelled = option("--labelled", is_flag=True, help="For a column, take the known class of a row as certain.")
_limit = option("--limit", type=AT_LEAST_1, metavar="N", help="Use only the first N rows of SOURCE.")
_to_file = together(
    option(
        "--format", "file_format", type=click.Choice(["table", *FORMATS]),
        help="The format; by default a table, or the format of --output's ending.",
    ),
    option("--output", "-o", type=click.Path(dir_okay=False), help="A file to write to instead of the terminal."),
)  # fmt: skip


@command("Score a table: the predicted class of every row, and its probability.", "database", "model", "source")
@option("--proba", is_flag=True, help="Add the probability of every class, probability_<label>.")
@by_name("--cost", "costs", type=COST, help="The cost of a mistake, if not 1. Repeatable.")
@by_name("--threshold", "thresholds", type=THRESHOLD, help="Predict a class if its probability reaches P. Repeatable.")
@option("--top-k", type=AT_LEAST_1, metavar="K", help="Return the K most probable classes, one row each.")
@option("--target", metavar="COLUMN", help="Predict this column of the model from the others, instead of the class.")
@_labelled
@option(
    "--coverage", type=click.FloatRange(0, 1, min_open=True, max_open=True), metavar="P",
    help="Add the smallest set of classes that contains the true one this often; needs `nbsql calibrate --method conformal`.",
)  # fmt: skip
@option("--by-class", is_flag=True, help="With --coverage, guarantee it in each class.")
@calibrated
@columns
@into_table
@_limit
@_to_file
@with_formats
def predict(
    database: str, model: str, source: str, *, proba: bool, costs: Costs, thresholds: tuple[tuple[str, float], ...],
    top_k: int | None, target: str | None, labelled: bool, coverage: float | None, by_class: bool, calibrated: bool | None,
    columns: list[str] | None, **output: Any,
) -> None:  # fmt: skip
    """Score the rows of SOURCE with MODEL: return all their columns, the predicted class, and its probability.

    \b
      nbsql predict shop.duckdb churn new_customers
      nbsql predict shop.duckdb churn new_customers.csv --output scored.parquet
      curl -s https://shop.example/today.csv | nbsql predict shop.duckdb churn - --csv | head
      nbsql predict shop.duckdb churn new_customers --proba --into scored
      nbsql predict shop.duckdb spam inbox --cost ham:spam=10
      nbsql predict shop.duckdb churn new_customers --target plan
    """
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

    _answer(database, model, source, scored, added, **output)


@command("Fill the missing values of a table from the rest of each row.", "database", "model", "source")
@option("--features", type=COLUMNS, help="Fill only these columns.")
@_labelled
@into_table
@_limit
@_to_file
@with_formats
def impute(database: str, model: str, source: str, *, features: list[str] | None, labelled: bool, **output: Any) -> None:
    """Fill the missing values in the rows of SOURCE with those that MODEL predicts from the rest of each row.

    For each column that can be filled a column is added: probability_<column>, the probability of the filled value, or for a
    number deviation_<column>, its standard deviation. It is empty if the row had a value.

    \b
      nbsql impute shop.duckdb churn customers --into customers_filled
      nbsql impute shop.duckdb churn customers.csv --features plan,age --output filled.parquet
    """

    def filled(loaded: nbsql.Model, found: Source) -> nbsql.Query:
        return loaded.impute(found, features=features, labelled=labelled)

    _answer(database, model, source, filled, lambda _: 2, done="filled", **output)


def _answer(
    database: str, model: str, source: str, scored: _Scored, added: Callable[[nbsql.Model], int], *, into: str | None,
    replace: bool, limit: int | None, file_format: str | None, output: str | None, form: Form, done: str = "scored",
) -> None:  # fmt: skip
    """Output scored rows. A table always shows the added columns, the last ones."""
    check_into(into, replace=replace)
    if into is not None and (file_format is not None or output is not None or form in ("json", "csv")):
        raise click.UsageError("--into keeps the rows in the database; leave out --format, --output, --json and --csv")
    wanted = _wanted(file_format, output, form)
    if into is not None:
        with write_or_print(database, form) as engine:
            query = scored(nbsql.load(engine, model), _first(engine, source, limit))
            nbsql.Query(engine, query.sql).create_table(into, replace=replace)
            if form != "sql":
                with engine.source(into) as stored:
                    count = tables.counted(engine.ask("row_count", stored.relation)[0][0], "row")
                print_done(engine, form, f"{done} {count} of {source} into the table {into} of {database}")
        return
    with open_for_reading(database) as engine:
        loaded = nbsql.load(engine, model)
        found = _first(engine, source, limit)
        # The order of its rows is preserved, because `explain --row` counts rows in that order.
        found = Source(
            found.relation, found.label, found.columns, is_table=found.is_table, is_frame=True, as_texts=found.as_texts
        )
        if form == "sql":
            tables.sql(scored(loaded, found).sql)
            return
        engine.announce("score")
        if wanted == "table":
            limit = limit or _ROWS
            more = engine.ask("row_count", _excerpt(engine, found, limit + 1).relation)[0][0] > limit
            query = scored(loaded, _excerpt(engine, found, limit))
            hidden, _ = tables.query(engine, query.sql, keep=min(added(loaded), 6))
            tables.notes(hidden, "--csv has all", f"the first {limit} rows; --limit N shows more" if more else None)
        elif output is None and is_piped() and wanted in ("csv", "jsonl") and limit is None and _keeps_order(engine, found):
            parts = (_excerpt(engine, found, _FIRST), _excerpt(engine, found, None, _FIRST))
            stream(engine, [scored(loaded, part).sql for part in parts], wanted)
        else:
            write(engine, scored(loaded, found).sql, wanted, output, None if output is None else loaded._source(found))


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


@command("Explain predictions: the contribution of each value of a row.", "database", "model", "source")
@option("--row", type=AT_LEAST_1, metavar="N", help="The first row of SOURCE to explain, from 1.")
@option("--limit", type=AT_LEAST_1, metavar="N", help="The number of rows; by default one on the terminal, all in a file.")
@_to_file
@with_formats
@reads_model
def explain(
    model: nbsql.Model, source: str, *, row: int | None, limit: int | None, file_format: str | None, output: str | None,
    form: Form,
) -> None:  # fmt: skip
    """Explain the predictions of MODEL for SOURCE.

    The terminal shows one row: how many times likelier each of its values is in the predicted class than in the runner-up. The
    product of these numbers and the prior odds is the odds. A file has the contribution of every feature to every class, in
    nats.

    \b
      nbsql explain shop.duckdb churn new_customers --row 7
      nbsql explain shop.duckdb churn new_customers --output reasons.csv
    """
    wanted = _wanted(file_format, output, form)
    if limit is None and (row is not None or (wanted == "table" and form != "sql")):
        limit = 1
    first, engine = row or 1, model._engine
    found = _first(engine, source, limit, first - 1)
    statement = model.sql("explain", found)
    if form == "sql":
        tables.sql(statement)
        return
    engine.announce("explain")
    if wanted != "table":
        write(engine, statement, wanted, output, None if output is None else model._source(found))
    elif not explained(engine, statement, model.target, first, before_calibration(model)):
        raise nbsql.InputError(f"{source} has no row {first}")


@command("List the rows that a person should label next.", "database", "model", "source")
@option("--by", type=click.Choice(tuple(REVIEW.options)), default="margin", help="The criterion that ranks the rows.")
@option("-n", "count", type=AT_LEAST_1, default=50, metavar="N", help="The most rows.")
@by_name("--cost", "costs", type=COST, help="The cost of a mistake, if not 1, for the expected cost.")
@calibrated
@columns
@with_formats
@reads_model
def review(model: nbsql.Model, source: str, *, count: int, costs: Costs, form: Form, **options: Any) -> None:
    """List the rows of SOURCE that a person should label next, the most informative for MODEL first, each with the reason.

    \b
      nbsql review shop.duckdb spam unlabelled -n 20
      nbsql review shop.duckdb spam unlabelled --by novelty --csv > to_label.csv
      nbsql review shop.duckdb spam unlabelled --by "expected cost" --cost ham:spam=10
    """
    priced = costs_by_label(model, costs)
    model._engine.announce("score")
    answer(model.review(source, count, costs=priced, **options), form, limit=count, empty=True, keep=1)  # the reason


class _SQL(click.Command):
    """The command `sql`; `sql DATABASE fit SOURCE ...` is short for `fit DATABASE SOURCE ... --sql`."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of the command that the arguments are meant for."""
        if args[1:2] == ["fit"]:
            return fit.make_context("fit", [args[0], *args[2:], "--sql"], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@command(
    "Print the SQL that scores a table, or fits a model.",
    "database", click.argument("verb", type=click.Choice([*VERBS, "statistics"])), "model", "source", cls=_SQL,
)  # fmt: skip
@option("--inline", is_flag=True, help="Write the model's parameters into the query, which then needs no tables of the model.")
@option("--dialect", metavar="NAME", help="Write such a query for the engine that has SOURCE: bigquery, tsql, ...")
@calibrated
@columns
@reads_model
def sql(
    model: nbsql.Model, verb: Verb, source: str, *, inline: bool, dialect: str | None, columns: list[str] | None,
    calibrated: bool | None,
) -> None:  # fmt: skip
    """Print the query of VERB for SOURCE without running it. The query needs the tables of the model, but not nbsql.

    If VERB is fit, followed by SOURCE and the options of `nbsql fit`, print the statements that make a model.

    In DuckDB a model has its verbs as macros, too: FROM churn.predict('new_customers'). FROM churn.reasons('new_customers')
    says how many times likelier each value is in which class. `nbsql help relations` lists them all.

    \b
      nbsql sql shop.duckdb fit customers --target churned --name churn | duckdb shop.duckdb
      nbsql sql shop.duckdb log_evidence churn new_customers | duckdb shop.duckdb
      nbsql sql shop.duckdb predict churn new_customers --inline | duckdb elsewhere.duckdb
      nbsql sql shop.duckdb predict churn shop.customers --dialect bigquery --columns customer_id
    """
    tables.sql(model.sql(verb, source, inline=inline, dialect=dialect, columns=columns, calibrated=calibrated))


def before_calibration(model: nbsql.Model) -> str:
    """The note on probabilities from contributions, which are of a model before its calibration."""
    method = model._plan.calibration
    return f" (before its calibration by {method})" if method else ""


def _first(engine: Engine, source: str, limit: int | None, offset: int = 0) -> Source:
    found = engine.source(source)
    return found if limit is None and not offset else _excerpt(engine, found, limit, offset)


def _excerpt(engine: Engine, found: Source, limit: int | None, offset: int = 0) -> Source:
    """A source with some of the rows of another, under the same name in messages."""
    whole = found.as_texts

    def excerpt(relation: Markup) -> Markup:
        return engine.renderer.fragment("excerpt", relation, limit, offset)

    as_texts = None if whole is None else lambda *columns: excerpt(whole(*columns))
    return Source(excerpt(found.relation), found.label, found.columns, is_frame=found.is_frame, as_texts=as_texts)
