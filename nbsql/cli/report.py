"""`nbsql plot` and `nbsql report`: draw a picture of a model, and write a page about it."""

from functools import partial
from pathlib import Path
from typing import Any

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.arguments import FOLDS
from nbsql.cli.fit_options import one_family, option_of_fit
from nbsql.cli.options import AT_LEAST_1, command, held_back, option, reads_model, requested_folds, together
from nbsql.cli.session import end_progress, open_for_reading, show_warnings
from nbsql.report import PANELS, picture
from nbsql.report.picture import FORMATS

_combining = partial(option, "--least", type=AT_LEAST_1, metavar="N")
_judged = together(
    option(
        "--folds", type=FOLDS,
        help="Evaluate a SOURCE that MODEL has learnt by the counts of the other folds, or of the other rows: loo.",
    ),
    held_back,
    option("--by", metavar="EXPRESSION", help="The period of a row of SOURCE, for the panel monitor."),
)  # fmt: skip
_OF_FIT = ("id", "exclude", "derive", "missing", "families")  # what warnings of a fit name as cures
_NAMED = "--id, --exclude, --derive, --missing, --family"
_of_fit = together(*map(option_of_fit, _OF_FIT[:-1]), one_family)
_panel = click.argument("panel", type=click.Choice([panel.name for panel in PANELS]), metavar="PANEL")


@command("Draw a picture of a model.", "database", "model", _panel, "source?")
@option("--feature", metavar="NAME", help="The feature for the panel profile.")
@option("--between", nargs=2, metavar="A B", help="The two classes for the panel discrimination.")
@option(
    "--row",
    type=AT_LEAST_1,
    metavar="N",
    help="The row of SOURCE that a waterfall explains, from 1; by default the one that MODEL is surest of, and right.",
)
@_combining(help="Combine counts below N.")
@_judged
@option("--reference", metavar="SOURCE", help="Rows to compare the periods of a monitor with, instead of the counts.")
@option(
    "--output", "-o", type=click.Path(dir_okay=False), help="The file, .svg, .png, .pdf, .html or .json; by default PANEL.svg."
)
@reads_model
def plot(
    model: nbsql.Model, panel: str, source: str | None, *, between: tuple[str, str] | None, folds: Any, held_back: bool,
    output: str | None, **options: Any,
) -> None:  # fmt: skip
    """Draw PANEL of MODEL into a file. Some panels need SOURCE, rows whose class is known.

    PANEL is card, data, verdict, ranking, profile, discrimination, nomogram, waterfall, confusion, threshold, reliability,
    lift, slices, drift, monitor or dependence; `nbsql help report` says which question each answers.

    \b
      nbsql plot shop.duckdb spam ranking
      nbsql plot shop.duckdb spam profile --feature message --output words.png
      nbsql plot shop.duckdb spam threshold holdout --output threshold.html
    """
    where = output or f"{panel}.svg"
    if Path(where).suffix.lower().removeprefix(".") not in FORMATS:
        raise click.UsageError(f"--output {where} ends in none of .{', .'.join(FORMATS)}")
    model.state.engine.announce(panel)
    drawn = picture(model.state, panel, source, classes=between, folds=requested_folds(folds, held_back, "auto"), **options)
    drawn.save(where)
    end_progress(model.state.engine)
    tables.echo(f"{drawn.finding}", f"drawn into {where}")


@command("Write a page with all pictures of a model, or of a file.", "database", "model?", "source?")
@option("--output", "-o", type=click.Path(dir_okay=False), help="The file; by default MODEL.html.")
@option("--rows", type=click.IntRange(min=0), default=0, metavar="N", help="Explain N rows of SOURCE, the most informative.")
@option("--row", "chosen", type=AT_LEAST_1, multiple=True, metavar="N", help="Explain row N of SOURCE, from 1. Repeatable.")
@_combining(default=5, help="Combine counts below N, so that the page can be shared.")
@_judged
@option("--gain", is_flag=True, help="Say which other method would gain most, by five folds of SOURCE for each; takes longer.")
@option("--target", metavar="COLUMN", help="Without a model: choose one that predicts this column, on four fifths of the rows.")
@_of_fit
@option("--budget", metavar="ROWS|TIME", help="With --target, how long to search for the best model.  [default: 10 s]")
def report(
    database: str, model: str | None, source: str | None, *, target: str | None, rows: int, chosen: tuple[int, ...],
    output: str | None, budget: str | None, **given: Any,
) -> None:  # fmt: skip
    """Write a report of MODEL: one page that needs no network, with interactive what-ifs if scripts may run.

    MODEL is evaluated on SOURCE, rows whose class is known; without SOURCE the page shows only what follows from the counts.
    If MODEL was fitted on SOURCE, each row is scored by a model without it, by leave-one-out or folds.

    With --target there need be no model: the best that a short search finds on four fifths of a file, or of a table of
    DATABASE, is evaluated on the other rows. What the warnings name as cures goes with it, from --id to --family.

    \b
      nbsql report shop.duckdb spam holdout --rows 10 --output spam.html
      nbsql report shop.duckdb spam
      nbsql report my.csv --target churned
      nbsql report my.csv --target churned --missing NA --derive "churned=lower(churned)"
      nbsql report shop.duckdb customers --target churned --id customer_id
    """
    if rows and chosen:
        raise click.UsageError("choose one of --rows and --row")
    described: dict[str, Any] = {name: given.pop(name) for name in _OF_FIT}
    if target is None:
        if budget or any(described.values()):
            raise click.UsageError(f"{_NAMED} and --budget go with --target, which chooses a model")
        if model is None:
            raise click.UsageError(f"name a model, or the column to predict: nbsql report {database} --target COLUMN")
        where = output or f"{model}.html"
        folds = requested_folds(given["folds"], given["held_back"], "auto")
        with open_for_reading(database) as engine:
            nbsql.load(engine, model).report(
                where, source=source, rows=chosen or rows, folds=folds,
                **{name: given[name] for name in ("least", "by", "gain")},
            )  # fmt: skip
    else:
        if source is not None or given["folds"] or given["held_back"] or given["by"] or given["gain"]:
            raise click.UsageError("with --target, name a file, or a database and a table, and no option of a given model")
        table = database if model is None else model
        where = output or f"{Path(table).stem}.html"
        with open_for_reading(database if model is not None else ":memory:") as engine, show_warnings(engine):
            nbsql.write_report(
                engine, table, where, target=target, budget=budget or "10 s", rows=chosen or rows, least=given["least"],
                **{**described, "families": dict(described["families"]), "derive": dict(described["derive"])},
            )  # fmt: skip
    subject = f"model {model}" if target is None else table
    tables.echo(f"the report of {subject} is {where}, {Path(where).stat().st_size / 1e6:.1f} MB")
