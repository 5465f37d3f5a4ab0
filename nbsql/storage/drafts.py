"""Drafts: models that are built aside and published as a whole, on engines without transactions."""

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from nbsql.engines.engine import Engine
from nbsql.errors import DatabaseError
from nbsql.plan import Plan
from nbsql.plan.parts import PUBLISHED
from nbsql.rendering.relations import Relations
from nbsql.storage.schema import is_calibrated

if TYPE_CHECKING:
    from nbsql.engines.spark.engine import Spark

_publishing = threading.RLock()  # threads that publish at once would take the same number, and write into the same tables
_TABLES = tuple(part for part in PUBLISHED if part not in ("likelihoods", "spec"))


def draft_relations(engine: Engine, relations: Relations) -> Relations:
    """The relations in which a model is built that is to be at `relations`: these, or temporary tables first."""
    if not engine.drafts or relations.temporary:
        return relations
    return Relations(engine.renderer, transient=engine.transient_name())


def draft_plan(engine: Engine, plan: Plan) -> Plan:
    """The plan of a model that is to change: its own, or that of a draft that reads its tables until they are replaced."""
    relations = draft_relations(engine, plan.relations)
    if relations is plan.relations:
        return plan
    for name in ("spec", "likelihoods", *_tables(engine, plan)):
        query = engine.renderer.fragment("all_rows", plan.relations[name])
        engine.run(f"draft {name}", engine.renderer.statement("create_view_as", relations[name], query, temporary=True))
    return replace(plan, relations=relations)


def publish(engine: Engine, plan: Plan, relations: Relations, version: Any = None) -> Plan:
    """Write a draft to the relations of the model, and drop the draft.

    `version` is `updated_at` when the draft was begun; None if there was no model, or another is replaced. Raises DatabaseError
    if another session has changed the model since.
    """
    if relations is plan.relations:
        return plan
    from nbsql.engines.spark import catalog

    spark, renderer = cast("Spark", engine), engine.renderer  # no other engine has drafts
    schema = relations.path[-1]
    final = replace(plan, relations=relations)
    with _publishing:
        engine.run_all([final.create_schema()])
        number = catalog.next_number(spark, schema)
        numbered = Relations(renderer, schema, ending=f"_{number}")

        def write(name: str) -> None:
            query = renderer.fragment("all_rows", plan.relations[name])
            engine.create(name, numbered[name], query, temporary=False)

        for name in _tables(engine, plan):
            if name != "parameters" or not spark.publish_constants(plan.relations[name], numbered[name]):
                write(name)
        engine.run_all([replace(plan, relations=numbered).create_likelihoods_view()])
        if version is not None and engine.query_macro("updated_at", relations["spec"]) != version:
            raise DatabaseError(catalog.ANOTHER_WRITER)
        write("spec")
        catalog.switch(spark, schema, number)
    engine.run_all(final.create_user_views())
    for name in ("likelihoods", "spec", *_tables(engine, plan)):
        engine.run(f"drop {name}", renderer.statement("drop_relation", "table", plan.relations[name], if_exists=True))
    return final


def _tables(engine: Engine, plan: Plan) -> list[str]:
    """The tables that a model has besides its spec."""
    features = plan.spec.features
    absent = {
        "lookups": not any(feature.family.has_lookups for feature in features),
        "estimates": not features,
        "calibration": not is_calibrated(engine, plan.relations),
        "components": plan.spec.components is None,
        "weights": not plan.spec.has_weights,
    }
    return [name for name in _TABLES if not absent.get(name, False)]
