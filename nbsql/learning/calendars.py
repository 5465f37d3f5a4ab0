"""Dates and times as features: the parts of a column, which a fit derives, and whose families are categories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, listed
from nbsql.family import ADDED, Calendar, Family, all_named
from nbsql.family.calendar import EXPLICIT, OF_DAYS, OF_TIMES, PARTS, part_name
from nbsql.learning.missing_words import column_matches_key
from nbsql.rendering.dialect import folded, restore
from nbsql.spec.column import ZONED, Column, value_kind
from nbsql.spec.derived import Derived
from nbsql.spec.half_life import HalfLife
from nbsql.spec.join import check_joins
from nbsql.spec.options import Best, Options
from nbsql.warn import warn_user

_ROWS_A_VALUE = 2  # of a part that is taken without being asked for: with fewer it would be a number of the row
_PARTS_BY_TYPE = {"date": OF_DAYS, "timestamp": PARTS, "time": OF_TIMES}  # by the beginning of the type's name
UTC = "UTC"


@dataclass(frozen=True)
class _Request:
    """What the options of a fit say about its columns of dates and times."""

    families: Mapping[Any, Family]
    named: frozenset[str]  # the folded names of the columns that it names
    taken: frozenset[str]  # those of the columns that have another role, or are left out
    chosen: frozenset[str] | None  # those of the only columns that are features; None for all

    @classmethod
    def of(cls, options: Options) -> _Request:
        families = all_named(options.families, ADDED) if isinstance(options.families, Mapping) else {}
        features: Any = options.features
        if isinstance(features, Best):
            features = features.among
        chosen = None if features is None else _names(features)
        taken = names_with_a_role(options)
        asked = _names([key for key in families if isinstance(key, str)]) | (chosen or frozenset()) | _names(options.exclude)
        return cls(families, asked, taken, chosen)

    def calendar(self, column: Column) -> Calendar | None:
        """The calendar of a column, if it becomes a feature by its parts: the one asked for, or else that of its type."""
        families: list[Any] = [family for key, family in self.families.items() if column_matches_key(column.name, key)]
        calendar = next((family for family in families if family.cell == "part"), None)
        if calendar is not None or families or column.inferred_kind != "temporal" or folded(column.name) in self.taken:
            return calendar
        grouped = (name for family in self.families.values() for name in family.columns)
        if any(folded(name) == folded(column.name) for name in grouped):
            return None
        return Calendar() if _parts_of(column) and self._is_feature(column) else None

    def _is_feature(self, column: Column) -> bool:
        names = [column.name, *(part_name(part, column.name) for part in PARTS)]
        return self.chosen is None or any(folded(name) in self.chosen for name in names)

    def parts(self, column: Column, calendar: Calendar) -> Iterator[tuple[str, bool]]:
        """The parts of a column that may become features, and whether they do so whatever their values are."""
        is_chosen = self.chosen is None or folded(column.name) in self.chosen
        for part in calendar.parts or _parts_of(column):
            name = folded(part_name(part, column.name))
            is_asked = calendar.parts is not None or name in self.named
            if is_asked or (is_chosen and part not in EXPLICIT):
                yield part, is_asked


def names_with_a_role(options: Options) -> frozenset[str]:
    """The folded names of the columns that have a role other than a feature's in a fit, or that it leaves out."""
    taken = _names(options.target) | _names(options.id) | _names(options.exclude) | _names(options.weight)
    if isinstance(options.weight, HalfLife):
        taken |= _names(options.weight.columns)
    taken |= {folded(name) for join in check_joins(options.joins) for name, _ in join.pairs}
    return taken if options.segments is None else taken | _names(options.segments.by)


def calendar_parts(engine: Engine, source: Source, options: Options) -> dict[str, list[Derived]]:
    """The parts of each column of dates and times that a fit takes, by its name; there may be none that tells anything.

    A part that was not asked for must have several values, and some rows for each of them on average.
    """
    request = _Request.of(options)
    present = {folded(column.name) for column in source.columns}
    parts: dict[str, list[tuple[Derived, bool]]] = {}
    zoned = []
    for column in source.columns:
        calendar = request.calendar(column)
        if calendar is not None and column.kind == "temporal":
            _check(calendar, column)
            has_zone = value_kind(column.type) in ZONED
            zone = (calendar.zone or UTC) if has_zone else None
            derived = (
                (_part(engine, column, part, zone), is_asked)
                for part, is_asked in request.parts(column, calendar)
                if folded(part_name(part, column.name)) not in present  # made by hand
            )
            parts[column.name] = list(derived)
            is_inferred = not any(column_matches_key(column.name, key) for key in request.families)
            zoned += [column.name] if has_zone and is_inferred and parts[column.name] else []
    kept = _telling(engine, source, options.target, [pair for pairs in parts.values() for pair in pairs])
    found = {name: [part for part, _ in pairs if part in kept] for name, pairs in parts.items()}
    empty = [name for name, taken in found.items() if parts[name] and not taken]
    if empty:
        warn_user(f"no part of {listed(empty)} has several values with some rows each; left out")
    if zoned := [name for name in zoned if found[name]]:
        zone = f"⟨families={{{zoned[0]!r}: nbsql.Calendar(zone='Europe/Berlin')}}⟩"
        warn_user(f"the parts of {listed(zoned)} are those of the time zone UTC; for another one, {zone}")
    return found


def with_parts(columns: Iterable[Column], parts: Mapping[str, Sequence[Derived]]) -> list[Column]:
    """Columns of which some have parts, which are categories."""
    made = {each.name for derived in parts.values() for each in derived}
    names = {name: tuple(each.name for each in derived) for name, derived in parts.items()}
    return [
        replace(column, is_category=column.is_category or column.name in made, parts=names.get(column.name, column.parts))
        for column in columns
    ]


def without_dates_of_dimensions(source: Source, options: Options) -> Source:
    """A joined source whose dates and times in dimensions are no features. Raises InputError if one was asked for."""
    own = {column.name for column in source.facts.columns}
    request = _Request.of(options) if source.joins else None
    left_out = []
    for column in source.columns if request is not None else ():
        if request is not None and column.name not in own and request.calendar(column) is not None:
            if any(column_matches_key(column.name, key) for key in (*request.families, *(request.chosen or ()))):
                raise InputError(
                    f"{column.name!r} comes with a join, and parts are those of a column of {source.label} itself; "
                    "make columns of them in a view of the joined table"
                )
            left_out.append(column.name)
    if left_out:
        warn_user(
            f"{listed(left_out)} come{'s' * (len(left_out) == 1)} with a join, and dates are read in the source alone; left "
            "out: make columns of their parts in a view of the joined table"
        )
        source.columns = with_parts(source.columns, dict.fromkeys(left_out, ()))
    return source


def _names(value: Any) -> frozenset[str]:
    """The folded names in an option; what is no name is refused where the options are resolved."""
    values = [value] if isinstance(value, str) or not isinstance(value, Iterable) else value
    return frozenset(folded(name) for name in values if isinstance(name, str))


def _parts_of(column: Column) -> Sequence[str]:
    """The parts that a type has; none for an interval."""
    return next((parts for begin, parts in _PARTS_BY_TYPE.items() if column.type.lower().startswith(begin)), ())


def _check(calendar: Calendar, column: Column) -> None:
    """Raise InputError if a column has no part, or not all, of those asked for."""
    known = _parts_of(column)
    for part in calendar.parts or ():
        if part not in known:
            raise InputError(f"{column.name!r} is {column.type}, which has no {part}; leave it out of parts")
    if not known:
        raise InputError(f"{column.name!r} is {column.type}, which has no parts; derive a number of it, or leave it out")
    if calendar.zone is not None and value_kind(column.type) not in ZONED:
        raise InputError(f"{column.name!r} is {column.type}, which has no time zone; leave out zone")


def _part(engine: Engine, column: Column, part: str, zone: str | None) -> Derived:
    kind = engine.parameter_type(column.type)
    column_type = engine.type_name(kind) if engine.renderer.traits.table_macros else None
    expression = restore(engine.renderer.fragment("calendar_part", column.name, part, zone, column_type))
    return Derived(part_name(part, column.name), expression, ((column.name, column.type),), part=part, zone=zone)


def _telling(engine: Engine, source: Source, target: Any, parts: Sequence[tuple[Derived, bool]]) -> list[Derived]:
    """The parts that were asked for, and those that have several values with some rows each."""
    open_ = [each for each, is_asked in parts if not is_asked]
    kept = [each for each, is_asked in parts if is_asked]
    if not open_:
        return kept
    label = next((column.name for column in source.columns if folded(column.name) in _names(target)), None)
    expressions = [engine.renderer.dialect.query(each.expression) for each in open_]
    counts = iter(engine.query_macro("calendar_facts", source.relation, expressions, label)[0])
    return kept + [each for each in open_ if _tells(next(counts), next(counts))]


def _tells(rows: int, values: int) -> bool:
    return values > 1 and rows >= _ROWS_A_VALUE * values
