"""What a threshold of certainty promises: how many of the predictions that reach it are right at least, by held-out rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

_STARTS = 10  # the sequences of thresholds that are tested (sql/macros/evaluation/calibration/certain.sql)
_SHOWN = (0.8, 0.9, 0.95, 0.99)  # the shares of right predictions whose rows are counted


def promises(points: Iterable[tuple[Any, ...]], confidence: float) -> Iterator[tuple[int | None, float, float]]:
    """The class number or None, the score of a threshold, and the share of the rows that reach it that are right at least.

    `points` are the rows of the macro `certain_points`, in order. The promises of a class hold together with the confidence.
    """
    start, highest = None, 0.0
    for class_no, percent, score, n, wrong, _ in points:
        if start != (start := (class_no, (percent - 1) * _STARTS // 100)):
            highest = 0.0
        highest = max(highest, upper_limit(wrong, n, (1 - confidence) / _STARTS))
        yield class_no, score, 1 - highest


def shares_decided(
    points: Sequence[tuple[Any, ...]], promised: Sequence[tuple[int | None, float, float]]
) -> dict[float, float]:
    """The share of all rows that are certain enough for some shares of right predictions; both arguments are of `promises`."""
    decided = {}
    for certain in _SHOWN:
        pairs = zip(points, promised, strict=True)
        shares = [n / total for (*_, n, _, total), (class_no, _, least) in pairs if class_no is None and least >= certain]
        decided[certain] = max(shares, default=0.0)
    return decided


def upper_limit(wrong: float, n: float, tail: float) -> float:
    """The upper limit of Clopper and Pearson for a share, of which `wrong` of `n` rows were seen, with the probability `tail`.

    It is p with P(Binomial(n, p) <= wrong) = tail, the quantile 1 - tail of the beta distribution of wrong + 1 and n - wrong.

    >>> round(upper_limit(0, 59, 0.05), 6), round(1 - 0.05 ** (1 / 59), 6)
    (0.049508, 0.049508)
    """
    if wrong >= n:
        return 1.0
    low, high = wrong / n, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if beta_above(middle, wrong + 1, n - wrong) > tail else (low, middle)
    return high


def beta_above(x: float, a: float, b: float) -> float:
    """P(X > x) of the beta distribution of a and b, by its continued fraction (Abramowitz and Stegun, 26.5.8).

    >>> round(beta_above(0.25, 1, 3), 12), 0.75**3
    (0.421875, 0.421875)
    """
    if x < (a + 1) / (a + b + 2):  # where the fraction of the other tail converges quickly
        return 1 - beta_above(1 - x, b, a)
    if x >= 1:
        return 0.0
    y = 1 - x
    log_factor = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(y)
    # numerators and denominators of the convergents, scaled so that the last denominator is 1
    before, last, denominator_before = 1.0, 1.0, 0.0
    for step in range(10_000_000):
        m = step // 2
        if step % 2:
            term = (m + 1) * (a - m - 1) * y / ((b + 2 * m + 1) * (b + 2 * m + 2))
        else:
            term = -(b + m) * (a + b + m) * y / ((b + 2 * m) * (b + 2 * m + 1))
        numerator, denominator = last + term * before, 1 + term * denominator_before
        before, denominator_before = last / denominator, 1 / denominator
        previous, last = last, numerator / denominator
        if abs(last - previous) <= 1e-15 * abs(last):
            break
    return math.exp(log_factor) / (b * last)
