"""Candidate families of a column, given its values."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.family import NUMBERS, Binned, Categorical, Family, Kernel, Text, ZeroInflated, named
from nbsql.learning.column_facts import ColumnFacts, column_facts
from nbsql.spec.method import BINS_OF_WEIGHTS
from nbsql.spec.spec import Check, Feature, Spec

_MAX_CATEGORIES = 255  # the most distinct numbers of a category
_BINS = (10, 30)
_MIN_ZERO_SHARE = 0.05  # the share of zeros from which zero-inflated families are tried
_MIN_NON_ZERO = 30  # the fewest numbers other than 0 from which a density can be estimated
_KERNEL_CELLS = 128  # cells of a kernel's grid; each fold needs an estimate, whose cost grows with their square
_ALPHAS = (0.1, 10.0)


def candidates(engine: Engine, source: Source, spec: Spec, features: Sequence[Feature]) -> dict[str, list[Family]]:
    """The candidate families of some features of one column by name, besides those of the default spec. Takes one read."""
    kinds = source.kinds
    looks = {column.name: column.look.family for column in source.columns if column.look is not None}
    families_by_name: dict[str, list[Family]] = {}
    for feature, facts in _with_infinities(engine, source, column_facts(engine, source.relation, spec, features, kinds)):
        families: Iterable[str | Family] = ["bernoulli"] if kinds[feature.column] == "boolean" else _text_families(facts)
        families = _number_families(facts) if kinds[feature.column] in NUMBERS else families
        # A kernel takes no declared classes.
        allowed = (
            family
            for family in map(named, families)
            if not (spec.classes and family.cell == "place") and family != looks.get(feature.column)
        )
        families_by_name[feature.name] = list(_without_default(feature.family, allowed, facts, spec.defaults))
    return families_by_name


def _with_infinities(
    engine: Engine, source: Source, found: Iterable[tuple[Feature, ColumnFacts]]
) -> Iterator[tuple[Feature, ColumnFacts]]:
    """The features with the facts of their columns, where -infinity, which counts as missing, is the least number."""
    facts = [*found]
    checks = [
        Check("negative", feature.column, "")
        for feature, each in facts
        if feature.floating and each.missing and each.least is not None and each.least >= 0
    ]
    counts = engine.query_macro("rows_that_break", source.relation, checks)[0] if checks else ()
    negative = {check.column for check, count in zip(checks, counts, strict=True) if count}
    for feature, each in facts:
        yield feature, replace(each, least=-math.inf) if feature.column in negative else each


def _number_families(facts: ColumnFacts) -> Iterator[str | Family]:
    if facts.least is None or facts.largest is None or facts.distinct < 2:
        return
    is_integer = facts.irregular == 0
    yield "gaussian"
    if facts.least > 0 and not is_integer:  # a whole number may be 0 in a new row, and they say nothing of it
        yield from ("lognormal", "gamma", *(["beta"] if facts.largest < 1 else []))
    if facts.least >= 0:
        yield "exponential"
        if is_integer:
            yield from ("poisson", "geometric", *(["bernoulli"] if facts.largest == 1 else []))
    if facts.marked >= _MIN_ZERO_SHARE * facts.n and facts.n - facts.marked >= _MIN_NON_ZERO and facts.distinct > _BINS[0]:
        if facts.least < 0:
            yield ZeroInflated(of="gaussian")
        else:
            yield from (ZeroInflated(of="lognormal"), ZeroInflated(of="gamma"))
    if facts.distinct <= _MAX_CATEGORIES and not (is_integer and facts.least == 0 and facts.largest == 1):
        yield "categorical"
    if facts.distinct > _BINS[0]:
        yield from (Binned(bins=bins) for bins in _BINS)
        yield Kernel(cells=_KERNEL_CELLS)
        yield BINS_OF_WEIGHTS


def _text_families(facts: ColumnFacts) -> Iterator[str | Family]:
    if facts.distinct < 2:
        return
    yield "categorical"
    if facts.irregular > 0.5 * facts.n:
        yield from ("text", Text(event="bernoulli"))
        return
    yield from (Categorical(alpha=alpha) for alpha in _ALPHAS)


def _without_default(
    default: Family, families: Iterable[Family], facts: ColumnFacts, defaults: Mapping[str, Any]
) -> Iterator[Family]:
    """The families without the default.

    If values are missing, each family with categories is also returned with missing values as a category.
    """
    missing = facts.missing > 0 and defaults["nulls"] == "skip"
    for family in families:
        plain = family == type(family)()
        if not (plain and type(family) is type(default)):
            yield family
        if missing and plain and family.has_categories:
            yield type(family)(nulls="category")
