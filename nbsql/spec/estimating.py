"""Resolves the options of a fit that say how counts become probabilities, for the features of counts."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nbsql.errors import InputError
from nbsql.family import Family, Nulls, Unseen
from nbsql.family.checks import choice, estimate_named, non_negative
from nbsql.spec.options import Estimating, PriorKind, Smoothed
from nbsql.spec.spec import Feature, Prior, Spec


def check_estimating(options: Estimating) -> None:
    """Raise InputError unless the options have values that they can have together."""
    choice(options.unseen, Unseen, "unseen")
    alpha = non_negative(options.pseudo_count, "alpha")
    if options.estimate == "mle" and alpha > 0:
        raise InputError("⟨estimate='mle'⟩ takes no pseudo-counts; leave out ⟨alpha⟩, or set it to 0")


def estimated(
    features: Iterable[Feature], options: Estimating, *, nulls: Nulls, unsmoothed: Collection[str] = ()
) -> tuple[Feature, ...]:
    """Features of counts with the options of a fit in place of those that their families leave open, numbered from 1.

    `nulls` is how the fit counts a missing value; `unsmoothed` are the features over several columns to which nothing is added
    unless the fit names an alpha.
    """
    made: dict[tuple[int, float], Family] = {}  # by the identity of a family, which many columns share

    def with_defaults(feature: Feature) -> Family:
        alpha = options.pseudo_count
        if options.alpha is None and feature.name in unsmoothed and feature.family.over_columns:
            alpha = 1.0 if options.estimate == "mode" else 0.0  # the unsmoothed share is the mode with pseudo-counts of 1
        key = id(feature.family), alpha
        if key not in made:
            family = feature.family.with_estimate(estimate_named(options.estimate) or "mean")
            made[key] = family.with_defaults(
                alpha=0.0 if family.estimate == "mle" else alpha, nulls=nulls, unseen=options.unseen
            )
        return made[key]

    given = list(features)  # so that no identity is that of a family that is gone
    return tuple(replace(feature, family=with_defaults(feature), index=index) for index, feature in enumerate(given, start=1))


def prior_of(options: Estimating) -> Prior:
    """The prior of the classes. Raises InputError if there is none of that kind, or its numbers are none of probabilities."""
    prior: Any = options.prior
    if hasattr(prior, "to_dict"):  # a pandas Series
        prior = prior.to_dict()
    if isinstance(prior, Mapping):
        probabilities = {label: non_negative(p, f"the prior of {label!r}") for label, p in prior.items()}
        if abs((total := sum(probabilities.values())) - 1) > 1e-9:
            raise InputError(f"the priors sum to {total:.12g}; each class needs one, and they must sum to 1")
        return Prior("given", given=tuple(probabilities.items()))  # `fit` compares the labels with the classes
    if not isinstance(prior, Smoothed):
        choice(prior, PriorKind, "prior")
        if prior != "smoothed":
            return Prior(prior)
        prior = Smoothed()
    alpha = non_negative(options.pseudo_count if prior.alpha is None else prior.alpha, "alpha")
    if options.estimate == "mle" and alpha > 0:
        raise InputError("⟨estimate='mle'⟩ takes no pseudo-counts; leave out the alpha of the smoothed prior, or set it to 0")
    if options.estimate == "mode" and alpha < 1:
        raise InputError(
            "⟨estimate='mode'⟩ of the smoothed prior needs its alpha at 1 (no smoothing) or above: "
            f"a Dirichlet distribution with alpha = {alpha:g} has no mode"
        )
    return Prior("smoothed", alpha, estimate="mode" if options.estimate == "mode" else "mean")


def estimation_key(spec: Spec, features: Sequence[Feature] | None = None) -> str:
    """A text of everything, besides the counts, that the estimates of some features depend on. None means all features."""
    parts = []
    for feature in spec.features if features is None else features:
        # A family without smoothing has no pseudo-counts.
        family = feature.family if feature.family.smoothed else replace(feature.family, alpha=None)
        parts.append((feature.index, feature.name, feature.columns, family))
    return repr((spec.prior, parts))
