"""Panels of the report: the question of a panel, and the relation that answers it."""

import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

from nbsql.engines.source import Source
from nbsql.errors import ModelError
from nbsql.queries.explanation import value_words
from nbsql.queries.query import Query, named_rows
from nbsql.queries.table import number
from nbsql.queries.table import plain as in_one_line
from nbsql.report.scored_source import ScoredSource
from nbsql.spec.spec import Feature
from nbsql.storage.state import ModelState

CHARTS = Path(__file__).parent / "charts"
_MOST, _TAIL = 40, 14  # the characters of a value in a chart, and those of its end
DIGITS = 9  # the significant digits of numbers that are only shown
_WORD = re.compile(r"[^\W\d_]{3}")
_COMPARED = re.compile(r"[<>≤≥]=? ?\d")  # a label that compares
_ANSWERS = ("true", "false", "yes", "not", "none", "null")  # words that say nothing without what was asked
_NAMES: ContextVar[dict[str, str] | None] = ContextVar("names", default=None)  # what each cut text of a page stands for
LOWEST = -1e300  # stands for ln 0, which JSON cannot represent


@dataclass(frozen=True)
class Request:
    """A request to a panel."""

    state: ModelState
    scored: ScoredSource | None = None  # the scored source, if there is one
    least: int = 5  # counts below this number are combined
    least_to_tell: int = 5  # counts below this number say too little to tell classes apart by their ratio
    rows: int = 0  # the number of rows of the source that may be shown, the most informative ones
    chosen: Sequence[int] = ()  # the numbers of rows of the source that are shown instead, from 1
    feature: str | None = None  # the feature of the panel
    classes: tuple[Any, Any] | None = None  # the classes that the panel compares
    watched: Source | None = None  # the rows of several periods, if there are any
    against: Source | None = None  # the rows with which they are compared; None for the counts of the model
    by: str | None = None  # the expression for the period of a row
    warned: Sequence[str] = ()  # what the fit has warned of
    gained: str = ""  # what another method would gain on the source, if that was asked for

    def class_name(self, label: object) -> str:
        """The name of a class in titles, legends and sentences."""
        return class_name(self.state.spec.target, plain(label))

    def name_classes(self, rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The rows with the classes in the column `class` as titles and legends name them."""
        return [{**row, "class": self.class_name(row["class"])} for row in rows]

    def value_name(self, feature: str, value: Any) -> str:
        """A value of a feature as titles and labels name it."""
        found = self._feature(feature)
        words = [] if found is None else value_words(found, value, shown)
        return " with ".join(words) or value_name(feature, value, found is not None and found.family.bag)

    def subject(self, feature: str, value: Any) -> str:
        """A value as sentences name it whose likelihood they tell, which is one among rows alike in the parents."""
        found = self._feature(feature)
        words = value_words(found, value, shown) if found is not None and found.family.parent else []
        return f"Where {' and '.join(words[1:])}, {words[0]}" if len(words) > 1 else self.value_name(feature, value)

    def _feature(self, name: str) -> Feature | None:
        return next((each for each in self.state.spec.features if name in (each.name, shown(each.name))), None)

    @property
    def source(self) -> ScoredSource:
        assert self.scored is not None  # noqa: S101 - the list of panels says which need one
        return self.scored


@dataclass(frozen=True)
class Figure:
    """One picture of a panel."""

    finding: str  # a sentence about the result
    tables: Mapping[str, list[dict[str, Any]]]  # the data by the names that the chart uses; `rows` is also the CSV
    sql: str  # the query that computed the data
    chart: str  # the name of the file in charts/
    params: Sequence[Mapping[str, Any]] = ()  # the parameters of the chart, in addition to those in the file
    notes: Sequence[str | None] = ()  # additional notes; None is no note
    name: str = ""  # the name that distinguishes several figures of a panel
    csv: list[dict[str, Any]] | None = None  # the rows of the CSV, if they differ from those of the chart

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", [note for note in self.notes if note is not None])
        object.__setattr__(self, "finding", re.sub(r"^the word(?=s? )", "The word", self.finding))

    @property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification, with its data."""
        spec = _chart(self.chart)
        theme = json.loads((CHARTS / "theme.json").read_text(encoding="utf-8"))
        params = [*self.params, *spec.get("params", [])]
        return {
            "description": self.finding,
            "config": theme,
            **spec,
            **({"params": params} if params else {}),
            "datasets": {name: list(rows) for name, rows in self.tables.items()},
        }


def _chart(chart: str, **words: Any) -> Any:
    """What a file of charts/ holds. {"chart": "lift_by_depth", "title": "gain"} in it is that file with "gain" for $title."""
    text = (CHARTS / f"{chart}.vl.json").read_text(encoding="utf-8")
    text = re.sub(r'"\$(\w+)"', lambda match: json.dumps(words[match[1]]), text)
    text = re.sub(r"\$(\w+)", lambda match: words[match[1]], text)
    return json.loads(text, object_hook=lambda view: _chart(**view) if "chart" in view else view)


@dataclass(frozen=True)
class Panel:
    """A kind of picture."""

    name: str  # the name of the method of `model.plot`, and the name on the command line
    question: str  # the question that the panel answers
    reading: str  # a line that explains how to read the picture
    figures: Callable[[Request], Iterable[Figure]] = field(repr=False)  # makes the pictures: one, or one a feature or row
    needs_source: bool = False  # whether the panel needs rows whose class is known
    of_feature: bool = False  # whether the panel shows a single feature
    shows_rows: bool = False  # whether the panel shows rows of the source
    of_periods: bool = False  # whether the panel needs rows of several periods, whose class may be unknown
    of_classes: bool = False  # whether the panel compares classes, and says nothing of a single one
    of_target: bool = False  # whether the panel says how well a target is told, or by what

    def drawn(self, request: Request) -> Iterator[Figure]:
        """The pictures. Raises ModelError if the panel is about classes, and the model has only one, or none."""
        if request.state.spec.describes_rows and (self.of_classes or self.of_target):
            lacks = "has no target, and so no classes for a comparison"
            raise ModelError(f"{request.state.title} {lacks}; it finds ⟨unusual()⟩ rows")
        if self.of_classes and len(request.state.classes) < 2:
            raise ModelError(f"{request.state.title} has only one class, and so none to compare it with")
        yield from self.figures(request)


def records(query: Query, *, digits: int | None = DIGITS) -> list[dict[str, Any]]:
    """The rows of a query as values for JSON."""
    names, rows = named_rows(query)
    return [{name: plain(value, digits) for name, value in zip(names, row, strict=True)} for row in rows]


def shown(value: object) -> str:
    """A value as charts and titles show it: on one line, and cut in the middle. NULL is "missing".

    A text is in quotes if it is empty, or has blanks at an end. Long names of columns often differ at their ends alone, and a
    chart takes two values of one text for one.

    >>> shown(3.5), shown(""), shown("Yes "), shown(None), shown("average_monthly_balance_of_the_last_30_days")
    ('3.5', "''", "'Yes '", 'missing', 'average_monthly_balance_o…e_last_30_days')
    """
    text = "missing" if value is None else in_one_line(str(value), sys.maxsize)
    if len(text) <= _MOST:
        return text
    if (taken := _NAMES.get()) is None:
        return _cut(text)
    return next(name for n in count(1) if taken.setdefault(name := _cut(text, n), text) == text)


def _cut(text: str, number: int = 1) -> str:
    mark = "…" if number == 1 else f"…({number})…"
    head, tail = text[: _MOST - _TAIL - len(mark)], text[-_TAIL:]
    words, blank, _ = head.rpartition(" ")
    return f"{words} {mark}{tail}" if blank and 2 * len(words) > len(head) else f"{head}{mark}{tail}"  # not within a word


@contextmanager
def distinct_names() -> Iterator[None]:
    """While a page or a picture is made: values that are cut to the same text get a number, so that no chart adds them up.

    >>> with distinct_names():
    ...     shown("x" * 50), shown("x" * 51)
    ('xxxxxxxxxxxxxxxxxxxxxxxxx…xxxxxxxxxxxxxx', 'xxxxxxxxxxxxxxxxxxxxx…(2)…xxxxxxxxxxxxxx')
    """
    before = _NAMES.set({})
    try:
        yield
    finally:
        _NAMES.reset(before)


def class_name(target: str, label: object) -> str:
    """A class as titles and legends name it: with its target, unless its label is a word that speaks for itself.

    >>> class_name("late", "true"), class_name("Survived", 1), class_name("label", "spam"), class_name("income", "<=50K")
    ('late = true', 'Survived = 1', 'spam', 'income <=50K')
    """
    text = shown(label)
    if _COMPARED.match(text):
        return f"{shown(target)} {text}"
    return text if _WORD.search(text) and text.lower() not in _ANSWERS else f"{shown(target)} = {text}"


def value_name(feature: str, value: object, is_word: bool) -> str:
    """A value of a feature as titles name it.

    >>> value_name("sex", "female", False), value_name("message", "prize", True), value_name("message", "free prize", True)
    ('sex = female', 'the word prize', 'the words free prize')
    """
    text = shown(value)
    if is_word and value is not None:
        return f"the word{'s' if ' ' in text else ''} {text}"
    return f"{shown(feature)} = {text}"


def with_shown(rows: list[dict[str, Any]], *columns: str) -> list[dict[str, Any]]:
    """The rows with the values of some columns as charts show them."""
    return [{**row, **{column: shown(row[column]) for column in columns}} for row in rows]


def without(row: Mapping[str, Any], *columns: str) -> dict[str, Any]:
    """A row without some columns, which the chart does not need."""
    return {name: value for name, value in row.items() if name not in columns}


def plain(value: Any, digits: int | None = DIGITS) -> Any:
    """A value for JSON: numbers are rounded to some digits, infinities and other values are texts, and NULL is None."""
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        if value == int(value) and abs(value) < 1e15:
            return int(value)
        return value if digits is None else float(f"{value:.{digits}g}")
    return value if value is None or isinstance(value, (int, str)) else str(value)


def common_digits(numbers: Sequence[float]) -> int:
    """How many digits more than others the numbers need that differ little, such as the seconds of a day since 1970.

    >>> common_digits([0.5, 3]), common_digits([1_700_000_000, 1_700_080_000])
    (0, 4)
    """
    low, high = min(numbers, default=0), max(numbers, default=0)
    return max(math.floor(math.log10(max(abs(low), abs(high)) / (high - low))), 0) if high > low else 0


def rounded(value: float, digits: int) -> str:
    """A number as text, with some significant digits.

    >>> rounded(103.81949, 7), rounded(1_732_516_123, 7), rounded(0.123456, 3)
    ('103.8195', '1,732,516,000', '0.123')
    """
    found = float(f"{value:.{digits}g}")
    return number(found) if found == int(found) or float(f"{found:.5g}") == found else f"{found:,}"


def chosen(name: str, options: Sequence[str], label: str) -> dict[str, Any]:
    """A parameter of a chart whose value is one of several texts, the first at the beginning."""
    bind = {"bind": {"input": "select", "options": list(options), "name": f"{label} "}} if len(options) > 1 else {}
    return {"name": name, "value": options[0], **bind}


def class_parameter(classes: Iterable[str]) -> dict[str, Any]:
    """The parameter `classes`, which gives a class the same colour in all charts."""
    return {"name": "classes", "value": list(classes)}


def angle_parameter(labels: Iterable[str], room: int) -> dict[str, Any]:
    """The parameter `angle` of labels over columns: horizontal if the longest label fits into `room` characters."""
    return {"name": "angle", "value": 0 if max(map(len, labels), default=0) <= room else -90}


def factor_parameter(logarithms: Iterable[float]) -> dict[str, Any]:
    """The parameter `factors`: where an axis of logarithms has its labels, at round factors on both sides of 1.

    >>> [round(math.exp(value), 9) for value in factor_parameter([-0.5, 3])["value"]]
    [1.0, 2.0, 4.0, 8.0, 16.0]
    >>> [round(math.exp(value), 9) for value in factor_parameter([-0.5, 1])["value"]]
    [0.666666667, 1.0, 1.5, 2.0]
    """
    known = [value for value in logarithms if math.isfinite(value)]
    low, high = min([0.0, *known]), max([0.0, *known])
    widest = max(high, -low)
    steps = [math.log(factor) for factor in (2, 4, 10, 100, 1000)]
    step = next((step for step in steps if widest <= 4.5 * step), steps[-1] * math.ceil(widest / (4.5 * steps[-1])))
    places = [place * step for place in range(math.floor(widest / step) + 1)]
    if widest < math.log(4):  # powers of two would be few
        near = (1.1, 1.2, 1.3, 1.4) if widest < math.log(1.5) else (1.5, 2, 3)
        places = [0.0, *map(math.log, near)]
    both = [*(-place for place in places[:0:-1]), *places]
    return {"name": "factors", "value": [place for place in both if low <= place <= high]}
