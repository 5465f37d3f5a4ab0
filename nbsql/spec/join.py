"""Features that live in dimension tables: how a source is joined with one, as asked for and as a model keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbsql.errors import InputError


@dataclass(frozen=True)
class Join:
    """A dimension table to join a source with: the columns of the one row that has the key of the source's row.

    It is a left join: where a key is NULL, or not in the dimension, all columns of the dimension are NULL. A key that the
    dimension has twice is refused, because it would multiply rows.

    Args:
        table: a table or a view.
        on: the key: a column of both, several, or {column of the source: column of the dimension}. The column may be one that a
            join before has brought.
        columns: those to take from the dimension; None takes all but its key.
        prefix: what their names are to begin with, where the source has columns of the same names.

    >>> import duckdb, nbsql
    >>> con = duckdb.connect()
    >>> _ = con.execute("CREATE TABLE orders AS FROM (VALUES (1, 'no'), (1, 'no'), (2, 'yes')) AS t(customer_id, returned)")
    >>> _ = con.execute("CREATE TABLE customers AS FROM (VALUES (1, 'old'), (2, 'new')) AS t(customer_id, kind)")
    >>> joins = [Join("customers", on="customer_id")]
    >>> model = nbsql.fit(con, "orders", target="returned", joins=joins)
    >>> model.predict("SELECT 2 AS customer_id").fetchall()
    [(2, 'yes', 0.5714285714285714)]
    """

    table: str
    on: str | Sequence[str] | Mapping[str, str]
    columns: Sequence[str] | None = None
    prefix: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.table, str) or not self.table:
            raise InputError(f"a join takes a table or a view by its name, not {self.table!r}")
        if not self.pairs or not all(isinstance(name, str) for pair in self.pairs for name in pair):
            raise InputError(
                f"on of the join with {self.table!r} must be a column, a list of columns, or "
                f"{{column of the source: column of {self.table!r}}}, not {self.on!r}"
            )
        if not isinstance(self.prefix, str):
            raise InputError(f"prefix of the join with {self.table!r} must be text, not {self.prefix!r}")

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The key: pairs of a column of the source and the one of the dimension that it equals."""
        if isinstance(self.on, Mapping):
            return list(self.on.items())
        if isinstance(self.on, str):
            return [(self.on, self.on)]
        return [(name, name) for name in self.on] if isinstance(self.on, Iterable) else []


def check_joins(joins: Any) -> list[Join]:
    """The joins of a fit; one alone will do.

    Raises:
        InputError: they are something else.
    """
    asked = [joins] if isinstance(joins, Join) else joins
    if not isinstance(asked, (list, tuple)) or not all(isinstance(join, Join) for join in asked):
        raise InputError(f"joins must be a list of nbsql.Join, not {joins!r}")
    return list(asked)


@dataclass(frozen=True)
class Dimension:
    """A join as a model keeps it.

    Args:
        path: the names of the table: its schema and its own, and before them its database, if that is not the model's.
        on: pairs of a column of the source, or of a dimension before it, and the column of the table that it equals.
        types: of the first of each pair, as the engine writes them.
        columns: pairs of a column of the table and the name that it has in the source.
        rows: of the table, when the model was fitted.
    """

    path: tuple[str, ...]
    on: tuple[tuple[str, str], ...]
    types: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    rows: int = 0

    @property
    def names(self) -> list[str]:
        """What its columns are called in the source."""
        return [name for _, name in self.columns]

    @property
    def title(self) -> str:
        """What messages call it."""
        return self.path[-1]

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {"table": self.path, "on": self.on, "types": self.types, "columns": self.columns, "rows": self.rows}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Dimension:
        """What `to_dict` wrote."""
        return cls(tuple(data["table"]), _pairs(data["on"]), tuple(data["types"]), _pairs(data["columns"]), data["rows"])


def _pairs(values: Iterable[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((one, other) for one, other in values)
