"""The weights of features, found by Newton's method on what each says of a row by the counts of the other folds."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from operator import sub
from typing import Any

from markupsafe import Markup

from nbsql.errors import InputError
from nbsql.learning.evidence import MAX_WEIGHTS_TO_COMPARE, MOST_LISTED, Evidence, EvidenceProblem, Term, may_weigh_classes
from nbsql.learning.logistic import MAX_WEIGHTS, LogisticTerm, WeightSearch
from nbsql.learning.newton import Newton, Step, Sums, with_rise
from nbsql.learning.selection import rounded
from nbsql.spec.method import CLASS_AND_FEATURE, EITHER, Weighted
from nbsql.spec.spec import Feature
from nbsql.warn import warn_user

MOST_CHANGE = 1.0  # of a weight, by one step from the weights of all rows to those of the rows beside a fold
FOLD_TOLERANCE = 0.1  # the change of a weight at which the search ends where the loss of folds is all that is wanted
PENALTIES = (1.0, 10.0, 100.0)  # those to choose from, the usual one first
ROWS_TO_CHOOSE = 20_000  # by which they are compared, or up to twice as many
ROWS_FOR_PRODUCTS = 10_000  # whose products of terms stand for those of all rows, or up to twice as many
TOLERANCE = 1e-5  # the change of a weight at which a search by such products ends
FEW_ROWS = 10  # of a class, whose variance may be nearly 0 by chance
MOST_OFFSETS = 30  # classes with an offset each, which take K squared; beyond it they share one weight of the prior


_OFFSETS = ("bias", "prior")  # kinds of terms that no penalty shrinks
Trial = tuple[float, Weighted, "list[float]"]  # a held-out log loss, the options, and the point of their weights


@dataclass
class FeatureWeightSearch(WeightSearch):
    """A search for the weights of features, by one set of options or by the best of several."""

    problem: EvidenceProblem = field(init=False)
    counts: Sequence[float] = ()  # the rows of each class, in the order of their numbers
    shares: Iterator[int] = field(default_factory=lambda: repeat(1))  # next, the products of one row in so many are summed
    _row_count: int = 0
    _lists: dict[Markup, tuple[EvidenceProblem, Markup]] = field(default_factory=dict)
    _last: tuple[Sequence[float], Sequence[float]] | None = None  # the last point of a search, and its gradient
    _totals: dict[tuple[Markup, tuple[float, ...]], list[float]] = field(default_factory=dict)  # the sums at points by fold

    def find(self, asked: Weighted, evidence: Evidence) -> tuple[Weighted, list[tuple[int, str | None, float]]]:
        """The options, and tuples of the number of a class, a feature or None, and a weight.

        The weight is that of the feature in the class, or the offset of the class from its prior. Options that are open
        are chosen. A matrix of squared distances has 0 where its weight would be below 0, and so has a density with a variance
        of its own in a class of few rows, which would win all numbers far from it: the loss is convex, so that its least value
        at weights from 0 on is there. Raises InputError if there are too many weights, or if the rows do not determine them.
        """
        options, rows = self._find(asked, evidence)
        families = {each.name: each.family for each in evidence.features}
        kinds = ("density", "matrix") if min(self.counts) < FEW_ROWS else ("matrix",)
        curved = {name for name, each in families.items() if each.kind in kinds and each.degree != 1}
        below = {name for _, name, weight in rows if name in curved and weight < 0}
        if rest := [each for each in evidence.features if each.name not in below] if below else []:
            numbers = range(1 + evidence.relative, 1 + len(self.counts))
            tables = [replace(evidence, features=rest)]
            query = self.engine.renderer.fragment("joined_evidence", tables, rest, numbers, evidence.listed)
            table = self._table(f"evidence of {len(rest)} features", query)
            options, rows = self.find(asked, replace(evidence, relation=table, features=rest))
        elif below:
            rows = [(k, None, 0.0) for k, name, _ in rows if name is None]
        return options, [*rows, *((k, name, 0.0) for k, of, _ in rows if of is None for name in sorted(below))]

    def _find(self, asked: Weighted, evidence: Evidence) -> tuple[Weighted, list[tuple[int, str | None, float]]]:
        """What `find` does, with weights of any sign."""
        by_feature = len(evidence.features)
        by_class = by_feature * len(self.counts)
        if asked.is_by_class and MAX_WEIGHTS_TO_COMPARE < by_class <= MAX_WEIGHTS:
            usual = f"the {by_feature} of ⟨per='feature'⟩"
            warn_user(f"⟨per={asked.per!r}⟩ learns {by_class} weights, which takes many times as long as {usual}")
        chosen, starts = self._begin(asked, evidence)
        point = self._minimise(evidence.relation, starts)
        found: list[tuple[int, str | None, float]] = []
        for k, bias in zip(range(1, 1 + len(self.counts)), self._biases, strict=True):
            own = [(term, point[term.j]) for term in self.problem.numbers if term.class_no in (None, k)]
            offset = sum(v * (bias if term.priors else 1) for term, v in own if term.kind in _OFFSETS)
            found.append((k, None, offset - bias if self._offset_terms() else 0.0))
            weights = (sum(v for term, v in own if term.kind == "all" or term.feature == each) for each in evidence.features)
            found += ((k, each.name, weight) for each, weight in zip(evidence.features, weights, strict=True))
        return chosen, found

    def find_by_fold(self, asked: Weighted, evidence: Evidence) -> list[tuple[str, list[float]]]:
        """The name of each fold and the point of the weights by the rows of the other folds."""
        _, starts = self._begin(asked, evidence)
        return self._points_of_folds(evidence, self._run_newton(evidence.relation, starts, tolerance=FOLD_TOLERANCE))

    def _begin(self, asked: Weighted, evidence: Evidence) -> tuple[Weighted, list[list[float]]]:
        """Begin a search; returns its options, and the points from which it may start."""
        chosen, known = self._choose(asked, evidence)
        starts = self._begin_with(chosen, evidence)
        return chosen, [known or starts[0], starts[-1]]

    def _choose(self, asked: Weighted, evidence: Evidence) -> tuple[Weighted, list[float] | None]:
        """The options, with those that are open chosen by the log loss of held-out folds, and the point by some of the rows."""
        penalty = PENALTIES[0] if asked.penalty is None else asked.penalty
        usual = replace(asked, per="feature" if asked.per == EITHER else asked.per, penalty=penalty)
        if usual == asked or min(self.counts) < 2:  # a class may be in one fold only
            return usual, None
        some = self.some(evidence)
        penalties = PENALTIES if asked.penalty is None else (asked.penalty,)
        best = _best([*self._trials([replace(usual, penalty=penalty) for penalty in penalties], some)])
        if asked.per == EITHER and best and may_weigh_classes(asked, evidence.features, len(self.counts)):
            best = _best([*best, *self._trials([replace(best[0][1], per=CLASS_AND_FEATURE)], some)])
        return best[0][1:] if best else (usual, None)

    def some(self, evidence: Evidence) -> Evidence:
        """The evidence of some of the rows, by which options are compared; all of it if there are few."""
        share = self.engine.query_value("row_count", evidence.relation) // ROWS_TO_CHOOSE
        if share < 2:
            return evidence
        query = self.engine.renderer.fragment("evidence_of_some", evidence.relation, share, 7)
        return replace(evidence, relation=self._table("evidence of some rows", query))

    def _trials(self, tried: Sequence[Weighted], evidence: Evidence) -> Iterator[Trial]:
        """The trials of options that differ in the penalty, each from the minimum with the larger one before."""
        products: Sums | None = None
        starts = self._begin_with(tried[-1], evidence)
        for options in reversed(tried):
            self._set_penalty(options)
            try:
                point = self._run_newton(evidence.relation, starts, products, FOLD_TOLERANCE)
                loss = self.loss(self._scores(evidence, self._points_of_folds(evidence, point)))
            except InputError:  # there is no minimum
                continue
            starts, products = [point, starts[-1]], self.products
            yield loss, options, point

    def scores_by_others(self, asked: Weighted, evidence: Evidence) -> Markup:
        """A table of the scores of the rows by the weights of the other folds, without a choice among options."""
        penalty = PENALTIES[0] if asked.penalty is None else asked.penalty
        return self._scores(evidence, self.find_by_fold(replace(asked, per="feature", penalty=penalty), evidence))

    def _run_newton(
        self, design: Markup, starts: Sequence[list[float]], products: Sums | None = None, tolerance: float = 0.0
    ) -> list[float]:
        self._last, self._row_count = None, self.engine.query_value("row_count", design)
        share = self._row_count // ROWS_FOR_PRODUCTS if self.options.penalty else 1  # without it, some rows may not do
        self.shares = chain(repeat(share, 3 if share > 1 else 0), repeat(1))
        self.slow = 0.6 if share > 1 else 0.3  # steps mend the products, and two more of them take less time than a sum
        return super()._run_newton(design, starts, products, max(tolerance, TOLERANCE if share > 1 else 0.0))

    def _step(self, design: Markup, point: Sequence[float], products: Sums | None) -> tuple[Step, Sums]:
        """The step at a point. Its products are those of the last step, mended, or of some rows three times, then of all."""
        relation, known = self._point(point), self._totals.get((design, (*point,)))
        self.engine.announce("sums")
        found = [("total", None, None, known)] if known else None
        sums = self.newton.load(found or self.engine.query_macro("evidence_sums", *self.listed(design), relation))
        gradient = [0.0, *(found[0] for _, _, found in sums[2:])]
        if products is None:
            products = self._products(design, relation, sums[0][2][2])
        elif self._last:
            change, rise = (list(map(sub, now, then)) for now, then in zip((point, gradient), self._last, strict=True))
            products = with_rise(products, change, rise)
        self._last = (point, gradient)
        return self.newton.steps(point, [sums], products)[0], products

    def _products(self, design: Markup, relation: Markup, weight: float) -> Sums:
        """The products at a point: of all rows, which have a weight, or of some of them, grown to it."""
        share, width = next(self.shares), len(self.counts) * self.problem.width
        listed = self.engine.renderer.traits.vectorised and self._row_count // share * width <= MOST_LISTED
        sums = self.newton.load(self.engine.query_macro("evidence_products", *self.listed(design), relation, share, listed))
        growth = weight / sums[0][2][2] if share > 1 else 1.0
        return [(i, j, [growth * found[0]]) for i, j, found in sums if i is not None and j is not None]

    def listed(self, evidence: Markup) -> tuple[EvidenceProblem, Markup]:
        """The problem and its rows, which have lists if they are few: to plan a number of each term takes most of a scan."""
        if evidence not in self._lists:
            rows, render = self.engine.query_value("row_count", evidence), self.engine.renderer.fragment
            is_small = rows < 2 * ROWS_FOR_PRODUCTS and rows * len(self.counts) * self.problem.width <= MOST_LISTED
            self._lists[evidence] = self.problem, evidence
            if is_small and self.engine.renderer.traits.vectorised:
                lists = self._table("lists of evidence", render("listed_evidence", self.problem, evidence))
                terms = self._table("terms with lists", render("terms_of_lists", self.problem, lists))
                rows_with_lists = self._table("rows with lists", render("rows_of_lists", self.problem, lists))
                self._lists[evidence] = replace(self.problem, listed=terms), rows_with_lists
        return self._lists[evidence]

    def _scores(self, evidence: Evidence, points: Sequence[tuple[str, Sequence[float]]]) -> Markup:
        """A table of the scores of the rows by the point of each fold: within a query each score would be computed K times."""
        query = self.engine.renderer.fragment("scores_of_weights", *self.listed(evidence.relation), points)
        return self._table("scored rows", query)

    def loss(self, scores: Markup) -> float:
        """The log loss of the rows by their scores."""
        rows = self.engine.query_macro("losses_of_temperatures", scores, [1.0], len(self.counts))
        return float(sum(row[3] for row in rows) / sum(row[2] for row in rows))

    def _points_of_folds(self, evidence: Evidence, point: Sequence[float]) -> list[tuple[str, list[float]]]:
        """The name of each fold and the point by the rows of the other folds: one Newton step from that of all rows.

        The curvature is that of all rows, as if the others were as many: their gradient and the penalty grow to that.
        """
        folds = self.engine.query_macro("sums_of_folds", *self.listed(evidence.relation), self._point(point))
        columns = [*zip(*(sums for _, sums in folds), strict=True)]
        totals = [max(column) if place == 1 else sum(column) for place, column in enumerate(columns)]
        self._totals[evidence.relation, (*point,)] = totals
        growths = [totals[2] / (totals[2] - sums[2]) for _, sums in folds]
        others = [
            self.newton.load([("total", None, None, [growth * (total - own) for total, own in zip(totals, sums, strict=True)])])
            for growth, (_, sums) in zip(growths, folds, strict=True)
        ]
        steps = self.newton.steps(point, others, self.products, growths)
        return [
            (name, step.next(1.0) if step.largest_change < MOST_CHANGE else self._point_beside(name, evidence, point))
            for (name, _), step in zip(folds, steps, strict=True)
        ]

    def _point_beside(self, fold: str, evidence: Evidence, point: Sequence[float]) -> list[float]:
        """The point by the rows of the folds beside one, by as many steps as it takes."""
        others = self._table(
            "rows of the other folds", self.engine.renderer.fragment("evidence_beside", evidence.relation, fold)
        )
        offsets = 1 + len(self._offset_terms())
        alone = [*point[:offsets], *(0.0 for _ in point[offsets:])]
        return self._run_newton(others, [[*point], alone], tolerance=FOLD_TOLERANCE)

    def _begin_with(self, options: Weighted, evidence: Evidence) -> list[list[float]]:
        """Begin a search with these options; returns the points from which it may start."""
        numbers = range(1, len(self.counts) + 1)
        terms = list(self._terms(options, evidence.features))
        if len(terms) > MAX_WEIGHTS:
            usual = "per='feature'" if options.is_by_class else "method='naive'"
            raise InputError(
                f"⟨method='weighted'⟩ would learn {len(terms):,} weights, and takes at most {MAX_WEIGHTS}; "
                f"leave features out, or use ⟨{usual}⟩"
            )
        layout = self.engine.renderer.layout
        first = next(term.j for term in terms if term.kind == "feature") if evidence.listed and options.per == "feature" else 0
        problem = EvidenceProblem(2, 1 + len(terms), terms, [], layout.logistic_sums, numbers, evidence.relative, None, first)
        if problem != getattr(self, "problem", None):
            self.problem, self._lists = problem, {}
        names = [None if term.feature is None else term.feature.name for term in terms]
        self.terms = [LogisticTerm(term.j, 0, name, None, term.kind) for term, name in zip(terms, names, strict=True)]
        self.newton = Newton(self.problem, [(term.j, 1.0) for term in terms if term.kind not in _OFFSETS], 0.0)
        self._set_penalty(options)
        self.null_objective = sum(n * math.log(sum(self.counts) / n) for n in self.counts)
        biases = self._biases
        offsets = [biases[term.class_no - 1] if term.class_no else 1.0 for term in terms if term.kind in _OFFSETS]
        half = "all" if options.penalty else "feature" if options.per == "feature" else "class"
        views = len(evidence.features) / max(1, len({feature.columns for feature in evidence.features}))
        start = [0.5 / views if term.kind == half else 0.0 for term in terms[len(offsets) :]]
        return [[0.0, *offsets, *start], [0.0, *offsets, *(0.0 for _ in start)]]

    def _set_penalty(self, options: Weighted) -> None:
        self.newton.penalty = options.penalty or 0.0
        self.options = replace(self.options, penalty=self.newton.penalty)

    @property
    def _biases(self) -> list[float]:
        """The log-odds of each class against the first."""
        return [math.log(n / self.counts[0]) for n in self.counts]

    def _offset_terms(self) -> list[tuple[Any, ...]]:
        """The terms of the offsets of the classes: of each its own, or the weight of the prior if they are many and differ."""
        biases = self._biases
        if len(biases) <= MOST_OFFSETS:
            return [("bias", None, k) for k in range(2, 1 + len(biases))]
        return [("prior", None, None, biases)] if any(biases) else []

    def _terms(self, options: Weighted, features: Sequence[Feature]) -> Iterator[Term]:
        numbers = range(1, len(self.counts) + 1)
        kinds = self._offset_terms()
        if options.penalty:  # without a penalty, only their sums are determined
            kinds += [("all", None, None)]
        if options.penalty or options.per == "feature":
            kinds += [("feature", feature, None) for feature in features]
        if options.per != "feature":
            kinds += [("class", feature, k) for feature in features for k in numbers]
        return (Term(j, *kind) for j, kind in enumerate(kinds, start=1))


def _best(trials: Sequence[Trial]) -> list[Trial]:
    """The trial with the lowest log loss, in a list, or nothing; the usual one of those that are alike."""
    return sorted(trials, key=lambda trial: (rounded(trial[0], 6), trial[1].per != "feature", trial[1].penalty))[:1]
