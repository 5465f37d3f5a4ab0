"""Calibration: posteriors that are as often right as they say, fitted on rows that the model has not met."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from markupsafe import Markup

from nbsql.context import ClassColumn, Context
from nbsql.counting import say
from nbsql.drafts import drafted, publish
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, ModelError, listed, suggestion
from nbsql.judging.evaluate import evaluate, judgeable
from nbsql.judging.evaluation import Evaluation
from nbsql.judging.leave_one_out import check_folds, deal
from nbsql.plan import CALIBRATED, Plan
from nbsql.query import Query
from nbsql.relations import Relations
from nbsql.rules import recounted
from nbsql.schema import is_calibrated
from nbsql.steps import Steps

METHODS = ("temperature", "platt", "isotonic")
_JUDGED = ("accuracy", "log loss", "Brier score", "calibration error")
_TESTS = ("before", "after")


@dataclass(frozen=True)
class Calibration:
    """What a calibration found, and what it is worth.

    Args:
        method: "temperature", "platt" or "isotonic".
        rows: calibrated on: those with a class that the model knows and can explain.
        log_loss: mean of -ln p of the true class over these rows, in nats, before; p kept between 2^-52 and 1 - 2^-52.
        calibrated_log_loss: the same after; on the very rows that it was fitted on, so that it flatters platt and isotonic.
        temperature: T, of that method.
        before: the evaluation of the model on the test, if there was one.
        after: the evaluation of the calibrated model on it.
        parameters: the table `calibration`: method, class_no, class, temperature, slope, intercept, score, probability.
    """

    method: str
    rows: int
    log_loss: float
    calibrated_log_loss: float
    temperature: float | None
    before: Evaluation | None = field(repr=False)
    after: Evaluation | None = field(repr=False)
    parameters: Query = field(repr=False, compare=False)

    def table(self) -> list[tuple[str, int, str, float, float]]:
        """A line a number: where it was measured, the rows, its name, before, after."""
        lines = [("calibrated on", self.rows, "log loss", self.log_loss, self.calibrated_log_loss)]
        if self.before is not None and self.after is not None:
            for (name, before), (_, after) in zip(self.before.summary(), self.after.summary(), strict=True):
                if name in _JUDGED and before is not None and after is not None:
                    lines.append(("test", self.before.rows, name, before, after))
        return lines

    def to_dict(self) -> dict[str, Any]:
        """The numbers, of types that JSON has."""
        names = ("method", "rows", "log_loss", "calibrated_log_loss", "temperature")
        tests = {name: None if found is None else found.to_dict() for name, found in vars(self).items() if name in _TESTS}
        return {**{name: getattr(self, name) for name in names}, **tests}

    def __repr__(self) -> str:
        title = f"calibrated by {self.method}" + (f", T = {self.temperature:.4f}" if self.temperature is not None else "")
        lines = [title, "", f"{'':<13}  {'rows':>9}  {'':<17}  {'before':>8}  {'after':>8}"]
        for place, rows, name, before, after in self.table():
            lines.append(f"{place:<13}  {rows:>9,}  {name:<17}  {before:>8.4f}  {after:>8.4f}")
        return "\n".join(lines)


def calibrate(
    engine: Engine,
    plan: Plan,
    classes: list[ClassColumn],
    title: str,
    source: Source,
    *,
    method: str,
    folds: int | str | None,
    weight: str | None,
    test: Source | None,
    stamp: Any,
) -> Calibration:
    """Calibrate a model, which was last changed at `stamp`, within a transaction of the caller's; see `Model.calibrate`."""
    if method not in METHODS:
        raise InputError(f"no method {method!r}{suggestion(str(method), METHODS) or f'; there are {listed(METHODS)}'}")
    if len(classes) < 2:
        raise InputError(f"{title} has one class only; there is nothing to calibrate")
    before = None if test is None else evaluate(engine, plan, classes, test, weight=weight, bins=10)
    renderer = engine.renderer
    with engine.temporaries() as temporary:
        rows, scores = temporary("outcomes"), temporary("scores")  # made of tables that are then dropped
        if folds is None:
            if weight is not None:
                evaluate(engine, plan, classes, source, weight=weight, bins=10)  # refuses weights that are none
            engine.create("calibrate", rows, plan.calibration_rows(judgeable(engine, plan, source, weight), classes))
        else:
            _rows_out_of_fold(engine, plan, classes, title, source, folds, rows)
        if not engine.ask("row_count", rows)[0][0]:
            if folds is None:
                evaluate(engine, plan, classes, source, weight=weight, bins=10)  # says why, if there is nothing to judge
            raise InputError(
                f"no row of {source.label} has a class that {title} knows and can explain; nothing to calibrate on"
            )
        if method != "temperature":
            engine.create("calibrate", scores, renderer.fragment("calibration_scores", rows))
        last = searched(engine, method, rows if method == "temperature" else scores, temporary)
        found = renderer.fragment("subquery", renderer.fragment(f"{method}_found", last))
        draft = drafted(engine, plan)
        place, parameters = draft.relations["calibration"], draft.relations["parameters"]
        query = renderer.fragment("calibration_table", draft.context(classes), parameters, method, found)
        drop_calibration(engine, draft.relations)
        _make(engine, draft, classes, query)
        engine.run("touch", renderer.statement("touch", draft.relations["spec"]))  # so that queries that wait are rendered anew
        ((count, _, log_loss, after_loss),) = engine.ask("calibration_losses", rows, place, method)
        temperature = _temperature(engine, draft) if method == "temperature" else None
        publish(engine, draft, plan.relations, stamp)
    after = None if test is None else evaluate(engine, plan, classes, test, weight=weight, bins=10, calibration=method)
    order = ["class_no", "score"]
    found_by = Query(engine, renderer.statement("sorted_by", plan.relations["calibration"], order))
    return Calibration(method, count, log_loss, after_loss, temperature, before, after, found_by)


def searched(engine: Engine, method: str, scores: Markup, temporary: Callable[[str], Markup]) -> Markup:
    """The temporary table of the last step of the search for what a method finds (sql/macros/calibration/).

    Args:
        engine: where.
        method: of the calibration.
        scores: the relation `scores`, or, of temperature, `rows`.
        temporary: names temporary tables.
    """
    render = engine.renderer.fragment
    steps, points = Steps(engine, "calibrate", temporary), scores
    if method != "isotonic":
        points = temporary("points")
        engine.create("calibrate", points, render(f"{method}_points", scores))
    last = steps.take(render(f"{method}_start", points))
    while engine.ask("steps_left", last)[0][0]:
        last = steps.take(render(f"{method}_step", last, points))
    return last


def method_of(engine: Engine, plan: Plan, title: str) -> str:
    """How a model is calibrated.

    Raises:
        ModelError: it is not.
    """
    if not is_calibrated(engine, plan.relations):
        raise ModelError(f"{title} is not calibrated; calibrate it first")
    return _method(engine, plan)


def _method(engine: Engine, plan: Plan) -> str:
    return str(engine.ask("calibration_method", plan.relations["calibration"])[0][0])


def calibration_text(engine: Engine, plan: Plan) -> str | None:
    """What a model is calibrated by, as one text that `restore_calibration` reads; None if it is not."""
    if not is_calibrated(engine, plan.relations):
        return None
    return str(engine.ask("calibration_text", plan.relations["calibration"])[0][0])


def restore_calibration(engine: Engine, plan: Plan, classes: Sequence[ClassColumn], text: str) -> None:
    """Calibrate a model that was just made as the one was that `calibration_text` has read."""
    query = engine.renderer.fragment("calibration_of_text", plan.context(classes), plan.relations["parameters"], text)
    _make(engine, plan, classes, query)


def _make(engine: Engine, plan: Plan, classes: Sequence[ClassColumn], query: Markup) -> None:
    """Make the table `calibration`, and the macros or functions that read it."""
    place = plan.relations["calibration"]
    engine.create("calibrate", place, query, temporary=plan.relations.temporary)
    if not plan.relations.temporary:
        for statement in plan.calibrated_macros(classes, _method(engine, plan)):
            engine.run(statement.name, statement.sql)


def drop_calibration(engine: Engine, relations: Relations) -> None:
    """Drop what a calibration made, if there is one."""
    renderer = engine.renderer
    if not relations.temporary:
        for name in CALIBRATED:
            engine.run(f"drop {name}", renderer.statement("drop_relation", "macro", relations[name], if_exists=True))
    engine.run("drop calibration", renderer.statement("drop_relation", "table", relations["calibration"], if_exists=True))


def outdate(engine: Engine, relations: Relations, title: str) -> None:
    """Drop the calibration of a model that has changed, and say so."""
    if is_calibrated(engine, relations):
        drop_calibration(engine, relations)
        say(f"{title} has changed, and its calibration, which was of the model before, is dropped; calibrate it again")


def _temperature(engine: Engine, plan: Plan) -> float:
    ((temperature,),) = engine.ask("temperature_of", plan.relations["calibration"])
    return float(temperature)


def _rows_out_of_fold(
    engine: Engine, plan: Plan, classes: Sequence[ClassColumn], title: str, source: Source, folds: int | str, rows: Markup
) -> None:
    """Make the table of the rows to calibrate on, of rows that the model has learnt, each scored by a model without it."""
    check_folds(folds)
    if plan.spec.stuck:
        raise InputError(
            f"{listed(plan.spec.stuck)} depends on all rows at once, so no fold can be taken away; "
            "calibrate on rows that the model has not learnt, with folds=None"
        )
    spec = recounted(plan.spec, source.columns, source.label, title, exact=engine.exact)
    learnt = engine.ask("rows_learnt", plan.relations["statistics"])[0][0]
    renderer = engine.renderer
    with engine.temporaries() as temporary:
        dealt = deal(engine, source, [replace(spec, slice_by=None)], temporary, folds=folds, fold=None)
        given = sum(float(label[3]) for label in dealt.labels)
        if abs(given - learnt) > 1e-9 * learnt:
            raise InputError(
                f"{source.label} counts {given:g} rows, and {title} has learnt {learnt:g}; folds are of the rows that it "
                "has learnt, all of them; calibrate on others with folds=None"
            )
        if sorted(label[0] for label in dealt.labels) != sorted(column.label for column in classes):
            raise InputError(
                f"the classes of {source.label} are not those that {title} has learnt; calibrate on others with folds=None"
            )
        models = dealt.models(dealt.specs[0])
        known = renderer.fragment("numbered_classes", plan.context(classes), plan.relations["parameters"])
        numbered = dealt.create("classes", known)
        scored = dealt.outcomes(models, numbered)
        context = Context(spec, wide=False)
        relation = renderer.fragment("subquery", scored)
        engine.create("calibrate", rows, renderer.fragment("calibration_rows", context, relation, numbered, spec.weight, False))
