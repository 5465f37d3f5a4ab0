"""`nbsql monitor` and `nbsql drift`: a model over time, with an exit status for metrics beyond a limit."""

from __future__ import annotations

from typing import Any

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import Form, answer, with_formats
from nbsql.cli.arguments import LIMIT
from nbsql.cli.options import limited, option, reads_model
from nbsql.cli.terminal import styled
from nbsql.cli.verbs import verb_command
from nbsql.errors import InputError

Limits = tuple[tuple[str, float], ...]  # metrics and their limits

OUTSIDE = 3  # the exit status of a metric beyond its limit; errors have 1, and wrong usage 2


def _monitor(model: nbsql.Model, source: str, *, over: Limits, under: Limits, limit: int, form: Form, **options: Any) -> None:
    if options["summary"] and (over or under):
        raise click.UsageError("--summary shows no single metrics, which --fail-over and --fail-under limit; leave it out")
    query, engine = model.monitor(source, **options), model.state.engine
    if form == "sql" or not (over or under):
        answer(query, form, limit=limit, empty=True)
        return
    with engine.temporaries() as temporary:
        renderer = engine.renderer
        relation = engine.create("monitor", temporary("monitored"), renderer.dialect.query(query.sql))
        answer(nbsql.Query(engine, renderer.statement("sorted_monitoring", relation)), form, limit=limit, empty=True)
        measured = {metric for (metric,) in engine.query_macro("measured_metrics", relation)}
        for metric, _ in (*over, *under):
            if metric not in measured:  # a source without rows, or without classes, must not look healthy
                raise InputError(f"{metric} has a limit, and no value in any period; check that {source} has rows, and classes")
        # Counts determine no distribution of scores, and a feature that is the period itself has no index.
        excused: list[str | None] = [None] if options["reference"] is None else []
        excused += [feature.name for feature in model.state.spec.features if feature.columns == (options["by"],)]
        outside = engine.query_macro("outside_limits", relation, over, under, excused)
    for row in outside:
        click.echo(f"{styled('outside', fg='red', bold=True)}: {_line(options['by'], *row)}", err=True)
    if outside:
        click.get_current_context().exit(OUTSIDE)


def _line(
    by: str | None, period: Any, feature: Any, label: Any, metric: str, value: float | None, _: Any, moved: Any, by_chance: Any,
    limit: float, side: str,
) -> str:  # fmt: skip
    """The line on stderr for a metric beyond its limit."""
    where = (
        "in all rows" if by is None else f"where {by} is NULL" if period is None else f"in period {tables.plain(str(period))}"
    )
    subject = "" if feature is None else f" of {tables.plain(str(feature))}"
    subject += "" if label is None else f" of class {tables.plain(str(label))}"
    if value is None:
        return f"{where}, {metric}{subject} cannot be computed, and has the limit {tables.number(limit)}"
    most = "" if moved is None else f"; {tables.plain(str(moved))} moved most"
    chance = "" if by_chance is None else f" ({_short(by_chance)} by chance)"
    return f"{where}, {metric}{subject} is {_short(value)}, {side} the limit {tables.number(limit)}{chance}{most}"


def _short(value: float) -> str:
    """A whole number in full, or else one with four significant digits."""
    return tables.number(value if value.is_integer() else float(f"{value:.4g}"))


MONITOR = verb_command(
    "monitor",
    [
        "churn customers --by month --summary",
        """churn customers --by "date_trunc('week', seen_at)" --reference january""",
        "churn customers --by month --fail-over psi=0.2 --fail-under accuracy=0.8",
    ],
    with_formats(reads_model(_monitor)),
    option(
        "--fail-over", "over", type=LIMIT, multiple=True, help="Exit with status 3 if a metric is above the limit. Repeatable."
    ),
    option(
        "--fail-under",
        "under",
        type=LIMIT,
        multiple=True,
        help="Exit with status 3 if a metric is below the limit. Repeatable.",
    ),
    limited,
)
