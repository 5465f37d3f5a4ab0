"""Facts about the values of columns, from which families are inferred, and candidates chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.family import NUMBERS
from nbsql.spec.spec import Feature, Spec

_FACTS = 8  # of a column in a row of `column_facts` (look.sql)


@dataclass(frozen=True)
class ColumnFacts:
    """Facts about the values of a column."""

    n: int  # the number of values
    distinct: int  # the number of distinct values
    least: float | None  # the least number
    largest: float | None  # the largest number
    irregular: int  # the number of fractions; of a text, the number of values with several words
    marked: int  # the number of zeros; of a text, the number of values with at least five words
    mean: float | None  # the mean of numbers
    lettered: int  # the number of values with letters
    missing: int  # the number of rows without a value


def column_facts(
    engine: Engine, relation: Markup, spec: Spec, features: Sequence[Feature], kinds: Mapping[str, str]
) -> Iterator[tuple[Feature, ColumnFacts]]:
    """The features of one number, text or boolean with the facts about their columns, whose kinds are given; one read."""
    numbers = [feature for feature in features if kinds[feature.column] in NUMBERS]
    texts = [feature for feature in features if kinds[feature.column] in ("text", "boolean")]
    if not (numbers or texts):
        return
    names = [feature.column for feature in numbers], [feature.column for feature in texts]
    row = engine.ask("column_facts", spec, relation, *names)[0]
    for place, feature in enumerate(numbers + texts):
        n, distinct, least, largest, irregular, marked, mean, lettered = row[_FACTS * place : _FACTS * (place + 1)]
        yield feature, ColumnFacts(n, distinct, least, largest, irregular, marked, mean, lettered, row[-1] - n)


def skewness(engine: Engine, relation: Markup, spec: Spec, facts: Mapping[str, ColumnFacts]) -> dict[str, float]:
    """The skewness of numbers, by the names of their columns, which have these facts; one read. Each has several values."""
    if not facts:
        return {}
    centred = [(name, float(each.mean or 0), float(each.largest or 0) - float(each.least or 0)) for name, each in facts.items()]
    row = engine.ask("column_moments", spec, relation, centred)[0]
    return {name: row[2 * i + 1] / row[2 * i] ** 1.5 if row[2 * i] else 0.0 for i, name in enumerate(facts)}
