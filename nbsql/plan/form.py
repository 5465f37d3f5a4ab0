"""The form of a model's tables and of its scoring queries, which follows from its classes and its size."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from nbsql.plan.classes import ClassColumn, scored_class_count
from nbsql.plan.codes import CodedColumn, CodedFeature, coded_features
from nbsql.plan.facts import Facts, ScoredParameter
from nbsql.rendering.dialect import Traits
from nbsql.rendering.layout import Layout
from nbsql.spec.spec import Feature, Spec


def is_wide(spec: Spec, class_count: int, traits: Traits, layout: Layout) -> bool:
    """Whether scoring uses the wide form, one column for each class; on engines with short rows, if all parameters fit."""
    if not traits.long_form:
        return True
    if not layout.class_columns:
        return False
    if traits.max_numbers is not None:
        common = sum(parameter.common for feature in spec.features for parameter in feature.family.parameters)
        return class_count * (numbers_per_class(spec) - common) + common <= traits.max_numbers
    joined = [feature for feature in spec.features if feature.family.level and not feature.has_few_values]
    blocked = len(joined) if has_many_levels(joined, layout) else 0
    by_lists = is_vectorised(spec, traits) and spec.logistic is None
    numbers = [
        each
        for each in spec.features
        if not each.family.has_lookups and not (by_lists and (each.is_scored_in_lists or has_large_matrix(each, layout)))
    ]
    terms = class_count * (blocked + sum(len(feature.columns) for feature in numbers))
    return class_count <= layout.wide_classes and terms <= layout.wide_terms


def is_vectorised(spec: Spec, traits: Traits) -> bool:
    """Whether lists and sums without guards are faster, which requires that all rows have the parameters of one model."""
    return traits.vectorised and not (spec.segment_by or spec.components or spec.joins)


def has_many_levels(features: Iterable[Feature], layout: Layout) -> bool:
    """Whether there are so many categories that the number of values of each matters."""
    return sum(feature.family.level for feature in features) > layout.star_joins


def has_large_matrix(feature: Feature, layout: Layout) -> bool:
    """Whether it has a covariance matrix of so many elements that each as a column would take long to plan."""
    return feature.family.kind == "matrix" and len(feature.columns) > layout.matrix_columns


def complete_features(rows: Iterable[tuple[Any, ...]]) -> dict[str, bool]:
    """The features that vary and have a value in every row, and whether their means are near, by `feature_summary`."""
    rows = list(rows)
    everywhere = max((float(n) for name, _, n, *_ in rows if name is None), default=0.0)
    least = everywhere * (1 - 1e-12)  # weights that are no whole numbers are added in any order
    return {name: bool(near) for name, varies, n, near, *_ in rows if name is not None and varies and n >= least}


def numbers_per_class(spec: Spec) -> int:
    """The number of numbers in a row for each class: its parameters, and a label of usual length."""
    return 5 + sum(len(feature.family.parameters) for feature in spec.features)


def blocks(features: Sequence[Feature], size: int) -> Iterator[Sequence[Feature]]:
    for start in range(0, len(features), size):
        yield features[start : start + size]


@dataclass(frozen=True, eq=False)
class Form:
    """The form of scoring: one column or one row for each class, and for each feature a join, a list or a term."""

    facts: Facts
    class_columns: Sequence[ClassColumn] = ()  # the columns of its classes; empty if they are not known
    wide: bool = True  # whether there is one column for each class
    vectorised: bool = False  # whether lists and sums without guards are faster
    layout: Layout = field(default_factory=Layout)  # the limits of the forms
    table_features: Sequence[Feature] = ()  # the features in the tables that are read, of which a query may leave some out
    scores_components: bool = False  # whether components are scored as classes

    @cached_property
    def class_numbers(self) -> list[int]:
        count = scored_class_count(self.class_columns) if self.scores_components else len(self.class_columns)
        return list(range(1, count + 1)) if self.wide else []

    @cached_property
    def class_of_component(self) -> list[int]:
        """For each component the number of its class."""
        if not self.scores_components:
            return []
        classes_of = {member: column.number for column in self.class_columns for member in column.members}
        return [classes_of[number] for number in sorted(classes_of)]

    @cached_property
    def categories_in_lists(self) -> list[Feature]:
        """The categories with few values among many categories, which are looked up in lists without a join (listed.sql)."""
        levels = [feature for feature in self.facts.features if feature.family.level]
        few = [feature for feature in levels if feature.has_few_values]
        return few if self.vectorised and has_many_levels(levels, self.layout) else []

    @cached_property
    def category_positions(self) -> dict[int, int]:
        return {feature.index: place for place, feature in enumerate(self.categories_in_lists, start=1)}

    @cached_property
    def bins_in_lists(self) -> list[Feature]:
        """The numbers in few bins, whose scores are found by their edges, if there are not so many categories (listed.sql)."""
        if not (self.wide and self.vectorised) or has_many_levels(self.facts.features, self.layout):
            return []
        bins = [feature for feature in self.facts.features if feature.bins and feature.has_few_values]
        return bins if len(bins) >= self.layout.listed_bins else []

    @cached_property
    def plain_bins(self) -> list[Feature]:
        """These if a missing value adds 0 for each."""
        return [] if any(feature.family.parameters for feature in self.bins_in_lists) else self.bins_in_lists

    @property
    def first_places(self) -> list[tuple[Feature, int]]:
        """These with the place of the first bin of each, from 1."""
        sizes = [len(feature.bins) for feature in self.bins_in_lists]
        return list(zip(self.bins_in_lists, accumulate(sizes, initial=1), strict=False))

    @cached_property
    def pairs_in_lists(self) -> list[CodedFeature]:
        """The categories with parents whose scores are found by the codes of values, likewise (listed_pairs.sql)."""
        if not (self.wide and self.vectorised) or has_many_levels(self.facts.features, self.layout):
            return []
        return coded_features(each for each in self.facts.features if each.family.all_parents and each.has_few_values)

    @property
    def coded_columns(self) -> list[CodedColumn]:
        """Their columns and those of their parents."""
        found = {column.number: column for pair in self.pairs_in_lists for column in (pair.child, *pair.parents)}
        return [found[number] for number in sorted(found)]

    @property
    def features_with_places(self) -> list[Feature]:
        """The features whose scores are found by a place in a list each."""
        return [*self.bins_in_lists, *(pair.feature for pair in self.pairs_in_lists)]

    @property
    def guarded_features_with_places(self) -> list[Feature]:
        return self.features_with_places[len(self.plain_bins) :]

    @cached_property
    def joined_categories(self) -> list[Feature]:
        """The categories that are looked up by joins."""
        listed = self.category_positions.keys() | {feature.index for feature in self.features_with_places}
        return [each for each in self.facts.features if each.family.level and each.index not in listed]

    @property
    def has_blocks(self) -> bool:
        """Whether there are too many joined categories for one star of joins."""
        return self.wide and len(self.joined_categories) > self.layout.star_joins

    @property
    def star_categories(self) -> list[Feature]:
        return [] if self.has_blocks else self.joined_categories

    @cached_property
    def category_blocks(self) -> list[Sequence[Feature]]:
        return list(blocks(self.joined_categories, self.layout.block_joins)) if self.has_blocks else []

    @cached_property
    def complete_numbers(self) -> list[Feature]:
        """The numbers that no row of the fit lacked: their terms are summed without a guard for each."""
        found = [feature for feature in self.facts.features if feature.is_complete and feature.family.needs_guard]
        return found if self.wide and self.vectorised else []

    @cached_property
    def numbers_in_lists(self) -> list[Feature]:
        """The complete numbers whose parameters are in lists (gaussian.sql), including those that the query leaves out."""
        found = [feature for feature in self.table_features if feature.is_scored_in_lists]
        return found if len(found) > 1 and self.wide and self.vectorised else []

    @cached_property
    def omitted_numbers(self) -> list[int]:
        """The indices of the numbers in lists that the query leaves out."""
        present = {feature.index for feature in self.facts.features}
        return [feature.index for feature in self.numbers_in_lists if feature.index not in present]

    @cached_property
    def number_positions(self) -> dict[int, int]:
        return {feature.index: place for place, feature in enumerate(self.numbers_in_lists, start=1)}

    @cached_property
    def matrices_in_lists(self) -> list[Feature]:
        """The features whose means and matrix of a class are lists (multivariate_gaussian_terms.sql)."""
        found = [feature for feature in self.facts.features if has_large_matrix(feature, self.layout)]
        return found if self.wide and self.vectorised else []

    @cached_property
    def column_parameters(self) -> list[ScoredParameter]:
        """The parameters that do not belong to the numbers in lists: one column for each class, or in lists of a matrix."""
        return [wanted for wanted in self.facts.parameters if wanted.feature.index not in self.number_positions]

    @cached_property
    def computed_features(self) -> list[Feature]:
        """The features whose terms are computed from their own columns of parameters."""
        found = (feature for feature in self.facts.features if feature.family.has_parameter_term)
        return [feature for feature in found if feature.index not in self.number_positions]

    @cached_property
    def inputs(self) -> list[Feature]:
        """The features of which the terms of a row read more than a lookup."""
        categories = [*self.star_categories, *self.categories_in_lists, *self.features_with_places]
        computed = [feature for feature in self.computed_features if feature not in self.matrices_in_lists]
        return [*computed, *(feature for feature in categories if feature.family.parameters)]

    @cached_property
    def unguarded_numbers(self) -> list[Feature]:
        """The complete numbers that are not in lists; their terms are added up."""
        found = [feature for feature in self.complete_numbers if not feature.is_scored_in_lists]
        return found if len(found) > 1 else []

    @cached_property
    def joint_features(self) -> list[Feature]:
        listed = {feature.index for feature in [*self.numbers_in_lists, *self.unguarded_numbers, *self.matrices_in_lists]}
        return [each for each in self.facts.features if not each.family.level and each.index not in listed]

    @cached_property
    def features_with_common_term(self) -> list[Feature]:
        features = [*self.joint_features, *self.matrices_in_lists]
        squares = self.numbers_in_lists[: self.shares_squares]  # the first of them stands for all
        return [*(feature for feature in features if self.wide and feature.family.shared), *squares]

    @cached_property
    def shares_squares(self) -> bool:
        """Whether the squares of the numbers in lists say the same in all classes."""
        weighted = self.facts.spec.weighted
        by_class = weighted is not None and weighted.is_by_class
        return not by_class and all(feature.family.shared_variance for feature in self.numbers_in_lists)

    @cached_property
    def features_with_steps(self) -> list[Feature]:
        return [feature for feature in self.joint_features if self.wide and feature.family.kind == "matrix"]

    @property
    def added_first(self) -> int:
        joined = len(self.joined_categories) + len(self.features_with_places)
        few = joined * scored_class_count(self.class_columns) <= self.layout.added_first_terms
        return self.layout.added_first if few else 1


def mark_complete(spec: Spec, names: Sequence[str], complete: Mapping[str, bool]) -> Spec:
    """The spec with complete features marked, and those with near means. `names` are the names of its features in the cells.

    Means that are near in the cells of each fold are near in those of all others: their distance is no larger, and the variance
    of several folds at least the least of one.
    """
    marks = [(name in complete, complete.get(name, False)) for name in names]
    return replace(
        spec,
        features=tuple(
            replace(feature, is_complete=complete, has_near_means=near)
            for feature, (complete, near) in zip(spec.features, marks, strict=True)
        ),
    )
