"""The family of numbers that are cut into bins."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple

from nbsql.errors import InputError, written
from nbsql.family.base import NUMBERS, Cell, Macros, macros_of
from nbsql.family.checks import choice, finite, set_attributes, shortest, whole_number
from nbsql.family.kinds import Level
from nbsql.family.mdl import separating_edges

MOST_BINS = 1000
MOST_CODES = 100
_ROUNDING = 1e-12  # shares, and information values, that differ by no more are the same


@dataclass(frozen=True)
class Binned(Level):
    """A number cut into bins, scored as categories: P(bin | c) = (n_bc + alpha) / (n_c + alpha K) with K bins.

    Binning makes no assumption on how the number is distributed. A bin includes its lower edge and excludes its upper edge. The
    first bin has no lower end, and the last has no upper end.

    Args:
        bins: the number of bins; there are fewer where edges coincide.
        by: how the edges are chosen. "quantile" gives each bin the same number of rows (or the same weight), as far as ties
            allow; "width" makes bins of equal width between the least and the largest value; "mdl" cuts where the classes
            differ, into as many bins as the minimum description length principle accepts (Fayyad and Irani 1993). A number of
            more than 1,000 values is cut between some 256 bins of as many rows each. "mdl and quantile" cuts there, and also
            between `bins` bins of about as many rows each. A list gives the edges themselves.
        monotone: whether adjacent bins are merged until the share of a class rises, or falls, from bin to bin (pool adjacent
            violators): "rising" or "falling" is the trend of the larger label, "peak" lets its share rise up to a bin and fall
            from there, and True is rising or falling, whichever keeps the greater information value. It requires a target of
            two classes. The model then stores the merged edges as `by`.
        special: numbers that are codes, such as -999 for "not known". Each is a bin of its own, named by the number, and
            belongs to no other. The edges and the trend are found without them.
        edges: the edges between the bins, as the fit found them.

    >>> Binned(by=[18, 65]).labels
    ['(-inf, 18)', '[18, 65)', '[65, inf)']
    >>> list(dict.fromkeys(Binned(by=[18, 65], special=[-999]).labels))
    ['(-inf, 18)', '-999', '[18, 65)', '[65, inf)']
    """

    bins: int = 10
    _: KW_ONLY
    by: Literal["quantile", "width", "mdl", "mdl and quantile"] | Sequence[float] = "quantile"
    monotone: bool | Literal["rising", "falling", "peak"] = False
    special: Sequence[float] = ()
    edges: Sequence[float] | None = None

    name: ClassVar[str] = "binned"
    macros: ClassVar[Macros] = macros_of("binned", "value given drawn middle")
    cell: ClassVar[Cell] = "bin"
    accepts: ClassVar[tuple[str, ...]] = NUMBERS

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.monotone, bool) and self.monotone not in ("rising", "falling", "peak"):
            raise InputError(f"monotone must be True, False, 'rising', 'falling' or 'peak', not {written(self.monotone)}")
        set_attributes(self, special=special_codes(self.special))
        if isinstance(self.by, str):
            choice(self.by, Literal["quantile", "width", "mdl", "mdl and quantile"], "by")
            set_attributes(self, bins=whole_number(self.bins, "bins", 2, MOST_BINS))
        else:
            edges = bin_edges(self.by, "by must be 'quantile', 'width', 'mdl', 'mdl and quantile' or a list of edges")
            set_attributes(self, by=edges, bins=len(edges) + 1, edges=self.edges if self.monotone else self._with_codes(edges))
        if self.edges is not None:
            try:
                set_attributes(self, edges=tuple(map(float, self.edges)))
            except (OverflowError, TypeError, ValueError):
                raise InputError(f"edges must be a list of numbers, not {written(self.edges)}") from None
        set_attributes(self, supervised=self.is_cut_by_mdl or bool(self.monotone))

    @property
    def is_cut_by_mdl(self) -> bool:
        """Whether some edges are where the classes differ."""
        return self.by in ("mdl", "mdl and quantile")

    @property
    def fit_query(self) -> str | None:
        if self.edges is not None:
            return None
        if self.is_cut_by_mdl:
            return "binned_mdl"
        return "binned_edges" if isinstance(self.by, str) else "binned_monotone"

    def with_fitted(self, rows: Sequence[Sequence[Any]]) -> Binned:
        if self.is_cut_by_mdl:
            edges = separating_edges(rows, self.bins if self.by == "mdl and quantile" else None)
        elif isinstance(self.by, str):
            edges = sorted({edge for least, *found in rows for edge in found if edge > least})
        else:
            if rows and rows[0][3] > 2:
                raise InputError(
                    f"monotone bins need a target of two classes, and this one has {rows[0][3]}; leave out monotone, "
                    "or fit one class against the rest"
                )
            merged = best_trend([Block(*row[:3]) for row in rows], self.monotone)
            return replace(self, edges=self._with_codes(self.by[block.first - 1] for block in merged[1:]))
        if self.monotone and edges:
            return replace(self, by=edges)  # the edges are merged next
        return replace(self, edges=self._with_codes(edges))

    def _with_codes(self, edges: Iterable[float]) -> tuple[float, ...]:
        """The edges, and two around each code. An edge at or just beside a code is put just above these."""
        codes = [edge for code in self.special for edge in (code, _above(code))]
        found: list[float] = []
        for edge in edges:
            for code in self.special:
                if code <= _above(edge) and edge <= _above(code):
                    edge = _above(_above(code))
            if not found or edge > _above(found[-1]):  # two with no number between them are those of a code
                found.append(edge)
        return tuple(sorted([*codes, *found]))

    def without_fitted(self) -> Binned:
        return replace(self, edges=None) if self.is_cut_by_mdl else self

    @property
    def labels(self) -> list[str]:
        """The names in the statistics of the stretches between edges, lowest first. Those around a code are the same bin."""
        return bin_labels(self.edges or ())

    @property
    def ends(self) -> list[tuple[str, float | None, float | None]]:
        """Each bin with its two ends, lowest bin first; None is no end. Both ends of a code are the code."""
        return list(dict.fromkeys(_stretches(self.edges or ())))

    @property
    def spans(self) -> list[tuple[str, float, float]]:
        """The bins with their two ends; the open bins at either side are given the width of the bin beside them."""
        edges = [low for _, low, high in self.ends if low is not None and low != high] or [0.0]
        first, last = (edges[1] - edges[0], edges[-1] - edges[-2]) if len(edges) > 1 else (1.0, 1.0)
        lowest, highest = edges[0] - first, edges[-1] + last
        return [(text, lowest if low is None else low, highest if high is None else high) for text, low, high in self.ends]

    @property
    def declared(self) -> list[tuple[str, float]]:
        return [(text, self.added_count) for text, *_ in self.ends]


class Block(NamedTuple):
    """Adjacent bins as one."""

    first: int  # the number of the first of them, from 0
    n: float  # the weight of their rows
    of_class: float  # that of those of the class

    def and_next(self, other: Block) -> Block:
        return Block(self.first, self.n + other.n, self.of_class + other.of_class)


def best_trend(bins: Sequence[Block], monotone: bool | str) -> list[Block]:
    """The bins merged until the share of the class is monotone, or rises up to a place and falls from there (Binned.monotone).

    Of the trends that may be, the one with the greater information value is taken, in a tie that which rises further.
    """
    rising, falling = len(bins), 0  # how many of the bins are part of the rise
    tops = {"rising": [rising], "falling": [falling], "peak": range(rising, -1, -1)}.get(str(monotone), [rising, falling])
    trends = [_trend(bins, top) for top in tops]
    values = [*map(_information_value, trends)]
    return next(blocks for blocks, value in zip(trends, values, strict=True) if value >= max(values) - _ROUNDING)


def _trend(bins: Sequence[Block], top: int) -> list[Block]:
    """The bins merged until the share of the class rises over the first `top` of them, and falls from there."""
    before, after = _pooled(bins[:top]), _pooled(bins[top:], -1)
    if before and after and abs(_share(before[-1]) - _share(after[0])) <= _ROUNDING:
        before[-1] = before[-1].and_next(after.pop(0))
    return before + after


def _pooled(bins: Sequence[Block], sign: int = 1) -> list[Block]:
    """The bins merged until the share of the class rises from block to block, or falls if the sign is -1.

    Pool adjacent violators (Ayer et al., Annals of Mathematical Statistics 26, 1955).
    """
    blocks: list[Block] = []
    for block in bins:
        while blocks and sign * (_share(block) - _share(blocks[-1])) <= _ROUNDING:
            block = blocks.pop().and_next(block)
        blocks.append(block)
    return blocks


def _share(block: Block) -> float:
    return block.of_class / block.n


def _information_value(blocks: Sequence[Block]) -> float:
    """That of the blocks, with half a row more of both sides in each, so that one of a single class has a value."""
    sides = [(block.of_class + 0.5, block.n - block.of_class + 0.5) for block in blocks]
    p_sum, q_sum = (math.fsum(side) for side in zip(*sides, strict=True)) if sides else (1.0, 1.0)
    return math.fsum((p / p_sum - q / q_sum) * math.log(p / p_sum / (q / q_sum)) for p, q in sides)


def bin_labels(edges: Sequence[float]) -> list[str]:
    """The names of the stretches that the edges separate, lowest first.

    Two edges with no number between them hold one number, a code. It is named by the number, and the bin that it interrupts has
    the same name on its two sides.
    """
    return [text for text, *_ in _stretches(edges)]


def _stretches(edges: Sequence[float]) -> Iterator[tuple[str, float | None, float | None]]:
    """The bin of each stretch between edges, lowest first: its name and its two ends."""
    codes: set[float] = set()
    others: list[float] = []
    for edge in edges:
        if others and edge == _above(others[-1]):
            codes.add(others.pop())
        else:
            others.append(edge)
    short = [f"{edge:.6g}" for edge in others]
    texts = short if len(set(short)) == len(short) else [repr(edge) for edge in others]
    names, ends = ["-inf", *texts, "inf"], [None, *others, None]
    place = 0
    for lower in (None, *edges):
        if lower is not None and lower in codes:
            yield shortest(lower), lower, lower
        else:
            place += lower is not None and lower == ends[place + 1]
            yield f"{'[' if place else '('}{names[place]}, {names[place + 1]})", ends[place], ends[place + 1]


def _above(number: float) -> float:
    """The next number. That of 0 is 1e-300, as engines round numbers near the least ones to 0."""
    return math.nextafter(number, math.inf) if number else 1e-300


def special_codes(values: Any) -> tuple[float, ...]:
    """The codes as floats, lowest first. Raises InputError unless it is a list of different numbers."""
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        raise InputError(f"special must be a list of numbers, such as [-999], not {written(values)}")
    given = list(values)
    codes = sorted({finite(code, "a special code") for code in given})
    if len(codes) < len(given) or len(codes) > MOST_CODES or any(high <= _above(low) for low, high in pairwise(codes)):
        raise InputError(f"special must be at most {MOST_CODES} different numbers, not {given}")
    return tuple(codes)


def bin_edges(values: Any, rule: str) -> tuple[float, ...]:
    """The edges as floats. Raises InputError unless they ascend; `rule` is the message for what is not a list."""
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        raise InputError(f"{rule}, not {values!r}")
    given = list(values)
    edges = tuple(finite(edge, "an edge") for edge in given)
    if not 1 <= len(edges) < MOST_BINS or any(low >= high for low, high in pairwise(edges)):
        raise InputError(f"edges must be 1 to {MOST_BINS - 1} numbers in ascending order, not {given}")
    return edges
