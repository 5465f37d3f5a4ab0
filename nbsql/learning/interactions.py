"""Pairs of columns that tell together what neither tells alone, found by what they gain on the residuals of a model."""

from collections.abc import Container, Sequence
from dataclasses import replace
from itertools import combinations, combinations_with_replacement

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.family import Binned, Categorical, Interaction
from nbsql.learning.one_dependence import PAIRS_A_STATEMENT, PAIRS_IN_A_JOIN, Pair
from nbsql.learning.prepare import prepare_families
from nbsql.learning.selection import rounded
from nbsql.plan.context import TINY, Context
from nbsql.spec.spec import Feature, Spec

BINS = 8  # of a number
MOST_VALUES = 30  # of a category
MOST_COLUMNS = 64  # whose pairs are tried


def interactions(engine: Engine, spec: Spec, source: Source, rows: Markup, scores: Markup, most: int) -> tuple[Feature, ...]:
    """The pairs of columns that gain most, as features that come after those of the spec.

    `rows` are numbered, and `scores` are those of some of them by the models of other folds (sql/macros/learning/weighted.sql).
    """
    columns = _coded_columns(engine, spec, source)
    with engine.temporaries() as temporary:
        query = engine.renderer.fragment("residuals_of_rows", Context.of(spec), rows, scores, columns, len(spec.classes))
        coded = engine.create("residuals of the rows", temporary("residuals of the rows"), query)
        numbers = [feature.index for feature in columns]
        sizes = engine.query_macro("sizes_of_categories", coded, numbers, []) if numbers else []
        few = {numbers[place - 1] for place, size in sizes if 1 < size <= MOST_VALUES}
        columns = [feature for feature in columns if feature.index in few][:MOST_COLUMNS]
        gains = gains_of_pairs(engine, coded, [feature.index for feature in columns], len(spec.classes))
    best = sorted(gains, key=lambda pair: (-gains[pair], pair))[:most]
    by_number = {feature.index: feature for feature in columns}
    taken = {feature.name for feature in spec.features}
    first = 1 + max(feature.index for feature in spec.features)  # those of one bin in a fold are left out
    features = tuple(_interaction(by_number[a], by_number[b], index, taken) for index, (a, b) in enumerate(best, start=first))
    return prepare_families(engine, replace(spec, features=features), source).features


def _coded_columns(engine: Engine, spec: Spec, source: Source) -> list[Feature]:
    """A feature for each column of numbers, which is cut, and for each column of categories."""
    options = {"alpha": spec.defaults["alpha"], "nulls": "skip", "unseen": "skip"}
    columns: dict[str, Feature] = {}
    for feature in spec.features:
        is_value = feature.is_number or feature.family.cell in ("level", "boolean")
        if is_value and len(feature.columns) == 1:
            family = Binned(bins=BINS, **options) if feature.is_number else Categorical(**options)
            columns.setdefault(feature.column, replace(feature, family=family, is_complete=False))
    return [*prepare_families(engine, replace(spec, features=tuple(columns.values())), source).features]


def gains_of_pairs(engine: Engine, coded: Markup, numbers: Sequence[int], classes: int) -> dict[Pair, float]:
    """What each pair gains more than its columns by themselves, of the pairs that gain more than a standard error."""
    pairs = [*combinations_with_replacement(numbers, 2)]
    few = engine.query_macro("row_count", coded)[0][0] <= TINY
    size = PAIRS_IN_A_JOIN if few else PAIRS_A_STATEMENT
    found: dict[Pair, tuple[float, float]] = {}
    for start in range(0, len(pairs), size):
        rows = engine.query_macro("gains_of_pairs", coded, pairs[start : start + size], classes, few)
        found |= {(a, b): (gain, error) for a, b, gain, error in rows}
    alone = {number: max(0.0, found[number, number][0]) for number in numbers}
    gains = {
        (a, b): (rounded(found[a, b][0] - alone[a] - alone[b], 9), found[a, b][1])
        for a, b in combinations(numbers, 2)
        if (a, b) in found  # some row has both
    }
    return {pair: gain for pair, (gain, error) in gains.items() if gain > error}


def _interaction(feature: Feature, other: Feature, index: int, taken: Container[str]) -> Feature:
    """The two columns as a feature, whose values of the second column are not known yet; its name is none of those taken."""
    family = Interaction(
        parent=other.column,
        edges=feature.family.edges,
        parent_edges=other.family.edges,
        integers=[each.column for each in (feature, other) if each.whole],
        alpha=feature.family.alpha,
        nulls="skip",
        unseen="skip",
        estimate=feature.family.estimate,
    )
    names = (f"{feature.column} & {other.column}{more}" for more in ("", " together", f" {index}"))
    return replace(
        feature,
        name=next(name for name in names if name not in taken),
        family=family,
        columns=(feature.column, other.column),
        index=index,
        floating=feature.floating or other.floating,
        types=(*feature.types, *other.types),
        is_inferred=False,
    )
