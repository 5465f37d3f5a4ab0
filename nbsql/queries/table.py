"""Small tables as text and HTML, and numbers and values formatted for people."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

from markupsafe import Markup, escape

from nbsql.errors import counted

if TYPE_CHECKING:
    from rich.table import Table as Drawn
    from rich.text import Text

_CELL = 40  # the most characters of a value that a table shows
_STRIP = 10  # characters of the longest bar
_NAMED = 8  # columns left out of a table that are named
_GAP = 3  # blanks between columns
_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_JOINERS = "\u200c\u200d"  # between letters of Persian, Hindi and other languages, and between the parts of an emoji


@dataclass(frozen=True)
class Table:
    columns: Sequence[str]  # the headings
    rows: Sequence[Sequence[str | Text | None]]  # the cells; None is shown as NULL, and a Text of rich's in its colours
    right: Sequence[int] = ()  # the positions of the columns that are aligned to the right
    widest: int = _CELL  # the most characters that a cell shows

    def text(self) -> str:
        from rich.console import Console

        console = Console(
            width=10_000,
            force_jupyter=False,
            color_system=None,
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
        )
        with console.capture() as capture:
            console.print(self.drawn())
        return capture.get().rstrip("\n")

    def drawn(self, *, wrap: bool = False) -> Drawn:
        """The table as rich prints it. With `wrap` the last column continues on the next line if it is too long."""
        from rich import box
        from rich.table import Table as Drawn

        drawn = Drawn(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for position, heading in enumerate(self._cells[0]):
            side: Literal["left", "right"] = "right" if position in self.right else "left"
            drawn.add_column(heading, justify=side, no_wrap=not wrap, overflow="fold" if wrap else "ellipsis")
        for row in self._cells[1:]:
            drawn.add_row(*row)
        return drawn

    @property
    def _cells(self) -> list[list[Text]]:
        from rich.text import Text

        def cell(value: str | Text | None) -> Text:
            if isinstance(value, Text):
                return value
            return Text(cell_text(value, self.widest), style="dim" if value is None else "")

        return [[Text(one_line(heading)) for heading in self.columns], *([*map(cell, row)] for row in self.rows)]

    def fitted(self, width: int, keep: int) -> tuple[Table, list[str]]:
        """The table of the columns that fit into so many characters, the last `keep` always, and the names of the others."""
        widths = [max(cell.cell_len for cell in column) + _GAP for column in zip(*self._cells, strict=True)]
        shown = _fitting_columns(widths, width, keep)
        if None not in shown:
            return self, []
        columns = ["…" if position is None else self.columns[position] for position in shown]
        rows = [["…" if position is None else row[position] for position in shown] for row in self.rows]
        right = [place for place, position in enumerate(shown) if position in self.right]
        left_out = [name for position, name in enumerate(self.columns) if position not in shown]
        return replace(self, columns=columns, rows=rows, right=right), left_out

    def html(self) -> Markup:
        """The table as HTML. All cells are escaped."""
        sides = ["right" if position in self.right else "left" for position in range(len(self.columns))]
        cell = "padding:0.2em 0.75em;white-space:nowrap;text-align:"
        styles = [Markup(' style="{}{}"').format(cell, side) for side in sides]
        ruled = [Markup(' style="{}{};border-bottom:1px solid"').format(cell, side) for side in sides]
        head = Markup("").join(
            Markup("<th{}>{}</th>").format(style, one_line(name)) for style, name in zip(ruled, self.columns, strict=True)
        )
        body = Markup("").join(
            Markup("<tr>{}</tr>").format(
                Markup("").join(
                    Markup("<td{}>{}</td>").format(style, value.plain) for style, value in zip(styles, row, strict=True)
                )
            )
            for row in self._cells[1:]
        )
        table = Markup('<table style="border-collapse:collapse;margin:0"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>')
        return Markup('<div style="overflow-x:auto;margin:0.5em 0 1em">{}</div>').format(table.format(head, body))


def bar(value: float | None, highest: float = 1.0, *, colour: str = "blue") -> Text:
    """A number as a bar, relative to the highest number."""
    from rich.text import Text

    length = round(_STRIP * value / highest) if value is not None and highest > 0 and 0 < value <= highest else 0
    return Text("█" * length, style=colour)


def table_of_rows(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """The table of some rows: numbers have four significant digits, and columns of numbers are aligned to the right."""
    right = [place for place, values in enumerate(zip(*rows, strict=True)) if _are_numbers(values)]
    return Table(columns, [[_value_text(value) for value in row] for row in rows], right)


def _are_numbers(values: Sequence[Any]) -> bool:
    present = [value for value in values if value is not None]
    return bool(present) and all(isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) for value in present)


def _value_text(value: Any) -> str | None:
    if isinstance(value, float):
        return short_number(value)
    return None if value is None else str(value) or plain("")


class Displayed(ABC):
    """A result that terminals and notebooks show as lines of text followed by tables.

    Dataclasses derived from it set repr=False.
    """

    def __repr__(self) -> str:
        lines, tables = self._summary_tables()
        return "\n".join([*lines, "", *(line for table in tables for line in (table.text(), ""))]).rstrip()

    def _repr_html_(self) -> str:
        lines, tables = self._summary_tables()
        return str(Markup("").join([*map(paragraph, lines), *(table.html() for table in tables)]))

    @abstractmethod
    def _summary_tables(self) -> tuple[list[str], list[Table]]:
        """The lines, and the tables."""


def tables_of(result: Displayed) -> list[Table]:
    """The tables of a result, without its lines of text."""
    return result._summary_tables()[1]


def _fitting_columns(widths: Sequence[int], width: int, keep: int) -> list[int | None]:
    """The numbers of the columns of these widths that fit, the last `keep` first, with None in the place of those left out."""
    if sum(widths) - _GAP <= width:
        return list(range(len(widths)))

    def fitting(positions: Sequence[int], room: int) -> list[int]:
        """The first of these columns that fit into the room, at least one."""
        rooms = [room - used for used in accumulate(widths[position] for position in positions)]
        return [position for place, position in enumerate(positions) if not place or rooms[place] >= 0]

    last = range(len(widths) - keep, len(widths)) if keep else range(0)
    of_last = sum(widths[position] for position in last)
    if len(last) < len(widths) and widths[0] + of_last > width - 1:  # the first, and those of the last that fit beside it
        shown = fitting(last, width - 1 - _GAP - widths[0])
        between: list[None] = [] if not last or last[0] == 1 else [None]
        return [0, *between, *shown, *([None] if len(shown) < len(last) else [])]
    first = fitting(range(len(widths) - keep), width - of_last - 1)
    return [*first, *([None] if len(first) + len(last) < len(widths) else []), *last]


def note_of_left_out(left_out: Sequence[str]) -> list[str]:
    """The line below a table that names the columns which did not fit; none if all did."""
    if not left_out:
        return []
    more = f" and {len(left_out) - _NAMED} more" if len(left_out) > _NAMED else ""
    return [f"{counted(len(left_out), 'column')} left out: {', '.join(left_out[:_NAMED])}{more}; .df() has all"]


def short_number(value: float) -> str:
    """A number with four significant digits, and the whole part of large ones in full.

    >>> short_number(0.98765432), short_number(1e-17), short_number(1628034.5)
    ('0.9877', '1e-17', '1,628,034')
    """
    if math.isfinite(value) and 1e4 <= abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def paragraph(text: str) -> Markup:
    """A line of text as HTML."""
    return Markup("<p>{}</p>").format(escape(text))


def number(value: float) -> str:
    """A number with five significant digits, but whole numbers, and the whole part of large ones, in full.

    >>> number(0.123456), number(16280.0), number(1628034.5), number(1e20)
    ('0.12346', '16,280', '1,628,034', '1e+20')
    """
    if not math.isfinite(value):
        return str(value)
    if abs(value) < 1e15 and (value == int(value) or abs(value) >= 1e5):
        return f"{value:,.0f}"
    return f"{value:.5g}"


def share(value: float) -> str:
    """A probability in per cent. It is never rounded to 0 or 100 % unless it is 0 or 1.

    >>> share(0.5), share(0.99999), share(1.0)
    ('50.0 %', '> 99.9 %', '100.0 %')
    """
    if 0 < value < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= value < 1:
        return "> 99.9 %"
    return f"{100 * value:.1f} %"


def plain(value: str | None, most: int = _CELL) -> str:
    """A value on one line, cut to `most` characters, without characters that control the terminal.

    A text is in quotes if it is empty, or has blanks at an end, so that it can be told from others.

    >>> plain("Yes "), plain(""), plain("NA")
    ("'Yes '", "''", 'NA')
    """
    text = "NULL" if value is None else one_line(value)
    text = f"'{text}'" if not text or text != text.strip() else text
    return text if len(text) <= most else f"{text[: most - 1]}…"


def cell_text(cell: str | None, most: int = _CELL) -> str:
    """The text of a cell of a table: a value as `plain` writes it, or nothing where there is none."""
    return cell if cell == "" else plain(cell, most)


def one_line(text: str) -> str:
    r"""A text on one line: line breaks and tabs are escaped, and characters that control the terminal are replaced.

    >>> print(one_line("two\nlines"), one_line("a\x1b[31m"))
    two\nlines a�[31m
    """
    return "".join(map(_escape_character, text))


def _escape_character(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    return _ESCAPES.get(character, character.encode("unicode_escape").decode() if character.isspace() else "�")
