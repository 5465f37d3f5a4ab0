"""Resolves the arguments of a fit into a spec: finds the columns, chooses the families, and refuses impossible requests."""

from collections.abc import Sequence
from dataclasses import replace

from nbsql.errors import InputError
from nbsql.family import Nulls, weighted
from nbsql.family.checks import choice
from nbsql.spec.capabilities import check
from nbsql.spec.column import Column, Columns
from nbsql.spec.components import Components
from nbsql.spec.dependence import AODE, KDB, TAN
from nbsql.spec.estimating import check_estimating, estimated, prior_of
from nbsql.spec.features import resolve_features
from nbsql.spec.half_life import PERIOD, WEIGHT, WEIGHT_NOW, HalfLife
from nbsql.spec.method import EM, Clusters, Discriminant, Logistic, Mixture, weights_of
from nbsql.spec.options import Counting, Infer, Options
from nbsql.spec.spec import NO_TARGET, Feature, Spec
from nbsql.spec.traits import check_features


def resolve(columns: Sequence[Column], options: Options, source: str) -> Spec:
    """The spec of a model of `source` with these columns.

    Raises InputError if a column is unknown, ambiguous or of a type without a family, or if an option is wrong.
    """
    known = Columns(columns, source)
    target = known.find(options.target)
    if target.kind in ("tokens", "token counts", "other"):
        raise InputError(
            f"target column {target.name!r} is {target.type}; a class is one scalar value: cast it, to text say"
            + (f", or pass pandas.read_json({source!r}) if the file has one per column" if source.endswith(".json") else "")
        )
    ids = known.find_all(options.id, "id")
    half_life = options.weight if isinstance(options.weight, HalfLife) else None
    weight = known.find(WEIGHT if half_life else options.weight) if options.weight is not None else None
    if weight is not None and not weight.is_number:
        raise InputError(f"weight column {weight.name!r} is {weight.type}; weights must be numbers")
    aged = known.find_all(half_life.columns, "a half-life") if half_life else []
    for role, column in [("weight", weight), *(("id", column) for column in ids), *(("time or weight", c) for c in aged)]:
        if column is not None and column.name == target.name:
            raise InputError(f"column {column.name!r} cannot be both the target and the {role}")
    choice(options.nulls, Nulls, "nulls")
    choice(options.infer, Infer, "infer")
    check_estimating(options)
    reserved = {target.name, *(c.name for c in (*ids, *aged)), *([weight.name] if weight else [])}
    reserved |= {WEIGHT, PERIOD, WEIGHT_NOW} if weight is not None and weight.name in (WEIGHT, WEIGHT_NOW) else set()
    counted = resolve_features(known, options, reserved)
    unsmoothed = [key for key in options.classifier.unsmoothed if key not in options.families]
    features = estimated(counted, options, nulls=options.nulls, unsmoothed=unsmoothed)
    _check_backoff(features)
    segments = options.segments
    spec = Spec(
        target=target.name,
        target_type=target.label_type,
        id=tuple(c.name for c in ids),
        weight=weight.name if weight else None,
        half_life=half_life and replace(half_life, **dict(zip(("at", "weight"), (c.name for c in aged), strict=False))),
        slice_by=options.slice_by,
        segment_by=None if segments is None else segments.by,
        segment_shrinkage=0.0 if segments is None else segments.shrinkage,
        components=_components(options, features),
        features=features,
        prior=prior_of(options),
        logistic=method if isinstance(method := options.classifier, Logistic) else None,
        weighted=weights_of(method, has_target=target.name != NO_TARGET),
        dependence=method if isinstance(method, (TAN, KDB, AODE)) else None,
        em=method if isinstance(method, EM) else None,
        clusters=method if isinstance(method, Clusters) else None,
        defaults={
            "alpha": options.pseudo_count,
            "nulls": options.nulls,
            "unseen": options.unseen,
            **({"estimate": options.estimate} if options.estimate else {}),
        },
    )
    _check_together(spec)
    _check_used(spec, options)
    return spec if half_life is None else replace(spec, slice_by=PERIOD)


def _check_used(spec: Spec, options: Options) -> None:
    """Raise InputError if alpha or the prior was given, and nothing in the model depends on it."""
    is_smoothed = any(each.family.smoothed for each in spec.features) or spec.prior.kind == "smoothed"
    if options.alpha is not None and spec.logistic is not None:
        raise InputError(
            "⟨method='logistic'⟩ learns weights, which alpha does not smooth; leave out ⟨alpha⟩, or set their penalty"
        )
    if options.alpha is not None and isinstance(options.classifier, Discriminant) and not is_smoothed:
        raise InputError(
            f"⟨method={options.classifier.name!r}⟩ has no feature and no prior that alpha smooths; leave out ⟨alpha⟩"
        )
    if spec.prior.kind != "empirical" and spec.features and all(each.family.complement for each in spec.features):
        raise InputError("a complement is scored without the prior, and no other feature is there; leave out ⟨prior⟩")


def _check_together(spec: Spec) -> None:
    """Raise InputError unless the options can be combined."""
    asked: dict[str, object] = {"slice_by": spec.slice_by, "segment_by": spec.segment_by, "half_life": spec.half_life}
    asked |= {"prior": spec.prior.kind != "empirical" or None, "untargeted": True if not spec.has_target else None}
    for use, value in asked.items():
        if value is not None:
            check(spec, use)
    if not spec.has_target and isinstance(spec.dependence, KDB) and spec.dependence.k is None:
        raise InputError("without a target no classes say how many parents are best; say it: ⟨method=nbsql.KDB(k=2)⟩")
    if not spec.has_target:
        check_features(spec.features, "target=None")
    if spec.segment_by is not None:
        check_features(spec.features, "segment_by")
    if spec.is_soft:
        check_features(spec.features, "method='em'" if spec.em is not None else "method='clusters'")
    if spec.components is not None:
        check_features(spec.features, "components")
        if not spec.components.numbers:
            raise InputError("components need a number among the features, by which rows are near to each other")
    if spec.weighted is not None:
        check_features(spec.features, "per='class and feature'" if spec.weighted.is_by_class else "method='weighted'")
    if spec.logistic is not None:
        _check_weights(spec.features)


def _check_weights(features: Sequence[Feature]) -> None:
    """Raise InputError unless every feature can have weights."""
    for feature in features:
        if feature.family.unseen == "smooth":
            raise InputError(
                f"⟨unseen='smooth'⟩ of {feature.name!r} is of likelihoods, and ⟨method='logistic'⟩ has weights; leave it out"
            )
        if weighted(feature.family) is None:
            takes = "numbers, categories, booleans and count columns"
            raise InputError(
                f"⟨method='logistic'⟩ takes {takes}, and {feature.name!r} is {feature.family.name}; "
                f"leave it out with ⟨exclude=[{feature.column!r}]⟩"
            )


def _components(options: Counting, features: Sequence[Feature]) -> Components | None:
    """The components that the options request; None if no class is split."""
    method = options.classifier
    if not isinstance(method, Mixture) or method.components == 1:
        return None
    return Components(method.components, tuple(feature.column for feature in features if feature.is_number))


def _check_backoff(features: Sequence[Feature]) -> None:
    """Raise InputError if a missing value is a category: a backoff reads NULL wherever the joint value is known."""
    backed = {column for feature in features if feature.family.backoff for column in feature.columns}
    for feature in features:
        if feature.column in backed and not feature.family.over_columns and feature.family.nulls == "category":
            raise InputError(
                f"⟨backoff='naive'⟩ needs ⟨nulls='skip'⟩ for {feature.name!r}, whose missing values are a category"
            )
