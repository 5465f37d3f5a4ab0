"""Steps of a fit that warn about its classes and features, and mark the features with what their cells show."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.errors import listed
from nbsql.learning.collinear import features_with_covariance
from nbsql.learning.draft import Draft
from nbsql.learning.family_warnings import advice, advice_on_classes, features_to_advise_on
from nbsql.learning.look import FIRST_ROWS
from nbsql.learning.missing_words import column_matches_key
from nbsql.learning.spelling_advice import advice_on_booleans, advice_on_missing_classes, advice_on_spellings
from nbsql.learning.text_advice import MOST_VALUES, advice_on_texts
from nbsql.plan.codes import parent_combinations
from nbsql.plan.form import complete_features, has_many_levels
from nbsql.spec.spec import Feature, Spec
from nbsql.warn import warn_user

_COUNTS = frozenset(["freq", "frequency", "count", "counts", "n", "n_rows", "count_star()"])  # what people call a count of rows
_LEAST = 20  # rows; of fewer, that a boolean is the same in all of them, or that they differ, says little


def warn_of_classes(draft: Draft) -> Draft:
    """The step that warns of labels in several spellings, of classes without rows, and of one class or too many."""
    engine, spec, labels = draft.engine, draft.spec, draft.labels
    counts = {row[1]: row[2] for row in labels if isinstance(row[1], str)}
    for line in (
        advice_on_spellings(engine, spec.target, [*counts], of_class=True),
        advice_on_missing_classes(spec.target, counts),
        advice_on_booleans(engine, draft.source, spec.target),
    ):
        if line is not None:
            warn_user(line)
    absent = [label for label, *_ in draft.declared if label not in {row[0] for row in labels}]
    if absent and spec.prior.kind == "empirical":
        warn_user(f"no row is {listed(absent)}, whose empirical prior is 0; with ⟨prior='smoothed'⟩ or 'uniform' it is above")
    if len(labels) == 1 and not draft.declared and spec.has_target and spec.clusters is None:
        warn_user(f"{spec.target!r} has one class only, {labels[0][0]!r}; every prediction will be that class")
    elif (advice_line := advice_on_classes(engine, spec.target, labels)) is not None:
        warn_user(advice_line)
    return draft


def mark_features(draft: Draft) -> Draft:
    """The step of a fit that marks its features with what `feature_summary` (model.sql) shows of their cells."""
    engine, spec = draft.engine, draft.spec
    rows = engine.query_macro("feature_summary", draft.statistics, for_advice=any(features_to_advise_on(spec)))
    complete, summarised = complete_features(rows), {row[0] for row in rows}

    def marked(feature: Feature) -> Feature:
        near, empty = complete.get(feature.name, False), feature.is_inferred and feature.name not in summarised
        few = 0 < len(feature.bins) <= engine.renderer.layout.few_values
        return replace(feature, is_complete=feature.name in complete, has_near_means=near, has_few_values=few, is_empty=empty)

    spec = mark_few_values(engine, replace(spec, features=tuple(map(marked, spec.features))), draft.statistics)
    return replace(draft.with_spec(features=spec.features), summary=rows)


def mark_few_values(engine: Engine, spec: Spec, statistics: Markup) -> Spec:
    """The spec with the categories marked that have few values, if there are so many categories that this matters."""
    layout = engine.renderer.layout
    if not engine.renderer.traits.vectorised:
        return spec
    if not has_many_levels(spec.features, layout):
        return _mark_few_pairs(engine, spec, statistics)
    few = {name for name, values in engine.query_macro("value_counts", statistics) if values <= layout.few_values}
    marked = (replace(each, has_few_values=each.family.level and each.name in few) for each in spec.features)
    return replace(spec, features=tuple(marked))


def _mark_few_pairs(engine: Engine, spec: Spec, statistics: Markup) -> Spec:
    """The spec with the categories marked that have few values together with those of their parents."""
    combinations = {each.name: parent_combinations(each) for each in spec.features if each.family.all_parents}
    if not combinations:
        return spec
    most = engine.renderer.layout.listed_pairs
    sizes = engine.query_macro("first_value_counts", statistics)
    few = {name for name, values in sizes if name in combinations and (values + 2) * combinations[name] <= most}
    marked = (replace(each, has_few_values=each.has_few_values or each.name in few) for each in spec.features)
    return replace(spec, features=tuple(marked))


def warn_of_features(draft: Draft) -> Draft:
    """The step of a fit that warns about features that tell nothing about the class, or would tell more otherwise."""
    texts = _advise_on_texts(draft)
    others = [*dict.fromkeys(texts.values()), *advice(draft.spec, draft.summary, besides=texts)]
    for line in (*_empty_features(draft), *_rows_left_out(draft), *_constant_features(draft), *_count_of_rows(draft), *others):
        warn_user(line)
    return draft


def _empty_features(draft: Draft) -> Iterator[str]:
    """A line on features without values, or on a model without features."""
    spec, summarised = draft.spec, {row[0] for row in draft.summary}
    empty = [feature for feature in spec.features if feature.name not in summarised]
    apart = [feature for feature in empty if feature.family.kind == "matrix" and len(feature.columns) > 1]
    for feature in apart:
        some = "leave out those that are often NULL, with ⟨exclude=[...]⟩"
        yield f"no row has all the numbers of {feature.name!r}, which adds nothing to a score; {some}"
    if names := [feature.name for feature in empty if feature not in apart]:
        is_number = any(feature.name in names and feature.family.kind == "density" for feature in empty)
        counted = " (NaN and infinities count as such)" if is_number else ""
        yield f"nothing but NULL in {listed(names)}{counted}; left out of the score"
    if not spec.features:
        yield "the model has no features; it predicts the most frequent class"


def _rows_left_out(draft: Draft) -> Iterator[str]:
    """A line for each covariance matrix that some rows do not count in."""
    summarised = {row[0] for row in draft.summary}
    for feature in features_with_covariance(draft.spec):
        without = draft.engine.query_value("rows_missing_a_number", draft.statistics, feature)
        if without > 0 and feature.name in summarised:
            rows = (
                f"rows of weight {without:,.15g}" if draft.spec.weight else f"{without:,.15g} row{'' if without == 1 else 's'}"
            )
            yield f"{rows} without one of the numbers of {feature.name!r}, and so left out of its estimates"


def _constant_features(draft: Draft) -> Iterator[str]:
    """A line on columns of one value, and one on numbers that are not cut."""
    spec, constant = draft.spec, {row[0]: row[2] for row in draft.summary if not row[1]}
    booleans = [f for f in spec.features if f.family.cell == "boolean" and constant.get(f.name, 0) >= _LEAST]
    same = [f for f in spec.features if f.name in constant and (f.family.centred or f.family.level or f in booleans)]
    asked, views = draft.options.families, Counter(feature.columns for feature in spec.features)
    made = {each.name for each in spec.features if not any(column_matches_key(each.column, key) for key in asked)}
    tried = made if spec.weighted is not None and spec.found_dependence is None else ()  # the method has tried to cut them
    told = "class" if spec.has_target and spec.clusters is None else "row"
    if names := [feature.name for feature in same if feature.family.edges != ()]:
        yield f"one value only in {listed(names)}; such a column tells no {told} from another"
    one_bin = [f for f in same if f.family.edges == () and views[f.columns] == 1]  # no other feature may tell what it does not
    if uncut := [feature.name for feature in one_bin if feature.name not in tried]:
        cure = "⟨nbsql.Binned(by=[...])⟩"
        if spec.found_dependence is not None and made.issuperset(uncut):
            cure = f"⟨method={replace(spec.found_dependence, bins=10).code}⟩"
        yield f"one bin only in {listed(uncut)}, which tells no {told} from another; cut it elsewhere: {cure}"


def _count_of_rows(draft: Draft) -> Iterator[str]:
    """A line on a number that by its name is the rows of another table which a row sums up, if all others tell rows apart."""
    spec, kinds = draft.spec, draft.source.kinds
    found = [f for f in spec.features if f.is_inferred and f.whole and f.is_number and f.column.lower() in _COUNTS]
    others = [feature for feature in spec.features if feature not in found]
    if len(found) != 1 or not others or spec.weight is not None or not spec.has_target or spec.slice_by or spec.joins:
        return
    may_be_whole = found[0].column.lower() != "n"  # which beside other numbers may be anything
    is_sum = ((may_be_whole and each.whole) or each.family.cell in ("level", "boolean") for each in others)
    if not all(is_sum) or not all(each.column in kinds for each in others):
        return
    rows = draft.engine.renderer.fragment("excerpt", draft.source.relation, FIRST_ROWS)
    columns = [spec.target, *(each.column for each in others)]
    n, different = draft.engine.query_macro("different_rows", rows, columns, kinds)[0]
    if n == different and n >= _LEAST:
        name = found[0].column
        counts = f"{name!r} counts rows by its name, and no two rows differ in it alone"
        yield f"{counts}; if so, take it for their weight: ⟨weight={json.dumps(name, ensure_ascii=False)}⟩"


def _advise_on_texts(draft: Draft) -> Mapping[str, str]:
    """The advice on the categories that would be numbers, or have values that differ only by case or blanks."""
    kinds = draft.source.kinds
    texts = [f for f in draft.spec.features if f.family.cell == "level" and kinds.get(f.column) == "text"]
    if not texts:
        return {}
    names = [feature.name for feature in texts]
    values = draft.engine.query_macro("most_frequent_values", draft.statistics, names, MOST_VALUES)
    inferred = [feature for feature in texts if feature.is_inferred]
    found = dict(_repeated_header(draft, sorted({name for name, value, _ in values if value.strip() == name})))
    found |= advice_on_texts(draft.engine, values, inferred)
    for feature in texts:
        of_feature = [value for name, value, _ in values if name == feature.name]
        line = advice_on_spellings(draft.engine, feature.column, of_feature) if feature.name not in found else None
        if line is not None:
            found[feature.name] = line
    return found


def _repeated_header(draft: Draft, named_alike: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The target with a line, if it is a class of its own, and there are features with their own names among their values."""
    target, rows = draft.spec.target, {row[1]: row[2] for row in draft.labels}
    if draft.spec.has_target and named_alike and target in rows:
        fact = f"{target!r} is a class of {target!r}, in {rows[target]:,} of {sum(rows.values()):,} rows"
        cure = f"⟨missing={json.dumps([target, *named_alike], ensure_ascii=False)}⟩"
        also = f"{listed(named_alike)} {'has its' if len(named_alike) == 1 else 'have their'} own name, too"
        yield target, f"{fact}, and {also}, as where a header is repeated; leave such rows out: {cure}"
