"""Rows that are read many times, in a table if reading them again is slow."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.plan import Plan
from nbsql.rendering.relations import Relations
from nbsql.spec.spec import Spec


def stage_source(engine: Engine, spec: Spec, source: Source, relation: Markup) -> Source:
    """The source, in a temporary table unless it is quick to read again, since a search reads it many times."""
    if source.allows_rereads(1):
        return source
    plan = Plan(engine.renderer, replace(spec, components=None), Relations(engine.renderer, transient=engine.transient_name()))
    engine.run_all([plan.stage(source.relation, relation)])
    return Source(relation, source.label, source.columns, rereads=True, is_frame=source.is_frame)
