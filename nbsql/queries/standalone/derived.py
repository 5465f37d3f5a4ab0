"""Derived columns in the dialect of an engine that nbsql is not connected to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from markupsafe import Markup

from nbsql.plan.derived import Layer, columns_of_source, derived_of, translated_expression, with_derived
from nbsql.rendering.dialect import folded, restore
from nbsql.rendering.renderer import Renderer
from nbsql.spec.derived import Derived, layers
from nbsql.spec.spec import Spec


def scored_elsewhere(spec: Spec, relation: Markup, renderer: Renderer, dialect: str) -> tuple[Spec, Markup, list[str]]:
    """A spec and a source of another engine, with derived columns added under names of nbsql's own, which come third.

    The columns of the source are not known, so that none of them can be replaced. `dialect` is that of the model's engine.
    """
    names: dict[str, str] = {}  # the names by which the columns derived so far are read
    added: list[str] = []
    for layer in layers(derived_of(spec)):
        made = {each.name: f"nbsql_derived_{number}" for number, each in enumerate(layer, start=len(added) + 1)}
        columns = [(made[each.name], _translated(each, names, dialect, renderer)) for each in layer]
        relation = renderer.fragment("derived_source", relation, [Layer(columns, passes_all=True)])
        names |= {folded(name): new for name, new in made.items()}
        added += made.values()

    def renamed(columns: Sequence[str]) -> tuple[str, ...]:
        return tuple(names.get(folded(name), name) for name in columns)

    features = tuple(replace(feature, columns=renamed(feature.columns)) for feature in spec.features)
    return replace(spec, features=features), relation, added


def judged_elsewhere(spec: Spec, relation: Markup, renderer: Renderer, dialect: str) -> Markup:
    """A source of another engine, with only the columns that the model counts, and those derived."""
    derived = derived_of(spec, judged=True)
    if not derived:
        return relation
    foreign = [replace(each, expression=restore(_translated(each, {}, dialect, renderer)), words=()) for each in derived]
    return with_derived(renderer, relation, foreign, columns_of_source(spec, judged=True))


def _translated(each: Derived, names: Mapping[str, str], dialect: str, renderer: Renderer) -> Markup:
    """The expression of a derived column in another dialect; `names` has the new names of columns by their folded names."""
    columns = {folded(name): names.get(folded(name), name) for name, _ in each.reads}
    return renderer.dialect.query(translated_expression(renderer, each, dialect, columns, f"derived column {each.name!r}"))
