"""Bins whose edges separate the classes: a stepwise search that cuts all current parts of all columns in each step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.steps import Steps
from nbsql.plan.context import Context
from nbsql.spec.spec import Feature, Spec

MAX_VALUES = 500_000  # values in one search; with larger tables it cuts fewer columns at a time


def find_edges(engine: Engine, spec: Spec, source: Markup, features: Sequence[Feature]) -> dict[str, list[tuple[Any, ...]]]:
    """The edges of each feature by name, one row per edge, ascending (sql/macros/families/binned_mdl.sql)."""
    batch_size = 1 if len(features) < 2 else max(1, MAX_VALUES // max(1, engine.query_macro("row_count", source)[0][0]))
    edges_by_name: dict[str, list[tuple[Any, ...]]] = {feature.name: [] for feature in features}
    for start in range(0, len(features), batch_size):
        names = {feature.index: feature.name for feature in features[start : start + batch_size]}
        for index, edge in sorted(_search_edges(engine, spec, source, features[start : start + batch_size])):
            edges_by_name[names[index]].append((edge,))
    return edges_by_name


def _search_edges(engine: Engine, spec: Spec, source: Markup, features: Sequence[Feature]) -> Iterator[tuple[Any, ...]]:
    """The edges as rows: the index of the feature, and the edge."""
    if engine.renderer.dialect.traits.recursive:
        yield from engine.query_macro("binned_mdl", Context.of(spec), source, features)
        return
    render = engine.renderer.fragment
    with engine.temporaries() as temporary:
        steps = Steps(engine, f"cut {', '.join(feature.name for feature in features)}", temporary)
        parts = steps.take(render("mdl_parts", Context.of(spec), source, features))
        while True:
            parts = steps.take(render("mdl_step", parts))
            rows = engine.query_macro("mdl_edges", parts)
            if not rows:
                return
            yield from rows
