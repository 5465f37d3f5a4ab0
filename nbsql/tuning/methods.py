"""Classifiers other than naive Bayes, compared on the same folds with the families that were chosen for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.evaluation.refitted_folds import RefittedFolds, make_folds_for_spec
from nbsql.family import Family
from nbsql.learning.folds import resolve_settings
from nbsql.spec.classifier import Classifier
from nbsql.spec.dependence import AODE, KDB, TAN, FoundParents
from nbsql.spec.method import Discriminant, Method, NaiveBayes, Weighted, method_named
from nbsql.spec.options import Options
from nbsql.tuning.budget import Budget
from nbsql.tuning.candidate_terms import CandidateTerms, TreeTerms

# The methods that are tried by default. The others must be better than the first.
METHODS: tuple[Method, ...] = (
    "naive", "weighted", "lda", "tan", "aode", TAN(bins=10), AODE(bins=10),
    TAN(weighted=True), KDB(2, weighted=True), TAN(bins=20, weighted=True),
)  # fmt: skip

# What is not tried unasked.
MAX_WEIGHED = 300  # columns by classes: the products of all pairs are summed
MAX_CUT = 20  # columns of which all pairs of quantiles are counted, or all products of numbers
MAX_LOSS_OF_TREE = 1.2  # times the lowest log loss so far: a tree with weights is not tried unasked where the tree is worse


class OutOfTimeError(Exception):
    """The budget is spent, so that a method is not tried."""


@dataclass(frozen=True)
class Setting:
    """A setting to compare with others. Simpler settings come first, so that ties go to them."""

    name: str  # the name in the ranking
    chosen: Mapping[str, int]  # the number of the candidate of each column, for naive Bayes
    calibrated: bool  # whether a temperature is tried
    method: Classifier | None = None  # the classifier, if it is not naive Bayes


def other_methods(methods: Any) -> list[tuple[str, Classifier]]:
    """The names and the classifiers to try besides naive Bayes. Raises InputError unless `methods` is a list of methods."""
    if isinstance(methods, (str, Classifier, Mapping)) or not isinstance(methods, Sequence):
        raise InputError(f"⟨methods⟩ must be a list of methods, such as ['naive', 'tan'], not {methods!r}")
    classifiers: dict[str, Classifier] = {}
    for each in methods:
        method = method_named(each)
        if not isinstance(method, NaiveBayes):
            classifiers[str(method)] = method
    return list(classifiers.items())


def reason_not_tried(method: Classifier, columns: int, classes: int) -> str | None:
    """Why a method is not tried unasked on so many columns and classes; None if it is."""
    if isinstance(method, Weighted) and columns * classes > MAX_WEIGHED:
        return f"the weights of {columns} columns in {classes} classes take long; name it in methods to try it"
    if method.is_cut_at_quantiles and columns > MAX_CUT:
        return f"the pairs of the quantiles of {columns} columns take long; name it in methods to try it"
    if isinstance(method, Discriminant) and columns > MAX_CUT:
        return f"the covariances of {columns} columns take long; name it in methods to try it"
    return None


def is_promising(method: Classifier, columns: int, numbers: int, classes: int, losses: Mapping[str, float]) -> bool:
    """Whether a method can differ from the others and, for weights of a tree, is near the best setting so far.

    numbers: how many of the columns are numbers. losses: the log losses of the settings by name. The tree with the same kind of
    bins must be the better one of the two.
    """
    if method.is_cut_at_quantiles and not numbers:  # it is the method without them
        return False
    if isinstance(method, Discriminant):
        return numbers > 1
    if not isinstance(method, FoundParents) or not method.weighted:
        return True
    trees = [losses.get(str(each), math.inf) for each in (TAN(), TAN(bins=10))]
    own = trees[method.is_cut_at_quantiles]
    is_near = own <= MAX_LOSS_OF_TREE * min(losses.values())
    return is_near and own == min(trees) and columns * classes <= MAX_WEIGHED


def terms_of_tree(
    engine: Engine,
    source: Source,
    options: Options,
    terms: CandidateTerms,
    budget: Budget,
    *,
    folds: int,
    fold: str | None,
) -> TreeTerms:
    """What each feature of a tree says of the rows; its bins, its parents and its counts are those of the other folds.

    Raises OutOfTimeError if the budget is spent before a fold is begun.
    """
    with engine.part(f"cross-validating method {options.classifier.name!r}"), engine.temporaries() as name:
        spec = resolve_settings(engine, source, [options], fold)[0]
        known = terms.edges_by_fold
        cv = RefittedFolds(
            engine, source, [spec], name, folds=folds, fold=fold, rows_with_folds=terms.rows, edges_by_fold=known
        )
        if budget.is_spent():
            raise OutOfTimeError
        return terms.of_tree(cv)


def row_scores_by_method(
    engine: Engine,
    source: Source,
    options: Options,
    terms: CandidateTerms,
    temporary: Callable[[str], Markup],
    budget: Budget,
    *,
    folds: int,
    fold: str | None,
) -> Markup:
    """Joint log-likelihoods of the rows by a method's models of the other folds: a table (sql/macros/evaluation/auto.sql).

    The options are those of a fit with the method, and `terms` has the rows of the folds with their keys. Raises OutOfTimeError
    if the budget is spent before a fold is begun.
    """
    if budget.is_spent():
        raise OutOfTimeError
    with engine.part(f"cross-validating method {options.classifier.name!r}"), engine.temporaries() as name:
        spec = resolve_settings(engine, source, [options], fold)[0]
        known = terms.edges_by_fold
        cv = make_folds_for_spec(
            engine, source, spec, name, folds=folds, fold=fold, rows_with_folds=terms.rows, edges_by_fold=known
        )
        if budget.is_spent():
            raise OutOfTimeError
        told_apart = crc32(repr(options.classifier).encode())  # by its options, which are longer than a name may be
        relation = temporary(f"scores by {options.classifier.name} {told_apart}")
        models = (cv.models(part, names) for part, names in cv.parts(cv.specs[0]))
        queries = (
            engine.renderer.fragment("scores_of_models", each.context, cv.scored(each), each.parameters, terms.classes)
            for each in models
        )
        return engine.create_from_queries(f"scores by {options.classifier.name}", relation, queries)


def bag_families(families: Mapping[str, Family]) -> dict[str, Family]:
    """The families of texts as words. Another method needs them, since it would infer categories."""
    return {name: family for name, family in families.items() if family.bag}
