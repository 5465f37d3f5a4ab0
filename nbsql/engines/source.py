"""Something with rows, as a statement reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from nbsql.errors import InputError, no_column
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
        return Rows(facts.relation, [column.name for column in facts.columns], self.joins, keeps_order=self.is_frame)

    @property
    def kinds(self) -> dict[str, str]:
        """What nbsql makes of the type of each column, by its name."""
        return {column.name: column.kind for column in self.columns}

    @property
    def is_registered(self) -> bool:
        """Whether it is a frame, which has a name as long as it is needed."""
        return self.facts._release is not None

    def release(self) -> None:
        if self._release is not None:
            self._release()
            self._release = None

    def __del__(self) -> None:
        self.release()


def check_distinct(names: Iterable[Any], label: str) -> None:
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


def passed_columns(source: Source, names: Any, *, exact: bool) -> list[str] | None:
    """The columns of a source that are to come back, as the source spells them, each once; None for all.

    Args:
        source: the source.
        names: as the user gave them.
        exact: whether names that differ in case are different ones.

    Raises:
        InputError: they are no list of names of columns that it has.
    """
    if names is None:
        return None
    known = [column.name for column in source.facts.columns]
    spelt = {name if exact else folded(name): name for name in known}
    found = {name if exact else folded(name): name for name in column_names(names)}
    for key, name in found.items():
        if key not in spelt:
            raise no_column(name, known, source.label)
    return [spelt[key] for key in found]


def column_names(names: Any, argument: str = "columns") -> list[str]:
    """The names of columns that an argument has, or InputError."""
    found = list(names) if isinstance(names, Iterable) and not isinstance(names, (str, Mapping)) else None
    if found is None or not all(isinstance(name, str) and name for name in found):
        raise InputError(f"{argument} must be a list of names, not {names!r}")
    return found


def split_path(text: str) -> list[str]:
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
