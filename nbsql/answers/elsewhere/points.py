"""A frozen scorecard: the query of the points of rows, in the dialect of any engine, with the points in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from nbsql.answers.elsewhere.scorer import Class, Scorer
from nbsql.answers.elsewhere.terms import Terms
from nbsql.engines.engine import Engine
from nbsql.plan import Plan
from nbsql.plan.classes import ClassColumn
from nbsql.plan.context import Context
from nbsql.rendering.renderer import Renderer

_DIGITS = 9  # to which points lost are compared: what differs by rounding alone is the same, and the feature's order decides


class _Points(Terms):
    """The terms of a scorecard: what a value adds, and what it costs against a reference, as if these were two classes.

    Args:
        lines: of the features: feature, kind, value, points and points lost.
    """

    def __init__(
        self, engine: Engine, plan: Plan, context: Context, renderer: Renderer, lines: Sequence[Sequence[Any]]
    ) -> None:
        super().__init__(engine, plan, context, renderer, ())
        features = {feature.name: feature for feature in self.features}
        for name, kind, value, points, lost in lines:
            feature, numbers = features[name], [float(points), round(float(lost), _DIGITS)]
            if kind == "value":
                self.lookups.setdefault(name, {})[value] = numbers
            if kind != "value" or feature.family.name == "bernoulli":
                of = self.parameters[feature.index] = self.parameters[feature.index] or [{}, {}]
                for k, number in enumerate(numbers):
                    of[k][value if kind == "value" else kind] = number

    def _read_lookups(self) -> None:
        """The values are there."""

    def _missing_and_unseen(self, feature: Any, of: Sequence[Any]) -> dict[str, list[float]]:  # noqa: ARG002
        return {"missing": [p["missing"] for p in of], "unseen": [p.get("unseen", 0.0) for p in of]}


def frozen_points(
    engine: Engine,
    plan: Plan,
    classes: Sequence[ClassColumn],
    lines: Sequence[Sequence[Any]],
    relation: Markup,
    dialect: str,
    passed: Sequence[str] | None,
    reasons: int,
) -> str:
    """The query of the points of the rows of a relation (sql/macros/scoring/elsewhere/points.sql).

    Args:
        engine: where the model is.
        plan: of the model.
        classes: its classes.
        lines: of the scorecard, that of the base first: feature, kind, value, points, and how many are lost by it.
        relation: of the other engine, in its dialect.
        dialect: one of `nbsql.rendering.dialect.DIALECTS`.
        passed: the columns of the relation that come back; None for all, where the dialect has a word for that.
        reasons: how many features are named that cost most.

    Raises:
        NotSupportedError: a feature is not scored in other dialects.
    """
    renderer = Renderer(dialect)
    base, *others = lines
    terms = _Points(engine, plan, plan.context(classes), renderer, others).make_terms()
    whole = Class(1, Markup(""), float(base[3]), "", "")
    names = [feature.name for feature in plan.spec.features]
    scorer = Scorer("points", [whole], [whole], terms, passed, renderer.dialect.traits, names, reasons)
    return renderer.statement("frozen", scorer, relation)
