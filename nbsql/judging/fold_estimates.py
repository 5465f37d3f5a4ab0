"""The estimates of a fold as a table, for engines that would otherwise compute them wherever they are named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.plan.context import Context
from nbsql.spec.spec import Spec


@dataclass(frozen=True)
class FoldEstimates:
    """The model of the other folds: its context, and the tables of its cells and priors."""

    context: Context
    cells: Markup
    priors: Markup


def estimate_fold(
    engine: Engine, context: Context, spec: Spec, cells: Markup, fold: str, temporary: Callable[[str], Markup]
) -> FoldEstimates:
    """Create the tables of a fold.

    Args:
        engine: the engine to run on.
        context: the context of the models of all folds.
        spec: the setting.
        cells: the query of the cells of the other folds.
        fold: the name of the fold.
        temporary: names the tables, which the caller drops.
    """
    renderer = engine.renderer

    def table(name: str, query: Markup) -> Markup:
        relation = temporary(f"{name} of {fold}")
        engine.create(f"{name} of a fold", relation, query)
        return relation

    cells = table("cells", cells)
    priors = table("priors", renderer.fragment("priors", context, cells))
    if spec.features:
        estimates = table("estimates", renderer.fragment("smoothed_likelihoods", context, cells, priors, spec.features))
        context = context.with_options(estimates=estimates)
    return FoldEstimates(context, cells, priors)
