"""The stored calibrations of a model: created, read, restored and dropped.

A model has at most one of its posteriors, and beside it one of sets of classes ("conformal") and one of decisions ("certain").
"""

import json
from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.plan import UNCALIBRATED, Plan
from nbsql.plan.classes import ClassColumn
from nbsql.rendering.relations import Relations
from nbsql.storage.schema import drop_parts, is_calibrated, run_statements
from nbsql.warn import warn_user

# The macros or functions that a calibration changes.
_MACROS = (*UNCALIBRATED, *UNCALIBRATED.values(), "predict_certain")

# The methods whose calibrations leave the posteriors as they are, and what each is for.
BESIDE_POSTERIORS = {"conformal": "sets of classes", "certain": "certain predictions"}


def calibration_methods(engine: Engine, relations: Relations) -> list[str]:
    """The methods by which a model is calibrated; [] if it is not."""
    if not is_calibrated(engine, relations):
        return []
    return [str(method) for (method,) in engine.query_macro("calibration_methods", relations["calibration"])]


def calibration_of_posteriors(engine: Engine, relations: Relations) -> str | None:
    """The method by which the posteriors of a model are calibrated, if they are."""
    return next((method for method in calibration_methods(engine, relations) if method not in BESIDE_POSTERIORS), None)


def describe_calibration(engine: Engine, relations: Relations) -> str:
    """What a model answers with: "calibrated by temperature (T = 1.52), and by conformal for sets of classes"."""
    methods = calibration_methods(engine, relations)
    posteriors = [method for method in methods if method not in BESIDE_POSTERIORS]
    parts = ["not calibrated" if not posteriors else f"calibrated by {posteriors[0]}"]
    if posteriors == ["temperature"]:
        parts[0] += f" (T = {engine.query_value('temperature_of', relations['calibration']):.4g})"
    return ", ".join([*parts, *(f"{use} by {method}" for method, use in BESIDE_POSTERIORS.items() if method in methods)])


def calibration_text(engine: Engine, plan: Plan) -> str | None:
    """The calibrations of a model as one text that `restore_calibration` reads; None if there is none."""
    if not is_calibrated(engine, plan.relations):
        return None
    names = ("method", "class", "temperature", "slope", "intercept", "score", "probability")
    rows = engine.query_macro("numbers_of_calibration", plan.relations["calibration"])
    return json.dumps([dict(zip(names, row, strict=True)) for row in rows], ensure_ascii=False)


def restore_calibration(engine: Engine, plan: Plan, classes: Sequence[ClassColumn], text: str) -> Plan:
    """The plan of a new model that is calibrated with a text from `calibration_text`."""
    query = engine.renderer.fragment("calibration_of_text", plan.context(classes), plan.relations["parameters"], text)
    return create_calibration(engine, plan, classes, query)


def create_calibration(engine: Engine, plan: Plan, classes: Sequence[ClassColumn], query: Markup) -> Plan:
    """The plan of a model with the table `calibration`, which is created, as are the macros or functions that read it."""
    _drop(engine, plan)
    engine.create("calibrate", plan.relations["calibration"], query, temporary=plan.relations.temporary)
    certain = "certain" in calibration_methods(engine, plan.relations)
    plan = replace(plan, calibration=calibration_of_posteriors(engine, plan.relations), certain=certain)
    return _with_macros(engine, plan, classes)


def drop_outdated_calibration(engine: Engine, plan: Plan, classes: Sequence[ClassColumn], title: str) -> Plan:
    """The plan of a model that has changed, without its calibrations, which are dropped with a warning."""
    if not is_calibrated(engine, plan.relations):
        return plan
    _drop(engine, plan)
    warn_user(f"{title} has changed, and its calibration, which was of the model before, is dropped; calibrate it again")
    return _with_macros(engine, replace(plan, calibration=None, certain=False), classes)


def _drop(engine: Engine, plan: Plan) -> None:
    """Drop the calibrations of a model, and first the macros or functions with posteriors, which may read them."""
    macros = () if plan.relations.temporary else _MACROS
    drop_parts(engine, plan.relations, [*macros, "calibration"])


def _with_macros(engine: Engine, plan: Plan, classes: Sequence[ClassColumn]) -> Plan:
    """The plan, whose macros or functions with posteriors are created anew."""
    if not plan.relations.temporary:
        statements = list(plan.create_macros(classes, _MACROS))
        more = [] if not is_calibrated(engine, plan.relations) else ["calibration"]
        run_statements(engine, plan, [*statements, *plan.add_comments(statements, more=more)])
    return plan
