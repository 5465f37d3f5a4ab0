"""What must be known of the columns before they are counted, such as the edges of bins and the range of a kernel."""

from dataclasses import replace
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.learning.count import check_near_zero
from nbsql.learning.draft import Draft
from nbsql.learning.one_dependence import with_pairs, with_parents, with_trees
from nbsql.learning.selection import with_features
from nbsql.plan.context import Context
from nbsql.spec.dependence import AODE
from nbsql.spec.half_life import WEIGHT_NOW
from nbsql.spec.method import Weighted
from nbsql.spec.spec import Feature, Spec
from nbsql.spec.used import check_used

Answers = dict[str, list[tuple[Any, ...]]]
Facts = dict[str, tuple[Any, ...]]  # of columns of numbers, by name


def prepare_families(engine: Engine, spec: Spec, source: Source) -> Spec:
    """The spec with everything that must be known of its columns before they are counted.

    These are the answers to the questions of families, such as the edges of bins, and the dependences between features, if
    the method has any.
    """
    model, (answers, facts) = Context.of(spec), answers_for_numbers(engine, spec, source.relation)

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
        spec = with_trees(engine, with_useful_views(engine, spec, spec.weighted, source, facts), spec.weighted, source)
    if isinstance(spec.dependence, AODE):
        return with_pairs(engine, spec, spec.dependence, source)
    return spec if spec.dependence is None else with_parents(engine, spec, spec.dependence, source)


def with_useful_views(engine: Engine, spec: Spec, method: Weighted, source: Source, known: Facts) -> Spec:
    """The spec without further views of numbers that have two values, whose bins say the same, or whose squares vanish.

    Unless the user has asked for views, there are none of numbers where the weights are many, or the rows few for them.
    `known` are the facts of some columns.
    """
    views = [each for each in spec.features if each.is_number and each.family.cell == "number" and each.name != each.column]
    if not views:
        return spec
    if unknown := [each for each in views if each.column not in known]:
        columns = {each.index: each.column for each in unknown}
        rows = engine.query_macro("number_facts", Context.of(spec), source.relation, unknown, False)
        known = known | {columns[index]: tuple(found) for index, *found in rows}
    facts = {each.index: known[each.column] for each in views if each.column in known}
    near_zero = views[0].family.near_zero
    varied = {
        index
        for index, (_, _, distinct, least, largest, *_) in facts.items()
        if distinct > 2 and max(-least, largest) >= near_zero
    }
    useful = with_features(spec, [each.name for each in spec.features if each not in views or each.index in varied])
    most = min(MAX_VIEWED, max((rows for rows, *_ in facts.values()), default=0) // ROWS_OF_VIEW)
    if method.views is None and len(useful.features) > most:
        return with_features(spec, [each.name for each in spec.features if each not in views])
    return useful


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
            name: draft.engine.resolve_expression(expression, draft.source, name, alone=name == "segment_by")
            for name, expression in asked.items()
            if expression is not None
        }
    )


def check_use(draft: Draft) -> Draft:
    """The step that warns of the options that change nothing."""
    if draft.asked is not None:
        check_used(draft.asked, draft.spec)
    return draft


MAX_VIEWED = 200  # features, above which none is another view of a number unless it is asked for
ROWS_OF_VIEW = 5  # for each feature, from which on there are such views unasked
TOGETHER = ("binned_edges", "binned_mdl", "kernel_range")  # each of many numbers in one statement
MAX_VALUES = 500_000  # values in one statement; of larger tables it has fewer columns
ROWS_FOR_BINS = 5_000  # from which the bins are found that MDL chooses from, or up to twice as many,
MANY_VALUES = 1_000  # of a number that has more different values


def answers_for_numbers(engine: Engine, spec: Spec, source: Markup) -> tuple[Answers, Facts]:
    """The rows of the `fit_query` of each feature that has one of these, by its name; none if the feature has no value.

    Beside them the facts of columns that it took to find them.
    """
    groups: dict[tuple[str, str], list[Feature]] = {}
    for feature in spec.features:
        if (fit_query := feature.family.fit_query) in TOGETHER:
            groups.setdefault((str(fit_query), repr(feature.family.counting_options)), []).append(feature)
    answers: Answers = {feature.name: [] for features in groups.values() for feature in features}
    model, known = Context.of(spec), Facts()
    for (fit_query, _), features in groups.items():
        is_mdl = fit_query == "binned_mdl"
        rows = engine.query_value("row_count", source) if is_mdl or len(features) > 1 else 1
        shares, varied = dict.fromkeys((feature.index for feature in features), 1), 0.0
        if is_mdl and engine.renderer.traits.vectorised and spec.weight is None and rows >= 2 * ROWS_FOR_BINS:
            facts = engine.query_macro("number_facts", model, source, features, False)
            shares |= {index: rows // ROWS_FOR_BINS for index, _, _, distinct, *_ in facts if distinct > MANY_VALUES}
            varied = max(distinct for _, _, _, distinct, *_ in facts) / rows
            family: Any = features[0].family
            columns = {} if family.special else {each.index: each.column for each in features}
            known |= {columns[index]: tuple(found) for index, *found in facts if index in columns}
        for share in sorted({*shares.values()}):
            alike = [feature for feature in features if shares[feature.index] == share]
            size = max(1, MAX_VALUES // max(1, rows // share))
            # The rows of a sample are told apart by their numbers where these differ, so that their order does not matter.
            sampling = (share, varied > 1 / 2) if is_mdl else ()
            for start in range(0, len(alike), size):
                read = alike[start : start + size]
                names = {feature.index: feature.name for feature in read}
                for index, *answer in engine.query_macro(fit_query, model, source, read, *sampling):
                    answers[names[index]].append(tuple(answer))
    return answers, known
