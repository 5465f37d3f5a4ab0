"""Explanations in words: the class that each value of a row speaks for, and how strongly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from nbsql.cli import tables
from nbsql.cli.session import end_progress
from nbsql.engines.engine import Engine

if TYPE_CHECKING:
    from rich.text import Text

_LINES = 15  # the most features shown for one row; the rest is summed


def explained(engine: Engine, statement: str, target: str, first: int, note: str = "") -> int:
    """Print explanations of the rows of an `explain` query, numbered from `first`, and return the number of rows.

    The probabilities are those of the contributions; `note` says what they leave out.
    """
    names = engine.names(statement)
    rows = engine.ask("as_text", engine.renderer.dialect.query(statement), names)
    ids = names[1:-4]
    end_progress(engine)
    count = 0
    for _, group in groupby(rows, key=lambda row: row[0]):
        if count:
            tables.echo("")
        _row(first + count, ids, list(group), target, note)
        count += 1
    return count


def _row(number: int, ids: Sequence[str], rows: Sequence[tuple[str, ...]], target: str, note: str) -> None:
    labels = list(dict.fromkeys(row[-4] for row in rows))
    terms: dict[tuple[str | None, str | None], dict[str, float]] = {}
    for row in rows:
        terms.setdefault((row[-3], row[-2]), {})[row[-4]] = float(row[-1])
    joint = {label: sum(term[label] for term in terms.values()) for label in labels}
    ranked = sorted(labels, key=lambda label: -joint[label])  # a stable sort: of ties the smaller label comes first
    key = ", ".join(f"{name} {tables.plain(value)}" for name, value in zip(ids, rows[0][1:-4], strict=True))
    title = f"row {number}{f' ({key})' if key else ''}"
    highest = joint[ranked[0]]
    if highest == -math.inf:
        tables.echo(f"{title}: no class of {target} can explain it")
        return
    mass = math.fsum(math.exp(value - highest) for value in joint.values())
    chance = tables.share if len(ranked) == 1 else tables.probability
    chances = [f"{tables.plain(label)} {chance(math.exp(joint[label] - highest) / mass)}" for label in ranked]
    rest = f", and {len(chances) - 3} more" if len(chances) > 3 else ""
    tables.echo(f"{title}: {target} is {chances[0]}{', not ' if chances[1:] else ''}{', '.join(chances[1:3])}{rest}{note}", "")
    if len(ranked) == 1:
        tables.echo("there is no other class to weigh it against")
        return
    _weighed(terms, ranked[0], ranked[1])


def _weighed(terms: dict[tuple[str | None, str | None], dict[str, float]], best: str, other: str) -> None:
    """The table of one row: the prior, followed by the features in order of strength."""
    differences = [(feature, value, _difference(term[best], term[other])) for (feature, value), term in terms.items()]
    prior = [entry for entry in differences if entry[0] is None]
    features = sorted((entry for entry in differences if entry[0] is not None), key=lambda entry: -abs(entry[2]))
    shown, rest = features[:_LINES], features[_LINES:]
    scale = max((abs(entry[2]) for entry in [*prior, *shown]), default=0.0)
    lines: list[list[str | Text | None]] = [["prior", "", *_evidence(prior[0][2], best, other, scale)]]
    lines += [[feature, value, *_evidence(difference, best, other, scale)] for feature, value, difference in shown]
    if rest:
        total = sum(entry[2] for entry in rest)
        lines.append([f"{len(rest)} more", "", *_evidence(total, best, other, scale)])
    total = sum(entry[2] for entry in differences)
    lines.append(["total", "", *_evidence(total, best, other, 0.0)])
    tables.table(["feature", "value", "how much likelier", ""], lines, keep=2, indent=2)


def _difference(best: float, other: float) -> float:
    return 0.0 if best == other else best - other  # -infinity in both classes favours neither


def _evidence(difference: float, best: str, other: str, scale: float) -> list[str | Text]:
    """The factor by which a value favours a class, and a bar."""
    winner, colour = (best, "green") if difference > 0 else (other, "red")
    factor = times(abs(difference))
    words = "as likely in both" if factor == "1" else f"{factor} × for {tables.plain(winner)}"
    # Beside an infinite difference, which has the whole bar, all others vanish.
    share = 1.0 if math.isinf(difference) else abs(difference) / scale if scale else 0.0
    return [words, tables.bar(min(share, 1.0) if scale else 0.0, colour=colour)]


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
