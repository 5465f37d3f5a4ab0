"""Counts that may be shared: without counts of few rows, or with noise in all counts.

The noise is the two-sided geometric mechanism, which is optimal for every user of a count among all private mechanisms
(Ghosh, Roughgarden and Sundararajan, "Universally utility-maximizing privacy mechanisms", STOC 2009). It is drawn with whole
numbers only, as by Canonne, Kamath and Steinke ("The discrete Gaussian for differential privacy", NeurIPS 2020), since the
rounding of doubles may reveal a count (Mironov, "On significance of the least significant bits for differential privacy", CCS
2012).
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Real
from typing import Any

from nbsql.errors import InputError, ModelError, written
from nbsql.family import Bernoulli, Binned, Categorical, Conditional, Multinomial
from nbsql.family.base import checked, whole_number
from nbsql.spec.capabilities import check
from nbsql.spec.spec import Feature, Spec


@dataclass(frozen=True)
class Sharing:
    """How the counts of a model are protected for sharing."""

    least: int | None = None  # the fewest rows that a cell must have to be written; None: any
    epsilon: float | None = None  # the privacy budget that the file spends; None: no noise
    seed: int | None = None  # the seed of reproducible noise, which is not private; None: the system's secure generator

    def __post_init__(self) -> None:
        checked(self, whole_number, "least")
        given = 0.0 if isinstance(self.epsilon, bool) or not isinstance(self.epsilon, Real) else self.epsilon
        if self.epsilon is not None and not 0.001 <= given <= 100:
            raise InputError(f"epsilon must be a number from 0.001 to 100, such as 1, not {written(self.epsilon)}")
        if self.seed is not None and self.epsilon is None:
            raise InputError("seed is of the noise by epsilon; leave it out, or say epsilon")
        checked(self, lambda seed, name: whole_number(seed, name, least=None), "seed")

    @property
    def description(self) -> str:
        """The protection, as the file records it; an empty text if all counts are written unchanged."""
        parts = [] if self.epsilon is None else [f"epsilon {self.epsilon:g}"]
        parts += [] if self.seed is None else ["seeded, and so not private"]
        return ", ".join([*parts, *([] if self.least is None else [f"least {self.least}"])])

    def shared_spec(self, spec: Spec, title: str) -> Spec:
        """The spec of the file, without what the rows revealed about its features.

        Raises ModelError if such a model, InputError if a feature cannot be shared this way.
        """
        if not self.description:
            return spec
        for use, value in (("least", self.least), ("epsilon", self.epsilon)):
            if value is not None:
                check(spec, use, title)
                if spec.weight is not None:
                    raise ModelError(
                        f"{title} has weights, so that no count of it is one of rows; {use} takes one fitted without"
                    )
                for feature in spec.features:
                    cure = (_reason_not_rows if use == "least" else _reason_unbounded)(feature)
                    if cure is not None:
                        raise InputError(f"{use} does not take {feature.name!r}, which is {feature.family.name}: {cure}")
        if self.epsilon is not None and not spec.classes:
            raise InputError(
                "epsilon takes a model whose classes are declared, for those of the rows tell of rows; fit it with classes"
            )
        if self.epsilon is not None and spec.slice_by is not None:
            raise InputError("epsilon takes a model without slices, whose names tell of rows; fit it without slice_by")
        features = tuple(
            replace(feature, is_complete=False, has_near_means=False, has_few_values=False) for feature in spec.features
        )
        return replace(spec, features=features, shared=(*spec.shared, self.description))

    def add_noise(self, rows: Sequence[Sequence[Any]], spec: Spec) -> list[list[Any]]:
        """The cells of all declared classes and values with noise. Cells of which the noise leaves nothing are dropped.

        Each row adds 1 to the cell of its class and to at most one cell of each feature: the budget is split evenly over these.
        `rows` has slice, class, feature, value, n, mean, m2 and batch of each cell; cells that are not declared are left out.
        Raises InputError if the noise has left no class.
        """
        if self.epsilon is None:
            return [[*row] for row in rows]
        counts = {(row[1], row[2], row[3]): round(row[4]) for row in rows}
        noisy: list[list[Any]]
        draw = two_sided_geometric(Fraction(str(self.epsilon)) / (1 + len(spec.features)), self.seed)
        cells: list[tuple[str | None, str | None]] = [(None, None)]
        for feature in spec.features:
            cells += [(feature.name, value) for value, _ in feature.family.declared]
            cells += [(feature.name, None)] * (feature.family.nulls == "category")
        noisy = [
            [None, label, name, value, float(counts.get((label, name, value), 0) + draw()), None, None, "1"]
            for label in spec.classes
            for name, value in cells
        ]
        noisy = [row for row in noisy if row[4] > 0]
        if all(row[2] is not None for row in noisy):
            raise InputError(f"the noise of epsilon {self.epsilon:g} has left no class; take a larger one, or more rows")
        return noisy


def _reason_not_rows(feature: Feature) -> str | None:
    """Why the counts of a feature are not counts of rows; None if they are."""
    family = feature.family
    if isinstance(family, Multinomial) or (family.bag and not family.presence):
        return "its counts are of words, and not of rows; leave it out, or take event='bernoulli' of a text"
    if isinstance(family, Conditional):
        return "counts that are left out would follow from those of its parent; fit it without one"
    return None


def _reason_unbounded(feature: Feature) -> str | None:
    """Why a row may change more than one count of one declared value of a feature; None if it does not."""
    family = feature.family
    if isinstance(family, Bernoulli):
        return None
    if isinstance(family, Binned):
        cure = "its edges follow from the rows; declare them, nbsql.Binned(by=[18, 65])"
        return cure if isinstance(family.by, str) else None
    if isinstance(family, Categorical):
        return None if family.declared else "its values tell of rows; declare them, nbsql.Categorical(levels=['a', 'b'])"
    if feature.is_number:
        return "its sums have no bounds; cut it into bins of declared edges, nbsql.Binned(by=[18, 65])"
    if _reason_not_rows(feature) is not None or family.bag:
        return "a row is in more than one of its counts; leave it out"
    return "its values cannot be declared; leave it out"


# Noise. ----------------------------------------------------------------------------------------------------------------


def two_sided_geometric(epsilon: Fraction, seed: int | None = None) -> Callable[[], int]:
    """A function that draws whole numbers k with probability (1 - a) / (1 + a) * a^|k|, where a = exp(-epsilon).

    A draw is the difference of two geometric numbers. A seed gives the same draws again; without one the system's generator
    is used.

    >>> draw = two_sided_geometric(Fraction(1, 2), seed=1)
    >>> abs(sum(draw() for _ in range(2000)) / 2000) < 0.5
    True
    """
    below = secrets.randbelow if seed is None else random.Random(seed).randrange  # noqa: S311 - documented as not private
    return lambda: _geometric(epsilon, below) - _geometric(epsilon, below)


def _geometric(rate: Fraction, below: Callable[[int], int]) -> int:
    """A whole number k with probability proportional to exp(-rate k).

    With rate = s / t, draw a number with the rate 1 / t, divide it by s and round down. The number is v t + u, where v has
    the rate 1, and u is below t and accepted with probability exp(-u / t).
    """
    while True:
        u = below(rate.denominator)
        if _happens(Fraction(u, rate.denominator), below):
            break
    v = 0
    while _happens(Fraction(1), below):
        v += 1
    return (v * rate.denominator + u) // rate.numerator


def _happens(gamma: Fraction, below: Callable[[int], int]) -> bool:
    """Whether an event of probability exp(-gamma) happens, for gamma from 0 to 1.

    Among events with the probabilities gamma / 1, gamma / 2, ..., the first that fails has an odd number with probability 1 -
    gamma + gamma^2 / 2 - ... = exp(-gamma) (von Neumann, Various techniques used in connection with random digits, 1951).
    """
    number = 1
    while below(gamma.denominator * number) < gamma.numerator:
        number += 1
    return number % 2 == 1
