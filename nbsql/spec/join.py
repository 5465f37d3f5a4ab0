"""Joins of a source with dimension tables, as requested and as a model stores them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbsql.errors import InputError


@dataclass(frozen=True)
class Join:
    """A join of a source with a dimension table, which adds the columns of the dimension's row with the same key.

    It is a left join: if a key is NULL or missing from the dimension, all columns of the dimension are NULL. A dimension that
    has a key twice is refused, because it would multiply rows.

    Args:
        table: the dimension, a table or a view.
        on: the key: a column that both have, several of them, or {column of the source: column of the dimension}. A column of
            the source may come from an earlier join.
        columns: the columns to take from the dimension; None takes all but its key.
        prefix: a prefix for the names of these columns, in case the source has columns of the same names.

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
        """The key as pairs of a column of the source and the column of the dimension that it equals."""
        if isinstance(self.on, Mapping):
            return list(self.on.items())
        if isinstance(self.on, str):
            return [(self.on, self.on)]
        return [(name, name) for name in self.on] if isinstance(self.on, Collection) else []  # not what is read once


def check_joins(joins: Any) -> list[Join]:
    """The joins of a fit as a list; a single join is allowed. Raises InputError for anything else."""
    asked = [joins] if isinstance(joins, Join) else joins
    if not isinstance(asked, (list, tuple)) or not all(isinstance(join, Join) for join in asked):
        raise InputError(f"⟨joins⟩ must be a list of nbsql.Join, not {joins!r}")
    return list(asked)


@dataclass(frozen=True)
class Dimension:
    """A join as a model stores it."""

    path: tuple[str, ...]  # the schema and the name of the table, preceded by its database if that is not the model's
    # Pairs of a column of the source, or of an earlier dimension, and the column of the table that it equals.
    on: tuple[tuple[str, str], ...]
    types: tuple[str, ...]  # the types of the first column of each pair, as the engine writes them
    columns: tuple[tuple[str, str], ...]  # pairs of a column of the table and the name that it has in the source
    rows: int = 0  # of the table, when the model was fitted

    @property
    def names(self) -> list[str]:
        """The names of its columns in the joined source."""
        return [name for _, name in self.columns]

    @property
    def title(self) -> str:
        """The dimension's name in messages."""
        return self.path[-1]

    def to_dict(self) -> dict[str, Any]:
        """The join as a dictionary for JSON."""
        return {"table": self.path, "on": self.on, "types": self.types, "columns": self.columns, "rows": self.rows}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Dimension:
        """The join that `to_dict` wrote."""
        return cls(tuple(data["table"]), _pairs(data["on"]), tuple(data["types"]), _pairs(data["columns"]), data["rows"])


def _pairs(values: Iterable[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((one, other) for one, other in values)
