"""`nbsql evaluate`, `calibrate` and `monitor`: how well a model does on rows, how sure it is, and whether that changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import click

import nbsql
from nbsql.cli import tables
from nbsql.cli.answers import Form, answer, print_value, with_formats, write_or_print
from nbsql.cli.arguments import FOLDS, LIMIT, Costs, costs_of
from nbsql.cli.options import held_back, limited, option, reads_model, requested_folds
from nbsql.cli.session import end_progress, load_to_change, show_warnings
from nbsql.cli.terminal import styled
from nbsql.cli.verbs import verb_command
from nbsql.errors import InputError
from nbsql.evaluation.calibration import Method
from nbsql.evaluation.evaluation import SLICES, TABLES
from nbsql.family.checks import label as label_text
from nbsql.queries.table import tables_of

if TYPE_CHECKING:
    from rich.text import Text

_SHARES = ("accuracy", "accuracy of the majority", "balanced accuracy", "ROC AUC", "average precision")  # better near 1
_CLASSES = 8  # the most classes in a confusion matrix


def _evaluate(
    model: nbsql.Model, source: str, *, weight: str | None, bins: int, costs: Costs, calibrated: bool | None,
    against: str | None, by: tuple[str, ...], between: tuple[str, str] | None,
    label: str | None, folds: int | Literal["loo"] | None, gain: bool, table: str | None, limit: int, form: Form,
) -> None:  # fmt: skip
    with_against = against is not None and bool(costs or table or by or gain)
    of_slices = "--between" if between else f"--table {table}" if table in SLICES else ""
    refused = {
        "--against goes with --weight and --calibrated; leave out --cost, --by, --gain and --table": with_against,
        "--gain is one line beside the numbers; leave out --table, --by, --csv and --sql": (
            gain and bool(table or by or form in ("csv", "sql"))
        ),
        "--folds has no single query; leave out --sql": folds is not None and form == "sql",
        f"{of_slices} is of slices; say by which column, --by region": bool(of_slices) and not by,
        "--label goes with --between": label is not None and between is None,
    }
    for message in (message for message, is_so in refused.items() if is_so):
        raise click.UsageError(message)
    if against is not None:
        other = nbsql.load(model.state.engine, against)
        with show_warnings(model.state.engine):
            compared = model.compare(other, source, weight=weight, calibrated=calibrated)
        answer(compared, form, limit=limit, empty=True)
        return
    if by and form != "table":
        table = table or "slices"
    options: dict[str, Any] = {
        "weight": weight, "bins": bins, "calibrated": calibrated, "by": by or None, "costs": costs_of(costs),
    }  # fmt: skip
    if form == "sql" and between is None:
        tables.sql(model.evaluate_sql(source, table=table or "metrics", **options))
        return
    engine = model.state.engine
    engine.announce("judge")
    with show_warnings(engine):
        evaluation = model.evaluate(source, **options, folds=folds)
    gained = evaluation.gain() if gain else None
    slices = evaluation.slices
    if slices is not None and between is not None:
        sides = [tuple(side.split(",")) if len(by) > 1 else side for side in between]
        answer(slices.compare(*sides, label=label), form, limit=limit, empty=True)
        return
    if table is not None:
        query = slices.intervals if slices is not None and table == "slice_intervals" else getattr(evaluation, table)
        answer(query, form, limit=limit, empty=True)
        return
    confusion = evaluation.confusion.fetchall() if len(evaluation.classes) <= _CLASSES else []
    end_progress(engine)
    if form != "table":
        print_value(engine, form, {**evaluation.to_dict(), **({"gain": gained} if gain else {})}, _numbers(evaluation))
        return
    _report(evaluation, model.target, str(model.name), source, confusion)
    if gained:
        tables.echo("", gained)
    if slices is not None:
        tables.echo("", f"by {', '.join(by)}, the most certainly bad first", "")
        answer(slices, form, limit=limit)


def _numbers(evaluation: nbsql.Evaluation) -> list[dict[str, Any]]:
    numbers = {name: value for name, value in evaluation.to_dict().items() if name not in ("calibrated_by", "learnt")}
    classes = numbers.pop("classes")
    lines = [("", metric, value) for metric, value in numbers.items()]
    for item in classes:
        label = _label(item.pop("label"))
        lines += [(label, metric, value) for metric, value in item.items()]
    return [{"class": label, "metric": metric, "value": value} for label, metric, value in lines]


def _report(evaluation: nbsql.Evaluation, target: str, model: str, source: str, confusion: list[tuple[Any, ...]]) -> None:
    rows = tables.counted(evaluation.rows, "row")
    tables.echo(f"model {model} evaluated on {rows} of {tables.plain(source)}", *evaluation.notes(), "")
    lines: list[list[str | Text | None]] = [
        [name, _number(value), tables.bar(value if name in _SHARES else None)] for name, value in evaluation.summary()
    ]
    tables.table(["of all rows", "value", ""], lines, right=[1])
    tables.echo("")
    headings = [target, "precision", "recall", "f1", "ROC AUC", "avg. prec.", "support"]
    lines = []
    for label, *rates, support in evaluation.table():
        lines.append([_shown(label), *map(_number, rates), tables.number(support)])
    tables.table(headings, lines, right=range(1, 7))
    if confusion:
        tables.echo("", f"actual {target} (down) and predicted (across)", "")
        _matrix(evaluation, confusion)


def _matrix(evaluation: nbsql.Evaluation, confusion: list[tuple[Any, ...]]) -> None:
    labels: list[Any] = [item.label for item in evaluation.classes]
    across = [*labels, None] if any(row[1] is None for row in confusion) else labels
    counts = {(label, prediction): n for label, prediction, n in confusion}
    lines: list[list[str | Text | None]] = [
        [_shown(label), *(tables.number(counts.get((label, prediction), 0)) for prediction in across)] for label in labels
    ]
    tables.table(["", *map(_shown, across)], lines, right=range(1, len(across) + 1))


def _label(label: Any) -> str:
    return "no class" if label is None else label_text(label)


def _shown(label: Any) -> str:
    return tables.plain(_label(label))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _calibrate(
    database: str, model: str, source: str, *, method: Method, folds: Any, held_back: bool, weight: str | None,
    test: str | None, confidence: float | None, form: Form,
) -> None:  # fmt: skip
    chosen_folds = requested_folds(folds, held_back, 10)
    if weight is not None and not held_back and test is None:
        raise click.UsageError("--weight is of rows held back, or of a test; folds count by the weight of the fit")
    with write_or_print(database, form, rehearse=True) as engine, show_warnings(engine):
        loaded = load_to_change(engine, model)
        found = loaded.calibrate(source, method=method, folds=chosen_folds, weight=weight, test=test, confidence=confidence)
        end_progress(engine)
        if form == "table":
            temperature = "" if found.temperature is None else f": T = {found.temperature:.4f}"
            learnt = f"{found.rows:,} rows of {tables.plain(source)}"
            tables.echo(f"model {model} calibrated by {method} on {learnt}{temperature}", "")
            for number, shown in enumerate(tables_of(found)):
                tables.echo(*([""] if number else []))
                tables.draw(shown)
        elif form != "sql":
            names = ("on", "rows", "metric", "before", "after")
            print_value(engine, form, found.to_dict(), [dict(zip(names, row, strict=True)) for row in found.table()])


EVALUATE = verb_command(
    "evaluate",
    [
        "churn holdout", "churn holdout.csv --json", "churn holdout --table thresholds --csv",
        "churn holdout --against last_year", "churn holdout --by region", "churn holdout --by region --between north south",
    ],
    with_formats(csv="Print CSV: class (empty for the whole), metric, value.")(reads_model(_evaluate)),
    option("--against", metavar="MODEL", help="Compare with another model of the same target, on the same rows."),
    option("--between", nargs=2, metavar="A B", help="Compare two slices: how much more often one is selected or wrong."),
    option("--label", metavar="CLASS", help="The class that counts as selected; of two classes the larger by default."),
    option("--gain", is_flag=True, help="Say which other method would gain most, by five folds of each; takes longer."),
    option("--table", type=click.Choice((*TABLES, *SLICES)), help="Show one of the tables behind the numbers instead."),
    limited,
    by=option(
        "--by", metavar="COLUMN", multiple=True,
        help="Evaluate each value of a column by itself; with several, each combination.",
    ),
    folds=option("--folds", type=FOLDS, help="MODEL has learnt SOURCE: evaluate a row by the other folds; loo by all others."),
)  # fmt: skip

CALIBRATE = verb_command(
    "calibrate",
    ["churn customers --test holdout", "churn validation --held-back --method platt"],
    with_formats(csv="Print CSV: on, rows, metric, before, after.", sql="Print the SQL, and change nothing.")(_calibrate),
    held_back,
    method=option(
        "--method", type=click.Choice(get_args(Method)), default="temperature", metavar="METHOD",
        help="temperature: one number for all probabilities. platt, isotonic: a curve for each class; isotonic needs some "
        "thousand rows. conformal, certain: for `nbsql predict --coverage` and `--certain`; probabilities stay as they are.",
    ),
    confidence=option(
        "--confidence", type=float, metavar="N",
        help="How probable it is that --method certain keeps what it promises.  [default: 0.95]",
    ),
    folds=option(
        "--folds", type=FOLDS, help="Score each of N folds by a model of the others; loo leaves out one row.  [default: 10]"
    ),
    weight=option("--weight", metavar="COLUMN", help="Weights of the held-back rows and of the test rows."),
)  # fmt: skip

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
