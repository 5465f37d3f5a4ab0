"""The families that a column might be of, by what its values are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.family import (
    Bernoulli,
    Beta,
    Binned,
    Categorical,
    Exponential,
    Family,
    Gamma,
    Gaussian,
    Geometric,
    Kernel,
    LogNormal,
    Poisson,
    Text,
    ZeroInflated,
)
from nbsql.spec.spec import Feature, Spec

NUMBERS = ("integer", "float", "decimal")
_MAX_CATEGORIES = 50  # whole numbers that a category may have
_BINS = (10, 30)
_MIN_ZERO_SHARE = 0.05  # the share of zeros from which they are counted apart
_MIN_NON_ZERO = 30  # numbers that are not 0, at least, so that a density is known of them
_KERNEL_CELLS = 128  # of a kernel's grid: the work of its estimate grows with the square of them, and there is one a fold
_ALPHAS = (0.1, 10.0)


@dataclass(frozen=True)
class ColumnFacts:
    """What is known of the values of a column.

    Args:
        n: the values.
        distinct: of them.
        least: of a number.
        largest: of a number.
        irregular: how many are not whole; of a text, how many are of several words.
        zeros: how many are 0.
        missing: how many rows have none.
    """

    n: int
    distinct: int
    least: float | None
    largest: float | None
    irregular: int
    zeros: int
    missing: int


def candidates(engine: Engine, source: Source, spec: Spec, features: Sequence[Feature]) -> dict[str, list[Family]]:
    """By the names of some features, the families that their columns might be of beside that of the spec; one read.

    Args:
        engine: the engine to run on.
        source: what to look at.
        spec: the spec of the default.
        features: of the spec, each of one column.
    """
    kinds = {column.name: column.kind for column in source.columns}
    found: dict[str, list[Family]] = {}
    numbers = [feature for feature in features if kinds[feature.column] in NUMBERS]
    texts = [feature for feature in features if kinds[feature.column] in ("text", "boolean")]
    if numbers or texts:
        names = [feature.column for feature in numbers], [feature.column for feature in texts]
        row = engine.ask("column_facts", spec, source.relation, *names)[0]
        for place, feature in enumerate(numbers + texts):
            n, distinct, least, largest, irregular, zeros = row[6 * place : 6 * place + 6]
            facts = ColumnFacts(n, distinct, least, largest, irregular, zeros, row[-1] - n)
            boolean = kinds[feature.column] == "boolean"
            families = _number_families(facts) if place < len(numbers) else [Bernoulli()] if boolean else _text_families(facts)
            allowed = (family for family in families if not (spec.classes and family.name == "kernel"))  # it takes no classes
            found[feature.name] = list(_without_default(feature.family, allowed, facts, spec.defaults))
    return found


def _number_families(facts: ColumnFacts) -> Iterator[Family]:
    """The families of a column of numbers."""
    if facts.least is None or facts.largest is None or facts.distinct < 2:
        return
    whole = facts.irregular == 0
    yield Gaussian()
    if facts.least > 0:
        yield LogNormal()
        yield Gamma()
        if facts.largest < 1:
            yield Beta()
    if facts.least >= 0:
        yield Exponential()
        if whole:
            yield Poisson()
            yield Geometric()
            if facts.largest == 1:
                yield Bernoulli()
    if facts.zeros >= _MIN_ZERO_SHARE * facts.n and facts.n - facts.zeros >= _MIN_NON_ZERO and facts.distinct > _BINS[0]:
        if facts.least < 0:
            yield ZeroInflated(of="gaussian")
        else:
            yield from (ZeroInflated(of="lognormal"), ZeroInflated(of="gamma"))
    if whole and facts.distinct <= _MAX_CATEGORIES and not (facts.least == 0 and facts.largest == 1):
        yield Categorical()
    if facts.distinct > _BINS[0]:
        yield from (Binned(bins=bins) for bins in _BINS)
        yield Kernel(cells=_KERNEL_CELLS)
        yield Binned(by="mdl")


def _text_families(facts: ColumnFacts) -> Iterator[Family]:
    """The families of a column of texts."""
    if facts.distinct < 2:
        return
    yield Categorical()
    if facts.irregular > 0.5 * facts.n:
        yield Text()
        yield Text(event="bernoulli")
        return
    yield from (Categorical(alpha=alpha) for alpha in _ALPHAS)


def _without_default(
    default: Family, families: Iterable[Family], facts: ColumnFacts, defaults: Mapping[str, Any]
) -> Iterator[Family]:
    """The families but the default, and those that can take a missing value for a category as such, if there are any."""
    missing = facts.missing > 0 and defaults["nulls"] == "skip"
    for family in families:
        plain = family == type(family)()
        if not (plain and type(family) is type(default)):
            yield family
        if missing and plain and family.has_categories:
            yield type(family)(nulls="category")
