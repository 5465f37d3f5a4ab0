"""Something with rows, as a statement reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from markupsafe import Markup

from nbsql.errors import InputError
from nbsql.plan import Rows
from nbsql.plan.rows import Joining
from nbsql.rendering.dialect import folded
from nbsql.spec.column import Column

_PATH = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([^".\s]+))\s*(\.|$)')


class Source:
    """Something with rows: a table, view, query, relation or frame, as a FROM clause reads it.

    Args:
        relation: what stands after FROM.
        label: what messages call it.
        columns: its columns.
        is_table: whether reading it again costs no more than a scan.
        is_frame: whether its rows have an order of their own.
        release: called when the source is no longer needed.

    Attributes:
        joins: what nbsql joins it with, of a source that is put together from several (nbsql/learning/joined_source.py).
        facts: the source without what it is joined with.
        path: the names of a table or view, its schema first, where the engine knows more than stands in `relation`.
        needs: what must live as long as it does: the query, which may read a frame.
        anywhere: whether it is named from its database on, so that it does not matter where names are looked for.
    """

    joins: Sequence[Joining] = ()
    path: tuple[str, ...] = ()
    needs: object = None
    anywhere: bool = False

    def __init__(
        self,
        relation: Markup,
        label: str,
        columns: list[Column],
        *,
        is_table: bool = False,
        is_frame: bool = False,
        release: Callable[[], None] | None = None,
    ) -> None:
        self.relation = relation
        self.label = label
        self.columns = columns
        self.is_table = is_table
        self.is_frame = is_frame
        self._release = release

    @property
    def facts(self) -> Source:
        return self

    @property
    def rows(self) -> Rows:
        """What a plan scores of it: the facts, and what they are still to be joined with."""
        facts = self.facts
        return Rows(facts.relation, [column.name for column in facts.columns], self.joins, ordered=self.is_frame)

    @property
    def is_lent(self) -> bool:
        """Whether it is a frame, which has a name as long as it is needed."""
        return self.facts._release is not None

    def release(self) -> None:
        if self._release is not None:
            self._release()
            self._release = None

    def __del__(self) -> None:
        self.release()


def refuse_twice(names: Iterable[Any], label: str) -> None:
    """Raise InputError if a name comes twice: the engine may number them, and a user would not know which is meant."""
    seen: set[str] = set()
    for name in map(str, names):
        if folded(name) in seen:
            raise InputError(f"column {name!r} is ambiguous in {label}, which has it twice; rename one")
        seen.add(folded(name))


def check_names(columns: Sequence[Column], label: str) -> None:
    """Raise InputError if a column has a name of nbsql's own."""
    for column in columns:
        if folded(column.name).startswith("nbsql_"):  # scoring numbers the rows in a column nbsql_row, and more
            raise InputError(f"column {column.name!r} of {label} has a name that nbsql keeps for itself; rename it")


def parts(text: str) -> list[str]:
    """The names of a path such as main."my table"; [] if it is none."""
    names, position = [], 0
    while position < len(text):
        match = _PATH.match(text, position)
        if match is None:
            return []
        names.append(match[1].replace('""', '"') if match[1] else match[2])
        position = match.end()
        if not match[3]:
            break
    return names if position >= len(text) else []
