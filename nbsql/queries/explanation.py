"""Explanations for people: the class that each value of a row speaks for, how strongly, and the value in words."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from markupsafe import Markup

from nbsql.errors import NbsqlError
from nbsql.queries.query import Query
from nbsql.queries.table import Table, bar, paragraph, plain, share
from nbsql.spec.spec import Feature, Spec

_HEADINGS = ("feature", "value", "how much likelier", "")
_LINES = 15  # the most features shown for one row; the rest is summed
_ROWS = 3  # rows of a source that a query shows of itself

_Terms = dict[tuple[str | None, str | None], dict[str, float]]  # the contributions to each class, by feature and value


@dataclass(frozen=True)
class Evidence:
    """A value of a row, or the prior, the rest or the total: how much likelier it is in one class than in the next one."""

    feature: str
    value: str | None
    words: str
    strength: float  # from 0 to 1, relative to the strongest of the row
    speaks_for_prediction: bool


@dataclass(frozen=True)
class ExplainedRow:
    """A row in words: its prediction, and the evidence in order of strength; none if there is nothing to compare."""

    title: str
    evidence: Sequence[Evidence]
    is_explained: bool = True  # whether any class explains the row

    def table(self) -> Table:
        colours = ["green" if each.speaks_for_prediction else "red" for each in self.evidence]
        bars = [bar(each.strength, colour=colour) for each, colour in zip(self.evidence, colours, strict=True)]
        lines = [[each.feature, each.value, each.words, strip] for each, strip in zip(self.evidence, bars, strict=True)]
        return Table(_HEADINGS, lines)


def explained_rows(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], spec: Spec, first: int = 1, note: str = ""
) -> Iterator[ExplainedRow]:
    """The rows of an `explain` query as text, in words, numbered from `first`.

    The probabilities are those of the contributions; `note` says what they leave out.
    """
    for number, (_, group) in enumerate(groupby(rows, key=lambda row: row[0]), start=first):
        yield _explained(number, columns[1:-4], list(group), spec, note)


def _explained(number: int, ids: Sequence[str], rows: Sequence[Sequence[Any]], spec: Spec, note: str) -> ExplainedRow:
    labels = list(dict.fromkeys(row[-4] for row in rows))
    terms: _Terms = {}
    for row in rows:
        terms.setdefault((row[-3], row[-2]), {})[row[-4]] = float(row[-1])
    joint = {label: sum(term[label] for term in terms.values()) for label in labels}
    ranked = sorted(labels, key=lambda label: -joint[label])  # a stable sort: of ties the smaller label comes first
    key = ", ".join(f"{name} {plain(value)}" for name, value in zip(ids, rows[0][1:-4], strict=True))
    title = f"row {number}{f' ({key})' if key else ''}"
    highest = joint[ranked[0]]
    if highest == -math.inf:
        return ExplainedRow(f"{title}: no class of {spec.target} can explain it", [], is_explained=False)
    mass = math.fsum(math.exp(value - highest) for value in joint.values())
    # A posterior is never shown as certain, even if floating point rounds it to 1.
    most = 1.0 if len(ranked) == 1 else 1 - 1e-9
    chances = [f"{plain(label)} ({share(min(math.exp(joint[label] - highest) / mass, most))})" for label in ranked]
    rest = f", and {len(chances) - 3} more" if len(chances) > 3 else ""
    title += f": predicted {chances[0]}{', then ' if chances[1:] else ''}{', '.join(chances[1:3])}{rest}{note}"
    return ExplainedRow(title, [] if len(ranked) == 1 else _weighed(_in_words(terms, spec), ranked[0], ranked[1]))


def _in_words(terms: _Terms, spec: Spec) -> _Terms:
    """The same with the values of several columns in words."""
    features = {feature.name: feature for feature in spec.features}
    words = {key: value_words(features[key[0]], key[1]) if key[0] in features else [] for key in terms}
    return {(key[0], ", ".join(words[key]) or key[1]): term for key, term in terms.items()}


def _weighed(terms: _Terms, best: str, other: str) -> list[Evidence]:
    """The prior, followed by the features in order of strength, and the total."""
    differences = [
        (feature, plain("") if value == "" else value, _difference(term[best], term[other]))
        for (feature, value), term in terms.items()
    ]
    prior = [entry for entry in differences if entry[0] is None]
    features = sorted((entry for entry in differences if entry[0] is not None), key=lambda entry: -abs(entry[2]))
    shown, rest = features[:_LINES], features[_LINES:]
    scale = max((abs(entry[2]) for entry in [*prior, *shown]), default=0.0)

    def evidence(feature: str | None, value: str | None, difference: float, scale: float = scale) -> Evidence:
        winner, factor = best if difference > 0 else other, times(abs(difference))
        words = "as likely in both" if factor == "1" else f"{factor} × for {plain(winner)}"
        # Beside an infinite difference, which has the whole bar, all others vanish.
        strength = 1.0 if math.isinf(difference) else abs(difference) / scale if scale else 0.0
        return Evidence(feature or "", value, words, min(strength, 1.0) if scale else 0.0, difference > 0)

    found = [evidence("prior", "", prior[0][2]), *(evidence(*entry) for entry in shown)]
    if rest:
        found.append(evidence(f"{len(rest)} more", "", sum(entry[2] for entry in rest)))
    return [*found, evidence("total", "", sum(entry[2] for entry in differences), 0.0)]


def _difference(best: float, other: float) -> float:
    return 0.0 if best == other else best - other  # -infinity in both classes favours neither


def times(difference: float) -> str:
    """exp(difference) as a readable factor.

    >>> times(0.0), times(0.26), times(3.0), times(60.0), times(float("inf"))
    ('1', '1.3', '20', '10^26', 'infinitely')
    """
    if math.isinf(difference):
        return "infinitely"
    if difference >= math.log(1e6):
        return f"10^{round(difference / math.log(10))}"
    factor = math.exp(difference)
    if factor < 10:
        rounded = f"{factor:.1f}"
        return rounded.removesuffix(".0")
    return f"{factor:,.0f}"


def before_calibration(method: str | None) -> str:
    """The note on probabilities from contributions, which are of a model before its calibration."""
    return f" (before its calibration by {method})" if method else ""


class Explanation(Query):
    """The query of `Model.explain`, which shows its first rows in words; `.show()` and the others have the contributions."""

    spec: Spec  # of the model that explains itself
    note: str  # what the probabilities leave out

    @classmethod
    def of(cls, query: Query, spec: Spec, calibration: str | None) -> Explanation:
        """The same query, which shows itself in words."""
        found = cls.__new__(cls)
        found.__dict__.update(query.__dict__, spec=spec, note=before_calibration(calibration))
        return found

    def __repr__(self) -> str:
        try:
            found = self._in_words()
        except NbsqlError as error:
            return f"<nbsql.Query: {error}>"
        if found is None:
            return super().__repr__()
        title = f"nbsql.Query, its first {_ROWS} rows in words; .show() has the contributions, .sql is its text"
        return "\n".join(
            [title, *(line for row in found for line in ("", row.title, *([row.table().text()] if row.evidence else [])))]
        )

    def _repr_html_(self) -> str:
        try:
            found, sql = self._in_words(), self.sql
        except NbsqlError as error:
            return str(paragraph(f"nbsql.Query: {error}"))
        if found is None:
            return super()._repr_html_()
        parts = [part for row in found for part in (paragraph(row.title), *([row.table().html()] if row.evidence else []))]
        return str(Markup("").join(parts) + Markup("<details><summary>SQL</summary><pre>{}</pre></details>").format(sql))

    def _in_words(self) -> list[ExplainedRow] | None:
        """The first rows of the source in words; None if the query should not run unasked."""
        columns, engine = self.columns, self._engine
        with self._in_original_path(), self._guard(), engine.errors():
            text = engine.renderer.dialect.query(self._first(_ROWS) if self._first is not None else self._text())
            rows = engine.preview(engine.renderer.statement("as_text", text, columns))
        return None if rows is None else list(explained_rows(columns, rows, self.spec, note=self.note))


_BIN = re.compile(r"[\[(](-inf|-?[\d.]+(?:e[+-]?\d+)?), (inf|-?[\d.]+(?:e[+-]?\d+)?)[\])]")


def value_words(feature: Feature, value: str | None, shown: Callable[[str | None], str] = plain) -> list[str]:
    """The conditions on the columns of a feature that a value stands for; none for a value that says itself what it is.

    `shown` writes a column or a value on one line.
    """
    family = feature.family
    if value is None or not (family.cell in ("bin", "list") or family.parent):
        return []
    if family.cell == "bin" and not family.parent:
        return [_condition(feature.column, value, shown)] if _BIN.fullmatch(value) else []
    return list(_of_columns(feature, value, shown)) if value.startswith("[") else []


def _of_columns(feature: Feature, value: str, shown: Callable[[str | None], str]) -> Iterator[str]:
    try:
        parts = json.loads(value)
    except ValueError:  # a bin, of a column whose parent is not among the values
        parts = [value]
    for place, column in enumerate(feature.columns):
        part = parts[place] if place < len(parts) else None
        yield _condition(column, None if part is None else str(part), shown)


def _condition(column: str, value: str | None, shown: Callable[[str | None], str]) -> str:
    """A condition on a column: a bin includes its lower edge."""
    name = shown(column)
    found = _BIN.fullmatch(value or "")
    if found is None:
        return f"{name} is missing" if value is None else f"{name} = {shown(value)}"
    low, high = found.groups()
    if low == "-inf":
        return f"{name} < {high}"
    return f"{name} ≥ {low}" if high == "inf" else f"{low} ≤ {name} < {high}"
