"""Numbers cut into categories."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Literal

from nbsql.errors import InputError
from nbsql.family.base import Family, choice

MOST_BINS = 1000


@dataclass(frozen=True, kw_only=True)
class Binned(Family):
    """A number cut into bins, which are categories: P(bin | c) = (n_bc + alpha) / (n_c + alpha K), K the number of bins.

    A bin holds its lower edge and not its upper one; the first and the last have no end. So it makes no assumption on how the
    number is distributed.

    Args:
        bins: how many; fewer where edges coincide.
        by: "quantile", of as many rows (or as much weight) each as ties allow; "width", of equal width between the least and
            the largest value; "mdl", where the classes differ, as many as the minimum description length principle accepts
            (Fayyad and Irani 1993); or the edges between the bins, as a list.
        monotone: whether bins beside each other are merged until the share of a class rises, or falls, from bin to bin (pool
            adjacent violators), in the direction that keeps the greater information value. It takes a target of two classes.
            The model then has the edges that were merged as `by`.
        edges: those between the bins, as the fit found them.

    >>> Binned(by=[18, 65]).labels
    ['(-inf, 18)', '[18, 65)', '[65, inf)']
    """

    bins: int = 10
    by: Literal["quantile", "width", "mdl"] | Sequence[float] = "quantile"
    monotone: bool = False
    edges: Sequence[float] | None = None

    name: ClassVar[str] = "binned"
    level: ClassVar[bool] = True
    has_categories: ClassVar[bool] = True
    accepts: ClassVar[tuple[str, ...]] = ("integer", "float", "decimal")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.monotone, bool):
            raise InputError(f"monotone must be True or False, not {self.monotone!r}")
        if isinstance(self.by, str):
            choice(self.by, Literal["quantile", "width", "mdl"], "by")
            if isinstance(self.bins, bool) or not isinstance(self.bins, int) or not 2 <= self.bins <= MOST_BINS:
                raise InputError(f"bins must be a whole number from 2 to {MOST_BINS}, not {self.bins!r}")
        else:
            edges = bin_edges(self.by, "by must be 'quantile', 'width', 'mdl' or a list of edges")
            object.__setattr__(self, "by", edges)
            object.__setattr__(self, "bins", len(edges) + 1)
            if not self.monotone:
                object.__setattr__(self, "edges", edges)
        if self.edges is not None:
            object.__setattr__(self, "edges", tuple(float(edge) for edge in self.edges))

    @property
    def question(self) -> str | None:
        if self.edges is not None:
            return None
        if self.by == "mdl":
            return "binned_mdl"
        return "binned_edges" if isinstance(self.by, str) else "binned_monotone"

    @property
    def supervised(self) -> bool:
        return self.by == "mdl" or self.monotone

    def with_answer(self, rows: Sequence[Sequence[Any]]) -> Family:
        if self.by == "mdl":
            edges = [row[0] for row in rows]
        elif isinstance(self.by, str):
            least, *found = rows[0]
            edges = sorted({edge for edge in found if edge is not None and edge > least})
        else:
            if rows[0][1] > 2:
                raise InputError(
                    f"monotone bins need a target of two classes, and this one has {rows[0][1]}; leave out monotone, "
                    "or fit one class against the rest"
                )
            return replace(self, edges=tuple(edge for edge, _ in rows if edge is not None))
        if self.monotone and edges:
            return replace(self, by=edges)  # which are merged next
        return replace(self, edges=tuple(edges))

    def without_answer(self) -> Family:
        return replace(self, edges=None) if self.by == "mdl" else self

    @property
    def labels(self) -> list[str]:
        """The bins, lowest first, as the statistics name them."""
        return bin_labels(self.edges or ())

    @property
    def spans(self) -> list[tuple[str, float, float]]:
        """The bins with their ends; the first and the last, which have none, are as wide as the bin beside them."""
        edges = list(self.edges or (0.0,))
        first, last = (edges[1] - edges[0], edges[-1] - edges[-2]) if len(edges) > 1 else (1.0, 1.0)
        ends = [edges[0] - first, *edges, edges[-1] + last]
        return [(text, ends[i], ends[i + 1]) for i, text in enumerate(self.labels)]

    @property
    def declared(self) -> list[tuple[str, float]]:
        return [(text, self.added_count) for text in self.labels]

    @property
    def degree(self) -> int | None:
        return 1


def bin_labels(edges: Sequence[float]) -> list[str]:
    """The bins between some edges, lowest first."""
    short = [f"{edge:.6g}" for edge in edges]
    texts = short if len(set(short)) == len(short) else [repr(edge) for edge in edges]
    ends = ["-inf", *texts, "inf"]
    return [f"{'[' if i else '('}{ends[i]}, {ends[i + 1]})" for i in range(len(ends) - 1)]


def bin_edges(values: Any, rule: str) -> tuple[float, ...]:
    """The edges as numbers; InputError, with the rule where they are no list, unless they ascend."""
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        raise InputError(f"{rule}, not {values!r}")
    edges = tuple(values)
    for edge in edges:
        if isinstance(edge, bool) or not isinstance(edge, (int, float)) or not math.isfinite(edge):
            raise InputError(f"an edge must be a finite number, not {edge!r}")
    if not 1 <= len(edges) < MOST_BINS or any(low >= high for low, high in pairwise(edges)):
        raise InputError(f"edges must be 1 to {MOST_BINS - 1} numbers in ascending order, not {list(edges)}")
    return tuple(float(edge) for edge in edges)
