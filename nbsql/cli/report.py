"""`nbsql plot` and `nbsql report`: draw a picture of a model, and write a page about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.arguments import FOLDS, labels_by_text
from nbsql.cli.session import end_progress, open_for_reading
from nbsql.report import PANELS, picture
from nbsql.report.picture import FORMATS

if TYPE_CHECKING:
    from nbsql.engines.engine import Engine

_least = click.option(
    "--least", type=click.IntRange(min=1), default=5, show_default=True, metavar="N", help="Combine counts below N."
)

_folds = click.option(
    "--folds",
    type=FOLDS,
    help="Evaluate a SOURCE that MODEL has learnt by the counts of the other folds, or of the other rows: loo.",
)
_by = click.option("--by", metavar="EXPRESSION", help="The period of a row of SOURCE, for the panel monitor.")
_held_back = click.option("--held-back", is_flag=True, help="MODEL has not learnt SOURCE, so use no folds.")


@click.command(short_help="Draw a picture of a model.")
@click.argument("database")
@click.argument("model")
@click.argument("panel", type=click.Choice([panel.name for panel in PANELS]))
@click.argument("source", required=False)
@click.option("--feature", metavar="NAME", help="The feature for the panel profile.")
@click.option("--between", nargs=2, metavar="A B", help="The two classes for the panel discrimination.")
@click.option("--row", type=click.IntRange(min=1), default=1, metavar="N", help="Which of the informative rows of a waterfall.")
@_least
@_folds
@_held_back
@_by
@click.option("--reference", metavar="SOURCE", help="Rows to compare the periods of a monitor with, instead of the counts.")
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False), help="The file, .svg, .png, .html or .json; by default PANEL.svg."
)
def plot(
    database: str, model: str, panel: str, source: str | None, *, feature: str | None, between: tuple[str, str] | None,
    row: int, least: int, folds: Any, held_back: bool, by: str | None, reference: str | None, output: str | None,
) -> None:  # fmt: skip
    """Draw PANEL of MODEL into a file. Some panels need SOURCE, rows whose class is known.

    \b
      nbsql plot shop.duckdb spam ranking
      nbsql plot shop.duckdb spam profile --feature message --output words.png
      nbsql plot shop.duckdb spam threshold holdout --output threshold.html
    """  # noqa: D301 - \b keeps the lines
    where = output or f"{panel}.svg"
    if Path(where).suffix.lower().removeprefix(".") not in FORMATS:
        raise click.UsageError(f"--output {where} ends in none of .{', .'.join(FORMATS)}")
    with open_for_reading(database) as engine:
        loaded = nbsql.load(engine, model)
        classes = _classes(loaded, between)
        _at_work(engine, panel)
        drawn = picture(
            loaded, panel, source, feature=feature, classes=classes, row=row, least=least, folds=_dealt(folds, held_back),
            by=by, reference=reference,
        )  # fmt: skip
        drawn.save(where)
        end_progress(engine)
        tables.echo(f"{drawn.finding}", f"drawn into {where}")


@click.command(short_help="Write a page with all pictures of a model.")
@click.argument("database")
@click.argument("model")
@click.argument("source", required=False)
@click.option("--output", "-o", type=click.Path(dir_okay=False), help="The file; by default MODEL.html.")
@click.option("--rows", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Explain N rows of SOURCE.")
@_least
@_folds
@_held_back
@_by
def report(
    database: str, model: str, source: str | None, *, output: str | None, rows: int, least: int, folds: Any, held_back: bool,
    by: str | None,
) -> None:  # fmt: skip
    """Write a report of MODEL: one page that needs no network, with interactive what-ifs if scripts may run.

    MODEL is evaluated on SOURCE, rows whose class is known; without SOURCE the page shows only what follows from the counts.
    If MODEL was fitted on SOURCE, each row is scored by a model without it, by leave-one-out or folds.

    \b
      nbsql report shop.duckdb spam holdout --rows 10 --output spam.html
      nbsql report shop.duckdb spam
    """  # noqa: D301 - \b keeps the lines
    where = output or f"{model}.html"
    with open_for_reading(database) as engine:
        loaded = nbsql.load(engine, model)
        loaded.report(where, source=source, rows=rows, least=least, folds=_dealt(folds, held_back), by=by)
        end_progress(engine)
        tables.echo(f"the report of model {loaded.name} is {where}, {Path(where).stat().st_size / 1e6:.1f} MB")


def _dealt(folds: int | str | None, held_back: bool) -> int | str | None:
    """The requested folds."""
    if held_back and folds is not None:
        raise click.UsageError("choose one of --folds and --held-back")
    return None if held_back else folds or "auto"


def _classes(model: nbsql.Model, between: tuple[str, str] | None) -> tuple[Any, Any] | None:
    if not between:
        return None
    labels = labels_by_text(model)
    return labels.get(between[0], between[0]), labels.get(between[1], between[1])


def _at_work(engine: Engine, task: str) -> None:
    if engine.watch is not None:
        engine.watch(task)
