"""Categories that depend on others: on one in a tree (TAN), on several (KDB), or on each of them in turn (AODE)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, listed
from nbsql.family import Conditional, Pairs
from nbsql.family.conditional import MOST_PARENTS, Parent
from nbsql.learning.selection import rounded, with_features
from nbsql.plan.context import TINY, Context
from nbsql.spec.dependence import AODE, KDB, TAN
from nbsql.spec.method import CUTS, Weighted
from nbsql.spec.spec import Feature, Spec
from nbsql.spec.traits import check_features
from nbsql.warn import warn_user

PAIRS_A_STATEMENT = 100
PAIRS_IN_A_JOIN = 1_000  # of few rows, so that the join has at most ten million
MAX_CELLS = 100_000  # cells of a category and its parents; the lookups hold a row for each
MAX_PARENTS = 3  # of KDB, where folds choose their number

Pair = tuple[int, int]


def with_parents(engine: Engine, spec: Spec, options: TAN | KDB, source: Source) -> Spec:
    """The spec, whose numbers have been cut already, in which each category that depends on others has them as its parents.

    A number in one bin has no parents and is none, also where a missing value is another of its values.
    """
    categories = {number: each for number, each in category_features(spec).items() if each.family.edges != ()}
    values: dict[int, list[str]] = {}
    parents: dict[int, list[int]] = {}
    if len(categories) > 1:
        with engine.temporaries() as temporary:
            coded = coded_categories(engine, spec, categories, source, temporary("coded"))
            few = engine.query_value("row_count", coded) <= TINY
            sizes = category_sizes(engine, categories, coded)
            gaps = _categories_with_missing_values(categories)
            numbered = coded if few else _numbered(engine, coded, temporary("numbered"), sizes)
            information = _information_of_pairs(engine, numbered, sizes, gaps, few=few)
            if isinstance(options, KDB):
                of_class = dict(engine.query_macro("information_on_class", numbered, list(sizes), gaps)) if sizes else {}
                parents = limited_parents(sizes, of_class, information, MAX_PARENTS if options.k is None else options.k)
            else:
                parents = {child: [parent] for child, parent in spanning_tree(list(sizes), information).items()}
            for parent in dict.fromkeys(parent for found in parents.values() for parent in found):
                values[parent] = [value for (value,) in engine.query_macro("values_of_category", coded, parent)]

    def with_found(feature: Feature) -> Feature:
        found = [categories[number] for number in parents.get(feature.index, ())]
        return _conditional_feature(feature, found, values, options) if found else feature

    features = tuple(map(with_found, spec.features))
    if spec.segment_by is not None:
        check_features(features, "segment_by")
    return replace(spec, features=features, dependence=None, found_dependence=options)


def with_trees(engine: Engine, spec: Spec, options: Weighted, source: Source) -> Spec:
    """The spec, whose numbers have been cut already, with the parents of the further features of a weighted model.

    Those that would say what another feature says are left out: of numbers cut at quantiles those without any number of more
    than two bins, and a category without parents that the column itself is.
    """
    plain = {feature.column: feature.family for feature in spec.features if feature.name == feature.column}
    found: dict[int, Feature | None] = {}
    for words, tree in options.trees.items():
        own = [feature for feature in spec.features if cut_of(feature) == words]
        found |= {feature.index: None for feature in own}
        if tree.bins == "mdl" or any(map(has_many_bins, own)):
            for feature in with_parents(engine, replace(spec, features=tuple(own)), tree, source).features:
                is_other = feature.alone is not None or feature.family != plain.get(feature.column)
                found[feature.index] = feature if is_other and (tree.bins == "mdl" or has_many_bins(feature)) else None
    features = tuple(each for each in (found.get(feature.index, feature) for feature in spec.features) if each is not None)
    return with_features(replace(spec, features=features), [feature.name for feature in features])


def cut_of(feature: Feature) -> str | None:
    """Which of the further features of a column it is, given others; None if it is none of them."""
    words = feature.name.removeprefix(f"{feature.column} ")
    return words if words in CUTS and feature.name != words else None


def has_many_bins(feature: Feature) -> bool:
    """Whether a number is cut into more than two bins: that of the feature, or a parent."""
    family: Any = feature.family
    parents = family.all_parents if feature.alone is not None else ()
    cut = [family.edges, *(parent.edges for parent in parents)]
    return any(len(edges or ()) > 1 for edges in cut)


def _numbered(engine: Engine, coded: Markup, numbered: Markup, sizes: Mapping[int, int]) -> Markup:
    """The coded rows, in the table `numbered` with numbers for the values of categories that have few if that is quicker."""
    if not engine.renderer.traits.vectorised:
        return coded
    short = [number for number, size in sizes.items() if size <= engine.renderer.layout.few_values]
    query = engine.renderer.fragment("numbered_categories", coded, list(sizes), short)
    return engine.create("number the categories", numbered, query)


def _information_of_pairs(
    engine: Engine, coded: Markup, sizes: Mapping[int, int], gaps: Sequence[int], *, few: bool
) -> dict[Pair, float]:
    """N I(X; Y | C) of each pair of categories that has few enough cells; `few`: whether there are few rows."""
    pairs = [(a, b) for a, b in combinations(sizes, 2) if sizes[a] * sizes[b] <= MAX_CELLS]
    block = PAIRS_IN_A_JOIN if few else PAIRS_A_STATEMENT
    few_values = engine.renderer.layout.few_values if engine.renderer.traits.vectorised and not few else 0
    numbered = max(sizes.values(), default=1) <= few_values
    found: dict[Pair, float] = {}
    for start in range(0, len(pairs), block):
        rows = engine.query_macro("information_of_pairs", coded, pairs[start : start + block], gaps, few, numbered)
        found |= {(a, b): value for a, b, value in rows}
    return found


def category_features(spec: Spec) -> dict[int, Feature]:
    """The features that may depend on each other, by number: those of all observed values, smoothed with the same count.

    Warns about categories whose values are declared, or left out if they are rare, which stay apart.
    """
    categories = [each for each in spec.features if each.family.cell in ("bin", "level")]
    for why, cure, apart in (
        ("declared values", "without levels, and with one alpha", [each.name for each in categories if _has_declared(each)]),
        ("a min_count", "without it", [each.name for each in categories if each.family.least_count]),
    ):
        if apart:
            warn_user(
                f"{listed(apart)} {'has' if len(apart) == 1 else 'have'} {why}, and so "
                f"{'is' if len(apart) == 1 else 'are'} independent of the others; {cure}, "
                f"{'it' if len(apart) == 1 else 'they'} may depend on them"
            )
    return {each.index: each for each in categories if not (_has_declared(each) or each.family.least_count)}


def _has_declared(feature: Feature) -> bool:
    return feature.family.cell == "level" and bool(feature.family.declared)


def coded_categories(engine: Engine, spec: Spec, categories: Mapping[int, Feature], source: Source, coded: Markup) -> Markup:
    """The values of the categories in each row of the source: the table `coded`, or a query that is as quick to read."""
    query = engine.renderer.fragment("coded_categories", Context.of(spec), source.relation, categories.values())
    is_plain = source.is_table and all(each.family.cell == "level" for each in categories.values())
    if is_plain and engine.renderer.traits.vectorised:
        return engine.renderer.fragment("subquery", query)
    return engine.create("code the categories", coded, query)


def category_sizes(engine: Engine, categories: Mapping[int, Feature], coded: Markup) -> dict[int, int]:
    """The number of values of each category that has at least two, and no more than a parent may have."""
    numbers = list(categories)
    gaps = [numbers.index(number) + 1 for number in _categories_with_missing_values(categories)]
    sizes = {numbers[place - 1]: size for place, size in engine.query_macro("sizes_of_categories", coded, numbers, gaps)}
    return {number: sizes[number] for number in numbers if 1 < sizes.get(number, 0) <= MOST_PARENTS}


def _categories_with_missing_values(categories: Mapping[int, Feature]) -> list[int]:
    """The numbers of the categories in which a missing value is a value."""
    return [number for number, feature in categories.items() if feature.family.nulls == "category"]


def spanning_tree(nodes: Sequence[int], weights: Mapping[Pair, float]) -> dict[int, int]:
    """The parent of each node except the roots, in the maximum spanning tree (Kruskal, 1956).

    The root is the first node of a connected component. Edges without weight are ignored, and ties go to the edge whose nodes
    come first.

    >>> spanning_tree([1, 2, 3], {(1, 2): 0.5, (1, 3): 0.1, (2, 3): 0.2})
    {2: 1, 3: 2}
    """
    component_of = {node: node for node in nodes}
    neighbours: dict[int, list[int]] = {node: [] for node in nodes}
    for a, b in sorted(weights, key=lambda pair: (-rounded(weights[pair]), pair)):
        one, other = component_of[a], component_of[b]
        if weights[a, b] <= 0 or one == other:
            continue
        component_of = {node: one if of == other else of for node, of in component_of.items()}
        neighbours[a].append(b)
        neighbours[b].append(a)
    parents: dict[int, int] = {}
    visited: set[int] = set()
    for root in nodes:
        queue = [] if root in visited else [root]
        visited.add(root)
        while queue:
            node = queue.pop(0)
            children = [child for child in sorted(neighbours[node]) if child not in visited]
            parents |= dict.fromkeys(children, node)
            visited |= set(children)
            queue += children
    return parents


def limited_parents(
    sizes: Mapping[int, int], of_class: Mapping[int, float], information: Mapping[Pair, float], k: int
) -> dict[int, list[int]]:
    """The at most k parents of each category, those that say most first (Sahami 1996).

    They come before it in the order of what the categories say of the class; ties go to the category that comes first. A pair
    without information is no edge, nor does a category have a parent with which it would have too many cells.

    >>> limited_parents({1: 2, 2: 2, 3: 2}, {1: 0.2, 2: 0.3, 3: 0.1}, {(1, 2): 0.1, (1, 3): 0.5, (2, 3): 0.6}, 2)
    {1: [2], 3: [2, 1]}
    """
    order = sorted(sizes, key=lambda node: (-rounded(of_class.get(node, 0.0)), node))
    parents: dict[int, list[int]] = {}
    for place, node in enumerate(order):
        weights = {other: rounded(information.get((min(node, other), max(node, other)), 0.0)) for other in order[:place]}
        cells = sizes[node]
        for other in sorted(weights, key=lambda each: (-weights[each], each)):
            if weights[other] > 0 and cells * sizes[other] <= MAX_CELLS and len(parents.get(node, ())) < k:
                parents.setdefault(node, []).append(other)
                cells *= sizes[other]
    return parents


def _conditional_feature(
    feature: Feature, parents: Sequence[Feature], values: Mapping[int, Sequence[str]], options: TAN | KDB
) -> Feature:
    found = [
        Parent(each.column, each.family.edges, values[each.index], "category" if each.family.nulls == "category" else "skip")
        for each in parents
    ]
    family = Conditional(
        parents[0].column,
        shrinkage=options.shrinkage,
        edges=feature.family.edges,
        integers=[each.column for each in (feature, *parents) if each.whole],
        chosen=True,
        alpha=feature.family.alpha,
        nulls=feature.family.nulls,
        unseen=feature.family.unseen,
        estimate=feature.family.estimate,
    )
    return replace(
        feature,
        family=family.with_parents(found),
        columns=(feature.column, *(each.column for each in parents)),
        floating=any(each.floating for each in (feature, *parents)),
        types=tuple(kind for each in (feature, *parents) for kind in each.types),
        is_inferred=False,
        alone=feature.family,
    )


def with_pairs(engine: Engine, spec: Spec, options: AODE, source: Source) -> Spec:
    """The spec, whose numbers have been cut already, with a feature of the pairs of its categories, if it has at least two.

    Raises InputError if there are too many pairs of values.
    """
    categories = category_features(spec)
    with engine.temporaries() as temporary:
        sizes: dict[int, int] = {}
        if len(categories) > 1:
            sizes = category_sizes(engine, categories, coded_categories(engine, spec, categories, source, temporary("coded")))
    pairs = sum(a * b for a, b in combinations(sizes.values(), 2))
    most = engine.renderer.layout.value_pairs
    if pairs > most:
        largest = max(sizes, key=sizes.__getitem__)
        raise InputError(
            f"⟨method='aode'⟩ would count {pairs:,} pairs of values, and takes {most:,}; "
            f"leave out columns of many, such as {categories[largest].column!r} with {sizes[largest]:,}, by ⟨exclude=[...]⟩"
        )
    paired = [categories[number] for number in sizes]
    features = (*spec.features, *([_pairs_of(spec, paired, options)] if len(paired) > 1 else ()))
    return replace(spec, features=features, dependence=None, found_dependence=options)


def _pairs_of(spec: Spec, categories: list[Feature], options: AODE) -> Feature:
    family = Pairs(
        columns=[feature.column for feature in categories],
        edges=[feature.family.edges for feature in categories],
        integers=[feature.column for feature in categories if feature.whole],
        gaps=[feature.column for feature in categories if feature.family.nulls == "category"],
        added_counts=[feature.family.added_count for feature in categories],
        least=options.least,
        shrinkage=options.shrinkage,
        nulls="skip",
        unseen="skip",
        estimate="mean",
    )
    names = {feature.name for feature in spec.features}
    return Feature(
        next(name for name in ("pairs", *(f"pairs {number}" for number in range(2, len(names) + 3))) if name not in names),
        family,
        tuple(family.columns),
        len(spec.features) + 1,
        any(feature.floating for feature in categories),
        types=tuple(kind for feature in categories for kind in feature.types),
    )
