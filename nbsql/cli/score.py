"""`nbsql predict`, `impute`, `explain`, `review` and `sql`: apply a model to a source."""

from collections.abc import Callable
from typing import Any

import click
from markupsafe import Markup

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import Form, explained, print_done, with_formats, write_or_print
from nbsql.cli.files import FORMATS, format_of, is_piped, stream, write
from nbsql.cli.fit import chosen, fit
from nbsql.cli.fit_options import takes
from nbsql.cli.options import (
    AT_LEAST_1,
    Command,
    Decorator,
    calibrated,
    check_into,
    columns,
    command,
    into_table,
    option,
    reads_model,
    together,
)
from nbsql.cli.session import open_for_reading, show_warnings
from nbsql.cli.verbs import method_of, parameters, values_of, verb_command
from nbsql.engines.duckdb.engine import DuckDB
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.learning.model_source import read_source
from nbsql.model.scoring import Verb
from nbsql.plan import VERBS
from nbsql.queries.explanation import before_calibration

_ROWS = 20  # the default number of rows of a table
_OUTPUT = ("into", "replace", "limit", "file_format", "output", "form")  # options of every command that scores rows
_DECISIONS = ("costs", "thresholds", "top_k", "coverage", "certain")
_FIRST = 5_000  # rows that are written to a pipe before the others are scored

_Scored = Callable[[nbsql.Model, Source], nbsql.Query]
_Load = Callable[[Engine], nbsql.Model]

_limit = option("--limit", type=AT_LEAST_1, metavar="N", help="Use only the first N rows of SOURCE.")
_to_file = together(
    option(
        "--format", "file_format", type=click.Choice(["table", *FORMATS]),
        help="The format; by default a table, or the format of --output's ending.",
    ),
    option("--output", "-o", type=click.Path(dir_okay=False), help="A file to write to instead of the terminal."),
)  # fmt: skip


def _rows_command(verb: str, *examples: str, added: Callable[[nbsql.Model], int], done: str = "scored") -> click.Command:
    """The command of a verb that returns the rows of a source with columns of its own, of which there are `added`."""

    def run(database: str, model: str, source: str, **given: Any) -> None:
        output = {name: given.pop(name) for name in _OUTPUT}
        proba = given.pop("proba", False)
        if sum(map(bool, (proba, *(given.get(name) for name in _DECISIONS)))) > 1:
            raise click.UsageError("choose one of --proba, --cost, --threshold, --top-k, --coverage and --certain")
        if proba and given["target"] is not None:
            raise click.UsageError("--target has no --proba; --top-k has its values, a row each")
        names = parameters(method_of("predict_proba" if proba else verb))

        def scored(loaded: nbsql.Model, found: Source) -> nbsql.Query:
            values = {name: value for name, value in values_of(loaded, given).items() if name in names}
            return getattr(loaded, "predict_proba" if proba else verb)(found, **values)  # type: ignore[no-any-return]

        def shown(loaded: nbsql.Model) -> int:
            return 2 + len(loaded.classes) if proba else added(loaded) + any(given.get(name) for name in _DECISIONS)

        _answer(database, lambda engine: nbsql.load(engine, model), source, scored, shown, done=done, **output)

    proba = [option("--proba", is_flag=True, help="Add the probability of every class, probability_<label>.")]
    shared: list[Decorator] = [*(proba if verb == "predict" else []), into_table, _limit, _to_file]
    return verb_command(verb, examples, with_formats(run), *shared)


def _answer(
    database: str, load: _Load, source: str, scored: _Scored, added: Callable[[nbsql.Model], int], *, into: str | None,
    replace: bool, limit: int | None, file_format: str | None, output: str | None, form: Form, done: str = "scored",
    learnt: str | None = None,
) -> None:  # fmt: skip
    """Output scored rows. A table always shows the added columns, the last ones. `learnt` is a source that is read, too."""
    check_into(into, replace=replace)
    if into is not None and (file_format is not None or output is not None or form in ("json", "csv")):
        raise click.UsageError("--into keeps the rows in the database; leave out --format, --output, --json and --csv")
    wanted = _wanted(file_format, output, form)
    if into is not None:
        with write_or_print(database, form) as engine:
            query = scored(load(engine), _first(engine, source, limit))
            nbsql.Query(engine, query.sql).create_table(into, replace=replace)
            if form != "sql":
                with engine.source(into) as stored:
                    count = tables.counted(engine.query_value("row_count", stored.relation), "row")
                print_done(engine, form, f"{done} {count} of {source} into the table {into} of {database}")
        return
    with open_for_reading(database) as engine:
        loaded = load(engine)
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
            more = engine.query_value("row_count", _excerpt(engine, found, limit + 1).relation) > limit
            query = scored(loaded, _excerpt(engine, found, limit))
            hidden, _ = tables.query(engine, query.sql, keep=min(added(loaded), 6))
            tables.notes(hidden, "--csv has all", f"the first {limit} rows; --limit N shows more" if more else None)
        elif output is None and is_piped() and wanted in ("csv", "jsonl") and limit is None and _keeps_order(engine, found):
            parts = (_excerpt(engine, found, _FIRST), _excerpt(engine, found, None, _FIRST))
            stream(engine, [scored(loaded, part).sql for part in parts], wanted)
        else:
            others = [] if learnt is None else [engine.source(learnt)]
            write(engine, scored(loaded, found).sql, wanted, output, _read_by(loaded, found, output), *others)


def _read_by(model: nbsql.Model, found: Source, output: str | None) -> Source | None:
    """The source as the model reads it, whose files the output may not replace; None if the output is no file."""
    return None if output is None else read_source(model.state, found)[1]


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


def _explain(
    model: nbsql.Model, source: str, *, row: int | None, limit: int | None, file_format: str | None, output: str | None,
    form: Form,
) -> None:  # fmt: skip
    wanted = _wanted(file_format, output, form)
    if limit is None and (row is not None or (wanted == "table" and form != "sql")):
        limit = 1
    first, engine = row or 1, model.state.engine
    found = _first(engine, source, limit, first - 1)
    statement = model.sql("explain", found)
    if form == "sql":
        tables.sql(statement)
        return
    engine.announce("explain")
    if wanted != "table":
        write(engine, statement, wanted, output, _read_by(model, found, output))
    elif not model.state.spec.has_target:
        tables.query(engine, statement, keep=1)  # there are no classes to weigh against each other
    elif not explained(engine, statement, model.state.spec, first, before_calibration(model.state.plan.calibration)):
        raise nbsql.InputError(f"{source} has no row {first}")


ROWS = (
    _rows_command(
        "predict",
        "churn new_customers",
        "churn new_customers.csv --output scored.parquet",
        "churn - --csv < today.csv | head",
        "churn new_customers --proba --into scored",
        "spam inbox --cost ham:spam=10",
        "churn new_customers --target plan",
        added=lambda _: 2,
    ),
    _rows_command("predict_proba", "churn new_customers", added=lambda model: 2 + len(model.classes)),
    verb_command(
        "explain",
        ["churn new_customers --row 7", "churn new_customers --output reasons.csv"],
        with_formats(reads_model(_explain)),
        option("--row", type=AT_LEAST_1, metavar="N", help="The first row of SOURCE to explain, from 1."),
        option(
            "--limit", type=AT_LEAST_1, metavar="N", help="The number of rows; by default one on the terminal, all in a file."
        ),
        _to_file,
    ),
    _rows_command(
        "impute",
        "churn customers --into customers_filled",
        "churn customers.csv --features plan,age --output filled.parquet",
        added=lambda _: 2,
        done="filled",
    ),
    _rows_command("log_evidence", "churn new_customers", added=lambda _: 1),
    _rows_command("joint_log_likelihood", "churn new_customers", added=lambda model: len(model.classes)),
)


class _SQL(Command):
    """The command `sql`; `sql DATABASE fit SOURCE ...` is short for `fit DATABASE SOURCE ... --sql`."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of the command that the arguments are meant for."""
        if args[1:2] == ["fit"]:
            return fit.make_context("fit", [args[0], *args[2:], "--sql"], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@command(
    "Predict rows by others whose class is known, without a model.",
    takes(
        nbsql.classify, train=click.argument("train"), new=click.argument("new"), columns=columns
    ),
    into_table, _limit, _to_file,
)  # fmt: skip
@with_formats(sql=None)
def classify(database: str, train: str, new: str, *, target: str, columns: list[str] | None, **given: Any) -> None:
    """Predict the rows of NEW as those of TRAIN teach them, whose class is --target.

    The model is dropped at the end; DATABASE only has the tables, and :memory: is none.

    \b
      nbsql classify shop.duckdb customers new_customers --target churned --id customer_id
      nbsql classify :memory: known.csv new.csv --target label --family body=text --output labelled.csv
    """
    answer = {name: given.pop(name) for name in _OUTPUT}
    options = {"target": nbsql.Target(target, given.pop("classes")), **chosen(given)}

    def fitted(engine: Engine) -> nbsql.Model:
        with show_warnings(engine):
            return nbsql.fit(engine, train, **options)

    def scored(model: nbsql.Model, found: Source) -> nbsql.Query:
        return model.predict(found, columns=columns)

    _answer(database, fitted, new, scored, lambda _: 2, done="classified", learnt=train, **answer)


class _Verb(click.Choice[str]):
    """A verb as Python writes it, which may be given as its command is, with hyphens."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert(value.replace("-", "_"), param, ctx)


@command(
    "Print the SQL that scores a table, or fits a model.",
    "database", click.argument("verb", type=_Verb([*VERBS, "statistics"])), "model", "source", cls=_SQL,
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
    says how many times likelier each value is in which class. `nbsql help relations` lists them all. The script of a change is
    printed by `nbsql update --sql`, `nbsql forget --sql` and the others.

    \b
      nbsql sql shop.duckdb fit customers --target churned --name churn | duckdb shop.duckdb
      nbsql sql shop.duckdb log_evidence churn new_customers | duckdb shop.duckdb
      nbsql sql shop.duckdb predict churn new_customers --inline | duckdb elsewhere.duckdb
      nbsql sql shop.duckdb predict churn shop.customers --dialect bigquery --columns customer_id
    """
    tables.sql(model.sql(verb, source, inline=inline, dialect=dialect, columns=columns, calibrated=calibrated))


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
