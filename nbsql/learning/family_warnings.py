"""Advice on features whose inferred family is probably of no use, with the argument that fixes it."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from itertools import accumulate
from typing import Any

from nbsql.engines.engine import Engine
from nbsql.errors import InputError, listed, together
from nbsql.rendering.dialect import plain_name, restore
from nbsql.spec.column import MISSING_WORDS
from nbsql.spec.derived import derive_argument
from nbsql.spec.spec import Feature, Spec

_MIN_ROWS = 200  # with fewer rows, the counts say little
NEARLY_UNIQUE = 0.5  # values per row, above which hardly any value of a category occurs again
_MOSTLY_WORDS = 0.5  # share of values with several words, above which a category is a text
_SOME_WORDS = 0.2  # the share above which it may be a text, whose other values are single words or missing
_MANY_CLASSES = 100
_SOME_CLASSES = 10  # the most that no table has too few rows for
_ROWS_A_CLASS = 10
_CAMEL = re.compile(r"[a-z](Id|ID|Key)$")
_SNAKE = re.compile(r"(^|[_ ])(id|key|uuid|guid|pk)$", re.IGNORECASE)
_MIN_PATTERN_NAMES = 3  # the fewest names that a pattern replaces


def features_to_advise_on(spec: Spec) -> tuple[list[Feature], list[Feature], list[Feature]]:
    """The categories and the numbers whose families were inferred from the types of their columns, and the joint features.

    A joint feature is listed where a row of values that were not seen together has no prediction.
    """
    joint = [f for f in spec.features if f.family.cell == "list" and f.family.backoff is None and len(spec.features) == 1]
    inferred = [feature for feature in spec.features if feature.is_inferred]
    categories = [feature for feature in inferred if feature.family.cell == "level"]
    numbers = [f for f in inferred if f.whole and f.is_number and f.family.centred and not f.family.zeros]
    return categories, numbers if spec.logistic is None else [], joint


def advice(spec: Spec, summary: Iterable[tuple[Any, ...]], besides: Collection[str] = ()) -> Iterator[str]:
    """A line for each problem, from the rows of `feature_summary` (model.sql) of a model that was just fitted.

    The categories that `besides` names have advice already.
    """
    categories, numbers, joint = features_to_advise_on(spec)
    facts_by_name = {row[0]: (row[2], *row[4:]) for row in summary if row[0] is not None and row[2] >= _MIN_ROWS}
    for feature in categories:
        n, values, in_words = facts_by_name.get(feature.name, (0, 0, 0))[:3]
        if n and feature.name not in besides and values > NEARLY_UNIQUE * n:
            yield _nearly_unique(feature.name, values, n, in_words / n)
    for feature in joint:
        n, values = facts_by_name.get(feature.name, (0, 0))[:2]
        if n and values > NEARLY_UNIQUE * n:
            have = "has" if len(feature.columns) == 1 else "have"
            yield (
                f"{listed(feature.columns)} {have} {values:,} combinations of values in {n:,.0f} rows, and others have no "
                f'prediction; fall back on each column by itself: ⟨method=nbsql.JointBayes(backoff="naive")⟩'
            )
    flags: list[str] = []
    constant: list[str] = []
    for feature in numbers:
        if feature.name not in facts_by_name:
            continue
        n, _, _, beyond_one, m2 = facts_by_name[feature.name]
        if abs(beyond_one) < 1e-9 * n:
            (flags if m2 > 0 else constant).append(feature.name)
        elif spec.weight is None and abs(12 * m2 - n * (n * n - 1)) < 1e-6 * n**3:
            yield f"{feature.name!r} numbers the rows, and is taken for a quantity; leave it out: {_exclude(feature.name)}"
        elif named_like_a_key(feature.name):
            yield (
                f"{feature.name!r} is a key by its name, and is taken for a quantity; leave it out: {_exclude(feature.name)}, "
                f'or take it for a category: ⟨families={{{_json(feature.name)}: "categorical"}}⟩'
            )
    if flags:
        others = [feature.name for feature in spec.features if feature.name not in {*flags, *constant}]
        shown = ", ".join(f'{_json(key)}: "bernoulli"' for key in name_patterns(flags, others))
        hold, are = ("holds", "is") if len(flags) == 1 else ("hold", "are")
        quantities = "a quantity" if len(flags) == 1 else "quantities"
        yield f"{listed(flags)} {hold} 0 and 1 only, and {are} taken for {quantities}: ⟨families={{{shown}}}⟩"


def named_like_a_key(name: str) -> bool:
    """Whether a column is a key by its name.

    >>> named_like_a_key("customer_id"), named_like_a_key("PassengerId"), named_like_a_key("humid")
    (True, True, False)
    """
    return bool(_CAMEL.search(name) or _SNAKE.search(name))


def check_classes(engine: Engine, target: str, labels: Sequence[tuple[Any, ...]]) -> None:
    """Raise InputError for numbers that cannot be meant as classes: more than a hundred, with fractions or nearly one a row.

    `labels` has for each class its label as text, its label, and the number of rows.
    """
    if len(labels) <= _MANY_CLASSES or not all(isinstance(row[1], (int, float, Decimal)) for row in labels):
        return
    rows = sum(row[2] for row in labels)
    if any(float(row[1]) % 1 != 0 for row in labels) or 2 * len(labels) >= rows:
        raise InputError(f"{_halved(engine, target, labels)}, or cast it to text if each number is a class")


def advice_on_classes(engine: Engine, target: str, labels: Sequence[tuple[Any, ...]]) -> str | None:
    """The advice on a target with so many classes that it is probably a quantity or too fine; None if it is not.

    `labels` are those of `check_classes`.
    """
    rows = sum(row[2] for row in labels)
    numbers = [number for number, _ in _numbers(labels)]
    has_fractions = any(float(number) % 1 != 0 for number in numbers if not isinstance(number, date))
    least = _ROWS_A_CLASS if has_fractions else 2
    if len(labels) <= _MANY_CLASSES and (len(labels) <= _SOME_CLASSES or rows >= least * len(labels)):
        return None
    # Texts without a fraction may be codes.
    if has_fractions or (numbers and not isinstance(labels[0][1], str)):
        return _halved(engine, target, labels)
    if rows < _ROWS_A_CLASS * len(labels):
        return f"{_subject(target, labels)}, too few to learn them by; predict something coarser, or leave the rare ones out"
    return None


def _numbers(labels: Sequence[tuple[Any, ...]]) -> list[tuple[Any, int]]:
    """The labels that are numbers or dates with their rows, also of texts but for words that stand for a missing value.

    It is empty if there are other labels.
    """
    if all(isinstance(row[1], (int, float, Decimal, date)) for row in labels):
        return [(row[1], row[2]) for row in labels]
    try:
        return [(float(row[0]), row[2]) for row in labels if row[0].strip().lower() not in MISSING_WORDS]
    except ValueError:
        return []


def _halved(engine: Engine, target: str, labels: Sequence[tuple[Any, ...]]) -> str:
    """The line by which a quantity is two classes, of half of the rows each."""
    ordered = sorted(_numbers(labels))
    rows = sum(count for _, count in ordered)
    below = accumulate(count for _, count in ordered)
    middle = next(value for (value, _), sum_ in zip(ordered, below, strict=True) if 2 * sum_ >= rows)
    dialect, high = engine.renderer.dialect, f"{target}_high"
    value = restore(dialect.text(str(middle))) if isinstance(middle, date) else str(middle)
    number = plain_name(dialect, target)
    if isinstance(labels[0][1], str):
        number = (
            f"{'' if dialect.name == 'postgres' else 'TRY_'}CAST({number} AS {restore(engine.renderer.fragment('double'))})"
        )
    derived = derive_argument(high, f"{number} > {value}")
    cure = together(derived, f"⟨target={_json(high)}⟩", _exclude(target))
    return f"{_subject(target, labels)}, as a quantity has; predict whether it is high: {cure}"


def _subject(target: str, labels: Sequence[tuple[Any, ...]]) -> str:
    return f"{target!r} has {len(labels):,} classes in {sum(row[2] for row in labels):,} rows"


def _nearly_unique(name: str, values: int, n: float, in_words: float) -> str:
    text = f"take it for a text: ⟨families={{{_json(name)}: nbsql.Text()}}⟩"
    cures = [f"leave it out: {_exclude(name)}"] if in_words <= _MOSTLY_WORDS else []
    cures += [text] if in_words > _SOME_WORDS else []
    return f"{name!r} has {values:,} values in {n:,.0f} rows, and is taken for a category; {', or '.join(cures)}"


def _json(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _exclude(name: str) -> str:
    return f"⟨exclude=[{_json(name)}]⟩"


def name_patterns(names: Sequence[str], others: Iterable[str]) -> list[str]:
    """The names, where those that differ only by a number at the end are replaced by a pattern if it matches no other name.

    >>> name_patterns(["soil_1", "soil_2", "soil_10", "wet"], ["soils"])
    ['soil_*', 'wet']
    >>> name_patterns(["x1", "x2", "x3"], ["x_max"])
    ['x1', 'x2', 'x3']
    """
    others = [other.lower() for other in others]
    names_by_stem: dict[str, list[str]] = {}
    for name in names:
        names_by_stem.setdefault(re.sub(r"\d+$", "", name), []).append(name)
    keys: list[str] = []
    for stem, members in names_by_stem.items():
        alone = not stem or set(stem) & set("*?") or any(other.startswith(stem.lower()) for other in others)
        keys += members if alone or len(members) < _MIN_PATTERN_NAMES else [f"{stem}*"]
    return keys
