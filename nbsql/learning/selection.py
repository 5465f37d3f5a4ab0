"""Feature selection by the counts of all candidates."""

from collections.abc import Sequence
from dataclasses import replace

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.learning.draft import Draft
from nbsql.spec.capabilities import check
from nbsql.spec.options import Best
from nbsql.spec.spec import Feature, Spec


def best_features(engine: Engine, spec: Spec, best: Best, statistics: Markup) -> Spec:
    """The spec with only the best features, by the cells of all of them."""
    scores = {
        name: (score, f or 0.0)
        for name, score, f in engine.query_macro(
            "ranked_features", statistics, spec.features, best.by, solved_relevance(engine, statistics, spec.features)
        )
    }

    def rank(feature: Feature) -> tuple[float, float, int]:
        score, f = scores.get(feature.name, (-1.0, 0.0))  # only NULLs, or a constant number
        return -rounded(score), -rounded(f), feature.index

    return with_features(spec, [feature.name for feature in sorted(spec.features, key=rank)[: best.count]])


def with_features(spec: Spec, names: Sequence[str]) -> Spec:
    """The spec with only these features, in their order."""
    features = [feature for feature in spec.features if feature.name in names]
    return replace(spec, features=tuple(replace(feature, index=index) for index, feature in enumerate(features, start=1)))


def rounded(score: float, digits: int = 12) -> float:
    """A score, rounded because parallel sums differ in their last digits, which must not decide anything."""
    return float(f"{score:.{digits}g}")


def solved_relevance(
    engine: Engine, statistics: Markup, features: Sequence[Feature]
) -> dict[str, Sequence[float | None]] | None:
    """The relevance of columns that share a covariance matrix, by the name of the feature; None where SQL finds it."""
    matrices = [feature for feature in features if feature.family.kind == "matrix"]
    solver, _ = engine.solver(statistics, matrices) if matrices else (engine, None)
    if solver is engine:
        return None
    found = (row for each in matrices for row in solver.query_macro("multivariate_relevance", each.unregularised))
    return {name: numbers for name, *numbers in found}


def accept_candidates(draft: Draft) -> Draft:
    """The step of a fit that raises InputError unless its features can be ranked together."""
    if draft.best is not None:
        draft.best.accept(draft.spec.features)
        check(draft.spec, "choosing", "Best")
    return draft


def keep_best(draft: Draft) -> Draft:
    """The step of a fit that keeps the best features, and drops the cells of the others."""
    if draft.best is None:
        return draft
    if draft.spec.weighted is None:  # weights are of the best features, which they may have pairs of
        draft = replace(draft, spec=best_features(draft.engine, draft.spec, draft.best, draft.statistics))
    draft.write([draft.plan.keep_features()])
    return draft
