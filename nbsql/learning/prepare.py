"""What must be known of the columns before they are counted."""

from __future__ import annotations

from dataclasses import replace

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.learning.count import check_near_zero
from nbsql.learning.draft import Draft
from nbsql.learning.fit_queries import TOGETHER, answers_for_numbers
from nbsql.learning.one_dependence import with_pairs, with_tree
from nbsql.learning.selection import with_features
from nbsql.plan.context import Context
from nbsql.spec.half_life import WEIGHT_NOW
from nbsql.spec.method import TAN
from nbsql.spec.spec import Feature, Spec
from nbsql.spec.used import check_used


def prepare_families(engine: Engine, spec: Spec, source: Source) -> Spec:
    """The spec with everything that must be known of its columns before they are counted.

    These are the answers to the questions of families, such as the edges of bins, and the dependences between features, if
    the method has any.
    """
    model, answers = Context.of(spec), answers_for_numbers(engine, spec, source.relation)

    def with_answers(feature: Feature) -> Feature:
        while (fit_query := feature.family.fit_query) is not None:
            is_known = fit_query in TOGETHER
            rows = answers[feature.name] if is_known else engine.query_macro(fit_query, model, source.relation, feature)
            if fit_query == "kernel_range" and rows and max(map(abs, rows[0][:2])) < feature.family.near_zero:
                check_near_zero(engine, source.relation, {feature.column: feature.family})
            feature = replace(feature, family=feature.family.with_fitted(rows))
        return feature

    spec = replace(spec, features=tuple(map(with_answers, spec.features)))
    if spec.weighted is not None:
        spec = without_equal_views(engine, spec, source)
    if isinstance(spec.dependence, TAN):
        return with_tree(engine, spec, spec.dependence, source)
    return spec if spec.dependence is None else with_pairs(engine, spec, spec.dependence, source)


def without_equal_views(engine: Engine, spec: Spec, source: Source) -> Spec:
    """The spec without the further views of numbers of two values, which would say what their bins say."""
    views = [feature for feature in spec.features if feature.is_number and feature.name not in feature.columns]
    if not views:
        return spec
    facts = engine.query_macro("number_facts", Context.of(spec), source.relation, views, False)
    varied = {index for index, _, _, distinct_values, *_ in facts if distinct_values > 2}
    return with_features(spec, [each.name for each in spec.features if each not in views or each.index in varied])


def prepare(draft: Draft) -> Draft:
    """The step of a fit that asks what must be known of its columns; rows that lose weight with age have that of now."""
    weight = draft.spec.weight if draft.spec.half_life is None else WEIGHT_NOW
    prepared = prepare_families(draft.engine, replace(draft.spec, weight=weight), draft.source)
    return replace(draft, spec=replace(prepared, weight=draft.spec.weight))


def resolve_expressions(draft: Draft) -> Draft:
    """The step that writes the slices and segments in the engine's words. Raises InputError for what it cannot compute."""
    asked = {name: getattr(draft.spec, name) for name in ("slice_by", "segment_by")}
    return draft.with_spec(
        **{
            name: draft.engine.resolve_expression(expression, draft.source, name)
            for name, expression in asked.items()
            if expression is not None
        }
    )


def check_use(draft: Draft) -> Draft:
    """The step that warns of the options that change nothing."""
    if draft.asked is not None:
        check_used(draft.asked, draft.spec)
    return draft
