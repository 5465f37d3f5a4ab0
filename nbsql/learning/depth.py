"""How many parents the categories of a KDB model have: the depth of the lowest log loss of held-out folds."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.learning.draft import Draft
from nbsql.learning.evidence import EvidenceFolds
from nbsql.learning.folds import Folds, Models, summarise_folds
from nbsql.spec.dependence import KDB
from nbsql.spec.half_life import WEIGHT_NOW
from nbsql.spec.spec import Feature, Spec
from nbsql.warn import quietly

FOLDS = 5
ROWS_TO_CHOOSE = 20_000  # that are scored, or up to twice as many: they tell the depths apart


def choose_depth(draft: Draft) -> Draft:
    """The step of a fit that leaves each category as many parents as predict best; rows that lose weight have that of now."""
    spec, engine = draft.spec, draft.engine
    if spec.weighted is None or spec.half_life is not None or draft.best is not None or draft.is_script:
        weight = spec.weight if spec.half_life is None else WEIGHT_NOW
        return draft.with_spec(features=with_best_depth(engine, replace(spec, weight=weight), draft.source).features)
    chosen, folds = best_depth(engine, spec, draft.source, lambda name: draft.temporary(f"held-out {name}"))
    return replace(draft.with_spec(features=chosen.features), folds=folds)


def with_best_depth(engine: Engine, spec: Spec, source: Source) -> Spec:
    """The spec whose parents have been found, with as many of them as predict best, if the method leaves that open."""
    with engine.temporaries() as temporary:
        return best_depth(engine, spec, source, temporary)[0]


def best_depth(
    engine: Engine, spec: Spec, source: Source, temporary: Callable[[str], Markup]
) -> tuple[Spec, EvidenceFolds | None]:
    """The same, beside the folds that have told the depths apart, if there are several, which have `temporary` tables.

    All depths have the same order and parents (Martinez, Webb, Chen and Zaidi, Scalable learning of Bayesian network
    classifiers, Journal of Machine Learning Research 17, 2016). The likelihoods of the deepest hold those of the others,
    whose rows only look up values with fewer parents.
    """
    most = max((len(feature.family.parent_names) for feature in spec.features), default=0)
    if not isinstance(spec.found_dependence, KDB) or spec.found_dependence.k is not None or most == 0:
        return spec, None
    alone, deepest = (replace(each, half_life=None, slice_by=None, weighted=None) for each in (_with_depth(spec, 0), spec))
    with quietly(), engine.part("choosing the number of parents"):
        cv = EvidenceFolds(engine, source, [alone, deepest], temporary, folds=FOLDS)
        names = cv.first_names(cv.rows / ROWS_TO_CHOOSE)
        cv.share = max(1, cv.rows * len(names) // (len(cv.names) * ROWS_TO_CHOOSE))
        losses = [_loss(cv, cv.models(cv.specs[0], names))]
        models = cv.models(cv.specs[1], names)
        contexts = [cv.context(_with_depth(cv.specs[1], depth)) for depth in range(1, most + 1)]
        losses += [_loss(cv, replace(models, context=context)) for context in contexts]
    best, cv.share = losses.index(min(losses)), 1
    cv.deepest = cv.specs[1] if best else None
    return _with_depth(spec, best), cv


def _loss(cv: Folds, models: Models) -> float:
    return round(summarise_folds(cv.score(models))[2], 9)


def _with_depth(spec: Spec, depth: int) -> Spec:
    """The spec whose categories have no more than so many parents each."""
    return replace(spec, features=tuple(_cut(each, depth) for each in spec.features))


def _cut(feature: Feature, depth: int) -> Feature:
    """A feature with its first parents only."""
    family: Any = feature.family
    if feature.alone is None or len(family.parent_names) <= depth:
        return feature
    cut = family.with_parents(family.all_parents[:depth]) if depth else feature.alone
    return replace(feature, family=cut, columns=feature.columns[: depth + 1], types=feature.types[: depth + 1])
