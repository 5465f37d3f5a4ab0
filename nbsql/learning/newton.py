"""The steps of Newton's method.

A scan returns one row of sums for each level and pair of levels, however many rows it read and whichever engine summed them.
So the equations are solved in a small in-memory database by one macro (sql/macros/learning/logistic/step.sql).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import itemgetter
from typing import Any

from markupsafe import Markup

from nbsql.engines.duckdb.engine import DuckDB


@dataclass(frozen=True)
class Step:
    """The Newton step at a point."""

    point: Sequence[float]  # the unknowns, one number each
    objective: float  # the objective to minimise, at the point
    worst_loss: float  # the largest loss of a row
    n: float  # the weight of all rows
    direction: Sequence[float]  # the change that a full step subtracts from the point; None where the Hessian is singular
    decrease: float  # twice the decrease of the objective by a full step, as its curvature predicts it
    largest_change: float  # the largest change of an unknown
    collinear: int  # 0, or the number of the first unknown that is a linear combination of those before it

    def next(self, fraction: float) -> list[float]:
        """The point reached by a fraction of the step."""
        return [x - fraction * d for x, d in zip(self.point, self.direction, strict=True)]


class Newton:
    """An in-memory database that solves the steps of one search, the `Problem` that the macros render.

    The scales are the number and the scale of each term.
    """

    def __init__(self, problem: Any, scales: Sequence[tuple[Any, ...]], penalty: float) -> None:
        self.engine = DuckDB(":memory:")
        self.problem = problem
        self.penalty = penalty
        self.terms = self._load("terms", "logistic_scales", [[term[k] for term in scales] for k in range(2)])

    def close(self) -> None:
        self.engine.close()

    def load(self, name: str, *scans: Sequence[tuple[Any, ...]]) -> Markup:
        """The relation of the sums of scans (`logistic_sums`): f, i, j, and sums, a list. It replaces one of the same name.

        f is the number of the scan, from 1.
        i and j are NULL for the loss, the largest loss of a row and the weight; j alone is NULL for the gradient of term i, by
        class; the others are products of the terms i and j, by block.
        """
        rows = ((number, *sums) for number, scan in enumerate(scans, start=1) for sums in self._sums(scan))
        return self._load(name, "logistic_sums_as_parameters", list(zip(*rows, strict=True)))

    def _sums(self, rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int | None, int | None, Sequence[float]]]:
        zs, pairs = self.problem.zs, self.problem.number_pairs
        classes, blocks = len(self.problem.others), len(self.problem.blocks)
        by_block = [sums for _, _, _, sums in sorted((row for row in rows if row[0] == "block"), key=itemgetter(1))]
        for part, i, j, sums in rows:
            if part == "total":
                end = 3 + len(zs) * classes
                yield None, None, sums[:3]
                yield from zip(zs, repeat(None), _batches(sums[3:end], classes), strict=False)
                products = zip(*by_block, strict=True) if by_block else _batches(sums[end:], blocks)
                yield from ((*pair, product) for pair, product in zip(pairs, products, strict=False))
            elif part == "code":
                products = _batches(sums[classes:], blocks)
                yield i, None, sums[:classes]
                yield from zip(zs, repeat(i), products, strict=False)
                yield from zip([i], [i], products, strict=False)
            elif part == "pair":
                yield i, j, sums

    def steps(self, point: Sequence[float], sums: Markup, products: Markup, growths: Sequence[float] = (1.0,)) -> list[Step]:
        """The step of each scan at a point, from the relation of its sums and that of the products there or near it.

        `growths` multiply the penalty, one for each scan.
        """
        rows = self.engine.query_macro("logistic_step", self.problem, sums, products, point, self.terms, self.penalty, growths)
        return [Step(point, *row) for row in rows]

    def _load(self, name: str, query: str, columns: Sequence[Sequence[Any]]) -> Markup:
        renderer = self.engine.renderer
        relation = renderer.dialect.ident(name)
        self.engine.query_macro("drop_if_exists", relation)
        create = renderer.statement("create_table_as", relation, renderer.fragment(query), temporary=False)
        self.engine.prepare(create)([list(column) for column in columns])
        return relation


def _batches(numbers: Sequence[float], size: int) -> list[Sequence[float]]:
    return [numbers[start : start + size] for start in range(0, len(numbers), size)]
