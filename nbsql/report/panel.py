"""A panel of the report: its question, and the relation that answers it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from nbsql.answers.query import Query
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.report.subject import ScoredSource, Subject

CHARTS = Path(__file__).parent / "charts"
DIGITS = 9  # of a number in a picture, unless it is to be computed with
LOWEST = -1e300  # ln 0, which JSON has no word for


@dataclass(frozen=True)
class Request:
    """What a panel is asked to show.

    Args:
        model: of which.
        scored: the source, if there is one.
        least: counts below are folded together.
        rows: how many rows of the source may be shown.
        feature: that the panel is about.
        classes: that it compares.
        watched: the rows of several periods, if there are some.
        against: the rows that they are held against; None: the counts of the model.
        by: what period each of them is of.
    """

    model: Subject
    scored: ScoredSource | None = None
    least: int = 5
    rows: int = 0
    feature: str | None = None
    classes: tuple[Any, Any] | None = None
    watched: Source | None = None
    against: Source | None = None
    by: str | None = None

    @property
    def source(self) -> ScoredSource:
        assert self.scored is not None  # noqa: S101 - the list of panels says which need one
        return self.scored


@dataclass(frozen=True)
class Figure:
    """One picture of a panel.

    Args:
        finding: what it shows, in a sentence.
        tables: the data by the name that the chart has for it; `rows` is what its CSV has.
        sql: the query that made them.
        chart: the name of its file in charts/.
        params: of the chart, beside those in the file.
        notes: what else there is to know.
        name: which of several figures of a panel it is.
        csv: what its CSV has, if not the rows of the chart.
    """

    finding: str
    tables: Mapping[str, list[dict[str, Any]]]
    sql: str
    chart: str
    params: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = ()
    name: str = ""
    csv: list[dict[str, Any]] | None = None

    @property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite specification, with its data."""
        spec: dict[str, Any] = json.loads((CHARTS / f"{self.chart}.vl.json").read_text(encoding="utf-8"))
        theme = json.loads((CHARTS / "theme.json").read_text(encoding="utf-8"))
        params = [*self.params, *spec.get("params", [])]
        return {
            "description": self.finding,
            "config": theme,
            **spec,
            **({"params": params} if params else {}),
            "datasets": {name: list(rows) for name, rows in self.tables.items()},
        }


@dataclass(frozen=True)
class Panel:
    """A kind of picture.

    Args:
        name: of the method of `model.plot`, and on the command line.
        question: that it answers.
        reading: how to read it, in a line.
        figures: makes its pictures: one, or one a feature or row.
        needs_source: whether it takes rows whose class is known.
        of_feature: whether it takes a feature.
        of_classes: whether it takes two classes.
        shows_rows: whether it shows rows of the source.
        of_periods: whether it takes rows of several periods, whose class need not be known.
    """

    name: str
    question: str
    reading: str
    figures: Callable[[Request], Iterable[Figure]] = field(repr=False)
    needs_source: bool = False
    of_feature: bool = False
    of_classes: bool = False
    shows_rows: bool = False
    of_periods: bool = False


def records(query: Query, *, digits: int | None = DIGITS, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """The rows of a query as JSON has them."""
    names = columns or query.columns
    return [{name: plain(value, digits) for name, value in zip(names, row, strict=True)} for row in query.fetchall()]


def plain(value: Any, digits: int | None = DIGITS) -> Any:
    """A value as JSON has it: numbers cut to some digits, what is no number as text, and nothing where there is none."""
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


def chosen(name: str, options: Sequence[str], label: str, value: str | None = None) -> dict[str, Any]:
    """A parameter of a chart that is one of some texts."""
    first = options[0] if value is None else value
    if len(options) < 2:
        return {"name": name, "value": first}
    return {"name": name, "value": first, "bind": {"input": "select", "options": list(options), "name": f"{label} "}}


def in_order(classes: Iterable[str]) -> dict[str, Any]:
    """The parameter `classes`, by which a class has the same colour in all charts."""
    return {"name": "classes", "value": list(classes)}


def angle_of(labels: Iterable[str], room: int) -> dict[str, Any]:
    """The parameter `angle` of labels over columns: they stand upright where the longest has room, in characters."""
    return {"name": "angle", "value": 0 if max(map(len, labels), default=0) <= room else -40}


def check_least(least: Any) -> None:
    """Raise InputError unless it is a whole number of at least 1."""
    if isinstance(least, bool) or not isinstance(least, int) or least < 1:
        raise InputError(f"least must be a whole number of at least 1, not {least!r}")
