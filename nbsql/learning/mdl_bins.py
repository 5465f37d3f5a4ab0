"""Bins that are cut where the classes differ: a search in steps, each of which cuts all parts that there are."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.steps import Steps
from nbsql.spec.spec import Feature, Spec


def cut(engine: Engine, spec: Spec, source: Markup, feature: Feature) -> list[tuple[Any, ...]]:
    """The edges, a row an edge, in ascending order (sql/macros/families/binned_mdl.sql)."""
    render = engine.renderer.fragment
    edges: list[tuple[Any, ...]] = []
    with engine.temporaries() as temporary:
        steps = Steps(engine, f"cut {feature.name}", temporary)
        parts = steps.take(render("mdl_parts", spec, source, feature))
        while True:
            parts = steps.take(render("mdl_step", parts))
            found = engine.ask("mdl_edges", parts)
            if not found:
                return sorted(edges)
            edges += found
