"""What the counts say of one feature, of the dependence between features, and of how slices and classes differ."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, ModelError, counted, listed, suggestion
from nbsql.evaluation.evaluate import rows_to_judge
from nbsql.family import NUMBERS, Joint, MultivariateGaussian
from nbsql.learning.change import Ledger
from nbsql.learning.derive import check_slice_names
from nbsql.plan import Plan, Rows
from nbsql.plan.context import Context
from nbsql.queries.query import Query, macro_query
from nbsql.rendering.dialect import folded, restore
from nbsql.spec.half_life import WEIGHT_NOW
from nbsql.spec.spec import Feature, Spec
from nbsql.storage.state import ModelState

POINTS = 100  # points at which a density is evaluated
BINS = 25  # bins of a histogram
CHOICE = "nbsql_choice"  # the number of a value, in rows_of_choices (profile.sql)


@dataclass(frozen=True)
class Grid:
    """Equally spaced points of a number."""

    low: float
    step: float
    count: int


def feature_named(spec: Spec, name: str, title: str) -> Feature:
    """The feature of that name. Raises InputError if the model has none."""
    match = next((feature for feature in spec.features if feature.name == name), None)
    if match is None:
        names = [item.name for item in spec.features]
        parts = [item for item in names if item.endswith(f" of {name}")]  # those of a date or a time
        hint = f"; its parts are {listed(parts)}" if parts else suggestion(str(name), names)
        raise InputError(f"{title} has no feature {name!r}{hint or (f'; its features are {listed(names)}' if names else '')}")
    return match


def is_number(feature: Feature) -> bool:
    """Whether a feature is a number with a density in each class."""
    return feature.family.cell in ("number", "place")


def profile(state: ModelState, feature: Feature, source: Source | None) -> Query:
    """The query of the profile of a feature; see `Model.profile`."""
    engine, relations = state.engine, state.relations
    counted = feature.family.level or feature.family.distribution in ("dirichlet", "complement")
    if feature.family.over_columns and not counted:
        raise ModelError(f"{feature.name!r} of {state.title} is one of several columns together, which have no profile of one")
    if not is_number(feature):
        state.require("discrimination")
        tables = (relations["likelihoods"], state.plan.current_cells(), relations["priors"])
        return Query(engine, engine.renderer.statement("profile_of_values", *tables, feature))
    state.require("densities")
    grid = _grid(state, feature, source)
    places = engine.renderer.fragment("grid_of_numbers", feature.column, grid.low, grid.step, grid.count, feature.family.zeros)
    explained = _explain_rows(state, [feature], Rows(places, [feature.column]), ())
    histogram = None
    if source is not None:
        histogram = _histogram(state, feature, source, grid)
    method = state.spec.weighted
    weights = relations["weights"] if method is not None and not method.is_by_class else None
    return Query(engine, engine.renderer.statement("profile_of_numbers", explained, feature, histogram, weights), source)


def choices_sql(state: ModelState, features: Sequence[Feature], rows: Sequence[Sequence[str | None]]) -> str:
    """The query of the contributions of given values to the joint log-likelihood of each class.

    It is the query of `explain`, with the number of a row as its key. A row has a text for each column of the features, None
    where it is missing; for a bag, its only token.
    """
    types = [type_name for feature in features for type_name in _types(state.engine, feature)]
    relation = state.engine.renderer.fragment("rows_of_choices", features, types, [list(row) for row in rows])
    columns = [column for feature in features for column in feature.columns]
    return restore(_explain_rows(state, features, Rows(relation, [CHOICE, *columns]), (CHOICE,)))


def _types(engine: Engine, feature: Feature) -> list[Markup]:
    """The types as which texts of a feature's columns are read. Numbers may lie between the values of an integer type."""
    if all(feature.types or [""]) and feature.family.cell != "bin" and not is_number(feature):
        return [engine.type_name(name) for name in feature.types]
    is_text = feature.family.has_categories and not feature.is_number
    return [engine.renderer.fragment("string" if is_text else "double")] * len(feature.columns)


def _explain_rows(state: ModelState, features: Sequence[Feature], rows: Rows, id: tuple[str, ...]) -> Markup:
    plan = state.plan
    spec = replace(plan.spec, features=tuple(features), id=id, joins=())
    alone = Plan(plan.renderer, spec, plan.relations, wide=plan.wide, full_spec=plan.spec)
    return alone.query("explain", rows, state.classes)


def number_grid(state: ModelState, feature: Feature, count: int, source: Source | None = None) -> Grid:
    """A grid of at most `count` round numbers over the range of a feature, within that of a source if there is one."""
    grid = _grid(state, feature, source)
    if grid.count <= count:
        return grid
    high = grid.low + grid.step * (grid.count - 1)
    if high <= grid.low:  # a kernel of numbers whose steps no double holds
        return Grid(grid.low, 1.0, 1)
    least = (high - grid.low) / (count - 1)
    if feature.whole or feature.family.is_integer:
        least = max(least, 1.0)
    power = 10.0 ** math.floor(math.log10(least))
    step = next(power * times for times in (1, 2, 5, 10) if power * times >= least * (1 - 1e-9))
    first = math.ceil(grid.low / step)
    return Grid(first * step, step, math.floor(high / step) - first + 1)


def _grid(state: ModelState, feature: Feature, source: Source | None) -> Grid:
    """The range that holds nearly all of the probability of the classes' distributions, within that of the source's numbers."""
    family: Any = feature.family
    if family.cell == "place":
        low, width = family.low, family.width
        first, last = state.engine.query_macro("reach_of_kernel", state.relations["likelihoods"], feature.name)[0]
        return Grid(low + (first + 0.5) * width, max(last - first, 1) * width / (POINTS - 1), POINTS)
    ends = [
        end
        for _, _, mean, variance, rate in state.engine.query_macro(
            "likelihoods_of", state.relations["likelihoods"], feature.name
        )
        # For zero-inflated families, the range is that of the values other than 0.
        for end in _likely_range(family.formula, mean, variance, None if family.zeros else rate)
    ]
    if not ends:
        raise ModelError(f"{feature.name!r} never had a value, so there is nothing to draw")
    low, high = min(ends), max(ends)
    rules = family.rules.get("float", ())
    if family.zeros and family.formula != "gaussian":
        low = 0.0
    elif {"negative", "positive"} & {*rules}:  # a number above 0 has a density, which may be infinite at 0
        low = max(low, high / POINTS if "positive" in rules else 0.0)
    if source is not None:
        least, largest = state.engine.query_macro("range_of_numbers", source.relation, feature.column)[0]
        if least is not None and max(low, least) < min(high, largest):
            low, high = max(low, least), min(high, largest)
    size = max(abs(low), abs(high))
    if high - low <= max(family.near_zero, 1e-13 * size):  # no double holds the parts of so short a range
        low, high = low - max(1.0, 1e-12 * size), high + max(1.0, 1e-12 * size)
    if family.is_integer:
        step = max(1, math.ceil((high - low + 1) / POINTS))
        return Grid(math.floor(low), step, int((high - low) // step) + 1)
    if "inside" in rules:
        low, high = max(low, 0.005), min(high, 0.995)
    return Grid(low, (high - low) / (POINTS - 1), POINTS)


def _likely_range(family: str, mean: float | None, variance: float | None, rate: float | None) -> list[float]:
    """The range that holds all but a few thousandths of the values of a number in a class."""
    if rate is not None:
        if family == "poisson":
            return [0.0, rate + 4 * math.sqrt(rate) + 1]
        return [0.0, 5 / rate] if rate > 0 else []
    if mean is None or variance is None:
        return []
    spread = 3.3 * math.sqrt(max(variance, 0.0))
    if family == "lognormal":
        # Its full tail would flatten the rest of the picture.
        return [math.exp(mean - spread), math.exp(min(mean + 0.7 * spread, 700.0))]
    return [mean - spread, mean + spread]


def _histogram(state: ModelState, feature: Feature, source: Source, grid: Grid) -> Markup:
    high = grid.low + grid.step * (grid.count - 1)
    low, width, bins = grid.low, (high - grid.low) / BINS, BINS
    if feature.whole:  # each bin holds the same number of whole numbers
        low = math.floor(low)
        width = float(max(1, math.ceil((high - low) / BINS)))
        bins = int((high - low) // width) + 1
    arguments = (source.relation, feature.column, float(low), float(width), bins, not feature.family.zeros)
    return state.engine.renderer.fragment("histogram", Context.of(_weighed_by(state.spec, source)), *arguments)


def _weighed_by(spec: Spec, source: Source) -> Spec:
    """The spec with its column of weights only if the source has it; without one, each row counts 1."""
    names = {folded(column.name): column.name for column in source.columns if column.is_number}
    return replace(spec, weight=None if spec.weight is None else names.get(folded(spec.weight)))


def dependence(state: ModelState, source: Source, features: Sequence[str] | None) -> Query:
    """The query of the dependence between features of a model within the classes; see `Model.dependence`."""
    rows_to_judge(state, source, None)  # refuses rows without the class
    spec = state.spec if state.spec.half_life is None else replace(state.spec, weight=WEIGHT_NOW, slice_by=None)
    return dependence_by_spec(state.engine, spec, state.title, source, features)


def dependence_by_spec(engine: Engine, spec: Spec, title: str, source: Source, features: Sequence[str] | None) -> Query:
    """The same query for the features of a spec, which need not be those of a model."""
    selected = [feature_named(spec, name, title) for name in dict.fromkeys(features or ())] or list(spec.features)
    kinds = {folded(column.name): column.kind for column in source.columns}
    columns = [
        (feature.column, place, kinds[folded(feature.column)] in NUMBERS)
        for place, feature in enumerate(selected, start=1)
        if not feature.family.bag and not feature.family.over_columns
    ]
    if len(columns) < 2:
        raise InputError(f"{title} has {counted(len(columns), 'feature')} of one value a row; two can depend")
    pairs = list(combinations(columns, 2))
    gaps = [place for place, feature in enumerate(selected, start=1) if feature.family.nulls == "category"]
    families = [_joint_family(a[0], b[0], a[2], b[2], gaps=a[1] in gaps or b[1] in gaps) for a, b in pairs]
    places = [(a[1], b[1]) for a, b in pairs]
    context = Context.of(_weighed_by(spec, source))
    statement = engine.renderer.statement("dependence", context, source.relation, columns, places, families, gaps)
    return Query(engine, statement, source)


def _joint_family(one: str, other: str, *are_numbers: bool, gaps: bool) -> str | None:
    """The family of two columns together, as a Python expression; None for a number and a category.

    `gaps`: whether a missing value of one of them is a value.
    """
    if are_numbers[0] != are_numbers[1]:
        return None
    kind = MultivariateGaussian if are_numbers[0] else Joint
    nulls = ', nulls="category"' if gaps and kind is Joint else ""
    return f"nbsql.{kind.__name__}([{json.dumps(one, ensure_ascii=False)}, {json.dumps(other, ensure_ascii=False)}]{nulls})"


def drift(state: ModelState, a: Any, b: Any) -> Query:
    """The query of how far slices `b` have moved from slices `a`; see `Model.drift`."""
    state.require("drift")
    subquery, statistics, sides = state.engine.renderer.subquery, state.relations["statistics"], []
    for side in (a, b):
        names = [*side] if isinstance(side, Iterable) and not isinstance(side, str) else [side]
        if state.spec.slice_by is not None:
            sides.append(subquery("cells_of_slices", statistics, check_slice_names(state, names)))
        else:
            ledger = Ledger.of(state)
            batches = [ledger.find(name).batch for name in names]
            if not batches:
                raise InputError(f"name at least one batch; {state.title} has {listed(e.batch for e in ledger.entries)}")
            sides.append(subquery("cells_of_batches", statistics, batches))
    return macro_query(state, "drift", *sides, state.spec.features)


def discrimination(state: ModelState, a: Any, b: Any) -> Query:
    """The query of what distinguishes class `a` from class `b`; see `Model.discrimination`."""
    state.require("discrimination")
    kind = state.engine.type_name(state.spec.target_type)
    classes = [state.engine.renderer.fragment("class_literal", state.label_text(label), kind) for label in (a, b)]
    relations = (state.relations["likelihoods"], state.plan.current_cells())
    return macro_query(state, "discrimination", *relations, state.spec.features, *classes)
