"""Scorecards as queries: the points of rows, in the dialect of any engine, with the points written into the query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.plan import Plan
from nbsql.plan.context import Context
from nbsql.queries.standalone.foreign import scored_elsewhere
from nbsql.queries.standalone.scorer import Class, Scorer
from nbsql.queries.standalone.terms import Terms
from nbsql.rendering.renderer import Renderer
from nbsql.spec.spec import Spec
from nbsql.storage.state import ModelState

_DIGITS = 9  # digits by which lost points are compared: ties by rounding alone go to the earlier feature


class _Points(Terms):
    """The terms of a scorecard. The points of a value and the points lost against the reference are treated as two classes.

    A line is of a feature: feature, kind, value, points and points lost.
    """

    def __init__(
        self, engine: Engine, plan: Plan, context: Context, renderer: Renderer, lines: Sequence[Sequence[Any]], spec: Spec
    ) -> None:
        super().__init__(engine, plan, context, renderer, (), spec)
        features = {feature.name: feature for feature in self.features}
        for name, kind, value, points, lost in lines:
            feature, numbers = features[name], [float(points), round(float(lost), _DIGITS)]
            if kind == "value":
                self.lookups.setdefault(name, {})[value] = numbers
            if kind != "value" or feature.family.cell == "boolean":
                of = self.parameters[feature.index] = self.parameters[feature.index] or [{}, {}]
                for k, number in enumerate(numbers):
                    of[k][value if kind == "value" else kind] = number

    def _read_lookups(self) -> None:
        """The values are known already."""

    def _missing_and_unseen(self, feature: Any, of: Sequence[Any]) -> dict[str, list[float]]:  # noqa: ARG002
        return {"missing": [p["missing"] for p in of], "unseen": [p.get("unseen", 0.0) for p in of]}


def standalone_points(
    state: ModelState,
    lines: Sequence[Sequence[Any]],
    relation: Markup,
    dialect: str,
    passed: Sequence[str] | None,
    reasons: int,
    *,
    is_derived: bool = False,
) -> str:
    """The query of the points of the rows of a relation of another engine (sql/macros/scoring/standalone/points.sql).

    The lines of the scorecard (feature, kind, value, points, points lost) have the base points first. The result has the
    columns `passed`, None for all if the dialect can express that, and the names of as many features as `reasons` that cost
    most points. `is_derived` says whether the relation has the columns that the model derives. Raises NotSupportedError if a
    feature cannot be scored in other dialects.
    """
    engine, plan, renderer = state.engine, state.plan, Renderer(dialect, "standalone")
    base, *others = lines
    spec, derived = plan.spec, list[str]()
    if not is_derived:
        spec, relation, derived = scored_elsewhere(spec, relation, renderer, engine.renderer.dialect.name)
    terms = _Points(engine, plan, plan.context(state.classes), renderer, others, spec).make_terms()
    whole = Class(1, Markup(""), float(base[3]), "", "")
    names = [feature.name for feature in plan.spec.features]
    scorer = Scorer(
        "points", [whole], terms, (), passed, renderer.dialect.traits, names=names, reasons=reasons, derived=derived
    )
    return renderer.statement("standalone_scorer", scorer, relation)
