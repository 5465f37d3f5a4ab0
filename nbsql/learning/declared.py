"""Values that a fit declares (classes, levels, priors), written as the type of their column writes them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.errors import InputError, listed
from nbsql.family.checks import shortest
from nbsql.learning.draft import Draft
from nbsql.spec.capabilities import check
from nbsql.spec.spec import Feature, Prior, Spec
from nbsql.spec.traits import check_features
from nbsql.storage.written import comparable, texts_as_written


def with_declared(engine: Engine, spec: Spec, classes: Any) -> tuple[Spec, list[tuple[Any, ...]]]:
    """The spec with the declared labels and levels, and these labels as text and in their own type.

    Raises InputError, as `declared_labels`, if the model takes no classes, or if a level is no value of its column.
    """
    labels = declared_labels(engine, classes, spec.target, spec.target_type)
    features = tuple(_with_levels(engine, each) if each.family.cell == "level" else each for each in spec.features)
    spec = replace(spec, classes=tuple(row[0] for row in labels), features=features)
    if labels:
        check(spec, "classes")
        check_features(spec.features, "classes")
    return spec, labels


def declared_labels(engine: Engine, classes: Any, target: str, kind: str) -> list[tuple[Any, ...]]:
    """The declared labels as text and in their own type; empty if none were declared.

    Raises InputError unless the classes are a list of labels of the target's type.
    """
    if classes is None:
        return []
    values = [] if isinstance(classes, (str, Mapping)) or not isinstance(classes, Iterable) else list(classes)
    if not values or any(value is None for value in values):
        raise InputError(f"⟨classes⟩ must be a list of labels, not {classes!r}")
    rule = f"⟨classes⟩ must be labels of {target!r}, which is {kind}"
    texts = texts_as_written(engine, map(shortest, values), kind, rule)
    return engine.query_macro("declared_labels", [*dict.fromkeys(texts.values())], engine.renderer.dialect.query(kind))


def with_given_priors(engine: Engine, spec: Spec, labels: Sequence[tuple[Any, ...]]) -> Spec:
    """The spec with given priors by label as text, as the engine writes the labels; other priors are unchanged.

    Raises InputError if a class has no prior, or a prior names no class.
    """
    if spec.prior.kind != "given":
        return spec
    names = [shortest(name) for name, _ in spec.prior.given]
    rule = f"prior must name labels of {spec.target!r}, which is {spec.target_type}"
    texts = texts_as_written(engine, names, spec.target_type, rule)
    given = _by_text(texts, zip(names, (p for _, p in spec.prior.given), strict=True), "prior")
    remaining = {comparable(name, spec.target_type): name for name in given}
    priors = {}
    for name, *_ in labels:
        if comparable(name, spec.target_type) not in remaining:
            raise InputError(f"⟨prior⟩ has no probability for class {name!r}; name every class")
        priors[name] = given[remaining.pop(comparable(name, spec.target_type))]
    if remaining:
        raise InputError(f"⟨prior⟩ names {listed(remaining.values())}, which is no class of {spec.target!r}")
    return replace(spec, prior=Prior("given", given=tuple(priors.items())))


def _with_levels(engine: Engine, feature: Feature) -> Feature:
    """A category whose declared values are written as the fit counts them."""
    family: Any = feature.family
    alphas = family.alpha if isinstance(family.alpha, Mapping) else {}
    kind = feature.types[0] if feature.types else ""

    def written(x: Markup) -> Markup:
        return engine.renderer.fragment("text_as_fitted", feature, feature.column, feature.whole, x)

    rule = f"levels must be values of {feature.column!r}, which is {kind}"
    texts = texts_as_written(engine, [*alphas, *family.levels], kind, rule, written)
    alpha = _by_text(texts, alphas.items(), f"alpha of {feature.name!r}") if alphas else family.alpha
    levels = [*dict.fromkeys(texts[level] for level in family.levels)]
    return replace(feature, family=replace(family, alpha=alpha, levels=levels))


def _by_text(texts: Mapping[str, str], numbers: Iterable[tuple[str, float]], what: str) -> dict[str, float]:
    """Numbers by the texts of their values. Raises InputError if a value has two."""
    found: dict[str, float] = {}
    for value, number in numbers:
        if texts[value] in found:
            raise InputError(f"{what} names {texts[value]!r} twice; name it once")
        found[texts[value]] = number
    return found


def declare(draft: Draft) -> Draft:
    """The step of a fit that writes the classes and levels which the user declared as their columns do."""
    spec, declared = with_declared(draft.engine, draft.spec, draft.options.classes)
    return replace(draft, spec=spec, declared=declared)


def give_priors(draft: Draft) -> Draft:
    """The step of a fit that gives each class the prior that the user has given."""
    return replace(draft, spec=with_given_priors(draft.engine, draft.spec, draft.declared or draft.labels))
