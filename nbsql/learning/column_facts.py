"""Facts about the values of columns, from which families are inferred, and candidates chosen."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.family import NUMBERS
from nbsql.plan.context import Context
from nbsql.spec.spec import Feature, Spec

_AT_ONCE = 200  # columns in a statement, whose distinct values are kept in memory


@dataclass(frozen=True)
class ColumnFacts:
    """Facts about the values of a column."""

    rows: int = 0
    n: int = 0  # the number of values
    distinct: int = 0  # the number of distinct values
    least: float | None = None  # the least number; of a text, the fewest characters
    largest: float | None = None  # the largest number
    mean: float | None = None  # the mean of numbers
    irregular: int = 0  # the number of fractions; of a text, the number of values with several words
    marked: int = 0  # the number of zeros; of a text, the number of values with at least five words
    coded: int = 0  # the number of texts with letters and digits

    @property
    def missing(self) -> int:
        """The number of rows without a value."""
        return self.rows - self.n


@dataclass(frozen=True)
class _Centred:
    """A number with its mean and its range."""

    index: int
    column: str
    mean: float
    range: float


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

    Unless they are to be exact, the numbers of distinct numbers may be a tenth off, which takes half of the time.
    """
    numbers = [feature for feature in features if kinds[feature.column] in NUMBERS]
    texts = [feature for feature in features if kinds[feature.column] in ("text", "boolean")]
    model, facts = Context.of(spec), dict[int, ColumnFacts]()
    for macro, columns, *how in (("number_facts", numbers, is_exact), ("text_facts", texts)):
        for start in range(0, len(columns), _AT_ONCE):
            for index, *found in engine.query_macro(macro, model, relation, columns[start : start + _AT_ONCE], *how):
                facts[index] = ColumnFacts(*found)
    for feature in numbers + texts:
        yield feature, facts.get(feature.index, ColumnFacts())


def skewness(engine: Engine, relation: Markup, spec: Spec, facts: Mapping[str, ColumnFacts]) -> dict[str, float]:
    """The skewness of numbers, by the names of their columns, which have these facts; few reads. Each has several values."""
    centred = [
        _Centred(index, name, float(each.mean or 0), float(each.largest or 0) - float(each.least or 0))
        for index, (name, each) in enumerate(facts.items())
    ]
    model, names, skews = Context.of(spec), list(facts), dict.fromkeys(facts, 0.0)
    for start in range(0, len(centred), _AT_ONCE):
        for index, second, third in engine.query_macro("column_moments", model, relation, centred[start : start + _AT_ONCE]):
            skews[names[index]] = third / second**1.5 if second else 0.0
    return skews
