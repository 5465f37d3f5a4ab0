"""What commands print: a table, JSON, CSV, the SQL itself, an explanation in words, or a model as plain values."""

import csv
import datetime
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from functools import wraps
from typing import Any, Literal

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.files import write
from nbsql.cli.session import end_progress, open_for_writing, or_memory, record_statements, rehearse_statements
from nbsql.cli.terminal import write_bytes
from nbsql.engines.engine import Engine
from nbsql.engines.postgres.address import without_passwords
from nbsql.queries.explanation import explained_rows
from nbsql.spec.spec import Spec

Form = Literal["table", "json", "csv", "sql"]


def with_formats(
    command: Callable[..., Any] | None = None,
    /,
    *,
    csv: str = "Print CSV.",
    sql: str | None = "Print the SQL instead of running it.",
) -> Callable[..., Any]:
    """Add the options --json, --csv and --sql to a command, which receives the choice as the argument `form`.

    Without a command, return a decorator with these help texts; None leaves --sql out.
    """
    texts = {"json": "Print JSON.", "csv": csv, **({} if sql is None else {"sql": sql})}

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def run(**given: Any) -> Any:
            chosen = [form for form in texts if given.pop(f"as_{form}")]
            if len(chosen) > 1:
                first, last = [f"--{form}" for form in texts][:-1], f"--{list(texts)[-1]}"
                raise click.UsageError(f"choose one of {', '.join(first)} and {last}")
            return command(form=chosen[0] if chosen else "table", **given)

        for form, text in reversed(texts.items()):
            run = click.option(f"--{form}", f"as_{form}", is_flag=True, help=text)(run)
        return run

    return decorated if command is None else decorated(command)


@contextmanager
def write_or_print(database: str, form: Form, *, create: bool = False, rehearse: bool = False) -> Iterator[Engine]:
    """A database opened for writing; for the form "sql" nothing changes, and the statements are printed at the end.

    With `create` a file that does not exist is created. With `rehearse` the statements that are printed also run, before they
    are rolled back, since later ones depend on their results.
    """
    if form != "sql":
        with open_for_writing(database, create=create) as engine:
            yield engine
        return
    path = or_memory(database) if create else database
    with rehearse_statements(path) if rehearse else record_statements(path) as recorder:
        yield recorder
        tables.sql(recorder.script)


def answer(query: nbsql.Query, form: Form, *, limit: int, empty: bool = False, bars: str | None = None, keep: int = 0) -> None:
    """Show the rows of a query in a format; a table shows the first rows only, with the options of `tables.query`."""
    if form == "sql":
        tables.sql(query.sql)
    elif form in ("json", "csv"):
        write(query.engine, query.sql, form, None)
    else:
        hidden, more = tables.query(query.engine, query.sql, limit=limit, empty=empty, bars=bars, keep=keep)
        tables.notes(hidden, "--csv has all", f"the first {limit} rows; --limit N shows more, --csv all" if more else None)


def print_value(engine: Engine, form: Form, whole: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print a value of this process: the whole as JSON, or its rows, which have the same keys, as CSV."""
    end_progress(engine)
    if form == "json":
        write_json(whole)
    else:
        write_csv(rows)


def print_done(engine: Engine, form: Form, sentence: str, **facts: Any) -> None:
    """Report what was done: in a sentence, or as facts in JSON or CSV; not if its SQL is printed instead."""
    if form == "sql":
        return
    if form == "table":
        end_progress(engine)
        tables.echo(sentence)
    else:
        print_value(engine, form, facts, [facts])


def write_json(value: Any) -> None:
    """Print a value as JSON. Infinities and NaN are texts as PostgreSQL writes them, and so are times."""
    text = json.dumps(_in_json(value), ensure_ascii=False, indent=2, allow_nan=False)
    write_bytes(f"{text}\n".encode())


def write_csv(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows with the same keys as CSV with a header; a list or an object in a cell is JSON."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(rows[0] if rows else ())
    writer.writerows([map(_in_csv, row.values()) for row in rows])
    write_bytes(out.getvalue().encode())


def objects(engine: Engine, statement: str) -> list[dict[str, Any]]:
    """The rows of a query with a small result, as dictionaries by column name."""
    names = engine.names(statement)
    return [dict(zip(names, row, strict=True)) for row in engine.rows(statement)]


def _in_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _in_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_in_json(item) for item in value]
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def _in_csv(value: Any) -> Any:
    if isinstance(value, (Mapping, list, tuple)):
        return json.dumps(_in_json(value), ensure_ascii=False, allow_nan=False)
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, (datetime.date, datetime.time)) else value


def explained(engine: Engine, statement: str, spec: Spec, first: int, note: str = "") -> int:
    """Print explanations of the rows of an `explain` query, numbered from `first`, and return the number of rows.

    The probabilities are those of the contributions; `note` says what they leave out.
    """
    names = engine.names(statement)
    rows = engine.query_macro("as_text", engine.renderer.dialect.query(statement), names)
    end_progress(engine)
    count = 0
    for count, row in enumerate(explained_rows(names, rows, spec, first, note), start=1):
        if count > 1:
            tables.echo("")
        tables.echo(row.title, *([""] if row.is_explained else []))
        if row.evidence:
            tables.draw(row.table(), keep=2, indent=2)
        elif row.is_explained:
            tables.echo("there is no other class to weigh it against")
    return count


FEATURES = "Print CSV, one row per feature: feature, family, columns, types, options."

# The formats of commands that make or change a model.
describing = with_formats(csv=FEATURES, sql="Print the statements; they run in a transaction that is rolled back.")


def whole(count: float) -> float:
    """A number of rows as an integer, unless weights add up to a fraction."""
    return int(count) if count == int(count) else count


def feature_rows(model: nbsql.Model) -> list[dict[str, Any]]:
    """One row for each feature: feature, family, columns, types, options."""
    rows = []
    for feature in model.state.spec.features:
        options = feature.family.to_dict()
        family = options.pop("family")
        options.pop("columns", None)
        of_columns = {"columns": list(feature.columns), "types": list(feature.types)}
        rows.append({"feature": feature.name, "family": family, **of_columns, "options": options})
    return rows


def describe(engine: Engine, form: Form, database: str, model: nbsql.Model, **more: Any) -> None:
    """Print the model: all of it as JSON, or its features as CSV, one row each."""
    _, version, created_at, updated_at, *_ = engine.query_macro("all_rows", model.state.relations["spec"])[0]
    classes, features = objects(engine, model.priors.sql), feature_rows(model)
    whole_model = {
        "model": str(model.name),
        "database": without_passwords(database),
        **more,
        "target": model.target,
        "rows": whole(sum(line["n"] or 0 for line in classes)),
        "nbsql_version": version,
        "created_at": created_at,
        "updated_at": updated_at,
        "features": features,
        "classes": classes,
        "batches": objects(engine, model.batches.sql),
    }
    print_value(engine, form, whole_model, features)
