"""What must be known of numbers before they are counted: the edges of bins, and the range of a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.steps import Steps
from nbsql.plan.context import Context
from nbsql.spec.spec import Feature, Spec

TOGETHER = ("binned_edges", "binned_mdl", "kernel_range")  # each of many numbers in one statement
MAX_VALUES = 500_000  # values in one statement; of larger tables it has fewer columns

Answers = dict[str, list[tuple[Any, ...]]]


def answers_for_numbers(engine: Engine, spec: Spec, source: Markup) -> Answers:
    """The rows of the `fit_query` of each feature that has one of these, by its name; none if the feature has no value."""
    groups: dict[tuple[str, str], list[Feature]] = {}
    for feature in spec.features:
        if (fit_query := feature.family.fit_query) in TOGETHER:
            groups.setdefault((str(fit_query), repr(feature.family.counting_options)), []).append(feature)
    answers: Answers = {feature.name: [] for features in groups.values() for feature in features}
    for (fit_query, _), features in groups.items():
        size = 1 if len(features) < 2 else max(1, MAX_VALUES // max(1, engine.query_macro("row_count", source)[0][0]))
        for start in range(0, len(features), size):
            asked = features[start : start + size]
            names = {feature.index: feature.name for feature in asked}
            for index, *answer in sorted(_rows(engine, fit_query, Context.of(spec), source, asked)):
                answers[names[index]].append(tuple(answer))
    return answers


def _rows(
    engine: Engine, fit_query: str, model: Context, source: Markup, features: Sequence[Feature]
) -> Iterator[tuple[Any, ...]]:
    """The rows of the answer, each with the index of its feature first."""
    if fit_query != "binned_mdl" or engine.renderer.dialect.traits.recursive:
        yield from engine.query_macro(fit_query, model, source, features)
        return
    render = engine.renderer.fragment
    with engine.temporaries() as temporary:
        steps = Steps(engine, f"cut {', '.join(feature.name for feature in features)}", temporary)
        parts = steps.take(render("mdl_parts", model, source, features))
        while True:
            parts = steps.take(render("mdl_step", parts))
            rows = engine.query_macro("mdl_edges", parts)
            if not rows:
                return
            yield from rows
