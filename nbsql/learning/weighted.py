"""The weights of features, found by Newton's method on what each says of a row by the counts of the other folds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.learning.count import stage_source
from nbsql.learning.draft import Draft
from nbsql.learning.folds import Folds
from nbsql.learning.logistic import MAX_WEIGHTS, Problem, WeightSearch
from nbsql.learning.newton import Newton
from nbsql.learning.selection import best_features
from nbsql.learning.shared_features import SharedFeatures
from nbsql.plan import Plan
from nbsql.plan.classes import ClassColumn
from nbsql.plan.context import Context, QueryOptions
from nbsql.spec.method import Logistic, Weighted
from nbsql.spec.spec import Feature, Spec

FOLDS = 5
ROWS = 200_000  # from which weights are learnt, or up to twice as many: more would not change them
STALE = 0.1  # the share of the rows that weights were learnt from beyond which later changes make them stale
FOLD_TOLERANCE = 0.1  # the change of a weight at which the search in a fold ends, whose loss is all that is wanted
FEATURES_A_TABLE = 40  # as many joins as a statement plans quickly


@dataclass(frozen=True)
class Term:
    """An unknown of the search and what it multiplies in the score of a class (sql/macros/learning/weighted.sql)."""

    j: int  # its number
    kind: str  # "bias", "all", "feature" or "class"
    feature: Feature | None = None
    class_no: int | None = None


@dataclass(frozen=True)
class Evidence:
    """A table of what some features say of each row."""

    relation: Markup
    features: Sequence[Feature]


@dataclass(frozen=True)
class EvidenceProblem(Problem):
    """The search as the scan of logistic regression renders it: that of two classes, whose rows are one for each real class."""

    class_numbers: Sequence[int] = ()

    rows_macro: ClassVar[str] = "evidence_predicted"
    reuses_products = True


class EvidenceFolds(Folds):
    """The folds of the rows of a fit, whose families are known, and whose warnings the fit has given."""

    def _prepare(self, specs: Sequence[Spec], folds: int, column: str | None) -> None:
        self._shared = SharedFeatures(specs)
        self._vectorised = False
        self._count(replace(specs[0], slice_by="nbsql_slice"), folds, column)
        self.names = self._fold_names()
        self.specs = list(specs)

    def context(self, spec: Spec) -> Context:
        classes = [ClassColumn(number, label, "", "") for number, label in enumerate(spec.classes, start=1)]
        reading = QueryOptions(by_slice=True, integer_slices=self._hashes_rows, centred=has_levels_only(spec))
        return Context.of(spec, classes, reading, layout=self.engine.renderer.layout)

    def evidence(self, classes: Markup) -> Evidence:
        """What each feature says of the rows, by the models of the other folds. `classes` is the relation of the classes."""
        (spec,), fragment = self.specs, self.engine.renderer.fragment
        models = self.models(spec)
        share = self.rows // ROWS
        query = fragment("numbered_training_rows", models.context, self.rows_with_folds, classes, share)
        rows = self.create("numbered rows", query)
        tables = []
        for start in range(0, len(spec.features), FEATURES_A_TABLE):
            features = spec.features[start : start + FEATURES_A_TABLE]
            context = self.context(replace(spec, features=features))
            query = fragment("evidence_of_features", context, rows, models.parameters, models.lookups)
            tables.append(Evidence(self.create(f"evidence {start}", query), features))
        numbers = models.context.form.class_numbers
        joined = self.create("evidence", fragment("joined_evidence", tables, spec.features, numbers))
        return Evidence(joined, spec.features)


@dataclass
class FeatureWeightSearch(WeightSearch):
    """One search for the weights of features."""

    counts: Sequence[float] = ()  # the rows of each class, in the order of their numbers
    per: str = "feature"

    def find(self, evidence: Evidence) -> Iterator[tuple[int, str | None, float]]:
        """The number of a class, a feature or None, and a weight: of the feature in the class, or its offset from its prior.

        Raises InputError if there are too many weights, or if the rows do not determine them.
        """
        starts = self._begin(evidence.features)
        try:
            point = self._minimise(evidence.relation, starts)
        finally:
            self.newton.close()
        for k, bias in zip(range(1, 1 + len(self.counts)), self._biases, strict=True):
            own = [(term, point[term.j]) for term in self.problem.numbers if term.class_no in (None, k)]
            yield k, None, sum(v for term, v in own if term.kind == "bias") - bias
            for feature in evidence.features:
                yield k, feature.name, sum(v for term, v in own if term.kind == "all" or term.feature == feature)

    def find_by_fold(self, evidence: Evidence, names: Sequence[str]) -> list[tuple[str, list[float]]]:
        """The name of each fold and the point of the weights by the rows of the other folds, from those of all rows."""
        render = self.engine.renderer.fragment
        starts = self._begin(evidence.features)
        try:
            point = self._run_newton(evidence.relation, starts, tolerance=FOLD_TOLERANCE)
            products, found = self.products, []
            for name in names:
                others = render("evidence_of_others", evidence.relation, name)
                found.append((name, self._run_newton(others, [point], products, FOLD_TOLERANCE)))
            return found
        finally:
            self.newton.close()

    def _begin(self, features: Sequence[Feature]) -> list[list[float]]:
        """Begin a search, and return the points from which it may start."""
        numbers = range(1, len(self.counts) + 1)
        terms = list(self._terms(features))
        if len(terms) > MAX_WEIGHTS:
            raise InputError(
                f"⟨method='weighted'⟩ would learn {len(terms):,} weights, and takes at most {MAX_WEIGHTS}; "
                "leave features out, or use ⟨method='naive'⟩"
            )
        layout = self.engine.renderer.layout
        self.problem = EvidenceProblem(2, 1 + len(terms), terms, [], layout.logistic_sums, numbers)
        self.terms = self._table("terms", self.engine.renderer.fragment("terms_of_evidence", terms))
        self.newton = Newton(self.problem, [(term.j, 1.0) for term in terms if term.kind != "bias"], self.options.penalty)
        self.null_objective = sum(n * math.log(sum(self.counts) / n) for n in self.counts)
        biases = self._biases
        half = "all" if self.options.penalty else "feature" if self.per == "feature" else "class"
        views = len(features) / max(1, len({feature.columns for feature in features}))
        start = [0.5 / views if term.kind == half else 0.0 for term in terms[len(biases) - 1 :]]
        return [[0.0, *biases[1:], *start], [0.0, *biases[1:], *(0.0 for _ in start)]]

    @property
    def _biases(self) -> list[float]:
        """The log-odds of each class against the first."""
        return [math.log(n / self.counts[0]) for n in self.counts]

    def _terms(self, features: Sequence[Feature]) -> Iterator[Term]:
        numbers = range(1, len(self.counts) + 1)
        kinds: list[tuple[str, Feature | None, int | None]] = [("bias", None, k) for k in numbers[1:]]
        if self.options.penalty:  # without a penalty, only their sums are determined
            kinds += [("all", None, None)]
        if self.options.penalty or self.per == "feature":
            kinds += [("feature", feature, None) for feature in features]
        if self.per != "feature":
            kinds += [("class", feature, k) for feature in features for k in numbers]
        return (Term(j, *kind) for j, kind in enumerate(kinds, start=1))


def has_levels_only(spec: Spec) -> bool:
    """Whether a row has one of several values in each feature, so that each class may have weights of its own."""
    return all(feature.family.kind == "level" for feature in spec.features)


def find_weights(
    engine: Engine, plan: Plan, options: Weighted, source: Source, cells: Markup, temporary: Callable[[str], Markup]
) -> Markup:
    """A temporary table of the weights (sql/macros/estimating/weighted.sql).

    `cells` are those of all rows of the source.
    """
    render = engine.renderer.fragment
    spec = replace(plan.spec, weighted=None, slice_by=None)
    rows = [(1, None, 0.0), *((1, feature.name, 1.0) for feature in spec.features)]
    with engine.temporaries() as own:
        priors = engine.create("priors", own("class counts"), render("priors", Context.of(spec), cells))
        classes = engine.create("classes", temporary("numbers of classes"), render("logistic_classes", priors))
        counts = [row[0] for row in engine.query_macro("logistic_counts", classes)]
        labels = tuple(label for _, label in engine.rows(plan.class_order(priors)))
        if len(labels) > 1 and spec.features:
            folds = EvidenceFolds(engine, source, [replace(spec, classes=labels)], own, folds=FOLDS)
            logistic = Logistic(penalty=options.penalty, tolerance=1e-10)
            search = FeatureWeightSearch(engine, plan, logistic, source.relation, cells, own, counts=counts, per=options.per)
            rows = list(search.find(folds.evidence(classes)))
    return engine.create("weights", temporary("weights"), render("feature_weights", classes, rows))


def weigh_features(draft: Draft) -> Draft:
    """The step of a fit that finds the weights of its features, of the best ones only if they are chosen."""
    spec, engine, options = draft.spec, draft.engine, draft.spec.weighted
    if options is None:
        return draft
    engine.require("⟨method='weighted'⟩")
    cells = draft.count.create_cells(draft.temporary("cells"))
    if draft.best is not None:
        spec = best_features(engine, spec, draft.best, cells)
    plan = Plan(engine.renderer, spec, draft.relations)
    source = stage_source(engine, spec, draft.source, draft.temporary("rows"))
    weights = find_weights(engine, plan, options, source, cells, draft.temporary)
    return replace(draft, learnt={"statistics": cells, "weights": weights})


def stale_weights(engine: Engine, spec: Spec, batches: Markup) -> str | None:
    """What a user must know of weights that later changes have made stale, from the ledger; None if they are not.

    After `compact` nobody knows how many of its rows the weights were learnt from, so that they count as stale.
    """
    if spec.weighted is None:
        return None
    (_, _, operation, source, rows), *later = engine.query_macro("ledger", batches)
    changed = sum(entry[-1] for entry in later)
    if operation == "compact" and source != "1 batch":
        since = "learnt before its batches were folded into one"
    elif changed > STALE * rows:
        since = f"learnt from {rows:,} rows, before {changed:,} were learnt or forgotten"
    else:
        return None
    return (
        f"the weights were {since}; fit it again to all rows, with ⟨method='weighted'⟩ and ⟨replace=True⟩, to learn them anew"
    )
