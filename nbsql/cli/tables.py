"""Shows things on the terminal: tables that fit its width, SQL, and values as people read them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from nbsql.cli.session import still
from nbsql.engines.address import without_passwords
from nbsql.engines.engine import Engine

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_CELL = 40  # the most characters of a value that a table shows
_GAP = 3  # between columns


def console() -> Console:
    """Where tables go. Nothing in a value is taken for markup."""
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False)


def echo(*lines: str) -> None:
    """Print lines as they are, but for the passwords of addresses."""
    for line in lines:
        click.echo(without_passwords(line))


def sql(text: str) -> None:
    """Print a statement, coloured on a terminal, never wrapped or cut."""
    out = console()
    if not out.is_terminal:
        click.echo(text)
        return
    from rich.syntax import Syntax

    out.print(Syntax("", "sql", theme="ansi_dark", background_color="default").highlight(text), soft_wrap=True, end="")


def command(*words: str) -> str:
    """A command as one would type it, without the passwords of addresses."""
    return without_passwords(shlex.join(["nbsql", *words]))


def number(value: float) -> str:
    """A number with as many digits as say something."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.5g}"


def share(value: float) -> str:
    """A probability in per cent, never rounded to a certainty that it is not.

    >>> share(0.5), share(0.99999), share(1.0)
    ('50.0 %', '> 99.9 %', '100.0 %')
    """
    if 0 < value < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= value < 1:
        return "> 99.9 %"
    return f"{100 * value:.1f} %"


def probability(value: float) -> str:
    """A posterior in per cent: one that floating point rounds to 1 is no certainty either."""
    return share(min(value, 1 - 1e-9))


def plain(value: str | None) -> str:
    """A value on one line, without anything that would steer the terminal."""
    if value is None:
        return "NULL"
    text = "".join(character if character.isprintable() else " " if character.isspace() else "�" for character in value)
    return text if len(text) <= _CELL else f"{text[: _CELL - 1]}…"


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str | Text | None]],
    *,
    right: Sequence[int] = (),
    keep: int = 0,
    indent: int = 0,
    wrap: bool = False,
) -> int:
    """Print a table; returns how many columns the terminal's width left out.

    Args:
        columns: the headings.
        rows: the cells.
        right: the numbers of the columns to align on the right.
        keep: so many of the last columns are shown whatever the width.
        indent: blanks to the left.
        wrap: whether the last column goes on in the next line where it is too long.
    """
    from rich import box
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    out = console()
    cells = [[Text(heading) for heading in columns], *([_cell(cell) for cell in row] for row in rows)]
    shown = _fitting(cells, out.width - indent, keep)
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    if wrap:
        shown = list(range(len(columns)))
    for position in shown:
        heading = Text("…") if position is None else cells[0][position]
        side: Literal["left", "right"] = "right" if position in right else "left"
        drawn.add_column(heading, justify=side, no_wrap=not wrap, overflow="fold" if wrap else "ellipsis")
    for row in cells[1:]:
        drawn.add_row(*(Text("…") if position is None else row[position] for position in shown))
    out.print(Padding(drawn, (0, 0, 0, indent), expand=False))
    return len(columns) - sum(position is not None for position in shown)


def _cell(cell: str | Text | None) -> Text:
    from rich.text import Text

    return cell if isinstance(cell, Text) else Text(plain(cell), style="dim" if cell is None else "")


def _fitting(cells: Sequence[Sequence[Text]], width: int, keep: int) -> list[int | None]:
    """The numbers of the columns that fit, with None where some are left out before the last ones."""
    widths = [max(row[position].cell_len for row in cells) + _GAP for position in range(len(cells[0]))]
    if sum(widths) - _GAP <= width:
        return list(range(len(widths)))
    last = list(range(len(widths) - keep, len(widths))) if keep else []
    room = width - sum(widths[position] for position in last) - 1
    first: list[int] = []
    for position in range(len(widths) - keep):
        room -= widths[position]
        if room < 0 and first:
            break
        first.append(position)
    if len(first) + len(last) == len(widths):
        return [*first, *last]
    return [*first, None, *last]


def query(engine: Engine, statement: str, *, keep: int = 0, limit: int | None = None, empty: bool = True) -> tuple[int, bool]:
    """Print the first rows of a query as a table; how many columns were left out, and whether there are more rows.

    Args:
        engine: where.
        statement: the query.
        keep: so many of the last columns are shown whatever the width.
        limit: at most so many rows.
        empty: whether to show columns of nothing but NULL.
    """
    text = engine.renderer.dialect.query(statement)
    described = engine.columns(engine.renderer.fragment("subquery", text))
    columns, kinds = [column.name for column in described], [column.kind for column in described]
    rows = engine.ask("as_text", text if limit is None else _first(engine, text, limit + 1), columns)
    still(engine)
    more = limit is not None and len(rows) > limit
    if not empty:
        used = [position for position in range(len(columns)) if any(row[position] is not None for row in rows)]
        columns, kinds = [columns[position] for position in used], [kinds[position] for position in used]
        rows = [tuple(row[position] for position in used) for row in rows]
    numeric = [position for position, kind in enumerate(kinds) if kind in ("integer", "float", "decimal")]
    doubles = {position for position, kind in enumerate(kinds) if kind == "float"}
    shown = [[_rounded(value) if position in doubles else value for position, value in enumerate(row)] for row in rows[:limit]]
    return table(columns, shown, right=numeric, keep=keep), more


def _first(engine: Engine, text: Any, limit: int) -> Any:
    return engine.renderer.fragment("excerpt", engine.renderer.fragment("subquery", text), limit)


def _rounded(value: str | None) -> str | None:
    return None if value is None else f"{float(value):.5g}"
