"""Evaluates a model on rows whose class is known."""

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, no_column
from nbsql.evaluation.evaluation import QUERIES, Evaluation, read_evaluation
from nbsql.evaluation.slices import Slices, check_slices
from nbsql.family.checks import whole_number
from nbsql.learning.count import check_weight_sums
from nbsql.plan import Judgeable
from nbsql.queries.query import Query
from nbsql.rendering.dialect import folded
from nbsql.spec.column import Column
from nbsql.spec.rules import RULES
from nbsql.spec.spec import Check, Spec
from nbsql.storage.state import ModelState

LEAST = 2.0**-52  # a probability is taken to be at least so much, as for the log loss
_BINNED = ("metrics", "calibration", "lift")
_CURVES = ("metrics", "lift")  # which read the points of the curves


@dataclass(frozen=True)
class Evaluator:
    """The evaluation of a model on a source, which has the features."""

    state: ModelState
    source: Source  # the rows whose class is known
    weight: str | None = None  # the column of row weights
    calibration: str | None = None  # the method of the calibration whose posteriors are judged; None for the model's own
    costs: Sequence[Sequence[float]] | None = None  # the costs of mistakes, for the predictions of least cost

    def evaluate(self, bins: int = 10, by: Any = None) -> Evaluation:
        """The evaluation, sliced by the columns `by`.

        Raises InputError if the source lacks the target, the weight or a column to slice by, or has no rows to evaluate.
        """
        explain_no_rows = partial(_explain_no_rows, self.state.engine, self.state.spec.target, self.source)
        evaluation = read_evaluation(self.queries(bins, by), self.weight, explain_no_rows)
        evaluation = dataclasses.replace(evaluation, calibrated_by=self.calibration)
        if self.costs is None:
            return evaluation
        ((cost, expected),) = self.state.engine.rows(self.cost_sql(self.costs))
        return dataclasses.replace(evaluation, cost=cost, expected_cost=expected)

    def queries(self, bins: int, by: Any = None) -> dict[str, Query]:
        """The queries of the evaluation, by name, with `slices` if there are columns to slice by."""
        names = [] if by is None else check_slices(by, self.source)
        rows = rows_to_judge(self.state, self.source, self.weight, names)
        judged = self.state.plan.judged_rows(rows, self.state.classes, calibration=self.calibration, costs=self.costs)
        queries = queries_of_judged_rows(self.state.engine, judged, self.source, bins)
        if rows.by:
            queries["slices"] = Slices(self.state, judged, self.source, rows.by)
        return queries

    def cost_sql(self, costs: Sequence[Sequence[float]]) -> str:
        """The query of the mean cost of the predictions of least cost: cost, expected_cost."""
        rows = rows_to_judge(self.state, self.source, self.weight)
        return self.state.plan.evaluation_costs(rows, self.state.classes, calibration=self.calibration, costs=costs)


def comparison(
    state: ModelState, other: ModelState, source: Source, weight: str | None, calibrations: Sequence[str | None]
) -> Query:
    """The query of the difference between two models of the same target on the same rows.

    Raises InputError if the source lacks the target or the weight, or if they cannot be used.
    """
    as_text = any(rows_to_judge(one, source, weight).as_text for one in (state, other))
    weights = None if weight is None else _column(source, weight, "the weight").name
    if weights is not None:
        check_weights(state.engine, source, weights, _column(source, state.spec.target, "the target").name)
    rows = Judgeable(source.relation, source.names, weight=weights, as_text=as_text)
    return Query(state.engine, state.plan.comparison(rows, state.classes, other.plan, other.classes, calibrations), source)


def rows_to_judge(state: ModelState, source: Source, weight: str | None, by: Sequence[str] = ()) -> Judgeable:
    """The columns of a source that an evaluation reads, sliced by some columns.

    Raises InputError if the source lacks the target or the weight, or if they cannot be used.
    """
    known = "known clusters to judge by (without them, there are ⟨log_likelihood⟩ and a report without a source)"
    target = _column(source, state.spec.target, known if state.spec.clusters else "the target of the model")
    as_text = _check_labels(state, target, source)
    weights = None if weight is None else weight_column(source, weight)
    sliced = [_column(source, name, _role_of_slice(name)) for name in by]
    judged: dict[str, Any] = {
        "weight": None if weights is None else weights.name,
        "as_text": as_text,
        "by": [(column.name, column.kind == "text") for column in sliced],
    }
    facts = source.rows
    if source.joins and all(column is None or column.name in facts.columns for column in (target, weights, *sliced)):
        return Judgeable(facts.relation, facts.columns, facts.joins, **judged)
    columns = {folded(name): name for feature in state.spec.features for name in feature.columns}
    for column in filter(None, (target, weights, *sliced)):
        columns[folded(column.name)] = column.name
    renderer = state.engine.renderer
    read, narrowed = source.names, source.relation
    if state.spec.segment_by is None:  # the segment expression may read any column
        read = list(columns.values())
        narrowed = renderer.subquery("selected_columns", source.relation, read)
    return Judgeable(narrowed, read, **judged)


def beside_priors(evaluation: Evaluation, spec: Spec, priors: Iterable[Sequence[Any]]) -> Evaluation:
    """The evaluation with the log loss of predicting the priors for the evaluated rows, whose classes the model may not know.

    The priors are rows of the relation `priors` of the model.
    """
    prior = {str(label): probability for label, _, probability, *_ in priors}
    losses = (item.support * -math.log(max(prior.get(str(item.label), 0.0), LEAST)) for item in evaluation.classes)
    takes_weights = not (spec.has_weights or spec.given)
    loss = math.fsum(losses) / evaluation.weight
    return dataclasses.replace(evaluation, log_loss_of_priors=loss, _takes_weights=takes_weights)


def queries_of_judged_rows(
    engine: Engine, judged: Markup, source: Source, bins: int, counted: Markup | None = None
) -> dict[str, Query]:
    """The queries of an evaluation, by name, on the relation of judged rows; `counted`: a table of its points (curves.sql)."""
    whole_number(bins, "bins", most=1_000_000)
    options = {name: {"bins": bins} for name in _BINNED} | {name: {"bins": bins, "counted": counted} for name in _CURVES}
    statements = {name: engine.renderer.statement(name, judged, **options.get(name, {})) for name in QUERIES}
    return {name: Query(engine, sql, source) for name, sql in statements.items()}


def _column(source: Source, name: str, role: str) -> Column:
    if not isinstance(name, str):
        raise InputError(f"{role} must be the name of a column, not {name!r}")
    found = source.column(name)
    if found is None:
        raise no_column(name, source.passed_names, source.label, role)
    return found


def _role_of_slice(name: str) -> str:
    cure = "" if name.isidentifier() else f" (of an expression make a column: SELECT *, {name} AS part FROM ...)"
    return f"by which to slice{cure}"


def weight_column(source: Source, weight: str) -> Column:
    """The column of row weights; InputError if it is not a column of numbers."""
    column = _column(source, weight, "the weight")
    if not column.is_number:
        raise InputError(f"weight column {column.name!r} is {column.type}; weights must be numbers")
    return column


def check_weights(engine: Engine, source: Source, weight: str, label: str | None = None) -> None:
    """Raise InputError if weights sum to what no double holds or, of rows with that label, are not all at least 0."""
    ((broken, total),) = engine.query_macro("sum_of_weights", source.relation, weight, label)
    if broken and label is not None:
        raise InputError(Check("weight", weight, RULES["weight"]).violation_message(int(broken)))
    check_weight_sums(weight, [total or 0], of="")


def label_column(state: ModelState, source: Source) -> tuple[str | None, bool]:
    """The column of the classes, if the source has one with values, and whether labels are compared as text.

    Raises InputError if its labels cannot be compared with those of the model.
    """
    target = source.column(state.spec.target)
    if target is None:
        return None, False
    is_comparable = _comparison_kind(_class_column(state)) == _comparison_kind(target)
    if not is_comparable and not state.engine.query_value("row_count", source.relation, target.name):
        return None, False
    return target.name, _check_labels(state, target, source)


def _class_column(state: ModelState) -> Column:
    """The column of the model's own tables that holds its classes."""
    return next(c for c in state.engine.columns(state.relations["parameters"]) if c.name in ("class", "class_1"))


def _check_labels(state: ModelState, target: Column, source: Source) -> bool:
    """Whether labels are compared as text; InputError if the types cannot be compared."""
    class_column = _class_column(state)
    if _comparison_kind(class_column) != _comparison_kind(target):
        raise InputError(
            f"column {target.name!r} of {source.label} is {target.type}, "
            f"and the classes of the model are {class_column.type}; cast it"
        )
    return class_column.kind == "text" and class_column.type != target.type


def _comparison_kind(column: Column) -> str:
    """The kind by which columns are compared: columns of the same kind can be."""
    if column.is_number:
        return "number"
    if column.type.startswith(("DATE", "TIMESTAMP")) and "ZONE" not in column.type:
        return "date"
    return column.kind if column.kind in ("text", "boolean") else column.type


def _explain_no_rows(engine: Engine, target: str, source: Source, left_out: int | None) -> str:
    """The message that explains why there is no row to evaluate."""
    rows = engine.query_value("row_count", source.relation)
    if not rows:
        return f"{source.label} has no rows; there is nothing to evaluate"
    if left_out in (rows, None):
        return f"the target {target!r} is NULL in every row of {source.label}; an evaluation needs rows whose class is known"
    return f"every row of {source.label} with a class has a weight of 0; an evaluation needs rows that count"
