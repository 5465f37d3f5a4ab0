"""Categories in columns of 0 and 1: one column for each value, of which one is 1 in a row, as a one-hot encoding makes them.

Naive Bayes counts such a category once for each of its columns, and what pairs of columns say is lost among them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.family import ADDED, NUMBERS, all_named
from nbsql.learning.calendars import names_with_a_role
from nbsql.learning.missing_words import column_matches_key
from nbsql.rendering.dialect import folded, restore
from nbsql.spec.column import Column
from nbsql.spec.options import Options

_MIN_MEETINGS = 10.0  # of two ones in a row by chance, from which flags that never meet are no accident
_SEPARATOR = re.compile(r"[^0-9A-Za-z]+|(?<=[A-Za-z])(?=[0-9])")
NONE = "none"  # the value where all columns are 0, as where the encoding has left out the first


def categories_of_flags(engine: Engine, source: Source, options: Options) -> dict[str, tuple[list[str], str]]:
    """The categories that columns of 0 and 1 encode, by name: their columns, and the SQL expression of the value of a row.

    The columns have a common beginning of their names, which is the name of the category. In each row exactly one of them is
    1, or at most one where chance would have made several 1 in some ten rows; none has a missing value. The options are those
    of a fit: columns that have a role or a family there, or are left out, belong to no category.
    """
    others = {folded(each.name) for each in source.columns} | {folded(name) for name in options.derive}
    if options.features is not None or folded(options.target) not in others:  # of which the fit itself says so
        return {}
    families = all_named(options.families, ADDED) if isinstance(options.families, Mapping) else {}
    used = names_with_a_role(options) | {folded(name) for family in families.values() for name in family.columns}
    columns = [each for each in source.columns if each.kind in ("boolean", *NUMBERS) and folded(each.name) not in used]
    groups = _groups([each for each in columns if not any(column_matches_key(each.name, key) for key in families)])
    if not groups:
        return {}
    row = engine.query_macro("facts_of_flags", source.relation, [group for _, group in groups])[0]
    taken: set[str] = set()
    found: dict[str, tuple[list[str], str]] = {}
    for place, (name, group) in enumerate(groups):
        known, least, largest, meetings = row[1 + 4 * place : 5 + 4 * place]
        names = {folded(name), *(folded(each.name) for each in group)}
        is_one_category = known == row[0] and largest == 1 and (least == 1 or meetings >= _MIN_MEETINGS)
        if is_one_category and folded(name) not in others and not taken & names:
            taken |= names
            value = engine.renderer.fragment("category_of_flags", group, None if least == 1 else NONE)
            found[name] = [each.name for each in group], restore(value)
    place_of = {each.name: place for place, each in enumerate(columns)}
    return dict(sorted(found.items(), key=lambda each: place_of[each[1][0][0]]))


def with_categories(options: Options, found: dict[str, tuple[list[str], str]]) -> Options:
    """The options of a fit with these categories in the place of their columns."""
    options = options.excluding(*(name for columns, _ in found.values() for name in columns))
    return replace(options, derive={**options.derive, **{name: expression for name, (_, expression) in found.items()}})


def _groups(columns: Sequence[Column]) -> list[tuple[str, list[Column]]]:
    """Columns with a common beginning of their names, and the longest such beginning, large groups first."""
    found: dict[str, list[Column]] = {}
    for column in columns:
        for separator in _SEPARATOR.finditer(column.name):
            if beginning := column.name[: separator.start()]:
                found.setdefault(beginning, []).append(column)
    names = {tuple(group): name for name, group in sorted(found.items(), key=lambda each: len(each[0])) if len(group) > 1}
    return [(name, [*group]) for group, name in sorted(names.items(), key=lambda each: (-len(each[0]), each[1]))]
