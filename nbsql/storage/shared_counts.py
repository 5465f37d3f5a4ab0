"""Counts that may be shared: without those of few rows."""

from __future__ import annotations

from dataclasses import replace

from nbsql.errors import InputError, ModelError
from nbsql.family.checks import whole_number
from nbsql.spec.capabilities import check
from nbsql.spec.spec import Feature, Spec


def shared_spec(spec: Spec, least: int, title: str) -> Spec:
    """The spec of a file without counts of fewer than `least` rows, and without what the rows revealed about its features.

    Raises ModelError if such a model, which messages call `title`, and InputError if a feature cannot be shared this way.
    """
    whole_number(least, "least")
    check(spec, "least", title)
    if spec.weight is not None:
        raise ModelError(f"{title} has weights, so that no count of it is one of rows; least takes one fitted without")
    for feature in spec.features:
        if (cure := _reason_not_rows(feature)) is not None:
            raise InputError(f"least does not take {feature.name!r}, which is {feature.family.name}: {cure}")
    features = tuple(
        replace(feature, is_complete=False, has_near_means=False, has_few_values=False) for feature in spec.features
    )
    return replace(spec, features=features, shared=(*spec.shared, f"least {least}"))


def _reason_not_rows(feature: Feature) -> str | None:
    """Why the counts of a feature are not counts of rows; None if they are."""
    family = feature.family
    if family.kind in ("tokens", "pairs") and not family.presence:
        return "its counts are of words, and not of rows; leave it out, or take event='bernoulli' of a text"
    if family.parent:
        return "counts that are left out would follow from those of its parent; fit it without one"
    return None
