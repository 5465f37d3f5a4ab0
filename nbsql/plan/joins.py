"""The joins of a statement with dimensions: their order, their columns, and the columns that a source lacks.

A score is a sum over features. The features of a dimension can therefore be scored on its rows, which are fewer than the
facts: the terms of its columns are summed once for each key, and joined with each fact as one number per class
(sql/macros/counting/joins.sql).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from markupsafe import Markup

from nbsql.errors import InputError
from nbsql.family import Family
from nbsql.plan.classes import ClassColumn
from nbsql.plan.context import Context, QueryOptions
from nbsql.plan.expressions import columns_in_expression
from nbsql.plan.rows import Joining
from nbsql.rendering.dialect import folded
from nbsql.rendering.layout import Layout
from nbsql.rendering.renderer import Renderer
from nbsql.spec.join import Dimension
from nbsql.spec.spec import Feature, Spec


def number_joins(
    renderer: Renderer, dimensions: Iterable[tuple[Dimension, Markup]], keys: Mapping[str, str] | None = None
) -> list[Joining]:
    """The joins of a statement, numbered from 1, with the dimensions and their relations in the order in which they are joined.

    `keys` has the names of columns of the source in the statement, where they differ.
    """
    ident, word = renderer.dialect.ident, renderer.dialect.word
    brought: dict[str, int] = {}
    found = []
    for number, (dimension, relation) in enumerate(dimensions, start=1):
        pairs = []
        for key, column in dimension.on:
            place = word(f"dimension_{brought[key]}") if key in brought else word("source")
            pairs.append((Markup(".").join([place, ident((keys or {}).get(key, key))]), column))
        found.append(Joining(number, dimension, relation, tuple(pairs)))
        brought |= dict.fromkeys(dimension.names, number)
    return found


def joins_of_columns(renderer: Renderer, joins: Sequence[Joining], columns: set[str], keys: Mapping[str, str]) -> list[Joining]:
    """The joins that provide some columns, without any others; for `keys` see `number_joins`."""
    wanted = set(columns)
    found: list[tuple[Dimension, Markup]] = []
    for joining in reversed(joins):
        kept = tuple(pair for pair in joining.columns if pair[1] in wanted)
        if kept:
            wanted |= {key for key, _ in joining.dimension.on}
            found.insert(0, (replace(joining.dimension, columns=kept), joining.relation))
    return number_joins(renderer, found, keys)


def columns_read(spec: Spec, *, judged: bool) -> set[str]:
    """The folded names of the columns that a model needs from a source, with the class and the slices of judged rows."""
    columns = {name for feature in spec.features for name in feature.columns}
    if spec.segment_by is not None:
        columns |= columns_in_expression(spec.segment_by)
    if judged:
        columns |= {spec.target} | (columns_in_expression(spec.slice_by) if spec.slice_by is not None else set())
    return set(map(folded, columns))


def needed_dimensions(spec: Spec) -> list[Dimension]:
    """The dimensions of a model, with the columns needed from each by a source that has none of them."""
    judged = {folded(name) for name in (spec.target, spec.weight) if name is not None}
    return missing_dimensions(spec, judged, columns_read(spec, judged=False), "", "")


def missing_dimensions(spec: Spec, names: set[str], wanted: set[str], label: str, title: str) -> list[Dimension]:
    """The dimensions that a source with these column names has to be joined with, and the columns needed from each."""
    besides = {folded(name) for name in (*spec.id, spec.target, spec.weight) if name is not None}
    found: list[Dimension] = []
    for dimension in reversed(spec.joins):
        required = [name for name in dimension.names if folded(name) in wanted]
        absent = [name for name in required if folded(name) not in names]
        if not absent:
            continue
        if len(absent) < len(required):
            present = next(name for name in required if name not in absent)
            raise InputError(
                f"{label} has {present!r} and no {absent[0]!r}, and {title} takes both from {dimension.title}; "
                f"leave {present!r} out, or give it both"
            )
        columns = tuple(pair for pair in dimension.columns if folded(pair[1]) in (wanted | besides) - names)
        found.insert(0, replace(dimension, columns=columns))
        wanted |= {folded(key) for key, _ in dimension.on}
    return found


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
