"""A model as weights: its linear or quadratic form."""

from __future__ import annotations

from typing import Literal

from nbsql.errors import ModelError
from nbsql.spec.spec import Feature
from nbsql.storage.state import ModelState


def weights_query(state: ModelState, degree: Literal[1, 2]) -> str:
    """The query of the weights (sql/macros/scoring/linear.sql); `degree` is the highest power that a feature may have.

    Raises ModelError if the model has only one class, or a feature without such a form.
    """
    plan = state.plan
    if len(state.classes) < 2:
        raise ModelError(f"{state.title} has one class only; weights tell two or more apart")
    context = plan.context(state.classes)
    for feature in context.facts.features:
        reason = _refusal(feature, degree)
        if reason is not None:
            raise ModelError(f"{state.title} has no {'linear' if degree == 1 else 'quadratic'} form: {reason}")
    return plan.renderer.statement("linear", context, *plan.current_tables(context, by_class=True), degree)


def _refusal(feature: Feature, degree: int) -> str | None:
    """Why a feature has no form of that degree; None if it has one."""
    family = feature.family
    if family.backoff:
        return f"what {feature.name!r} adds depends on whether its values were ever seen together; fit it without the backoff"
    if family.degree is None:
        if family.bag:
            return f"{feature.name!r} divides by the length of the text with norm='l2'"
        return f"{feature.name!r} is {family.name}, no polynomial of its number"
    if family.degree > degree and family.kind == "weight":
        return f"{feature.name!r} is {'a product' if family.product else 'squared'}; use ⟨quadratic()⟩"
    if family.degree > degree:
        what = "a covariance matrix" if family.kind == "matrix" else "a variance"
        return f"{feature.name!r} is {family.name} with {what} of its own in every class; {family.linear_cure}"
    return None
