"""Facts about the values of columns, from which families are inferred, and candidates chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.family import NUMBERS
from nbsql.plan.context import Context
from nbsql.spec.spec import Feature, Spec

_FACTS = 8  # of a column in a row of `column_facts` (look.sql)
_AT_ONCE = 200  # columns; a row of PostgreSQL's has at most 1,664 entries


@dataclass(frozen=True)
class ColumnFacts:
    """Facts about the values of a column."""

    n: int  # the number of values
    distinct: int  # the number of distinct values
    least: float | None  # the least number; of a text, the fewest characters
    largest: float | None  # the largest number
    irregular: int  # the number of fractions; of a text, the number of values with several words
    marked: int  # the number of zeros; of a text, the number of values with at least five words
    mean: float | None  # the mean of numbers
    coded: int  # the number of texts with letters and digits
    missing: int  # the number of rows without a value


def column_facts(
    engine: Engine,
    relation: Markup,
    spec: Spec,
    features: Sequence[Feature],
    kinds: Mapping[str, str],
    *,
    is_exact: bool = True,
) -> Iterator[tuple[Feature, ColumnFacts]]:
    """The features of one number, text or boolean with the facts about their columns, whose kinds are given; few reads.

    Unless they are to be exact, the numbers of distinct values may be a tenth off, which takes half of the time.
    """
    numbers = [feature for feature in features if kinds[feature.column] in NUMBERS]
    columns = numbers + [feature for feature in features if kinds[feature.column] in ("text", "boolean")]
    for start in range(0, len(columns), _AT_ONCE):
        asked = columns[start : start + _AT_ONCE]
        split = max(len(numbers) - start, 0)
        names = [feature.column for feature in asked]
        row = engine.query_macro("column_facts", Context.of(spec), relation, names[:split], names[split:], is_exact)[0]
        for place, feature in enumerate(asked):
            n, distinct, least, largest, irregular, marked, mean, coded = row[_FACTS * place : _FACTS * (place + 1)]
            yield feature, ColumnFacts(n, distinct, least, largest, irregular, marked, mean, coded, row[-1] - n)


def skewness(engine: Engine, relation: Markup, spec: Spec, facts: Mapping[str, ColumnFacts]) -> dict[str, float]:
    """The skewness of numbers, by the names of their columns, which have these facts; few reads. Each has several values."""
    centred = [(name, float(each.mean or 0), float(each.largest or 0) - float(each.least or 0)) for name, each in facts.items()]
    row: list[float] = []
    for start in range(0, len(centred), _AT_ONCE):
        row += engine.query_macro("column_moments", Context.of(spec), relation, centred[start : start + _AT_ONCE])[0]
    return {name: row[2 * i + 1] / row[2 * i] ** 1.5 if row[2 * i] else 0.0 for i, name in enumerate(facts)}
