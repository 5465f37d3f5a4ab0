"""The choice of the form of scoring by the size of a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

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
    blocked = len(joined) if many_levels(joined, layout) else 0
    by_lists = is_vectorised(spec, traits) and spec.logistic is None
    numbers = [
        feature for feature in spec.features if not feature.family.has_lookups and not (by_lists and feature.is_scored_in_lists)
    ]
    terms = class_count * (blocked + sum(len(feature.columns) for feature in numbers))
    return class_count <= layout.wide_classes and terms <= layout.wide_terms


def is_vectorised(spec: Spec, traits: Traits) -> bool:
    """Whether lists and sums without guards are faster, which requires that all rows have the parameters of one model."""
    return traits.vectorised and not (spec.segment_by or spec.components or spec.joins)


def many_levels(features: Iterable[Feature], layout: Layout) -> bool:
    """Whether there are so many categories that the number of values of each matters."""
    return sum(feature.family.level for feature in features) > layout.star_joins


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
