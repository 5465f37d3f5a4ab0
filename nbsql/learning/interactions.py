"""Columns that tell together what none tells alone: pairs, by what they gain on the residuals of a model, and triples."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, combinations_with_replacement

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.family import Binned, Categorical, Interaction
from nbsql.family.conditional import Parent
from nbsql.learning.one_dependence import PAIRS_A_STATEMENT, PAIRS_IN_A_JOIN, Pair, category_sizes, coded_categories
from nbsql.learning.prepare import prepare_families
from nbsql.learning.selection import rounded
from nbsql.plan.context import TINY
from nbsql.spec.spec import Feature, Spec

BINS = 8  # of a number in a pair
BINS_OF_THREE = 10  # of a number in a triple
MOST_VALUES = 30  # of a category
MOST_COLUMNS = 64  # whose pairs are tried
MOST_COLUMNS_OF_THREE = 16  # whose triples are tried: those that say most of the class by themselves
MOST_CLASSES_OF_THREE = 10
ROWS_OF_THREE = 20_000  # by which triples are found, or up to twice as many
LEAST_GAIN = 10.0  # nats of all rows from which pairs are features, and a triple if it is also two standard errors


def interactions(engine: Engine, spec: Spec, source: Source, rows: Markup, scores: Markup, most: int) -> tuple[Feature, ...]:
    """The pairs of columns that gain most, as features that come after those of the spec.

    `rows` are numbered, and `scores` are those of some of them by the models of other folds (sql/macros/learning/weighted.sql).
    """
    columns = _coded_columns(engine, spec, source, BINS)
    with engine.temporaries() as temporary:
        query = engine.renderer.fragment("residuals_of_rows", rows, scores, columns, len(spec.classes))
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
    together = ([by_number[number] for number in pair] for pair in best)
    features = tuple(_interaction(each, {}, index, taken) for index, each in enumerate(together, start=first))
    return prepare_families(engine, replace(spec, features=features), source).features


def triples(engine: Engine, spec: Spec, source: Source, most: int, classes: int) -> tuple[Feature, ...]:
    """The triples of columns that tell what no two of them tell, by the counts of rows, as features after those of the spec.

    See sql/macros/learning/triples.sql. Of many rows those are used whose values have certain hashes.
    """
    columns = {each.index: each for each in _coded_columns(engine, spec, source, BINS_OF_THREE)} if most else {}
    if len(columns) < 3 or classes > MOST_CLASSES_OF_THREE:
        return ()
    rows = engine.query_value("row_count", source.relation)
    if rows >= 2 * ROWS_OF_THREE:
        names, share = [each.column for each in columns.values()], round(1_000_000 * ROWS_OF_THREE / rows)
        some = engine.renderer.subquery("sampled_share", source.relation, names, source.kinds, share)
        source = Source(some, source.label, source.columns)
    with engine.temporaries() as temporary:
        coded = coded_categories(engine, spec, columns, source, temporary("coded"))
        sizes = category_sizes(engine, columns, coded)
        numbers = [number for number, size in sizes.items() if size <= MOST_VALUES]
        if len(numbers) > MOST_COLUMNS_OF_THREE:
            says = dict(engine.query_macro("information_on_class", coded, numbers, []))
            best = sorted(numbers, key=lambda number: (-rounded(says[number] or 0.0), number))[:MOST_COLUMNS_OF_THREE]
            numbers = sorted(best)
        found = gains_of_triples(engine, coded, temporary("ranked"), numbers, classes)[:most]
        parents = dict.fromkeys(number for _, *others in found for number in others)
        values = {number: [value for (value,) in engine.query_macro("values_of_category", coded, number)] for number in parents}
    taken, first = {feature.name for feature in spec.features}, 1 + max(feature.index for feature in spec.features)
    together = ([columns[number] for number in triple] for triple in found)
    return tuple(_interaction(each, values, index, taken) for index, each in enumerate(together, start=first))


def gains_of_triples(
    engine: Engine, coded: Markup, ranked: Markup, numbers: Sequence[int], classes: int
) -> list[tuple[int, ...]]:
    """The triples of categories that gain enough, best first. Creates the temporary table `ranked`."""
    tried = [*combinations(numbers, 3)]
    if not tried:
        return []
    query = engine.renderer.fragment("ranked_values", coded, numbers)
    relation = engine.create("rank the values", ranked, query)
    ((weight, rows),) = engine.query_macro("weight_and_rows", relation)
    own = float(weight) / rows
    gains = engine.query_macro("gains_of_triples", relation, numbers, tried, classes, own)
    kept = {tried[place - 1]: rounded(gain / own, 9) for place, gain, error in gains if gain > max(2 * error, LEAST_GAIN * own)}
    return [(b, c, a) for a, b, c in sorted(kept, key=lambda triple: (-kept[triple], triple))]


def _coded_columns(engine: Engine, spec: Spec, source: Source, bins: int) -> list[Feature]:
    """A feature for each column of numbers, which is cut, and for each column of categories."""
    options = {"alpha": spec.defaults["alpha"], "nulls": "skip", "unseen": "skip"}
    columns: dict[str, Feature] = {}
    for feature in spec.features:
        is_value = feature.is_number or feature.family.cell in ("level", "boolean")
        if is_value and len(feature.columns) == 1:
            family = Binned(bins=bins, **options) if feature.is_number else Categorical(**options)
            columns.setdefault(feature.column, replace(feature, family=family, is_complete=False))
    return [*prepare_families(engine, replace(spec, features=tuple(columns.values())), source).features]


def gains_of_pairs(engine: Engine, coded: Markup, numbers: Sequence[int], classes: int) -> dict[Pair, float]:
    """What each pair gains more than its columns by themselves, of the pairs that gain more than a standard error."""
    pairs = [*combinations_with_replacement(numbers, 2)]
    few = engine.query_value("row_count", coded) <= TINY
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


def _interaction(
    together: Sequence[Feature], values: Mapping[int, Sequence[str]], index: int, taken: Container[str]
) -> Feature:
    """Columns as a feature whose name is none of those taken. Values of parents that are not known are asked for later."""
    feature, *others = together
    parents = [Parent(each.column, each.family.edges, values.get(each.index)) for each in others]
    family = Interaction(
        parent=others[0].column,
        edges=feature.family.edges,
        integers=[each.column for each in together if each.whole],
        alpha=feature.family.alpha,
        nulls="skip",
        unseen="skip",
        estimate=feature.family.estimate,
    )
    names = (" & ".join(each.column for each in together) + more for more in ("", " together", f" {index}"))
    return replace(
        feature,
        name=next(name for name in names if name not in taken),
        family=family.with_parents(parents),
        columns=tuple(each.column for each in together),
        index=index,
        floating=any(each.floating for each in together),
        types=tuple(kind for each in together for kind in each.types),
        is_inferred=False,
    )
