"""`nbsql evaluate`: how well a model does on rows whose class is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import Form, answer, limited, print_value, with_formats
from nbsql.cli.arguments import COST, costs_by_label
from nbsql.cli.session import end_progress, open_for_reading
from nbsql.judging.evaluation import SLICES, TABLES

if TYPE_CHECKING:
    from rich.text import Text

_SHARES = ("accuracy", "accuracy of the majority", "balanced accuracy", "ROC AUC", "average precision")  # better near 1
_CLASSES = 8  # the most classes in a confusion matrix


@click.command(short_help="Evaluate a model on rows whose class is known.")
@click.argument("database")
@click.argument("model")
@click.argument("source")
@click.option("--weight", metavar="COLUMN", help="A column of row weights: a weight w counts as w copies of the row.")
@click.option(
    "--bins",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="The number of bins of the calibration and the lift.",
)
@click.option("--cost", "costs", type=COST, multiple=True, help="The cost of a mistake, if not 1; evaluates `predict --cost`.")
@click.option("--calibrated", is_flag=True, help="Evaluate the probabilities that `nbsql calibrate` has calibrated.")
@click.option("--against", metavar="MODEL", help="Compare with another model of the same target, on the same rows.")
@click.option(
    "--by", metavar="COLUMN", multiple=True, help="Evaluate each value of a column by itself; with several, each combination."
)
@click.option(
    "--between", nargs=2, metavar="A B", help="Compare two slices: how much more often one of them is selected or wrong."
)
@click.option("--label", metavar="CLASS", help="The class that counts as selected; of two classes the larger by default.")
@click.option("--table", type=click.Choice((*TABLES, *SLICES)), help="Show one of the tables behind the numbers instead.")
@limited
@with_formats(csv="Print CSV: class (empty for the whole), metric, value.")
def evaluate(
    database: str, model: str, source: str, *, weight: str | None, bins: int,
    costs: tuple[tuple[str, str, float], ...], calibrated: bool, against: str | None, by: tuple[str, ...],
    between: tuple[str, str] | None, label: str | None, table: str | None, limit: int, form: Form,
) -> None:  # fmt: skip
    """Evaluate MODEL on the rows of SOURCE, which has the column that the model predicts.

    \b
      nbsql evaluate shop.duckdb churn holdout
      nbsql evaluate shop.duckdb churn holdout.csv --json
      nbsql evaluate shop.duckdb churn holdout --table thresholds --csv
      nbsql evaluate shop.duckdb churn holdout --against last_year
      nbsql evaluate shop.duckdb churn holdout --by region
      nbsql evaluate shop.duckdb churn holdout --by region --between north south
    """  # noqa: D301 - \b keeps the lines
    with open_for_reading(database) as engine:
        loaded = nbsql.load(engine, model)
        if against is not None:
            if costs or calibrated or table or by:
                raise click.UsageError("--against goes with --weight alone; leave out --cost, --calibrated, --by and --table")
            answer(engine, loaded.compare(nbsql.load(engine, against), source, weight=weight), form, limit=limit, empty=True)
            return
        if (between is not None or table in SLICES) and not by:
            raise click.UsageError(
                f"{'--between' if between else f'--table {table}'} is of slices; say by which column, --by region"
            )
        if label is not None and between is None:
            raise click.UsageError("--label goes with --between")
        if by and form != "table":
            table = table or "slices"
        if form == "sql" and between is None:
            options: dict[str, Any] = {"weight": weight, "bins": bins, "calibrated": calibrated, "by": by or None}
            tables.sql(loaded.evaluate_sql(source, table=table or "metrics", costs=costs_by_label(loaded, costs), **options))
            return
        engine.announce("judge")
        options = {"weight": weight, "bins": bins, "costs": costs_by_label(loaded, costs), "calibrated": calibrated}
        evaluation = loaded.evaluate(source, **options, by=by or None)
        slices = evaluation.slices
        if slices is not None and between is not None:
            sides = [tuple(side.split(",")) if len(by) > 1 else side for side in between]
            answer(engine, slices.compare(*sides, label=label), form, limit=limit, empty=True)
            return
        if table is not None:
            query = slices.intervals if slices is not None and table == "slice_intervals" else getattr(evaluation, table)
            answer(engine, query, form, limit=limit, empty=True)
            return
        confusion = evaluation.confusion.fetchall() if len(evaluation.classes) <= _CLASSES else []
        end_progress(engine)
        if form != "table":
            print_value(engine, form, evaluation.to_dict(), _numbers(evaluation))
        else:
            _report(evaluation, loaded.target, str(loaded.name), source, confusion)
            if slices is not None:
                tables.echo("", f"by {', '.join(by)}, the surely worst first", "")
                answer(engine, slices, form, limit=limit)


def _numbers(evaluation: nbsql.Evaluation) -> list[dict[str, Any]]:
    numbers = evaluation.to_dict()
    classes = numbers.pop("classes")
    lines = [("", metric, value) for metric, value in numbers.items()]
    for item in classes:
        label = _label(item.pop("label"))
        lines += [(label, metric, value) for metric, value in item.items()]
    return [{"class": label, "metric": metric, "value": value} for label, metric, value in lines]


def _report(evaluation: nbsql.Evaluation, target: str, model: str, source: str, confusion: list[tuple[Any, ...]]) -> None:
    rows = f"{evaluation.rows:,} row{'' if evaluation.rows == 1 else 's'}"
    tables.echo(f"model {model} judged on {rows} of {tables.plain(source)}", *evaluation.notes(), "")
    lines: list[list[str | Text | None]] = [
        [name, _number(value), tables.bar(value if name in _SHARES else None)] for name, value in evaluation.summary()
    ]
    tables.table(["of all rows", "value", ""], lines, right=[1])
    tables.echo("")
    headings = [target, "precision", "recall", "f1", "ROC AUC", "avg. prec.", "support"]
    lines = []
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
