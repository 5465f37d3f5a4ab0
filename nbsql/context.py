"""What the macros know as `model`: the spec, the columns that scoring has, and the form that it takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nbsql.family import Parameter
from nbsql.spec import Feature, Prior, Spec

# The time to plan a star of joins grows faster than the number of its joins and columns. So more categorical features than
# STAR_JOINS are scored in stars of BLOCK_JOINS, and more classes or terms than these are scored in the long form
# (sql/macros/score_long.sql). tests/benchmarks/plans.py measures both sides of these limits.
STAR_JOINS = 40
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


@dataclass(frozen=True)
class Part:
    """One row a class of an explanation: a feature, or one column (by number) of a feature over several."""

    feature: Feature
    column: str
    number: int | None


@dataclass(frozen=True)
class Wanted:
    """A parameter of a feature, among those that scoring reads."""

    feature: Feature
    parameter: Parameter


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
    ) -> None:
        self.columns = columns  # of the source, for an engine that has no word for all but some
        self.batch = batch
        self.by_slice = by_slice  # whether the tables that scoring reads have a model a slice, and a row meets its own
        self.whole_slices = whole_slices  # whether slices are whole numbers then, and no texts
        self.segmented = spec.segment_by is not None
        # The column by which a row, the parameters and the lookups of its own model meet, where there are several.
        self.own = "nbsql_slice" if by_slice else "nbsql_segment" if self.segmented else None
        self.slice_by = spec.cut_by
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
        self.parameters = [Wanted(feature, parameter) for feature in self.features for parameter in feature.family.parameters]
        self.has_prior = not spec.features or not all(feature.family.complement for feature in spec.features)
        self.class_columns = classes
        self.class_numbers = list(range(1, len(classes) + 1)) if wide else []
        levels = [feature for feature in self.features if feature.family.level]
        blocked = wide and len(levels) > STAR_JOINS
        self.star = [] if blocked else levels
        self.blocks = list(blocks(levels, BLOCK_JOINS)) if blocked else []
        self.in_joint = [feature for feature in self.features if not feature.family.level]
        self.added_first = ADDED_FIRST if len(levels) * len(classes) <= ADDED_FIRST_TERMS else 1
        self.explained = list(_parts(self.features))
        self.numbered = ordered or not wide or blocked or bool(self.backoffs) or any(f.family.bag for f in spec.features)


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


def is_wide(spec: Spec, class_count: int) -> bool:
    """Whether scoring takes the wide form, a column a class."""
    terms = class_count * sum(len(feature.columns) for feature in spec.features if feature.family.number)
    return class_count <= WIDE_CLASSES and terms <= WIDE_TERMS


def blocks(features: Sequence[Feature], size: int) -> Iterator[Sequence[Feature]]:
    for start in range(0, len(features), size):
        yield features[start : start + size]


def class_columns(classes: Iterable[tuple[Any, ...]]) -> list[ClassColumn]:
    """The columns of classes, from the rows of `class_order`, by label. Names differ even without regard to case."""
    columns: list[ClassColumn] = []
    taken: set[str] = set()
    for number, label, _ in sorted(classes, key=lambda row: row[2]):
        name, attempt = label, 1
        while name.lower() in taken:
            attempt += 1
            name = f"{label}_{attempt}"
        taken.add(name.lower())
        columns.append(ClassColumn(number, label, f"probability_{name}", f"joint_log_likelihood_{name}"))
    return columns
