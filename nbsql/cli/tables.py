"""Output for the terminal: tables that fit its width, SQL, and values in readable form."""

from __future__ import annotations

import os
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from nbsql.cli.messages import shell_word
from nbsql.cli.session import end_progress
from nbsql.cli.terminal import write_bytes
from nbsql.engines.engine import Engine
from nbsql.engines.postgres.address import without_passwords
from nbsql.errors import counted
from nbsql.queries.table import Table, bar, number, plain, share

__all__ = [
    "bar", "command", "console", "counted", "draw", "echo", "number", "plain", "probability", "query", "share", "sql", "table",
]  # fmt: skip

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_PIPED = 10_000  # width of a line in a pipe, where nothing is cut
_NARROWEST = 40  # characters of a line, below which numbers would be cut
_NAMED = 6  # the most columns that a line names


def console() -> Console:
    """The console for tables. It does not interpret values as markup."""
    from rich.console import Console

    found = Console(force_jupyter=False, markup=False, emoji=False, highlight=False)
    found.width = max(found.width, _NARROWEST)  # COLUMNS=0, of a terminal of unknown width, would leave out every table
    return found


def echo(*lines: str) -> None:
    """Print lines unchanged, except for passwords in addresses."""
    for line in lines:
        click.echo(without_passwords(line))


def sql(text: str) -> None:
    """Print a statement with colours on a terminal, without wrapping or cutting it."""
    out = console()
    if not out.is_terminal:
        write_bytes(f"{text}\n".encode())
        return
    from rich.syntax import Syntax

    out.print(Syntax("", "sql", theme="ansi_dark", background_color="default").highlight(text), soft_wrap=True, end="")


def command(*words: str) -> str:
    """The command as the user typed it, without passwords in addresses."""
    return without_passwords(" ".join(map(shell_word, ["nbsql", *words])))


def probability(value: float) -> str:
    """A posterior in per cent. It is never shown as certain, even if floating point rounds it to 1."""
    return share(min(value, 1 - 1e-9))


def table(
    columns: Sequence[str], rows: Sequence[Sequence[str | Text | None]], *, right: Sequence[int] = (), **options: Any
) -> list[str]:
    """Print a table, whose columns with the numbers `right` are aligned on the right, with the options of `draw`."""
    return draw(Table(columns, rows, right), **options)


def draw(whole: Table, *, keep: int = 0, indent: int = 0, wrap: bool = False) -> list[str]:
    """Print a table, and return the names of the columns that did not fit the terminal. A pipe or a file gets all columns.

    The last `keep` columns are always shown. With `wrap` the last one continues on the next line if it is too long.
    """
    from rich.padding import Padding

    out = console()
    if not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = _PIPED
    shown, left_out = (whole, []) if wrap else whole.fitted(out.width - indent, keep)
    out.print(Padding(shown.drawn(wrap=wrap), (0, 0, 0, indent), expand=False))
    return left_out


def notes(left_out: Sequence[str], cure: str, more: str | None) -> None:
    """Print below a table that there are more rows, and which columns did not fit the terminal."""
    lines = [] if more is None else [more]
    if left_out:
        shown = ", ".join(map(plain, left_out[:_NAMED]))
        others = f" and {len(left_out) - _NAMED} more" if len(left_out) > _NAMED else ""
        lines.append(fill(f"{counted(len(left_out), 'column')} left out; {cure}: {shown}{others}", console().width))
    if lines:
        echo("", *lines)


def query(
    engine: Engine, statement: str, *, keep: int = 0, limit: int | None = None, empty: bool = True, bars: str | None = None
) -> tuple[list[str], bool]:
    """Print the first rows of a query as a table, and return the names of the columns left out and whether there are more rows.

    The last `keep` columns are always shown, those that have only NULL if `empty`; the numbers of the column `bars` are also
    drawn as bars.
    """
    text = engine.renderer.dialect.query(statement)
    relation = engine.renderer.fragment("subquery", text)
    described = engine.columns(relation)
    columns, kinds = [column.name for column in described], [column.kind for column in described]
    first = text if limit is None else engine.renderer.fragment("excerpt", relation, limit + 1)
    rows = [
        tuple(plain("") if value == "" else value for value in row) for row in engine.query_macro("as_text", first, columns)
    ]
    end_progress(engine)
    more = limit is not None and len(rows) > limit
    if not empty:
        used = [position for position in range(len(columns)) if any(row[position] is not None for row in rows)]
        columns, kinds = [columns[position] for position in used], [kinds[position] for position in used]
        rows = [tuple(row[position] for position in used) for row in rows]
    numeric = [position for position, kind in enumerate(kinds) if kind in ("integer", "float", "decimal")]
    doubles = {position for position, kind in enumerate(kinds) if kind == "float"}
    shown = [[_rounded(value) if position in doubles else value for position, value in enumerate(row)] for row in rows[:limit]]
    if bars is None or bars not in columns:
        return table(columns, shown, right=numeric, keep=keep), more
    at = columns.index(bars)
    numbers = [None if row[at] is None else float(row[at]) for row in rows[:limit]]
    highest = max((number for number in numbers if number is not None), default=0.0)
    drawn = [[*row[: at + 1], bar(number, highest), *row[at + 1 :]] for row, number in zip(shown, numbers, strict=True)]
    right = [position + (position > at) for position in numeric]
    return table([*columns[: at + 1], "", *columns[at + 1 :]], drawn, right=right, keep=keep), more


def _rounded(value: str | None) -> str | None:
    if value is None:
        return None
    return number(float(value)) if abs(float(value)) >= 1e5 else f"{float(value):.5g}"  # a year has no comma
