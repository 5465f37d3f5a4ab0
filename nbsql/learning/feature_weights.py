"""The step of a fit that gives its features weights, with pairs and triples of columns among them, and when these are stale."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, listed
from nbsql.learning.count import Count, stage_source
from nbsql.learning.draft import Draft
from nbsql.learning.evidence import Evidence, EvidenceFolds, may_weigh_classes
from nbsql.learning.interactions import LEAST_GAIN, interactions, triples
from nbsql.learning.logistic import MAX_WEIGHTS
from nbsql.learning.one_dependence import cut_of
from nbsql.learning.selection import best_features
from nbsql.learning.weighted import PENALTIES, FeatureWeightSearch
from nbsql.plan import Plan
from nbsql.plan.context import Context
from nbsql.spec.method import Logistic, Weighted
from nbsql.spec.spec import Feature, Spec
from nbsql.warn import warn_user

FOLDS = 5
STALE = 0.1  # the share of the rows that weights were learnt from beyond which later changes make them stale


def find_weights(
    engine: Engine,
    plan: Plan,
    source: Source,
    count: Count,
    cells: Markup | None,
    temporary: Callable[[str], Markup],
    folds: EvidenceFolds | None = None,
) -> tuple[Spec, Markup, Markup]:
    """The spec with the pairs and the options that were chosen, and temporary tables of its cells and of the weights.

    `cells` are those of all rows of the source, as `count` has counted them without pairs; None if they are the sums of those
    of the folds, of several classes. `folds` are those of the source, if it has been counted by fold already. The columns of
    the weights are in sql/macros/estimating/weighted.sql.
    """
    render, options = engine.renderer.fragment, plan.spec.weighted or Weighted()
    spec = replace(plan.spec, weighted=None, slice_by=None)
    features = plan.spec.features
    rows = [(1, None, 0.0), *((1, feature.name, 1.0) for feature in features)]
    with engine.temporaries() as own:
        if cells is None:
            folds = EvidenceFolds(engine, source, [spec], own, folds=FOLDS)
            cells = engine.create("cells", temporary("cells"), folds.cells_of_all_rows(spec))
        priors = engine.create("priors", own("class counts"), render("priors", Context.of(spec), cells))
        classes = engine.create("classes", temporary("numbers of classes"), render("logistic_classes", priors))
        counts = [row[0] for row in engine.query_macro("logistic_counts", classes)]
        labels = tuple(label for _, label in engine.rows(plan.class_order(priors)))
        if len(labels) > 1 and features:
            if folds is None or tuple(label for label, *_ in folds.labels) != labels:
                folds = EvidenceFolds(engine, source, [spec], own, folds=FOLDS)
            folds.specs = [replace(spec, classes=labels)]
            by_class = may_weigh_classes(options, features, len(labels))
            if not (options.pairs or options.triples):  # whose gains need all rows
                folds.keep_enough(len(features) * (len(labels) if by_class else 1))
            numbered = folds.numbered_rows(classes)
            evidence = folds.evidence(numbered, relative=not by_class)
            search = FeatureWeightSearch(engine, plan, Logistic(tolerance=1e-10), source.relation, cells, own, counts=counts)
            if (options.pairs or options.triples) and min(counts) > 1:  # a class of one row is in one fold only
                evidence = _with_interactions(search, options, folds, evidence, numbered)
            features = tuple(evidence.features)
            options, rows = search.find(options, evidence)
        if pairs := features[len(plan.spec.features) :]:
            cells = engine.create(
                "cells", temporary("cells with pairs"), render("all_cells", cells, count.cells_of(pairs, own))
            )
    learnt = [(class_no, feature, None, weight, None) for class_no, feature, weight in rows]
    weights = engine.create("weights", temporary("weights"), render("learnt_weights", classes, learnt))
    return replace(plan.spec, features=features, weighted=options), cells, weights


def _with_interactions(
    search: FeatureWeightSearch, options: Weighted, folds: EvidenceFolds, evidence: Evidence, numbered: Markup
) -> Evidence:
    """The evidence with that of triples, and of the pairs that gain most, if held-out folds lose enough less with them.

    The pairs are those that gain most on the residuals of the features that depend on no other column.
    """
    (spec,) = folds.specs
    columns = len(spec.features)

    def evidence_of(title: str, features: Sequence[Feature], *others: Evidence) -> Evidence:
        named = lambda name: search.temporary(f"{title} {name}")  # noqa: E731 - the same name is the same table
        own, known = replace(spec, features=tuple(features)), folds.rows_with_folds
        found = EvidenceFolds(search.engine, folds.source, [own], named, folds=FOLDS, rows_with_folds=known)
        return found.evidence(numbered, *others, relative=evidence.relative)

    def most(wanted: int) -> int:
        unknowns = 1 + len(search.counts) if options.is_by_class else 1  # of a feature
        return max(0, min(wanted, (MAX_WEIGHTS - len(search.counts)) // unknowns - len(spec.features)))

    if found := triples(search.engine, spec, folds.source, most(options.triples), len(search.counts)):
        evidence = evidence_of("triples", found, evidence)
        spec = replace(spec, features=(*spec.features, *found))
    if not options.pairs:
        return evidence
    plain = [each for each in spec.features[:columns] if cut_of(each) is None]
    alone = evidence if len(plain) == len(spec.features) else evidence_of("alone", plain)
    scores = search.scores_by_others(options, search.some(alone))
    pairs = interactions(search.engine, spec, folds.source, numbered, scores, most(options.pairs))
    if not pairs:
        return evidence
    if alone is not evidence:
        scores = search.scores_by_others(options, search.some(evidence))
    together = evidence_of("pairs", pairs, evidence)
    try:
        gain = search.loss(scores) - search.loss(search.scores_by_others(options, search.some(together)))
    except InputError:  # there is no minimum
        return evidence
    return together if gain * sum(search.counts) > LEAST_GAIN else evidence


def weigh_features(draft: Draft) -> Draft:
    """The step of a fit that finds the weights of its features, of the best ones only if they are chosen."""
    spec, engine = draft.spec, draft.engine
    if spec.weighted is None:
        return draft
    engine.require("⟨method='weighted'⟩")
    if (spec.weighted.pairs or spec.weighted.triples) and (single := [label for label, _, _, n in draft.labels if n <= 1]):
        have = "has one row" if len(single) == 1 else "have one row each"
        rest = f"{listed(single)} of {spec.target!r} {have}, which no other fold has"
        what = "pairs" if spec.weighted.pairs else "triples"
        warn_user(f"no {what} of columns were tried, because {rest}; leave it out, or merge it with another class")
    is_plain = draft.best is None and draft.folds is None and not spec.is_sliced
    is_sum = is_plain and len(draft.labels) > 1 and len(spec.features) > 0
    cells = None if is_sum else draft.count.create_cells(draft.temporary("cells"))
    if draft.best is not None and cells is not None:
        spec = best_features(engine, spec, draft.best, cells)
    plan = Plan(engine.renderer, spec, draft.relations)
    source = stage_source(engine, spec, draft.source, draft.temporary("rows"))
    found, cells, weights = find_weights(engine, plan, source, draft.count, cells, draft.temporary, draft.folds)
    return replace(draft, spec=found, learnt={"statistics": cells, "weights": weights})


def stale_weights(engine: Engine, spec: Spec, batches: Markup) -> str | None:
    """What a user must know of weights that later changes have made stale, from the ledger; None if they are not.

    After `compact` nobody knows how many of its rows the weights were learnt from, so that they count as stale.
    """
    if spec.weighted is None:
        return None
    (_, _, operation, source, rows, _), *later = engine.query_macro("ledger", batches)
    changed = sum(entry[4] for entry in later)
    if operation == "compact" and source != "1 batch":
        since = "learnt before its batches were folded into one"
    elif changed > STALE * rows:
        since = f"learnt from {rows:,} rows, before {changed:,} were learnt or forgotten"
    else:
        return None
    chosen = replace(spec.weighted, penalty=None) if spec.weighted.penalty in PENALTIES else spec.weighted
    method = (spec.found_dependence or chosen).code
    return f"the weights were {since}; fit it again to all rows, with ⟨method={method}⟩ and ⟨replace=True⟩, to learn them anew"
