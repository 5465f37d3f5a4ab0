"""Edges of bins that separate the classes, from the counts of values, or of narrow bins of values (binned_mdl.sql)."""

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from math import floor, inf, log2
from typing import Any, NamedTuple


class Place(NamedTuple):
    """A value, or a narrow bin of values."""

    x: float  # the largest value
    least: float
    cells: list[tuple[int, float]]  # the number of each class in it, and the weight of its rows


def separating_edges(rows: Iterable[Sequence[Any]], bins: int | None) -> list[float]:
    """The edges from rows of x, least, class and n; with `bins` also edges between about so many bins of as many rows each.

    A set S of N rows of k classes is cut in two, S1 and S2, where the remaining entropy of the class is smallest, at the lowest
    such place, if the minimum description length principle accepts the cut (Fayyad and Irani 1993):

        Ent(S) - (N1 Ent(S1) + N2 Ent(S2)) / N  >  (log2(N - 1) + log2(3^k - 2) - k Ent(S) + k1 Ent(S1) + k2 Ent(S2)) / N

    Both parts are then cut in the same way. The edge is halfway between the values on its two sides.
    """
    numbers: dict[Any, int] = {}
    places = [
        Place(x, least, [(numbers.setdefault(label, len(numbers)), n) for _, _, label, n in cells])
        for (x, least), cells in groupby(sorted(rows, key=lambda row: row[0]), key=lambda row: row[:2])
    ]
    edges, parts = set[float](), [places]
    while parts:
        part = parts.pop()
        if at := _best_cut(part, len(numbers)):
            edges.add(_edge_between(part[at - 1], part[at]))
            parts += [part[:at], part[at:]]
    if bins is not None:
        edges |= _quantile_edges(places, bins, len(numbers))
    return sorted(edges)


def _best_cut(part: Sequence[Place], classes: int) -> int:
    """After how many places the part is cut where the entropy is smallest; 0 if the principle does not accept that."""
    whole = _counts(part, classes)
    total, left_n, left, right = sum(whole), 0.0, [0.0] * classes, whole[:]
    of_left, of_right = 0.0, sum(map(_bits, whole))  # the sums of n log2(n) over the classes
    lowest, at = float("inf"), 0
    for count, place in enumerate(part, start=1):
        for k, n in place.cells:
            of_left += _bits(left[k] + n) - _bits(left[k])
            of_right += _bits(right[k] - n) - _bits(right[k])
            left[k], right[k], left_n = left[k] + n, right[k] - n, left_n + n
        if total - left_n <= min(1e-9 * total, 0.5):
            break
        # Costs that differ by rounding alone are the same.
        cost = round((_bits(left_n) + _bits(total - left_n) - of_left - of_right) / total, 10)
        if cost < lowest:
            lowest, at = cost, count
    if not at:
        return 0
    sides = [whole, _counts(part[:at], classes), _counts(part[at:], classes)]
    bits, before, after = (_bits(sum(side)) - sum(map(_bits, side)) for side in sides)  # n Ent
    k, k_before, k_after = (sum(n > 0 for n in side) for side in sides)
    needed = log2(max(total - 1, 1)) + log2(3**k - 2) - k * bits / total
    needed += k_before * before / sum(sides[1]) + k_after * after / sum(sides[2])
    return at if bits - before - after > needed else 0


def _counts(part: Sequence[Place], classes: int) -> list[float]:
    """The weight of the rows of each class."""
    counts = [0.0] * classes
    for place in part:
        for k, n in place.cells:
            counts[k] += n
    return counts


def _bits(n: float) -> float:
    """The product n log2(n), and 0 for a remainder that is only rounding."""
    return n * log2(n) if n > 1e-9 else 0.0


def _quantile_edges(places: Sequence[Place], bins: int, classes: int) -> set[float]:
    """The edges after the first place up to which i / bins of the rows are, for i = 1, 2, ..., unless it is the last.

    There are fewer bins if a bin would have less than 25 rows for each class, whose likelihoods would be noise.
    """
    edges, up_to, before = set[float](), 0.0, 0
    total = sum(n for place in places for _, n in place.cells)
    if total == inf:  # a weight that the count will refuse
        return edges
    bins = min(bins, floor(total / (25 * max(classes, 1))))
    for place, following in pairwise(places):
        up_to += sum(n for _, n in place.cells)
        reached = floor(up_to * bins / total + 1e-9)
        if reached > before:
            edges.add(_edge_between(place, following))
        before = reached
    return edges


def _edge_between(low: Place, high: Place) -> float:
    """Halfway between two places or, if that is not above the lower one, at the upper one."""
    middle = low.x / 2 + high.least / 2
    return middle if middle > low.x else high.least
