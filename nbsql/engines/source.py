"""Something with rows, as a statement reads it."""

from __future__ import annotations

from collections.abc import Callable

from markupsafe import Markup

from nbsql.spec import Column


class Source:
    """Something with rows: a table, view, query, relation or frame, as a FROM clause reads it.

    Args:
        relation: what stands after FROM.
        label: what messages call it.
        columns: its columns.
        is_table: whether reading it again costs no more than a scan.
        is_frame: whether its rows have an order of their own.
        release: called when the source is no longer needed.
    """

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

    def release(self) -> None:
        if self._release is not None:
            self._release()
            self._release = None

    def __del__(self) -> None:
        self.release()
