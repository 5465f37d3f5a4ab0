"""What each feature says of a row by the counts of the other folds, from which the weights of features are learnt."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import ClassVar

from markupsafe import Markup

from nbsql.learning.folds import Folds, Models
from nbsql.learning.logistic import Problem
from nbsql.learning.shared_features import SharedFeatures
from nbsql.plan.classes import ClassColumn
from nbsql.plan.context import Context, QueryOptions
from nbsql.spec.method import EITHER, Weighted
from nbsql.spec.spec import Feature, Spec

# Rows from which weights are learnt nearly as well as from more, so that the folds beyond them need no models: log losses of
# adult and of late flights are 0.3 % higher at most; of the origin of flights it is 0.0069, not 0.0064.
ENOUGH_ROWS = 20_000
ROWS_A_WEIGHT = 250
ROWS_A_CLASS = 100
ROWS = 200_000  # from which weights are learnt, or up to twice as many: more would not change them
JOINS_A_TABLE = 20  # as many as a statement plans quickly: 40 take three times as long
FEATURES_A_TABLE = 80  # where joins are no more
MOST_LISTED = 10_000_000  # numbers of some rows, terms and classes that are also kept as lists
MAX_WEIGHTS_TO_COMPARE = 60  # of each class and feature, beyond which they are not compared with those of each feature


@dataclass(frozen=True)
class Evidence:
    """A table of what some features say of each row."""

    relation: Markup
    features: Sequence[Feature]
    relative: bool = False  # whether it is what they say beyond the first class, by which no class has weights of its own
    listed: bool = False  # whether it has lists of what they say, too


@dataclass(frozen=True)
class Term:
    """An unknown of the search and what it multiplies in the score of a class (sql/macros/learning/weighted.sql)."""

    j: int  # its number
    kind: str  # "bias", "prior", "all", "feature" or "class"
    feature: Feature | None = None
    class_no: int | None = None
    priors: Sequence[float] = ()  # of "prior": the log-odds of each class against the first


@dataclass(frozen=True)
class EvidenceProblem(Problem):
    """The search as the scan of logistic regression renders it: that of two classes, whose rows are one for each real class."""

    class_numbers: Sequence[int] = ()
    relative: bool = False  # whether the numbers of the terms are those beyond the first class

    listed: Markup | None = None  # the terms with lists of their numbers in all rows, if the rows have lists of these numbers
    first_listed: int = 0  # the number of the first feature if the rows have lists of their evidence, else 0

    rows_macro: ClassVar[str] = "evidence_predicted"
    reuses_products = True

    @property
    def scored_classes(self) -> Sequence[int]:
        """The classes in which terms have numbers: beyond the first one, it has none."""
        return self.class_numbers[self.relative :]

    @property
    def named_terms(self) -> Sequence[Term]:
        """The terms of which a score names a number each."""
        return [term for term in self.numbers if not self.first_listed or term.j < self.first_listed]


class EvidenceFolds(Folds):
    """The folds of the rows of a fit, whose families are known, and whose warnings the fit has given.

    They are the same whatever the parents of its categories.
    """

    relative = True  # whether the evidence is what features say beyond the first class
    share = 1  # of the rows of the folds, one in so many is scored
    deepest: Spec | None = None  # of those that differ in the number of parents alone, the one whose lookups do for all

    def _prepare(self, specs: Sequence[Spec], folds: int, column: str | None) -> None:
        self._shared = SharedFeatures(specs)
        self._vectorised = False
        spec = self._shared.spec
        alone = (replace(each, columns=each.columns[:1]) if each.family.parent else each for each in spec.features)
        self._columns = [*dict.fromkeys([*replace(spec, features=tuple(alone)).columns, *spec.columns])]
        self._count(replace(spec, slice_by="nbsql_slice"), folds, column)
        self.names = self._fold_names()
        self.specs = list(specs)

    def context(self, spec: Spec) -> Context:
        labels = spec.classes or [label for label, *_ in self.labels]
        classes = [ClassColumn(number, label, "", "") for number, label in enumerate(labels, start=1)]
        centred = not self.relative and has_levels_only(spec)  # which changes nothing beyond the first class
        reading = QueryOptions(by_slice=True, integer_slices=self._hashes_rows, centred=centred)
        return Context.of(spec, classes, reading, layout=self.engine.renderer.layout)

    def _limited(self, context: Context, spec: Spec, fold: Markup) -> Context:
        """The context with the values of the fold's own cells: all rows that are scored are counted."""
        if not self.engine.renderer.traits.vectorised or not any(each.family.parent for each in spec.features):
            return context
        own = self.engine.renderer.subquery("cells_of_setting", self.cells, self._shared.names(spec), fold, True)
        return context.with_options(met=own)

    def keep_enough(self, weights: int) -> None:
        """Score only the first folds, if these have enough rows for so many weights, and of each class."""
        rarest = min(rows for _, _, rows, _ in self.labels)
        self.names = self.first_names(min(self.rows / max(ENOUGH_ROWS, weights * ROWS_A_WEIGHT), rarest / ROWS_A_CLASS))

    def first_names(self, most: float) -> list[str]:
        """The names of as few folds as have one row in `most`, or all of them if that is no more than 1."""
        return self.names[: math.ceil(len(self.names) / max(most, 1))]

    def rows_of(self, models: Models, rows: Markup) -> Markup:
        """The rows that the models score: one in `share`."""
        found = super().rows_of(models, rows)
        return found if self.share == 1 else self.engine.renderer.fragment("some_rows", found, self.share)

    def numbered_rows(self, classes: Markup) -> Markup:
        """A table of the rows to learn from, with their numbers. `classes` is the relation of the classes."""
        context, parts = self.context(self.specs[0]), len(self._fold_names())
        share = self.rows * len(self.names) // (parts * ROWS)
        some = (self.names, parts) if len(self.names) < parts else None
        query = self.engine.renderer.fragment("numbered_training_rows", context, self.rows_with_folds, classes, share, some)
        return self.create("numbered rows", query)

    def evidence(self, rows: Markup, *others: Evidence, relative: bool) -> Evidence:
        """What each feature says of the numbered rows, by the models of the other folds; beside what others say of some."""
        (spec,), fragment, self.relative = self.specs, self.engine.renderer.fragment, relative
        models = self.models(self.deepest or spec)
        tables, vectorised = [*others], self.engine.renderer.traits.vectorised
        joins = sum(feature.family.level and not (vectorised and feature.bins) for feature in spec.features)
        size = FEATURES_A_TABLE if joins <= JOINS_A_TABLE else JOINS_A_TABLE
        for start in range(0, len(spec.features), size):
            features = spec.features[start : start + size]
            listed = [feature for feature in features if feature.bins and vectorised]
            bins = list(zip(listed, accumulate((len(each.bins) for each in listed), initial=1), strict=False))
            context = self.context(replace(spec, features=tuple(each for each in features if each not in listed)))
            query = fragment("evidence_of_features", context, rows, models.parameters, models.lookups, relative, bins)
            is_all = not others and len(features) == len(spec.features)
            relation = fragment("subquery", query) if is_all else self.create(f"{start} evidence of rows", query)
            tables.append(Evidence(relation, features, relative))
        together = [feature for table in tables for feature in table.features]
        numbers = models.context.form.class_numbers[relative:]
        has_lists = vectorised and self.rows * len(together) * len(numbers) <= MOST_LISTED
        joined = fragment("joined_evidence", tables, together, numbers, has_lists)
        return Evidence(self.create("evidence of the rows", joined), together, relative, has_lists)


def has_levels_only(spec: Spec) -> bool:
    """Whether a row has one of several values in each feature, so that each class may have weights of its own."""
    return all(map(is_level, spec.features))


def is_level(feature: Feature) -> bool:
    """Whether a row has one of several values in a feature."""
    return feature.family.kind == "level"


def may_weigh_classes(asked: Weighted, features: Sequence[Feature], classes: int) -> bool:
    """Whether each class may have weights of its own: if asked to or, where it is open, for few columns of few values."""
    is_comparable = len(features) * classes <= MAX_WEIGHTS_TO_COMPARE and all(map(is_level, features))
    return asked.is_by_class or (asked.per == EITHER and is_comparable)
