"""The family of numbers that are cut into bins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Literal

from nbsql.errors import InputError, written
from nbsql.family.base import NUMBERS, Cell, Macros, macros_of
from nbsql.family.checks import choice, finite, set_attributes, whole_number
from nbsql.family.kinds import Level

MOST_BINS = 1000


@dataclass(frozen=True)
class Binned(Level):
    """A number cut into bins, scored as categories: P(bin | c) = (n_bc + alpha) / (n_c + alpha K) with K bins.

    Binning makes no assumption on how the number is distributed. A bin includes its lower edge and excludes its upper edge. The
    first bin has no lower end, and the last has no upper end.

    Args:
        bins: the number of bins; there are fewer where edges coincide.
        by: how the edges are chosen. "quantile" gives each bin the same number of rows (or the same weight), as far as ties
            allow; "width" makes bins of equal width between the least and the largest value; "mdl" cuts where the classes
            differ, into as many bins as the minimum description length principle accepts (Fayyad and Irani 1993). A list gives
            the edges themselves.
        monotone: whether adjacent bins are merged until the share of a class rises, or falls, from bin to bin (pool adjacent
            violators): "rising" or "falling" is the trend of the larger label, "peak" lets its share rise up to a bin and fall
            from there, and True is rising or falling, whichever keeps the greater information value. It requires a target of
            two classes. The model then stores the merged edges as `by`.
        edges: the edges between the bins, as the fit found them.

    >>> Binned(by=[18, 65]).labels
    ['(-inf, 18)', '[18, 65)', '[65, inf)']
    """

    bins: int = 10
    _: KW_ONLY
    by: Literal["quantile", "width", "mdl"] | Sequence[float] = "quantile"
    monotone: bool | Literal["rising", "falling", "peak"] = False
    edges: Sequence[float] | None = None

    name: ClassVar[str] = "binned"
    macros: ClassVar[Macros] = macros_of("binned", "value drawn middle")
    cell: ClassVar[Cell] = "bin"
    accepts: ClassVar[tuple[str, ...]] = NUMBERS

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.monotone, bool) and self.monotone not in ("rising", "falling", "peak"):
            raise InputError(f"monotone must be True, False, 'rising', 'falling' or 'peak', not {written(self.monotone)}")
        if isinstance(self.by, str):
            choice(self.by, Literal["quantile", "width", "mdl"], "by")
            set_attributes(self, bins=whole_number(self.bins, "bins", 2, MOST_BINS))
        else:
            edges = bin_edges(self.by, "by must be 'quantile', 'width', 'mdl' or a list of edges")
            set_attributes(self, by=edges, bins=len(edges) + 1, edges=self.edges if self.monotone else edges)
        if self.edges is not None:
            try:
                set_attributes(self, edges=tuple(map(float, self.edges)))
            except (OverflowError, TypeError, ValueError):
                raise InputError(f"edges must be a list of numbers, not {written(self.edges)}") from None
        set_attributes(self, supervised=self.by == "mdl" or bool(self.monotone))

    @property
    def fit_query(self) -> str | None:
        if self.edges is not None:
            return None
        if self.by == "mdl":
            return "binned_mdl"
        return "binned_edges" if isinstance(self.by, str) else "binned_monotone"

    def with_fitted(self, rows: Sequence[Sequence[Any]]) -> Binned:
        if self.by == "mdl":
            edges = [row[0] for row in rows]
        elif isinstance(self.by, str):
            edges = sorted({edge for least, *found in rows for edge in found if edge > least})
        else:
            if rows[0][1] > 2:
                raise InputError(
                    f"monotone bins need a target of two classes, and this one has {rows[0][1]}; leave out monotone, "
                    "or fit one class against the rest"
                )
            return replace(self, edges=tuple(edge for edge, _ in rows if edge is not None))
        if self.monotone and edges:
            return replace(self, by=edges)  # the edges are merged next
        return replace(self, edges=tuple(edges))

    def without_fitted(self) -> Binned:
        return replace(self, edges=None) if self.by == "mdl" else self

    @property
    def labels(self) -> list[str]:
        """The names of the bins in the statistics, lowest bin first."""
        return bin_labels(self.edges or ())

    @property
    def spans(self) -> list[tuple[str, float, float]]:
        """The bins with their two ends; the open bins at either side are given the width of the bin beside them."""
        edges = list(self.edges or (0.0,))
        first, last = (edges[1] - edges[0], edges[-1] - edges[-2]) if len(edges) > 1 else (1.0, 1.0)
        ends = [edges[0] - first, *edges, edges[-1] + last]
        return [(text, ends[i], ends[i + 1]) for i, text in enumerate(self.labels)]

    @property
    def declared(self) -> list[tuple[str, float]]:
        return [(text, self.added_count) for text in self.labels]


def bin_labels(edges: Sequence[float]) -> list[str]:
    """The names of the bins that the edges separate, lowest bin first."""
    short = [f"{edge:.6g}" for edge in edges]
    texts = short if len(set(short)) == len(short) else [repr(edge) for edge in edges]
    ends = ["-inf", *texts, "inf"]
    return [f"{'[' if i else '('}{ends[i]}, {ends[i + 1]})" for i in range(len(ends) - 1)]


def bin_edges(values: Any, rule: str) -> tuple[float, ...]:
    """The edges as floats. Raises InputError unless they ascend; `rule` is the message for what is not a list."""
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        raise InputError(f"{rule}, not {values!r}")
    given = list(values)
    edges = tuple(finite(edge, "an edge") for edge in given)
    if not 1 <= len(edges) < MOST_BINS or any(low >= high for low, high in pairwise(edges)):
        raise InputError(f"edges must be 1 to {MOST_BINS - 1} numbers in ascending order, not {given}")
    return edges
