"""`nbsql evaluate`: how well a model does on rows whose class is known."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.arguments import CostType, prices
from nbsql.cli.files import write
from nbsql.cli.session import reading, still
from nbsql.engines.engine import Engine
from nbsql.judging.evaluation import TABLES

if TYPE_CHECKING:
    from rich.text import Text

_CLASSES = 8  # at most so many in a matrix of actual and predicted classes
_ROWS = 20  # of a table on the terminal


@click.command(short_help="Judge a model on rows whose class is known.")
@click.argument("database")
@click.argument("model")
@click.argument("source")
@click.option("--weight", metavar="COLUMN", help="Weigh the rows: a weight w counts as w copies of the row.")
@click.option(
    "--bins", type=click.IntRange(min=1), default=10, show_default=True, help="Parts of the calibration and the lift."
)
@click.option(
    "--cost", "costs", type=CostType(), multiple=True, help="What a mistake costs, if not 1; judges `predict --cost`."
)
@click.option("--calibrated", is_flag=True, help="Judge the probabilities as `nbsql calibrate` has fitted them.")
@click.option("--table", type=click.Choice(TABLES), help="One of the tables behind the numbers, instead of the numbers.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: class (empty for the whole), metric, value.")
@click.option("--sql", "as_sql", is_flag=True, help="Print the SQL instead of running it.")
def evaluate(
    database: str, model: str, source: str, *, weight: str | None, bins: int,
    costs: tuple[tuple[str, str, float], ...], calibrated: bool, table: str | None,
    as_json: bool, as_csv: bool, as_sql: bool,
) -> None:  # fmt: skip
    """Judge MODEL on the rows of SOURCE, which holds the column that the model predicts.

    \b
      nbsql evaluate shop.duckdb churn holdout
      nbsql evaluate shop.duckdb churn holdout.csv --json
      nbsql evaluate shop.duckdb churn holdout --table thresholds --csv
    """  # noqa: D301 - \b keeps the lines
    if as_json + as_csv + as_sql > 1:
        raise click.UsageError("choose one of --json, --csv and --sql")
    with reading(database) as engine:
        loaded = nbsql.load(engine, model)
        if as_sql:
            options: dict[str, Any] = {"weight": weight, "bins": bins, "calibrated": calibrated}
            tables.sql(loaded.evaluate_sql(source, table=table or "metrics", costs=prices(loaded, costs), **options))
            return
        if engine.watch is not None:
            engine.watch("judge")
        evaluation = loaded.evaluate(source, weight=weight, bins=bins, costs=prices(loaded, costs), calibrated=calibrated)
        if table is not None:
            _table(engine, getattr(evaluation, table), "json" if as_json else "csv" if as_csv else "table")
            return
        confusion = evaluation.confusion.fetchall() if len(evaluation.classes) <= _CLASSES else []
        still(engine)
        if as_json:
            tables.echo(json.dumps(evaluation.to_dict(), ensure_ascii=False, indent=2))
        elif as_csv:
            _csv(evaluation)
        else:
            _report(evaluation, loaded.target, str(loaded.name), source, confusion)


def _table(engine: Engine, query: nbsql.Query, file_format: str) -> None:
    if file_format != "table":
        write(engine, query.sql, file_format, None)
        return
    _, more = tables.query(engine, query.sql, limit=_ROWS)
    if more:
        tables.echo("", f"the first {_ROWS} rows; --csv has all")


def _csv(evaluation: nbsql.Evaluation) -> None:
    numbers = evaluation.to_dict()
    classes = numbers.pop("classes")
    lines = [("", metric, value) for metric, value in numbers.items()]
    for item in classes:
        label = _label(item.pop("label"))
        lines += [(label, metric, value) for metric, value in item.items()]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([("class", "metric", "value"), *lines])
    click.echo(out.getvalue(), nl=False)


def _report(evaluation: nbsql.Evaluation, target: str, model: str, source: str, confusion: list[tuple[Any, ...]]) -> None:
    rows = f"{evaluation.rows:,} row{'' if evaluation.rows == 1 else 's'}"
    tables.echo(f"model {model} judged on {rows} of {tables.plain(source)}", *evaluation.notes(), "")
    tables.table(["of all rows", "value"], [[name, _number(value)] for name, value in evaluation.summary()], right=[1])
    tables.echo("")
    headings = [target, "precision", "recall", "f1", "ROC AUC", "avg. prec.", "support"]
    lines: list[list[str | Text | None]] = []
    for label, *rates, support in evaluation.table():
        lines.append([_label(label), *map(_number, rates), tables.number(support)])
    tables.table(headings, lines, right=range(1, 7))
    if confusion:
        tables.echo("", f"actual {target} (down) and predicted (across)", "")
        _matrix(evaluation, confusion)


def _matrix(evaluation: nbsql.Evaluation, confusion: list[tuple[Any, ...]]) -> None:
    labels: list[Any] = [item.label for item in evaluation.classes]
    across = [*labels, None] if any(row[1] is None for row in confusion) else labels
    counts = {(label, prediction): n for label, prediction, n in confusion}
    lines: list[list[str | Text | None]] = [
        [_label(label), *(tables.number(counts.get((label, prediction), 0)) for prediction in across)] for label in labels
    ]
    tables.table(["", *map(_label, across)], lines, right=range(1, len(across) + 1))


def _label(label: Any) -> str:
    if isinstance(label, bool):
        return str(label).lower()
    return "no class" if label is None else str(label)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
