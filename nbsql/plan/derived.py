"""Sources with the columns that a model derives, as macros read them (sql/macros/counting/derived.sql)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from nbsql.plan.joins import columns_read
from nbsql.rendering.dialect import folded
from nbsql.rendering.renderer import Renderer
from nbsql.spec.derived import Derived, inputs, layers, needed
from nbsql.spec.spec import Spec


@dataclass(frozen=True)
class Layer:
    """A SELECT of a source and of the columns that it derives."""

    columns: Sequence[tuple[str, Markup | None]]  # a column and its expression; None passes the column on
    passes_all: bool = False  # whether all columns of the source come first, which none of the derived ones replaces
    without: str | None = None  # where the columns of the source are not known, the pattern of those that are replaced


def derived_of(spec: Spec, *, judged: bool = False) -> tuple[Derived, ...]:
    """The columns that a model derives for rows that are scored, or judged."""
    keys = (key for dimension in spec.joins for key, _ in dimension.on)
    return needed(spec.derived, {*columns_read(spec, judged=judged), *keys, *(spec.columns if judged else ())})


def columns_of_source(spec: Spec, *, judged: bool = False) -> list[str]:
    """The columns that scored or judged rows need from a source: those that are not derived, and those that others read."""
    derived = derived_of(spec, judged=judged)
    made = {each.name for each in derived}
    names = spec.columns if judged else [name for feature in spec.features for name in feature.columns]
    return list(dict.fromkeys([*(name for name in names if name not in made), *inputs(derived)]))


def derived_layers(
    renderer: Renderer, derived: Iterable[Derived], columns: Sequence[str] | None, *, exact: bool = False
) -> list[Layer]:
    """The layers that derive columns from a source with these columns; None: from any, on engines that select all but some.

    With `exact`, names that differ in case are different columns.
    """
    query, found = renderer.dialect.query, []
    for layer in layers(derived):
        made = {each.name if exact else folded(each.name): (each.name, query(each.expression)) for each in layer}
        if columns is None:
            found.append(Layer(list(made.values()), without=f"(?i:{'|'.join(re.escape(name) for name, _ in made.values())})"))
            continue
        new = dict(made)
        passed = [(name, new.pop(name if exact else folded(name), (name, None))) for name in columns]
        found.append(Layer([*((name, expression) for name, (_, expression) in passed), *new.values()]))
        columns = [name for name, _ in found[-1].columns]
    return found


def with_derived(
    renderer: Renderer, source: Markup, derived: Sequence[Derived], columns: Sequence[str] | None, *, exact: bool = False
) -> Markup:
    """The relation of a source with derived columns; for the arguments see `derived_layers`."""
    if not derived:
        return source
    return renderer.fragment("derived_source", source, derived_layers(renderer, derived, columns, exact=exact))
