"""Averaged one-dependence estimators: naive Bayes of categories, with one additional feature of all their pairs."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.family import Pairs
from nbsql.learning.tree import category_features, category_sizes
from nbsql.spec.method import AODE
from nbsql.spec.spec import Feature, Spec

MAX_PAIRS = 2_000_000  # pairs of values; the lookups hold two rows for each


def with_pairs(engine: Engine, spec: Spec, options: AODE, source: Source) -> Spec:
    """The spec, whose numbers have been cut already, with a feature of the pairs of its categories, if it has at least two.

    Raises InputError if there are too many pairs of values.
    """
    categories = category_features(spec)
    with engine.temporaries() as temporary:
        sizes = category_sizes(engine, spec, categories, source, temporary("coded")) if len(categories) > 1 else {}
    pairs = sum(a * b for a, b in combinations(sizes.values(), 2))
    if pairs > MAX_PAIRS:
        largest = max(sizes, key=sizes.__getitem__)
        raise InputError(
            f"method='aode' would count {pairs:,} pairs of values, and takes {MAX_PAIRS:,}; "
            f"leave out columns of many, such as {categories[largest].column!r} with {sizes[largest]:,}, by exclude=[...]"
        )
    paired = [categories[number] for number in sizes]
    features = (*spec.features, *([_pairs_of(spec, paired, options)] if len(paired) > 1 else ()))
    return replace(spec, features=features, dependence=None)


def _pairs_of(spec: Spec, categories: list[Feature], options: AODE) -> Feature:
    family = Pairs(
        columns=[feature.column for feature in categories],
        edges=[getattr(feature.family, "edges", None) for feature in categories],
        integers=[feature.column for feature in categories if feature.whole],
        gaps=[feature.column for feature in categories if feature.family.nulls == "category"],
        added_counts=[feature.family.added_count for feature in categories],
        least=options.least,
        shrinkage=options.shrinkage,
        nulls="skip",
        unseen="skip",
        estimate="mean",
    )
    names = {feature.name for feature in spec.features}
    return Feature(
        next(name for name in ("pairs", *(f"pairs {number}" for number in range(2, len(names) + 3))) if name not in names),
        family,
        tuple(family.columns),
        len(spec.features) + 1,
        any(feature.floating for feature in categories),
        types=tuple(kind for feature in categories for kind in feature.types),
    )
