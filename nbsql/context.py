"""What the macros know as `model`: the spec, the columns that scoring has, and the form that it takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from nbsql.dialect import Traits
from nbsql.family import Parameter, weighted
from nbsql.spec import Feature, Prior, Spec

if TYPE_CHECKING:
    from nbsql.joins.joining import Joining

# The time to plan a star of joins grows faster than the number of its joins and columns, and each holds a hash table. So of
# more categorical features than STAR_JOINS those of at most FEW_VALUES values are looked up in lists (sql/macros/listed.sql),
# and the others are scored in stars of BLOCK_JOINS; more classes or terms than these are scored in the long form
# (sql/macros/score_long.sql). tests/benchmarks/plans.py measures both sides of these limits.
STAR_JOINS = 40
FEW_VALUES = 64
BLOCK_JOINS = 20
WIDE_CLASSES = 100
WIDE_TERMS = 500

# So many log-likelihoods of categories are added before a missing one is looked for: more is quicker on clean rows, fewer where
# many are missing. It lengthens the statement, which takes more time than it saves where there are many terms.
ADDED_FIRST = 10
ADDED_FIRST_TERMS = 400


@dataclass(frozen=True)
class ClassColumn:
    """A class in the columns of a result: its number, and the names of its probability and joint log-likelihood."""

    number: int
    label: str
    probability: str
    joint: str
    members: tuple[int, ...] = ()  # the numbers of its components, where classes have some (sql/macros/mixture.sql)


@dataclass(frozen=True)
class Part:
    """One row a class of an explanation: a feature, or one column (by number) of a feature over several."""

    feature: Feature
    column: str
    number: int | None


@dataclass(frozen=True)
class Members:
    """Tables for the pairs of segments and classes, where an engine would work them out again and again (segments.sql)."""

    table: Markup
    cells: Markup
    estimates: Markup


@dataclass(frozen=True)
class Wanted:
    """A parameter of a feature, among those that scoring reads, and its position, from 1."""

    feature: Feature
    parameter: Parameter
    position: int


@dataclass(frozen=True)
class Backoff:
    """A joint feature, and the features of its columns, which score from other columns: NULL where the joint value is known."""

    feature: Feature
    masked: Sequence[tuple[Feature, str]]


class Context:
    """What the macros know as `model`: the spec, and the columns that scoring has."""

    def __init__(
        self,
        spec: Spec,
        classes: Sequence[ClassColumn] = (),
        *,
        batch: str = "1",
        wide: bool = True,
        ordered: bool = False,
        by_slice: bool = False,
        whole_slices: bool = False,
        columns: Sequence[str] = (),
        estimates: Markup | None = None,
        joins: Sequence[Joining] = (),
        bare: bool = False,
        coded: bool = False,
        vectorised: bool = False,
    ) -> None:
        self.bare = bare  # whether it is a part of a model, which is scored without the prior
        self.estimates = estimates  # the table of all likelihoods, where there is one
        self.joins = joins  # that the source is still to be joined with, before it is scored
        self.joined_names = [name for joining in joins for _, name in joining.passed]  # which are not passed through
        self.columns = columns  # of the source, for an engine that has no word for all but some
        self.coded = coded  # whether the rows come with what their categories add, which are no features then (coded.sql)
        self.batch = batch
        self.learnt = spec.logistic is not None and bool(classes)  # whether scoring goes by weights, not by likelihoods
        if self.learnt:
            spec = replace(spec, features=tuple(replace(f, family=weighted(f.family) or f.family) for f in spec.features))
        self.by_slice = by_slice  # whether the tables that scoring reads have a model a slice, and a row meets its own
        self.whole_slices = whole_slices  # whether slices are whole numbers then, and no texts
        self.segmented = spec.segment_by is not None
        self.members: Members | None = None
        # The column by which a row, the parameters and the lookups of its own model meet, where there are several.
        self.own = "nbsql_slice" if by_slice else "nbsql_segment" if self.segmented else None
        self.slice_by = spec.is_cut
        self.shrinkage = spec.segment_shrinkage
        self.target = spec.target
        self.target_type = spec.target_type
        self.weight = spec.weight
        self.id = spec.id
        self.backoffs = _backoffs(spec) if classes else []
        masked = {feature.index: name for backoff in self.backoffs for feature, name in backoff.masked}
        self.features: tuple[Feature, ...] = tuple(
            replace(feature, columns=(masked[feature.index],)) if feature.index in masked else feature
            for feature in spec.features
        )
        self.prior: Prior = spec.prior
        self.given = spec.given
        parameters = [(feature, parameter) for feature in self.features for parameter in feature.family.parameters]
        self.parameters = [Wanted(*pair, position) for position, pair in enumerate(parameters, start=1)]
        self.has_prior = coded or not spec.features or not all(feature.family.complement for feature in spec.features)
        self.class_columns = classes
        self.class_numbers = list(range(1, len(classes) + 1)) if wide else []
        levels = [feature for feature in self.features if feature.family.level]
        # Of many categories those of few values: their places are looked up in lists, without a join (listed.sql).
        self.listed = [f for f in levels if f.few] if vectorised and many_levels(levels) else []
        self.listed_places = {feature.index: place for place, feature in enumerate(self.listed, start=1)}
        levels = [feature for feature in levels if feature.index not in self.listed_places]
        blocked = wide and len(levels) > STAR_JOINS
        self.levels = levels
        self.star = [] if blocked else levels
        self.blocks = list(blocks(levels, BLOCK_JOINS)) if blocked else []
        # Numbers that no row lacked when the model was fitted: their terms are summed without a guard each (gaussian.sql).
        complete = [feature for feature in self.features if feature.complete and feature.family.guarded]
        self.complete = complete if wide and vectorised and len(complete) > 1 else []
        whole = {feature.index for feature in self.complete}
        self.complete_places = [
            wanted.position
            for wanted in self.parameters
            if wanted.feature.index in whole and wanted.parameter.quantity == "mean"
        ]
        self.in_joint = [feature for feature in self.features if not feature.family.level and feature.index not in whole]
        self.common = [feature for feature in self.in_joint if wide and feature.family.common_term]
        self.stepped = [feature for feature in self.in_joint if wide and feature.family.has_steps]
        self.added_first = ADDED_FIRST if len(levels) * scored(classes) <= ADDED_FIRST_TERMS else 1
        self.explained = list(_parts(self.features))
        self.numbered = ordered or not wide or blocked or bool(self.backoffs) or any(f.family.bag for f in spec.features)
        # Where classes have components: the context of the members, which are scored as classes.
        self.mixed = spec.components is not None
        self.of_classes: list[int] = []
        self.parts = self
        if self.mixed:
            self.parts = copy(self)
            self.parts.class_numbers = list(range(1, scored(classes) + 1)) if wide else []
            classes_of = {member: column.number for column in classes for member in column.members}
            self.parts.of_classes = [classes_of[number] for number in sorted(classes_of)]


def _backoffs(spec: Spec) -> list[Backoff]:
    return [
        Backoff(
            joint,
            [
                (feature, f"nbsql_backoff_{feature.index}")
                for feature in spec.features
                if not feature.family.over_columns and feature.column in joint.columns
            ],
        )
        for joint in spec.features
        if joint.family.backs_off
    ]


def _parts(features: Sequence[Feature]) -> Iterator[Part]:
    for feature in features:
        if feature.family.over_columns and feature.family.by_column:
            yield from (Part(feature, column, number) for number, column in enumerate(feature.columns, start=1))
        elif feature.family.level or feature.family.parametrised_term:
            yield Part(feature, feature.column, None)


def is_wide(spec: Spec, class_count: int, traits: Traits) -> bool:
    """Whether scoring takes the wide form, a column a class; where a row is short, as long as one holds all parameters."""
    if not traits.long_form:
        return True
    if traits.most_numbers is not None:
        common = sum(parameter.common for feature in spec.features for parameter in feature.family.parameters)
        return class_count * (numbers_a_class(spec) - common) + common <= traits.most_numbers
    terms = class_count * sum(len(feature.columns) for feature in spec.features if feature.family.number)
    return class_count <= WIDE_CLASSES and terms <= WIDE_TERMS


def many_levels(features: Iterable[Feature]) -> bool:
    """Whether these have so many categories that it counts how many values each has."""
    return sum(feature.family.level for feature in features) > STAR_JOINS


def without_gaps(rows: Iterable[tuple[str | None, bool, float]]) -> set[str]:
    """The names of the features that vary and have a value in every row, from the rows of `feature_summary` (model.sql)."""
    rows = list(rows)
    everywhere = max((n for name, _, n in rows if name is None), default=0)
    return {name for name, varies, n in rows if name is not None and varies and n >= everywhere}


def few_values(sizes: Iterable[tuple[str, int]]) -> set[str]:
    """The names of the features whose values are few enough to be looked up in a list, of names and numbers of values."""
    return {name for name, values in sizes if values <= FEW_VALUES}


def numbers_a_class(spec: Spec) -> int:
    """How many numbers a row takes for a class: its parameters, and a label of usual length."""
    return 5 + sum(len(feature.family.parameters) for feature in spec.features)


def scored(classes: Sequence[ClassColumn]) -> int:
    """How many classes are scored: each component is, where classes have some."""
    return sum(len(column.members) or 1 for column in classes)


def blocks(features: Sequence[Feature], size: int) -> Iterator[Sequence[Feature]]:
    for start in range(0, len(features), size):
        yield features[start : start + size]


def class_columns(classes: Iterable[tuple[Any, ...]]) -> list[ClassColumn]:
    """The columns of classes, from the rows of `class_order`, by label. Names differ even without regard to case."""
    columns: list[ClassColumn] = []
    taken: set[str] = set()
    classes = list(classes)
    members = _members({row[0]: row[3] for row in classes if len(row) > 3})
    for number, label, *_ in sorted(classes, key=lambda row: row[2]):
        name, attempt = label, 1
        while name.lower() in taken:
            attempt += 1
            name = f"{label}_{attempt}"
        taken.add(name.lower())
        columns.append(
            ClassColumn(number, label, f"probability_{name}", f"joint_log_likelihood_{name}", tuple(members.get(number, ())))
        )
    return columns


def _members(components: Mapping[int, int]) -> dict[int, list[int]]:
    """The numbers of the components of each class: first those of the first components, which are those of their classes."""
    places = range(1, max(components.values(), default=0) + 1)
    numbered = [number for place in places for number in sorted(components) if components[number] >= place]
    return {number: [member for member, of in enumerate(numbered, start=1) if of == number] for number in components}
