"""Sources whose rows lose weight with age."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.learning.draft import Draft
from nbsql.spec.capabilities import USES
from nbsql.spec.column import Columns
from nbsql.spec.half_life import NEGLIGIBLE_AGE, WEIGHT_NOW, HalfLife
from nbsql.spec.options import Options
from nbsql.spec.rules import RULES
from nbsql.spec.spec import Spec
from nbsql.warn import warn_user


@dataclass(frozen=True)
class AgeColumns:
    """The columns that `with_half_life` (half_life.sql) reads from a source."""

    half_life: HalfLife
    at: str
    type: str
    weight: str | None
    target: str
    nothing: int = NEGLIGIBLE_AGE


def weigh_by_age(engine: Engine, source: Source, target: str, half_life: Any) -> Source:
    """A source with the columns of a half-life added, by whose age rows are weighted; the source itself if it is none.

    Raises InputError if a column is missing, or its type is not one of times or weights.
    """
    if not isinstance(half_life, HalfLife):
        return source
    columns = Columns(source.columns, source.label)
    at = columns.find(half_life.at)
    is_time = at.kind == "temporal" and at.type.lower().startswith(("date", "timestamp"))
    if half_life.is_duration and not is_time:
        cure = "leave the unit out" if at.kind == "integer" else "cast it to a timestamp"
        raise InputError(f"column {at.name!r} is {at.type}, and a half-life of {half_life.half_life} takes a time; {cure}")
    if not half_life.is_duration and at.kind != "integer":
        cure = "say its unit, '30 days'" if is_time else "cast it"
        raise InputError(f"column {at.name!r} is {at.type}, and a half-life without a unit takes a whole number; {cure}")
    weight = None if half_life.weight is None else columns.find(half_life.weight)
    if weight is not None and not weight.is_number:
        raise InputError(f"weight column {weight.name!r} is {weight.type}; weights must be numbers")
    aged = AgeColumns(half_life, at.name, at.type, None if weight is None else weight.name, columns.find(target).name)
    relation = engine.renderer.fragment("with_half_life", source.relation, aged)
    added = engine.columns(relation)[len(source.columns) :]
    found = Source(relation, source.label, [*source.columns, *added], is_frame=source.is_frame, release=source.release)
    found.needs, found.derived, found.added = source, source.derived, source.added
    return found


def with_current_weight(options: Options) -> Options:
    """The options for a source that is weighted at one time, so that its weight is an ordinary column."""
    if not isinstance(options.weight, HalfLife):
        return options
    return replace(options.excluding(*options.weight.columns), weight=WEIGHT_NOW)


def check_reference_time(engine: Engine, spec: Spec, statistics: Markup, title: str) -> None:
    """Raise InputError if the counts are read at a time so far from the rows that nothing, or too much, is left of them."""
    aged = spec.half_life
    if aged is not None and aged.now is not None:
        newest = max((int(row[0]) for row in engine.query_macro("slices_in_order", statistics)), default=aged.whole_periods)
        if abs(newest - aged.whole_periods) > NEGLIGIBLE_AGE:
            raise InputError(
                f"{aged.now} is over {NEGLIGIBLE_AGE} half-lives from the newest rows of {title}; take a nearer time"
            )


def check_times(engine: Engine, half_life: Any, target: str, source: Source) -> None:
    """Raise InputError if a row of a source that `weigh_by_age` returned has no time, or as `check_gaps`."""
    if isinstance(half_life, HalfLife):
        periods = engine.renderer.subquery("periods_of_rows", source.relation, target)
        ((without,),) = engine.query_macro("rows_without_a_time", periods)
        if without:
            values = "1 value of column {column} is" if without == 1 else f"{without:,} values of column {{column}} are"
            text = RULES["time"].replace("{n} of column {column} are", values)
            raise InputError(text.format(column=repr(half_life.at)))
        check_gaps(engine, half_life, periods, source.label)


def check_gaps(engine: Engine, half_life: HalfLife, periods: Markup, title: str) -> None:
    """Raise InputError if a few rows are so far later than all others that those count for nothing, as rows of the year 9999.

    Warns if the others are nearly lost. `periods` is a relation of slice and n, the weight within the slice.
    """
    for period, gap, later, total in engine.query_macro("longest_gap", periods):
        rows = (
            f"{later:.4g} of {total:.4g} in {title} is from {half_life.described(period)} on, {gap:,} half-lives after the rest"
        )
        cure = "correct these times or leave such rows out, or fit them alone"
        if gap > NEGLIGIBLE_AGE:
            raise InputError(f"a weight of {rows}, which would count for nothing; {cure}")
        warn_user(f"a weight of {rows}, which hardly counts beside it; {cure}")


def refuse_half_life(options: Mapping[str, Any]) -> None:
    """Raise InputError if the rows are to age, for callers that search over the options of a fit."""
    if isinstance(options.get("weight"), HalfLife):
        raise USES["search"].error(USES["search"].refusals["half_life"])


def check_time_of_fit(draft: Draft) -> Draft:
    """The step of a fit that raises InputError if nothing, or too much, is left of its counts now."""
    check_reference_time(draft.engine, draft.spec, draft.statistics, "the model")
    return draft
