"""The steps of Newton's method.

A scan returns one row of sums for each level and pair of levels, however many rows it read and whichever engine summed them.
So the equations are few, and are solved here.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import itemgetter, mul
from typing import Any

Sums = list[tuple["int | None", "int | None", Sequence[float]]]
Matrix = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Step:
    """The Newton step at a point."""

    point: Sequence[float]  # the unknowns, one number each
    objective: float  # the objective to minimise, at the point
    worst_loss: float  # the largest loss of a row
    n: float  # the weight of all rows
    direction: Sequence[float]  # the change that a full step subtracts from the point; empty where the Hessian is singular
    decrease: float  # twice the decrease of the objective by a full step, as its curvature predicts it
    largest_change: float  # the largest change of an unknown
    collinear: int  # 0, or the number of the first unknown that is a linear combination of those before it

    def next(self, fraction: float) -> list[float]:
        """The point reached by a fraction of the step."""
        return [x - fraction * d for x, d in zip(self.point, self.direction, strict=True)]


class Newton:
    """The solver of the steps of one search, the `Problem` that the macros render.

    The scales are the number and the scale of each term that the penalty shrinks.

    The Hessian, scaled to a diagonal of 1, is positive definite, so it is L L' with a triangular L, which is computed row by
    row (Cholesky; Golub and Van Loan, Matrix Computations, section 4.2). If the earlier rows determine a row, nothing remains
    of its diagonal.
    """

    def __init__(self, problem: Any, scales: Sequence[tuple[Any, ...]], penalty: float) -> None:
        self.problem = problem
        self.scales = scales
        self.penalty = penalty

    def load(self, rows: Sequence[tuple[Any, ...]]) -> Sums:
        """The sums of a scan (`logistic_sums`), by its terms i and j.

        Both are None for the loss, the largest loss of a row and the weight; j alone is None for the gradient of term i, by
        class; the others are products of the terms i and j, by block.
        """
        return [*self._sums(rows)]

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

    def steps(
        self, point: Sequence[float], scans: Sequence[Sums], products: Sums, growths: Sequence[float] = (1.0,)
    ) -> list[Step]:
        """The step of each scan at a point, from its sums and those of the products there or near it.

        `growths` multiply the penalty, one for each scan.
        """
        width, pairs = self.problem.width, self.problem.pairs
        hessian = [[0.0] * len(point) for _ in point]
        for i, j, sums in products:
            if i is not None and j is not None:
                for c, o, block, _ in pairs:
                    for one, other in {(i, j), (j, i)}:
                        hessian[(c - 1) * width + one][(o - 1) * width + other] += sums[block - 1]
        penalties = [
            ((c - 1) * width + j, (o - 1) * width + j, 2 * self.penalty * share / scale**2)
            for c, o, _, share in pairs
            for j, scale in self.scales
        ]
        pulls = [0.0] * len(point)
        for a, b, h in penalties:
            pulls[a] += h * point[b]
        return [
            self._step(point, sums, hessian, [(a, b, growth * h) for a, b, h in penalties], [growth * pull for pull in pulls])
            for sums, growth in zip(scans, growths, strict=True)
        ]

    def _step(
        self,
        point: Sequence[float],
        sums: Sums,
        hessian: Matrix,
        penalties: Sequence[tuple[int, int, float]],
        pulls: list[float],
    ) -> Step:
        gradient, objective = pulls, _dot(pulls, point) / 2
        worst = n = 0.0
        for i, j, found in sums:
            if i is None:
                objective, worst, n = objective + found[0], found[1], found[2]
            elif j is None:
                for c, g in enumerate(found):
                    gradient[c * self.problem.width + i] += g
        matrix = [[*row] for row in hessian]
        for a, b, h in penalties:
            matrix[a][b] += h
        sizes = [math.sqrt(max(row[a], 0.0)) or 1.0 for a, row in enumerate(matrix)]
        scaled = [
            [h / (size * other) for h, other in zip(row, sizes, strict=True)] for row, size in zip(matrix, sizes, strict=True)
        ]
        lower: list[list[float]] = []
        diagonal: list[float] = []
        for a, row in enumerate(scaled):
            lower.append(_solved(row[:a], lower, diagonal))
            rest = row[a] - _dot(lower[a], lower[a])
            if not rest > 1e-13:
                return Step(point, objective, worst, n, [], math.nan, math.nan, a + 1)
            diagonal.append(math.sqrt(rest))
        rest_of = _solved([g / size for g, size in zip(gradient, sizes, strict=True)], lower, diagonal)
        direction = [0.0] * len(point)
        for a in reversed(range(len(point))):
            x = rest_of[a] / diagonal[a]
            direction[a] = x / sizes[a]
            rest_of[:a] = [y - below * x for y, below in zip(rest_of, lower[a], strict=False)]
        return Step(point, objective, worst, n, direction, _dot(gradient, direction), max(map(abs, direction)), 0)


def with_rise(products: Sums, change: Sequence[float], rise: Sequence[float]) -> Sums:
    """The products of a search of one block, changed so that a change of the point makes the gradient rise as it did.

    They stay positive definite (BFGS; Nocedal and Wright, Numerical Optimization, section 6.1).
    """
    pairs = [(i, j, sums[0]) for i, j, sums in products if i is not None and j is not None]
    along = [0.0] * len(change)
    for i, j, product in pairs:
        along[i] += product * change[j]
        if i != j:
            along[j] += product * change[i]
    expected, found = _dot(change, along), _dot(change, rise)
    if not (expected > 0 and found > 0):
        return products
    return [(i, j, [product + rise[i] * rise[j] / found - along[i] * along[j] / expected]) for i, j, product in pairs]


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    """The product of two lists, as far as the shorter one goes."""
    return float(sum(map(mul, one, other)))


def _solved(right: Sequence[float], lower: Matrix, diagonal: Sequence[float]) -> list[float]:
    """The x of L x = right."""
    found: list[float] = []
    for b, row, rest in zip(right, lower, diagonal, strict=False):
        found.append((b - _dot(row, found)) / rest)
    return found


def _batches(numbers: Sequence[float], size: int) -> list[Sequence[float]]:
    return [numbers[start : start + size] for start in range(0, len(numbers), size)]
