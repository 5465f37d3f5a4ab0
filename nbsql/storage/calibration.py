"""The stored calibration of a model: created, read, restored and dropped."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.errors import ModelError
from nbsql.plan import CALIBRATED, Plan
from nbsql.plan.classes import ClassColumn
from nbsql.rendering.relations import Relations
from nbsql.storage.build import run_statements
from nbsql.storage.schema import drop_parts, is_calibrated
from nbsql.warn import warn_user


def required_calibration_method(engine: Engine, plan: Plan, title: str) -> str:
    """The method by which a model is calibrated. Raises ModelError if it is not."""
    if not is_calibrated(engine, plan.relations):
        raise ModelError(f"{title} is not calibrated; calibrate it first")
    return calibration_method(engine, plan)


def calibration_method(engine: Engine, plan: Plan) -> str:
    return str(engine.ask("calibration_method", plan.relations["calibration"])[0][0])


def calibration_text(engine: Engine, plan: Plan) -> str | None:
    """The calibration of a model as one text that `restore_calibration` reads; None if there is none."""
    if not is_calibrated(engine, plan.relations):
        return None
    return str(engine.ask("calibration_text", plan.relations["calibration"])[0][0])


def restore_calibration(engine: Engine, plan: Plan, classes: Sequence[ClassColumn], text: str) -> None:
    """Calibrate a new model with a text from `calibration_text`."""
    query = engine.renderer.fragment("calibration_of_text", plan.context(classes), plan.relations["parameters"], text)
    create_calibration(engine, plan, classes, query)


def create_calibration(engine: Engine, plan: Plan, classes: Sequence[ClassColumn], query: Markup) -> None:
    """Create the table `calibration`, and the macros or functions that read it."""
    relation = plan.relations["calibration"]
    engine.create("calibrate", relation, query, temporary=plan.relations.temporary)
    if not plan.relations.temporary:
        statements = list(plan.create_calibrated_macros(classes, calibration_method(engine, plan)))
        run_statements(engine, plan, [*statements, *plan.add_comments(statements, more=("calibration",))])


def drop_calibration(engine: Engine, relations: Relations) -> None:
    """Drop the relations of a calibration, if there is one."""
    drop_parts(engine, relations, [*(() if relations.temporary else CALIBRATED), "calibration"])


def drop_outdated_calibration(engine: Engine, relations: Relations, title: str) -> None:
    """Drop the calibration of a model that has changed, with a warning."""
    if is_calibrated(engine, relations):
        drop_calibration(engine, relations)
        warn_user(f"{title} has changed, and its calibration, which was of the model before, is dropped; calibrate it again")
