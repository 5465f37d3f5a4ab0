"""Sources with the columns that a model derives, as macros read them (sql/macros/counting/derived.sql)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from nbsql.errors import NotSupportedError
from nbsql.plan.expressions import translated
from nbsql.plan.joins import columns_read
from nbsql.rendering.dialect import folded, restore
from nbsql.rendering.renderer import Renderer
from nbsql.spec.column import value_kind
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


def with_derived_columns(spec: Spec, derived: Iterable[Derived]) -> Spec:
    """A spec with the derived columns of its source, of the parts of dates only those that it reads."""
    spec = replace(spec, derived=tuple(derived))
    if not spec.derived:
        return spec
    read = derived_of(spec, judged=True)
    return replace(spec, derived=tuple(each for each in spec.derived if each.part is None or each in read))


def reading_texts(renderer: Renderer, derived: Sequence[Derived]) -> tuple[Derived, ...]:
    """Derived columns for a source of any types: what they read as a text is cast to one first."""
    casts = [
        Derived(name, restore(renderer.fragment("column_as_text", name)), ((name, kind),))
        for name, kind in inputs(derived).items()
        if value_kind(kind) == "text"
    ]
    return (*casts, *derived)


def columns_of_source(spec: Spec, *, judged: bool = False) -> list[str]:
    """The columns that scored or judged rows need from a source: those that are not derived, and those that others read."""
    derived = derived_of(spec, judged=judged)
    made = {each.name for each in derived}
    own = [name for each in spec.features for name in each.columns[: 1 if each.family.parent else None]]  # parents have theirs
    names = spec.columns if judged else [*own, *(name for feature in spec.features for name in feature.columns)]
    return list(dict.fromkeys([*(name for name in names if name not in made), *inputs(derived)]))


def translated_expression(
    renderer: Renderer, each: Derived, dialect: str, columns: Mapping[str, str], subject: str, kind: str | None = None
) -> str:
    """The expression of a derived column of another dialect in that of a renderer.

    `columns` has the names of what it reads by their folded names, and `kind` is the type of a date or time, if it is known.
    Raises NotSupportedError, with `subject`, if it has none.
    """
    if each.part is None:
        return translated(each.expression, dialect, renderer, columns, subject)
    if each.zone not in (None, "UTC") and not renderer.traits.named_zones:
        raise NotSupportedError(
            f"{subject} is a part of a time in {each.zone}, and {renderer.dialect.name} may not know this time zone; take UTC, "
            "or make a column of it in the source"
        )
    ((name, _),) = each.reads
    column_type = renderer.dialect.query(kind) if kind and renderer.traits.table_macros else None
    return restore(renderer.fragment("calendar_part", columns[folded(name)], each.part, each.zone, column_type))


def with_own_parts(renderer: Renderer, spec: Spec) -> Spec:
    """A spec from elsewhere, whose parts of dates and times are computed as nbsql does, whatever it says."""

    def own(each: Derived) -> Derived:
        if each.part is None:
            return each
        ((name, kind),) = each.reads
        made = translated_expression(renderer, each, "", {folded(name): name}, each.name, kind)
        return replace(each, expression=made)

    return replace(spec, derived=tuple(map(own, spec.derived)))


def derived_layers(
    renderer: Renderer, derived: Iterable[Derived], columns: Sequence[str] | None, *, exact: bool = False
) -> list[Layer]:
    """The layers that derive columns from a source with these columns; None: from any, on engines that select all but some.

    With `exact`, names that differ in case are different columns.
    """
    found = []
    for layer in layers(derived):
        made = {each.name if exact else folded(each.name): (each.name, _expression(renderer, each)) for each in layer}
        if columns is None:
            found.append(Layer(list(made.values()), without=f"(?i:{'|'.join(re.escape(name) for name, _ in made.values())})"))
            continue
        new = dict(made)
        passed = [(name, new.pop(name if exact else folded(name), (name, None))) for name in columns]
        found.append(Layer([*((name, expression) for name, (_, expression) in passed), *new.values()]))
        columns = [name for name, _ in found[-1].columns]
    return found


def _expression(renderer: Renderer, each: Derived) -> Markup:
    """The expression of a column in the dialect of its model, whose errors name a column of numbers beside words."""
    if each.is_number_beside_words:
        return renderer.fragment("without_words", each.reads[0][0], each.words, is_number=True, names_column=True)
    return renderer.dialect.query(each.expression)


def with_derived(
    renderer: Renderer, source: Markup, derived: Sequence[Derived], columns: Sequence[str] | None, *, exact: bool = False
) -> Markup:
    """The relation of a source with derived columns; for the arguments see `derived_layers`."""
    if not derived:
        return source
    return renderer.fragment("derived_source", source, derived_layers(renderer, derived, columns, exact=exact))
