"""How well a model does on rows whose class is known."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from nbsql.context import ClassColumn
from nbsql.dialect import folded
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, suggestion
from nbsql.plan import Plan
from nbsql.query import Query
from nbsql.spec import Column

_COUNTS = ("rows", "left_out", "unknown", "unexplained")
TABLES = ("confusion", "roc", "precision_recall", "calibration", "lift", "thresholds")
_QUERIES = ("metrics", *TABLES)
_BINNED = ("metrics", "calibration", "lift")
_NUMBERS = ("integer", "float", "decimal")


@dataclass(frozen=True)
class ClassEvaluation:
    """One class against the rest. What is undefined, such as the recall of a class that never occurs nor is predicted, is None.

    Args:
        label: the class, in its own type.
        support: rows of the class, or their weight.
        precision: the share of the predictions of the class that are right.
        recall: the share of the rows of the class that are predicted to be.
        f1: the harmonic mean of the two.
        roc_auc: how often a row of the class has a higher posterior of it than a row of another, a tie counting half.
        average_precision: the mean precision over the recalls, without interpolation.
    """

    label: Any
    support: float
    precision: float | None
    recall: float | None
    f1: float | None
    roc_auc: float | None
    average_precision: float | None


@dataclass(frozen=True, repr=False)
class Evaluation:
    """How well a model did on a source: numbers, a table of the classes, and the curves as queries.

    Definitions are those of scikit-learn's `metrics`. A row that no class can explain is predicted wrong and has a posterior of
    0 in every class; so has a class that the model does not know. The means named `_macro` and `_weighted` (by support) go
    over the classes for which the number is defined.

    Args:
        rows: the rows judged: those with a class, of a weight above 0.
        weight: their weight; the number of rows without weights.
        left_out: rows without a class, which are not judged.
        unknown: rows judged whose class the model does not know.
        unexplained: rows judged that no class can explain.
        accuracy: the share of the rows predicted right.
        majority: the share of the most frequent class, which is the accuracy of always predicting it.
        balanced_accuracy: the mean recall of the classes that occur.
        log_loss: the mean of -ln p of the true class, in nats, p kept between 2^-52 and 1 - 2^-52.
        brier: the mean of the sum over the classes of (p - 1 or 0)^2; half of it with two classes.
        calibration_error: the mean gap between how probable a prediction is said to be and how often it is right, over bins.
        roc_auc: with two classes that of the larger label; otherwise the macro mean of each class against the rest.
        average_precision: likewise.
        classes: a class each, by label.
        metrics: all these numbers: class (NULL for the whole), metric, value.
        confusion: class, prediction, n.
        roc: class, threshold, false_positive_rate, true_positive_rate.
        precision_recall: class, threshold, precision, recall.
        calibration: class (NULL for the prediction, whatever its class), bin, lower, upper, n, probability, frequency.
        lift: class, depth, gain, lift.
        thresholds: class, threshold, the four counts, precision, recall, specificity, f1, accuracy.
        cost: with costs, what the predictions cost on average, over the rows whose class the model knows and can explain.
        expected_cost: what they cost by the posteriors.
    """

    rows: int
    weight: float
    left_out: int
    unknown: int
    unexplained: int
    accuracy: float
    majority: float
    balanced_accuracy: float
    log_loss: float
    brier: float
    calibration_error: float
    roc_auc: float | None
    average_precision: float | None
    precision_macro: float
    recall_macro: float
    f1_macro: float
    roc_auc_macro: float | None
    average_precision_macro: float | None
    precision_weighted: float
    recall_weighted: float
    f1_weighted: float
    roc_auc_weighted: float | None
    average_precision_weighted: float | None
    classes: tuple[ClassEvaluation, ...]
    metrics: Query = field(compare=False)
    confusion: Query = field(compare=False)
    roc: Query = field(compare=False)
    precision_recall: Query = field(compare=False)
    calibration: Query = field(compare=False)
    lift: Query = field(compare=False)
    thresholds: Query = field(compare=False)
    cost: float | None = None
    expected_cost: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The numbers and the classes, of types that JSON has; a label that JSON lacks is text."""
        left = (*_QUERIES, "classes", *(("cost", "expected_cost") if self.cost is None else ()))
        names = [item.name for item in dataclasses.fields(self) if item.name not in left]
        classes = [{**dataclasses.asdict(item), "label": _plain(item.label)} for item in self.classes]
        return {**{name: getattr(self, name) for name in names}, "classes": classes}

    def summary(self) -> list[tuple[str, float | None]]:
        """The numbers of the whole, as a report names them."""
        return [
            ("accuracy", self.accuracy),
            ("accuracy of the majority", self.majority),
            ("balanced accuracy", self.balanced_accuracy),
            ("log loss", self.log_loss),
            ("Brier score", self.brier),
            ("calibration error", self.calibration_error),
            ("ROC AUC", self.roc_auc),
            ("average precision", self.average_precision),
            *([] if self.cost is None else [("cost", self.cost), ("expected cost", self.expected_cost)]),
        ]

    def table(self) -> list[tuple[Any, ...]]:
        """A row a class, and the two means: label, precision, recall, f1, ROC AUC, average precision, support."""
        rates = ("precision", "recall", "f1", "roc_auc", "average_precision")
        lines: list[tuple[Any, ...]] = [
            (item.label, *(getattr(item, rate) for rate in rates), item.support) for item in self.classes
        ]
        lines += [
            (f"{kind} mean", *(getattr(self, f"{rate}_{kind}") for rate in rates), self.weight)
            for kind in ("macro", "weighted")
        ]
        return lines

    def notes(self) -> list[str]:
        """What there is to know about the rows."""
        found = [
            (self.left_out, "without a class, not judged"),
            (self.unknown, "of a class that the model does not know, judged as wrong"),
            (self.unexplained, "that no class can explain, judged as wrong"),
        ]
        return [f"{count:,} row{'' if count == 1 else 's'} {what}" for count, what in found if count]

    def __repr__(self) -> str:
        lines = [f"{self.rows:,} row{'' if self.rows == 1 else 's'} judged", *self.notes(), ""]
        lines += [f"{name:<24}  {_rounded(value):>8}" for name, value in self.summary()]
        headings = ("class", "precision", "recall", "f1", "ROC AUC", "average precision", "support")
        cells = [headings, *((str(label), *map(_rounded, rates), f"{support:,g}") for label, *rates, support in self.table())]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines.append("")
        for label, *numbers in cells:
            rest = (f"{number:>{width}}" for number, width in zip(numbers, widths[1:], strict=True))
            lines.append("  ".join([f"{label:<{widths[0]}}", *rest]))
        return "\n".join(lines)


def evaluate(
    engine: Engine,
    plan: Plan,
    classes: Sequence[ClassColumn],
    source: Source,
    *,
    weight: str | None,
    bins: int,
    calibration: str | None = None,
    costs: Sequence[Sequence[float]] | None = None,
) -> Evaluation:
    """The evaluation of a model on a source, which must have the features.

    Raises:
        InputError: the source lacks the target or the weight, or has no rows to judge.
    """
    options: dict[str, Any] = {"calibration": calibration, "costs": costs}
    queries = evaluation_queries(engine, plan, classes, source, weight=weight, bins=bins, **options)

    def nothing(left_out: int | None) -> str:
        return _nothing(engine, plan.spec.target, source, left_out)

    evaluation = evaluation_of(queries, weight, nothing)
    if costs is None:
        return evaluation
    sql = cost_sql(engine, plan, classes, source, weight=weight, calibration=calibration, costs=costs)
    ((cost, expected),) = engine.rows(sql)
    return dataclasses.replace(evaluation, cost=cost, expected_cost=expected)


def cost_sql(
    engine: Engine,
    plan: Plan,
    classes: Sequence[ClassColumn],
    source: Source,
    *,
    weight: str | None,
    calibration: str | None,
    costs: Sequence[Sequence[float]],
) -> str:
    """The query of what the predictions of least cost did cost on a source: cost, expected_cost."""
    narrowed, weight, as_text = judgeable(engine, plan, source, weight)
    return plan.paid(narrowed, classes, weight, as_text=as_text, calibration=calibration, costs=costs)


def evaluation_of(
    queries: Mapping[str, Query], weight: str | None, nothing: Callable[[int | None], str] = "no rows to judge, {}".format
) -> Evaluation:
    """The evaluation by its queries.

    Args:
        queries: by name.
        weight: the column of weights.
        nothing: says why there is no row to judge, from the number of rows left out.
    """
    overall: dict[str, Any] = {}
    by_class: dict[Any, dict[str, Any]] = {}
    for label, metric, value in queries["metrics"]:
        if label is None:
            overall[metric] = int(value or 0) if metric in _COUNTS else value
        else:
            by_class.setdefault(label, {})[metric] = value
    broken = int(overall.pop("broken_weights") or 0)
    if broken:
        values = "1 value" if broken == 1 else f"{broken} values"
        raise InputError(
            f"{values} of the weight column {weight!r} {'is' if broken == 1 else 'are'} negative, NULL or not finite; "
            f"weights must be at least 0"
        )
    if not overall["rows"]:
        raise InputError(nothing(overall["left_out"]))
    items = tuple(ClassEvaluation(label=label, **metrics) for label, metrics in by_class.items())
    fields: dict[str, Any] = {**overall, **queries}
    return Evaluation(**fields, classes=items)


def evaluation_queries(
    engine: Engine,
    plan: Plan,
    classes: Sequence[ClassColumn],
    source: Source,
    *,
    weight: str | None,
    bins: int,
    calibration: str | None = None,
    costs: Sequence[Sequence[float]] | None = None,
) -> dict[str, Query]:
    """The queries of an evaluation, by name.

    Raises:
        InputError: the source lacks the target or the weight, or an argument is of no use.
    """
    narrowed, weight, as_text = judgeable(engine, plan, source, weight)
    judged = plan.judged(narrowed, classes, weight, as_text=as_text, calibration=calibration, costs=costs)
    return queries_of(engine, judged, source, bins)


def judgeable(engine: Engine, plan: Plan, source: Source, weight: str | None) -> tuple[Markup, str | None, bool]:
    """The columns of a source that judging reads, the name of its weight, and whether labels are compared as text.

    Raises:
        InputError: the source lacks the target or the weight, or they are of no use.
    """
    target = _column(source, plan.spec.target, "the target of the model")
    as_text = _check_labels(engine, plan, target, source)
    weights = None if weight is None else _column(source, weight, "the weight")
    if weights is not None and weights.kind not in _NUMBERS:
        raise InputError(f"weight column {weights.name!r} is {weights.type}; weights must be numbers")
    columns = {folded(name): name for feature in plan.spec.features for name in feature.columns}
    for column in filter(None, (target, weights)):
        columns[folded(column.name)] = column.name
    renderer = engine.renderer
    narrowed = source.relation
    if plan.spec.segment_by is None:  # the segment may be said by any column
        narrowed = renderer.fragment("subquery", renderer.fragment("staged", source.relation, list(columns.values())))
    return narrowed, weights.name if weights else None, as_text


def queries_of(engine: Engine, judged: Markup, source: Source, bins: int) -> dict[str, Query]:
    """The queries of an evaluation, by name, on rows that are judged."""
    if not isinstance(bins, int) or isinstance(bins, bool) or bins < 1:
        raise InputError(f"bins must be a whole number of at least 1, not {bins!r}")
    statements = {
        name: engine.renderer.statement(name, judged, **({"bins": bins} if name in _BINNED else {})) for name in _QUERIES
    }
    return {name: Query(engine, sql, source) for name, sql in statements.items()}


def _column(source: Source, name: str, role: str) -> Column:
    if not isinstance(name, str):
        raise InputError(f"{role} must be the name of a column, not {name!r}")
    found = next((column for column in source.columns if folded(column.name) == folded(name)), None)
    if found is None:
        hint = suggestion(name, [column.name for column in source.columns])
        raise InputError(f"no column {name!r} in {source.label}, {role}{hint}")
    return found


def _check_labels(engine: Engine, plan: Plan, target: Column, source: Source) -> bool:
    """Whether labels are compared as text; InputError if those of the source can be none of the model's."""
    known = next(c for c in engine.columns(plan.relations["parameters"]) if c.name in ("class", "class_1"))
    if _comparable(known) != _comparable(target):
        if not engine.ask("row_count", source.relation, target.name)[0][0]:  # a NULL alone has no type, or any
            raise InputError(_nothing(engine, target.name, source, None))
        raise InputError(
            f"column {target.name!r} of {source.label} is {target.type}, and the classes of the model are {known.type}; cast it"
        )
    return known.kind == "text" and known.type != target.type


def _comparable(column: Column) -> str:
    """Columns of one such kind can be compared."""
    if column.kind in _NUMBERS:
        return "number"
    if column.type.startswith(("DATE", "TIMESTAMP")) and "ZONE" not in column.type:
        return "date"
    return column.kind if column.kind in ("text", "boolean") else column.type


def _nothing(engine: Engine, target: str, source: Source, left_out: int | None) -> str:
    """Why there is no row to judge."""
    rows = engine.ask("row_count", source.relation)[0][0]
    if not rows:
        return f"{source.label} has no rows; there is nothing to judge"
    if left_out in (rows, None):
        return f"the target {target!r} is NULL in every row of {source.label}; judging needs rows whose class is known"
    return f"every row of {source.label} with a class has a weight of 0; judging needs rows that count"


def _rounded(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.4f}"


def _plain(label: Any) -> Any:
    if isinstance(label, decimal.Decimal):
        return float(label)
    if isinstance(label, (datetime.date, datetime.time, datetime.timedelta, uuid.UUID, bytes)):
        return str(label)
    return label
