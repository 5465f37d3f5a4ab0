"""How many parents the categories of a KDB model have: the depth of the lowest log loss of held-out folds."""

from dataclasses import replace
from typing import Any

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.learning.draft import Draft
from nbsql.learning.folds import Folds, summarise_folds
from nbsql.spec.dependence import KDB
from nbsql.spec.half_life import WEIGHT_NOW
from nbsql.spec.spec import Feature, Spec
from nbsql.warn import quietly

FOLDS = 5


def choose_depth(draft: Draft) -> Draft:
    """The step of a fit that leaves each category as many parents as predict best; rows that lose weight have that of now."""
    weight = draft.spec.weight if draft.spec.half_life is None else WEIGHT_NOW
    chosen = with_best_depth(draft.engine, replace(draft.spec, weight=weight), draft.source)
    return draft.with_spec(features=chosen.features)


def with_best_depth(engine: Engine, spec: Spec, source: Source) -> Spec:
    """The spec whose parents have been found, with as many of them as predict best, if the method leaves that open.

    All depths have the same order and parents, and are counted at once (Martinez, Webb, Chen and Zaidi, Scalable learning of
    Bayesian network classifiers, Journal of Machine Learning Research 17, 2016).
    """
    most = max((len(feature.family.parent_names) for feature in spec.features), default=0)
    if not isinstance(spec.found_dependence, KDB) or spec.found_dependence.k is not None or most == 0:
        return spec
    depths = [replace(spec, features=tuple(_cut(each, depth) for each in spec.features)) for depth in range(most + 1)]
    counted = [replace(each, half_life=None, slice_by=None, weighted=None) for each in depths]
    with quietly(), engine.part("choosing the number of parents"), engine.temporaries() as temporary:
        cv = Folds(engine, source, counted, temporary, folds=FOLDS)
        losses = [round(summarise_folds(cv.score(cv.models(each)))[2], 9) for each in cv.specs]
    return depths[losses.index(min(losses))]


def _cut(feature: Feature, depth: int) -> Feature:
    """A feature with its first parents only."""
    family: Any = feature.family
    if feature.alone is None or len(family.parent_names) <= depth:
        return feature
    cut = family.with_parents(family.all_parents[:depth]) if depth else feature.alone
    return replace(feature, family=cut, columns=feature.columns[: depth + 1], types=feature.types[: depth + 1])
