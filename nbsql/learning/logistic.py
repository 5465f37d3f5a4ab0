"""Logistic regression: weights, found by Newton's method on a source that has been counted."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement
from typing import Any, ClassVar, NamedTuple

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.errors import InputError, counted
from nbsql.family import Gaussian
from nbsql.learning.draft import Draft
from nbsql.learning.newton import Newton, Step, Sums
from nbsql.learning.selection import best_features
from nbsql.plan import Plan
from nbsql.plan.classes import class_columns
from nbsql.plan.context import Context, QueryOptions
from nbsql.plan.facts import Facts
from nbsql.spec.method import Logistic
from nbsql.spec.spec import Feature

MAX_WEIGHTS = 500  # the Hessian has its square, and is inverted in every step

MOST_GAIN = 1e-3  # nats a row by a full step, twice over, up to which the curvature is right and no step goes too far
MOST_STEP = 100.0  # the change of a weight by one step: where rows are certain there is no curvature, and a step has no bounds
SAMPLE_TOLERANCE = 0.05  # the change of a weight at which the search leaves the sample, which is no more precise


@dataclass(frozen=True)
class _Number:
    """A numeric term: its feature, the value that names it in the weights, and its kind."""

    feature: Feature
    value: str | None  # the value that names the term in the weights
    kind: str  # "number", "binary" (1 for yes, 0 for no), "missing" (1 where there is none) or "count"
    j: int = 0  # the number of the term
    centre: float = 0.0  # the number that is subtracted from its values
    scale: float = 1.0  # the number that they are then divided by


class LogisticTerm(NamedTuple):
    """A term of the search, a number or a value of a category, in the columns of `logistic_terms`."""

    j: int
    place: int  # of the number, or of the feature of a category
    feature: str | None
    value: str | None
    kind: str
    centre: float = 0.0
    scale: float = 1.0

    def is_of(self, value: str | None, times: str) -> bool:
        """Whether a weight of its feature, in the columns of a linear form (linear.sql), is one of the term."""
        if self.kind in ("number", "count"):
            return times == "x" and (self.kind == "number" or value == self.value)
        return times == "is" and (value is not None if self.kind == "binary" else value == self.value)


@dataclass(frozen=True)
class Problem:
    """The search as the macros render it (sql/macros/learning/logistic/)."""

    classes: int  # the number of classes
    width: int  # the unknowns of a class: its bias and its terms
    numbers: Sequence[Any]  # the numeric terms, each with its number j
    levels: Sequence[Feature]  # the features that are categories
    max_sums: int  # the most sums in one statement

    rows_macro: ClassVar[str] = "logistic_predicted"  # the macro of the rows that a scan sums

    @property
    def others(self) -> list[int]:
        """The numbers of the classes that have unknowns: all but the first."""
        return list(range(1, self.classes))

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """The pairs of these classes whose products are summed."""
        return [(c, o) for c in self.others for o in self.others if c <= o]

    @property
    def pairs(self) -> list[tuple[int, int, int, float]]:
        """All pairs of these classes: the two, their block, and the share of the penalty on their product."""
        share = 0.0 if self.classes == 2 else 1 / self.classes
        number = {pair: place for place, pair in enumerate(self.blocks, start=1)}
        return [
            (c, o, number[min(c, o), max(c, o)], (1.0 if c == o else 0.0) - share) for c in self.others for o in self.others
        ]

    @property
    def zs(self) -> list[int]:
        """The terms that each row has a number for: 0, which is 1 in every row, and the numeric terms."""
        return [0, *(number.j for number in self.numbers)]

    @property
    def number_pairs(self) -> list[tuple[int, int]]:
        """The pairs of these terms whose products are summed."""
        return list(combinations_with_replacement(self.zs, 2))

    @property
    def level_pairs(self) -> list[tuple[Feature, Feature]]:
        """The pairs of features whose levels are counted together."""
        return list(combinations(self.levels, 2))

    @property
    def many(self) -> bool:
        """Whether there are too many products for one statement with a sum for each."""
        return len(self.blocks) > 1 and len(self.blocks) * len(self.number_pairs) > self.max_sums

    @property
    def reuses_products(self) -> bool:
        """Whether products are summed again only if the steps do not shrink enough."""
        return self.many

    @property
    def grouped(self) -> bool:
        """Whether many rows may be equal, so that grouping them pays."""
        return all(number.kind in ("binary", "missing") for number in self.numbers)


@dataclass
class WeightSearch:
    """One search for the weights of a model, in temporary tables."""

    engine: Engine
    plan: Plan
    options: Logistic  # the options of the method
    source: Markup  # the rows to learn from
    cells: Markup  # the relation of the counts of these rows
    temporary: Callable[[str], Markup]  # names a temporary table
    table_count: int = 0
    slow: float = 0.3  # the share of its last change that a weight changes by where products are summed again

    def run(self) -> Markup:
        """A temporary table of the weights (sql/macros/learning/logistic/weights.sql).

        Raises InputError if there are too many weights, or if the rows do not determine them.
        """
        spec, render = self.plan.spec, self.engine.renderer.fragment
        priors = self._table("priors", self.plan.priors(self.cells))
        columns = class_columns(self.engine.rows(self.plan.class_order(priors)))
        classes = self._table("classes", render("logistic_classes", priors))
        features = Facts(spec, scoring=True).features
        numbers = list(_number_terms(features))
        levels = [feature for feature in features if feature.family.level]
        if len(columns) == 1:
            return self._table("weights", render("learnt_weights", classes, [(1, None, None, 0.0, None)]))
        terms = self._table("terms", render("logistic_terms", self.cells, numbers, levels))
        self._check_size(terms, len(columns))
        self.terms = [LogisticTerm(*row) for row in self.engine.query_macro("sorted_by", terms, ["j"])]
        number_terms = [
            replace(numbers[term.place - 1], j=term.j, centre=term.centre, scale=term.scale)
            for term in self.terms
            if term.kind != "level"
        ]
        width = 1 + len(self.terms)
        self.problem = Problem(len(columns), width, number_terms, levels, self.engine.renderer.layout.logistic_sums)
        counts = [row[0] for row in self.engine.query_macro("logistic_counts", classes)]
        self.null_objective = sum(n * math.log(sum(counts) / n) for n in counts)  # the objective with the priors alone
        null = [math.log(n / counts[0]) if j == 0 else 0.0 for n in counts[1:] for j in range(width)]
        design = self._table("design", render("logistic_design", Context.of(spec), self.source, classes, terms, self.problem))
        self.newton = Newton(self.problem, [(term.j, term.scale) for term in self.terms], self.options.penalty)
        minimum = self._minimise(design, [self._naive_bayes_start(columns, classes, priors), null])
        return self._table("weights", render("learnt_weights", classes, [*self._weights(minimum)]))

    def _weights(self, point: Sequence[float]) -> Iterator[tuple[int, str | None, str | None, float, float | None]]:
        """The weights at a point, as rows of the number of a class, the feature, the value, the weight, and the mean.

        The unknowns of the first class are 0. With two classes the second has the difference of the scores; the weights of
        several sum to 0.
        """
        width, classes = self.problem.width, self.problem.classes
        unknowns = [[0.0] * width, *(point[start : start + width] for start in range(0, len(point), width))]
        means = [sum(of_term) / classes for of_term in zip(*unknowns, strict=True)] if classes > 2 else unknowns[0]
        for class_no, values in enumerate(unknowns, start=1):
            if classes == 2 and class_no == 1:
                continue
            weights = [v - mean for v, mean in zip(values, means, strict=True)]
            rows = [(term, weights[term.j] / term.scale) for term in self.terms]
            moved = sum(weight * term.centre for term, weight in rows if term.kind in ("missing", "count"))
            yield class_no, None, None, weights[0] - moved, None
            for term, weight in rows:
                yield class_no, term.feature, term.value, weight, term.centre if term.kind in ("number", "binary") else None

    def _check_size(self, terms: Markup, classes: int) -> None:
        sizes = self.engine.query_macro("logistic_sizes", terms)
        count = (classes if classes > 2 else 1) * (1 + sum(n for _, n in sizes))
        if (classes - 1) * (1 + sum(n for _, n in sizes)) > MAX_WEIGHTS:
            name, most = sizes[0]
            raise InputError(
                f"⟨method='logistic'⟩ would learn {count:,} weights, and takes at most {MAX_WEIGHTS}; "
                f"{name!r} alone has {most:,} a class: leave it out with ⟨exclude=[{name!r}]⟩, or cut it into fewer values"
            )

    def _naive_bayes_start(self, columns: Sequence[Any], classes: Markup, priors: Markup) -> list[float]:
        """The starting point: the linear form of naive Bayes, with one variance per number for all classes."""
        render, spec = self.engine.renderer.fragment, self.plan.spec
        features = tuple(
            replace(feature, family=Gaussian(alpha=0.0, nulls="skip", unseen="skip", shared_variance=True))
            if feature.family.kind == "density"
            else feature
            for feature in spec.features
        )
        spec = replace(spec, features=features, logistic=None)
        estimates = None
        if self.engine.renderer.traits.materializes_estimates and features:
            estimates = self._table("estimates", render("smoothed_likelihoods", Context.of(spec), self.cells, priors, features))
        context = Context.of(spec, columns, QueryOptions(estimates=estimates))
        tables = [
            self._table(kind, render(kind, context, self.cells, priors))
            for kind in ("parameters", "lookups")
            if kind == "parameters" or self.problem.levels
        ]
        linear = self._table("linear", render("linear", context, tables[0], tables[-1], 1))
        scores = [[0.0] * self.problem.width for _ in columns]
        for class_no, feature, value, times, given in self.engine.query_macro("numbered_weights", linear, classes):
            score, weight = scores[class_no - 1], given if given is not None and math.isfinite(given) else 0.0
            score[0] += weight if times == "1" else 0.0
            for term in self.terms:
                if term.feature == feature and term.is_of(value, times):
                    if is_no := term.kind == "binary" and value == "false":
                        score[0] += weight
                    score[0] += (-weight if is_no else weight) * term.centre
                    score[term.j] += (-weight if is_no else weight) * term.scale
        return [x - first for score in scores[1:] for x, first in zip(score, scores[0], strict=True)]

    # The search. ---------------------------------------------------------------------------------------------------

    def _minimise(self, design: Markup, starts: Sequence[list[float]]) -> list[float]:
        rows = self.engine.query_value("row_count", design)
        share = rows // self.engine.renderer.layout.sample_rows
        if share < 4:
            return self._run_newton(design, starts)
        others = [column.name for column in self.engine.columns(design) if column.name != "weight"]
        sample = self._table("sample", self.engine.renderer.fragment("logistic_sample", others, design, share))
        try:
            sample_point = self._run_newton(sample, starts, tolerance=SAMPLE_TOLERANCE)
        except InputError:  # perhaps only because of the sample
            return self._run_newton(design, starts)
        return self._run_newton(design, [sample_point, starts[-1]], self.products)

    def _run_newton(
        self, design: Markup, starts: Sequence[list[float]], products: Sums | None = None, tolerance: float = 0.0
    ) -> list[float]:
        """The minimum, found by Newton's method from the first starting point, or the second if the priors alone are as good.

        With `products`, those of the terms near the point, or where there are many, products are summed again only if the steps
        do not shrink enough. `tolerance` is the change of a weight at which to stop, if larger than the one in the options.
        """
        reuse_products = products is not None or self.problem.reuses_products
        point, *others = starts
        accepted: Step | None = None
        fraction, change = 1.0, math.inf
        for _ in range(self.options.iterations):
            step, products = self._step(design, point, products)
            if accepted is None:
                # Where nearly all rows are certain, the Hessian is nearly 0 and predicts a larger decrease than is possible.
                if others and (
                    step.collinear or not max(step.objective, step.decrease / 2) <= self.null_objective * (1 + 1e-9)
                ):
                    point, products = others.pop(), None
                    continue
            elif not step.objective <= accepted.objective - 1e-4 * fraction * accepted.decrease + 1e-12 * abs(step.objective):
                fraction /= 2
                point, products = accepted.next(fraction), None
                continue
            self._check_step(step, change, first=accepted is None)
            self.products = products
            fraction = MOST_STEP / max(MOST_STEP, step.largest_change)
            point = step.next(fraction)
            # The size of the next step, if it shrinks as much as this one did.
            next_change = step.largest_change * min(1.0, step.largest_change / change if change < math.inf else 1.0)
            is_near = step.decrease <= MOST_GAIN * step.n and next_change <= max(tolerance, self.options.tolerance)
            # With a penalty, only the offset of a class that all rows tell apart has no bounds, and no row is told by it.
            is_still = step.largest_change <= 1e-4 or (self.options.penalty > 0 and step.decrease <= 1e-20 * step.n)
            if is_near or (step.decrease <= 1e-16 * step.n and is_still):
                return point
            if not reuse_products or step.largest_change > self.slow * change:
                products = None
            accepted, change = step, step.largest_change
        count = counted(self.options.iterations, "iteration")
        last = f", the last of which changed one by {change:.2g}" if accepted is not None else ""
        raise InputError(f"the weights are not found in {count}{last}; allow more iterations, or use a larger penalty")

    def _step(self, design: Markup, point: Sequence[float], products: Sums | None) -> tuple[Step, Sums]:
        """The step at a point, and the products that it used."""
        relation = self._point(point)
        self.engine.announce("sums")
        rows = self.engine.query_macro("logistic_sums", self.problem, design, relation, products is None)
        sums = self.newton.load(rows)
        products = products or sums
        return self.newton.steps(point, [sums], products)[0], products

    def _point(self, point: Sequence[float]) -> Markup:
        """The relation of a point: one row, with the list v of its unknowns."""
        return self._table("point", self.engine.renderer.fragment("logistic_point", point))

    def _check_step(self, step: Step, change: float, *, first: bool) -> None:
        """Raise InputError if no weights minimise the objective."""
        unpenalised = self.options.penalty == 0
        unbounded = step.collinear and not first
        if not step.collinear:  # all rows are predicted right, or ever larger weights gain nothing
            unbounded = step.worst_loss < math.log(2) or (
                step.decrease <= 1e-10 * step.n and step.largest_change > max(0.01, 0.5 * change)
            )
        if unpenalised and unbounded:
            raise InputError(
                f"the features separate the classes of {self.plan.spec.target!r}, so that weights without a penalty "
                "have no bounds; use ⟨penalty=0.5⟩, say"
            )
        if step.collinear:
            term = self.terms[(step.collinear - 1) % self.problem.width - 1]
            raise InputError(_undetermined_message(term))

    def _table(self, name: str, query: Markup) -> Markup:
        self.table_count += 1
        return self.engine.create(name, self.temporary(f"{self.table_count} {name}"), query)


def _number_terms(features: Sequence[Feature]) -> Iterator[_Number]:
    for feature in features:
        family: Any = feature.family
        if family.cell == "column":
            yield from (_Number(feature, column, "count") for column in feature.columns)
        elif family.kind == "weight":
            yield _Number(feature, None, "binary" if family.binary else "number")
            if family.nulls == "category":
                yield _Number(feature, None, "missing")


def _undetermined_message(term: LogisticTerm) -> str:
    if term.kind == "level":
        what = f"the weights of the values of {term.feature!r} are not determined: one of them follows from the other features"
        return f"{what}; use a larger penalty, such as 0.5"
    if term.feature is None:
        cure = "merge classes of few rows, or use ⟨nbsql.Gaussian(floor=0.01)⟩ for numbers"
        return f"the weights are not determined: what features say of some rows is far more than of others; {cure}"
    name = term.feature if term.kind != "count" else term.value
    return (
        f"the weight of {name!r} is not determined: it is a sum of the other features; "
        "leave it out, or use a larger penalty, such as 0.5"
    )


def learn_weights(draft: Draft) -> Draft:
    """The step of a fit that finds the weights of its features, of the best ones only if they are chosen."""
    spec, options = draft.spec, draft.spec.logistic
    if options is None:
        return draft
    cells = draft.count.create_cells(draft.temporary("cells"))
    if draft.best is not None:
        spec = best_features(draft.engine, spec, draft.best, cells)
    plan = Plan(draft.engine.renderer, spec, draft.relations)
    weights = WeightSearch(draft.engine, plan, options, draft.count.relation, cells, draft.temporary).run()
    return replace(draft, learnt={"statistics": cells, "weights": weights})
