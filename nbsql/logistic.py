"""Logistic regression: its weights, learnt by Newton's method from a source that has been counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from nbsql.context import Context, class_columns
from nbsql.engines.engine import Engine
from nbsql.errors import InputError, ModelError
from nbsql.family import Gaussian, Multinomial, Weighted
from nbsql.plan import Plan
from nbsql.spec import Feature, Logistic, Spec

MOST_WEIGHTS = 500  # the Hessian has the square of it, and is inverted in every step

MOST_SUMS = 2_000  # of one statement, which takes the longer to plan

SAMPLED_ROWS = 50_000  # beyond four times as many, the search begins with a sample of so many rows
NEAR = 0.05  # the change of a weight at which it is left: the sample says no more


@dataclass(frozen=True)
class _Number:
    """A term that is a number: its feature, the value that names it in the weights, and what it is.

    Args:
        kind: "number", "binary" (1 for yes, 0 for no), "missing" (1 where there is none) or "count".
        j: the number of the term.
    """

    feature: Feature
    value: str | None
    kind: str
    j: int = 0
    centre: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True)
class _Problem:
    """What the macros know of the search (sql/macros/logistic/).

    Args:
        classes: how many.
        width: the unknowns of a class: its bias and its terms.
        numbers: the terms that are numbers.
        levels: the features that are categories.
    """

    classes: int
    width: int
    numbers: Sequence[_Number]
    levels: Sequence[Feature]

    @property
    def others(self) -> list[int]:
        """The classes that have unknowns, by number: all but the first."""
        return list(range(1, self.classes))

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """The pairs of them whose products are summed."""
        return [(c, o) for c in self.others for o in self.others if c <= o]

    @property
    def pairs(self) -> list[tuple[int, int, int, float]]:
        """All pairs of them: the two, their block, and how much of the penalty is on their product."""
        share = 0.0 if self.classes == 2 else 1 / self.classes
        number = {pair: place for place, pair in enumerate(self.blocks, start=1)}
        return [
            (c, o, number[min(c, o), max(c, o)], (1.0 if c == o else 0.0) - share) for c in self.others for o in self.others
        ]

    @property
    def many(self) -> bool:
        """Whether there are too many products for a sum each in one statement."""
        width = len(self.numbers) + 1
        return len(self.blocks) > 1 and len(self.blocks) * width * (width + 1) // 2 > MOST_SUMS

    @property
    def grouped(self) -> bool:
        """Whether many rows may be alike."""
        return all(number.kind in ("binary", "missing") for number in self.numbers)


@dataclass(frozen=True)
class _Judged:
    """What decides on a step (sql/macros/logistic/step.sql)."""

    objective: float
    worst: float
    n: float
    fall: float
    biggest: float
    collinear: int


def refuse_weights(spec: Spec, title: str, what: str) -> None:
    """Raise ModelError if the model has learnt weights, which know nothing of how rows come about."""
    if spec.logistic is not None:
        raise ModelError(f"{title} is logistic: it tells classes apart, and has no {what}; fit it with method='naive'")


def learn(
    engine: Engine, plan: Plan, wanted: Logistic, source: Markup, cells: Markup, temporary: Callable[[str], Markup]
) -> Markup:
    """A temporary table of the weights (sql/macros/logistic/weights.sql) of a model.

    Args:
        engine: where.
        plan: of the model.
        wanted: how they are learnt.
        source: what to learn from.
        cells: the relation of what was counted of it.
        temporary: names temporary tables.

    Raises:
        InputError: there are too many weights, or the rows do not determine them.
    """
    return _Search(engine, plan, wanted, source, cells, temporary).run()


class _Search:
    """One search for the weights, in temporary tables."""

    def __init__(
        self,
        engine: Engine,
        plan: Plan,
        wanted: Logistic,
        source: Markup,
        cells: Markup,
        temporary: Callable[[str], Markup],
    ) -> None:
        self.engine = engine
        self.plan = plan
        self.source = source
        self.cells = cells
        self.temporary = temporary
        self.wanted = wanted
        self.made = 0

    def run(self) -> Markup:
        spec, render = self.plan.spec, self.engine.renderer.fragment
        priors = self._table("priors", self.plan.priors(self.cells))
        columns = class_columns(self.engine.rows(self.plan.class_order(priors)))
        classes = self._table("classes", render("logistic_classes", priors))
        features = Context(spec, columns).features
        numbers = list(_numbers(features))
        levels = [feature for feature in features if feature.family.level]
        if len(columns) == 1:
            return self._table("weights", render("logistic_no_weights", classes))
        terms = self._table("terms", render("logistic_terms", self.cells, numbers, levels))
        self._check_size(terms, len(columns))
        known = [
            replace(numbers[place - 1], j=j, centre=centre, scale=scale)
            for place, j, centre, scale in self.engine.ask("logistic_numbers", terms)
        ]
        width = 1 + self.engine.ask("row_count", terms)[0][0]
        self.problem = _Problem(len(columns), width, known, levels)
        self.terms = terms
        counts = [row[0] for row in self.engine.ask("logistic_counts", classes)]
        self.bound = sum(n * math.log(sum(counts) / n) for n in counts)  # the objective of the priors alone
        design = self._table("design", render("logistic_design", Context(spec), self.source, classes, terms, self.problem))
        found = self._found(design, classes, self._generative(columns, classes, priors))
        return self._table("weights", render("logistic_weights", self.problem, found, classes, terms))

    def _check_size(self, terms: Markup, classes: int) -> None:
        sizes = self.engine.ask("logistic_sizes", terms)
        count = (classes if classes > 2 else 1) * (1 + sum(n for _, n in sizes))
        if (classes - 1) * (1 + sum(n for _, n in sizes)) > MOST_WEIGHTS:
            name, most = sizes[0]
            raise InputError(
                f"method='logistic' would learn {count:,} weights, and takes at most {MOST_WEIGHTS}; "
                f"{name!r} alone has {most:,} a class: leave it out with exclude=[{name!r}], or cut it into fewer values"
            )

    def _generative(self, columns: Sequence[Any], classes: Markup, priors: Markup) -> Markup:
        """The table of the first v: the linear form of naive Bayes, with one variance a number for all classes."""
        render, spec = self.engine.renderer.fragment, self.plan.spec
        features = tuple(
            replace(feature, family=Gaussian(alpha=0.0, nulls="skip", unseen="skip", shared_variance=True))
            if isinstance(feature.family, Gaussian)
            else feature
            for feature in spec.features
        )
        spec = replace(spec, features=features, logistic=None)
        estimates = None
        if self.engine.renderer.dialect.traits.tabulates and features:
            estimates = self._table("estimates", render("smoothed", Context(spec), self.cells, priors, features))
        context = Context(spec, columns, estimates=estimates)
        tables = [
            self._table(kind, render(kind, context, self.cells, priors))
            for kind in ("parameters", "lookups")
            if kind == "parameters" or self.problem.levels
        ]
        weights = self._table("linear", render("linear", context, tables[0], tables[-1], 1))
        return self._table("start", render("logistic_start", self.problem, classes, self.terms, weights))

    # The search. ---------------------------------------------------------------------------------------------------

    def _found(self, design: Markup, classes: Markup, start: Markup) -> Markup:
        """The table of the v of the least objective."""
        rows = self.engine.ask("row_count", design)[0][0]
        null = self._table("null", self.engine.renderer.fragment("logistic_null", self.problem, classes))
        share = rows // SAMPLED_ROWS
        if share < 4:
            return self._descended(design, [start, null])
        sample = self._table("sample", self.engine.renderer.fragment("logistic_sample", self.problem, design, share))
        try:
            near = self._descended(sample, [start, null], tolerance=NEAR)
        except InputError:  # of the sample only, perhaps
            return self._descended(design, [start, null])
        return self._descended(design, [near, null], self.curved)

    def _descended(
        self, design: Markup, starts: Sequence[Markup], curved: Markup | None = None, tolerance: float = 0.0
    ) -> Markup:
        """The table of the v to which Newton's method comes, from the better of the places to start.

        Args:
            design: the rows.
            starts: where to begin, and where to if that is no better than nothing.
            curved: sums with products that are near those of the rows; with them, or where there are many, the products are
                summed only where the steps do not shrink enough by those that are at hand.
            tolerance: where to end, if that is sooner than what is wanted.
        """
        saving = curved is not None or self.problem.many
        tried, *others = starts
        taken: tuple[Markup, _Judged] | None = None
        part, change = 1.0, math.inf
        for _ in range(self.wanted.iterations):
            step, now, curved = self._weighed(design, tried, curved)
            if taken is None:
                # Where all rows are all but certain the Hessian is nearly 0, and promises more than there is to gain.
                if others and (now.collinear or not max(now.objective, now.fall / 2) <= self.bound * (1 + 1e-9)):
                    tried, curved = others.pop(), None
                    continue
            elif not now.objective <= taken[1].objective - 1e-4 * part * taken[1].fall + 1e-12 * abs(now.objective):
                part /= 2
                tried, curved = self._next(taken[0], part), None
                continue
            self._check(now, change, first=taken is None)
            self.curved = curved
            tried = self._next(step, 1.0)
            # What the next step would be, were it to shrink as this one did.
            left = now.biggest * min(1.0, now.biggest / change if change < math.inf else 1.0)
            if left <= max(tolerance, self.wanted.tolerance) or (now.fall <= 1e-16 * now.n and now.biggest <= 1e-4):
                return tried
            if not saving or now.biggest > 0.3 * change:
                curved = None
            taken, part, change = (step, now), 1.0, now.biggest
        count = f"{self.wanted.iterations} iteration{'' if self.wanted.iterations == 1 else 's'}"
        last = f", the last of which changed one by {change:.2g}" if taken is not None else ""
        raise InputError(f"the weights are not found in {count}{last}; allow more iterations, or use a larger penalty")

    def _weighed(self, design: Markup, tried: Markup, curved: Markup | None) -> tuple[Markup, _Judged, Markup]:
        """The step at the v that are tried, what decides on it, and the sums with the products that it was made by."""
        render = self.engine.renderer.fragment
        sums = self._table("sums", render("logistic_sums", self.problem, design, tried, curved is None))
        curved = curved or sums
        step = self._table("step", render("logistic_step", self.problem, sums, curved, tried, self.terms, self.wanted.penalty))
        return step, _Judged(*self.engine.ask("logistic_judged", step)[0]), curved

    def _next(self, step: Markup, part: float) -> Markup:
        return self._table("tried", self.engine.renderer.fragment("logistic_next", step, part))

    def _check(self, now: _Judged, change: float, *, first: bool) -> None:
        """Raise InputError where no weights are the best ones."""
        free = self.wanted.penalty == 0
        endless = now.collinear and not first
        if not now.collinear:  # every row is more probably right than wrong; or nothing is gained by ever larger weights
            endless = now.worst < math.log(2) or (now.fall <= 1e-10 * now.n and now.biggest > max(0.01, 0.5 * change))
        if free and endless:
            raise InputError(
                f"the features separate the classes of {self.plan.spec.target!r}, so that weights without a penalty "
                "have no bounds; use penalty=0.5, say"
            )
        if now.collinear:
            rows = self.engine.ask("logistic_term", self.problem, self.terms, now.collinear)
            raise InputError(_undetermined(*rows[0]))

    def _table(self, name: str, query: Markup) -> Markup:
        self.made += 1
        relation = self.temporary(f"{self.made} {name}")
        self.engine.create(name, relation, query)
        return relation


def _numbers(features: Sequence[Feature]) -> Iterator[_Number]:
    """The terms of features that are numbers."""
    for feature in features:
        if isinstance(feature.family, Multinomial):
            yield from (_Number(feature, column, "count") for column in feature.columns)
        elif isinstance(feature.family, Weighted):
            yield _Number(feature, None, "binary" if feature.family.binary else "number")
            if feature.family.nulls == "category":
                yield _Number(feature, None, "missing")


def _undetermined(feature: str, value: str | None, kind: str) -> str:
    if kind == "level":
        what = f"the weights of the values of {feature!r} are not determined: one of them follows from the other features"
        return f"{what}; use a larger penalty, such as 0.5"
    name = feature if kind != "count" else value
    return (
        f"the weight of {name!r} is not determined: it is a sum of the other features; "
        "leave it out, or use a larger penalty, such as 0.5"
    )
