"""Scores of dimensions: the terms of a dimension's columns are summed once for each key, and joined as one number a class.

A score is a sum over features. The features of a dimension can therefore be scored on its rows, which are fewer than the
facts, and their sum is joined with each fact (sql/macros/counting/joins.sql).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nbsql.family import Family
from nbsql.plan.classes import ClassColumn
from nbsql.plan.context import Context, QueryOptions
from nbsql.plan.rows import Joining
from nbsql.rendering.layout import Layout
from nbsql.spec.spec import Feature, Spec


def split_dimension_scores(
    spec: Spec, classes: Sequence[ClassColumn], joins: Sequence[Joining], layout: Layout
) -> tuple[Spec, list[Joining]]:
    """The spec without the features that are scored on dimensions, and the joins with these features and the other columns.

    The spec is that of a model of the wide form.
    """
    if spec.segment_by is not None or spec.components is not None or any(f.family.backoff for f in spec.features):
        return spec, list(joins)
    found: list[Joining] = []
    taken: list[Feature] = []
    for joining in joins:
        names = set(joining.dimension.names)
        own = tuple(feature for feature in spec.features if set(feature.columns) <= names and _skips_missing(feature.family))
        own = own if joining.is_scored_by_key else ()
        taken += own
        context = (
            Context.of(replace(spec, features=own), classes, QueryOptions(without_prior=True), layout=layout) if own else None
        )
        found.append(replace(joining, scored_model=context))
    rest = replace(spec, features=tuple(feature for feature in spec.features if feature not in taken))
    read = {spec.target, spec.weight, *spec.id, *(name for feature in rest.features for name in feature.columns)}
    read |= {key for joining in joins for key, _ in joining.dimension.on}
    scored = {name for feature in taken for name in feature.columns} - read
    return rest, [
        replace(joining, joined_columns=tuple(pair for pair in joining.columns if pair[1] not in scored)) for joining in found
    ]


def _skips_missing(family: Family) -> bool:
    """Whether a missing value adds nothing to the score, so that a fact without a dimension row has a sum of 0."""
    has_gaps = family.nulls == "category" or bool(family.gaps)  # of pairs, by column
    return not has_gaps and not family.impute and not (family.level and family.over_columns)
