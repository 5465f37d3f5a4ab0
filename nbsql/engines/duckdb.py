"""DuckDB: opens databases, looks around in them, and runs statements."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import duckdb
from markupsafe import Markup

from nbsql.dialect import folded
from nbsql.engines.engine import Engine
from nbsql.engines.messages import one_line
from nbsql.engines.source import Source
from nbsql.engines.sources import Sources
from nbsql.errors import DatabaseError, InputError, ModelError, NotSupportedError, suggestion
from nbsql.render import Renderer
from nbsql.spec import Column

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_KINDS = {
    "varchar": "text",
    "enum": "text",
    "uuid": "text",
    "boolean": "boolean",
    **dict.fromkeys(["tinyint", "smallint", "integer", "bigint", "hugeint"], "integer"),
    **dict.fromkeys(["utinyint", "usmallint", "uinteger", "ubigint", "uhugeint"], "integer"),
    "null": "integer",  # the type that a table gives a column of nothing but NULL
    "float": "float",
    "double": "float",
    "decimal": "decimal",
}
_RESERVED = ("system", "temp", "information_schema", "pg_catalog")
_TEMPORAL = ("date", "time", "interval")


class DuckDB(Engine):
    """A connection to DuckDB.

    Args:
        connection: the user's own, or the path of a database file, which is then opened and closed here.
        read_only: how to open a path.
        watch: called with the name of each statement before it runs.
    """

    title = "DuckDB"

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection | str | os.PathLike[str],
        *,
        read_only: bool = False,
        watch: Callable[[str], None] | None = None,
    ) -> None:
        self.renderer = Renderer("duckdb")
        self.watch = watch
        self.owned = isinstance(connection, (str, os.PathLike))
        if isinstance(connection, (str, os.PathLike)):
            self.connection = _open(connection, read_only=read_only)
        elif isinstance(connection, duckdb.DuckDBPyConnection):
            self.connection = connection
        else:
            raise InputError(f"con must be a DuckDB connection or the path of a database, not {type(connection).__name__}")

    def close(self) -> None:
        """Close the connection, if it was opened here."""
        if self.owned:
            self.connection.close()

    def shares(self, other: Engine) -> bool:
        return isinstance(other, DuckDB) and self.connection is other.connection

    # Running. ------------------------------------------------------------------------------------------------------

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query, for small answers.

        Raises:
            DatabaseError: DuckDB refuses the statement.
        """
        with self.errors():
            return self.connection.execute(sql).fetchall()

    def prepared(self, sql: str) -> Callable[[Sequence[Any]], list[tuple[Any, ...]]]:
        with self.errors():
            statement = self.connection.extract_statements(sql)[0]

        def rows(values: Sequence[Any]) -> list[tuple[Any, ...]]:
            with self.errors():
                return self.connection.execute(statement, values).fetchall()

        return rows

    def parameter_type(self, name: str) -> str:
        return "VARCHAR" if name.startswith("ENUM") or name == '"NULL"' else name

    def kind(self, name: str) -> str:
        return _kind(duckdb.sqltype(name))

    @contextmanager
    def errors(self) -> Iterator[None]:
        """DuckDB's errors as one line of ours."""
        try:
            yield
        except duckdb.Error as error:
            raise DatabaseError(one_line(error)) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction of its own, or the one that the caller has open."""
        if self._in_transaction():
            yield  # the caller's, who will commit or roll back
            return
        with self.errors():
            self.connection.begin()
        try:
            yield
        except BaseException:
            self.connection.rollback()
            raise
        with self.errors():
            self.connection.commit()

    def _in_transaction(self) -> bool:
        """Whether the caller has a transaction open: outside of one, every statement has a number of its own.

        Trying BEGIN would tell too, but DuckDB aborts the transaction that it is tried in.
        """
        return self.ask("transaction_number") == self.ask("transaction_number")

    def placed(self, path: Sequence[str]) -> tuple[str, str, str]:
        if len(path) == 2 and self.schema(self.current()[0], path[0]) is None:
            path = (path[0], "main", path[1])  # DuckDB takes the first of two for a database if there is no such schema
        return super().placed(path)

    def source(self, source: Any) -> Source:
        """What the user means by `source`.

        Raises:
            InputError: there is no such table or view, or the text is no single SELECT.
        """
        return Sources(self).find(source)

    # Answers. ------------------------------------------------------------------------------------------------------

    def relation(self, sql: str) -> duckdb.DuckDBPyRelation:
        """A query as a DuckDB relation."""
        self.ask("current_names")  # a result of execute() that is not read to its end would keep DuckDB from making one
        with self.errors():
            return self.connection.sql(sql)

    def names(self, sql: str) -> list[str]:
        return list(self.relation(sql).columns)

    def df(self, sql: str) -> pandas.DataFrame:
        return self.connection.execute(sql).df()  # not by the relation, which would plan it twice

    def arrow(self, sql: str) -> pyarrow.Table:
        return cast("pyarrow.Table", self.relation(sql).to_arrow_table())

    def pl(self, sql: str) -> polars.DataFrame:
        return cast("polars.DataFrame", self.relation(sql).pl())

    def show(self, sql: str) -> None:
        self.relation(sql).show()

    def write(self, sql: str, path: str, file_format: str) -> None:
        self.ask("copy_to", self.renderer.dialect.query(sql), path, file_format)

    # Looking around. -----------------------------------------------------------------------------------------------

    def current(self) -> tuple[str, str]:
        """The names of the current database and schema."""
        database, schema = self.ask("current_names")[0]
        return database, schema

    def database(self, name: str | None) -> str:
        """The name of an attached database as the catalogue spells it; of the current one for None."""
        if name is None:
            return self.current()[0]
        if not isinstance(name, str):
            raise InputError(f"the name of a database must be text, not {name!r}")
        names: list[str] = [row[0] for row in self.ask("databases")]
        for known in names:
            if folded(known) == folded(name):
                return known
        raise InputError(f"no database {name!r} is attached{suggestion(name, names) or '; ATTACH it first'}")

    def is_read_only(self, database: str) -> bool:
        return any(name == database and read_only for name, read_only in self.ask("databases"))

    def schema(self, database: str, name: str) -> str | None:
        """The schema of that name as the catalogue spells it, or None."""
        names: list[str] = [row[0] for row in self.ask("schemas", database)]
        return next((known for known in names if folded(known) == folded(name)), None)

    def check_name(self, name: str) -> None:
        if folded(name) in {*(folded(row[0]) for row in self.ask("databases")), *_RESERVED}:
            raise ModelError(f"{name!r} is the name of a database or of a schema of DuckDB's own; choose another name")

    def columns(self, relation: Markup) -> list[Column]:
        """The columns of a relation."""
        with self.errors():  # of a relation that is not run, errors leave the caller's transaction as it is
            found = self.connection.sql(self.renderer.statement("empty", relation))
            return [Column(name, str(kind), _kind(kind)) for name, kind in zip(found.columns, found.types, strict=True)]

    def check_expression(self, expression: str, source: Source, argument: str) -> None:
        """Raise InputError unless the text is one SQL expression over the columns of a source."""
        subject = f"{argument} must be one SQL expression over the columns of {source.label}"
        if not isinstance(expression, str) or not expression.strip():
            raise InputError(f"{subject}, not {expression!r}")
        try:
            query = self.renderer.dialect.query(expression)
            statements = self.connection.extract_statements(self.renderer.statement("expression", query))
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise InputError(f"{subject}, not {expression!r}")
            sliced = self.renderer.fragment("sliced", source.relation, query)
            found = self.connection.sql(self.renderer.statement("empty", sliced))
            if len(found.columns) != len(source.columns) + 1:
                raise InputError(f"{subject}, not {expression!r}")
            self.connection.sql(self.renderer.statement("expression_of_one_value", source.relation, query))
        except duckdb.Error as error:
            if "UNNEST not supported here" in str(error):
                raise self.makes_rows(expression, argument) from None
            if "must appear in the GROUP BY clause" in str(error):
                raise self.is_aggregate(expression, argument) from None
            raise InputError(f"{subject}: {one_line(error)}") from None

    def check_pattern(self, pattern: str) -> None:
        """Raise InputError unless RE2 understands the pattern. On a cursor: an error would abort the caller's transaction."""
        cursor = self.connection.cursor()
        try:
            cursor.execute(self.renderer.statement("matches_pattern", pattern)).fetchall()
        except duckdb.Error as error:
            reason = str(error).split(": ", 1)[-1].splitlines()[0]
            raise InputError(f"pattern {pattern!r} is not one that RE2 understands: {reason}") from None
        finally:
            cursor.close()


def on_duckdb(engine: Engine, what: str) -> DuckDB:
    """The engine, if it is DuckDB.

    Raises:
        NotSupportedError: it is another, which does not have `what` yet.
    """
    if isinstance(engine, DuckDB):
        return engine
    raise NotSupportedError(f"{what} is not available on {engine.title} yet; it is on DuckDB")


def _open(path: str | os.PathLike[str], *, read_only: bool) -> duckdb.DuckDBPyConnection:
    if not os.fspath(path):  # which DuckDB takes for a database in memory, a new one
        raise InputError("the path of a database must be a text of at least one character, not ''")
    try:
        return duckdb.connect(os.fspath(path), read_only=read_only)
    except duckdb.Error as error:
        reason = str(error)
        if "lock" in reason:
            message = f"{os.fspath(path)!r} is locked by another process; close it there first"
        elif read_only and not Path(path).exists():
            message = f"no database {os.fspath(path)!r}"
        else:
            message = f"cannot open {os.fspath(path)!r}: {' '.join(reason.split())}"
        raise DatabaseError(message) from error


def _kind(column_type: Any) -> str:
    name = str(column_type.id).lower()
    if name in _KINDS:
        return _KINDS[name]
    if name.startswith(_TEMPORAL):
        return "temporal"
    children = dict(column_type.children) if name in ("list", "map") else {}
    if name == "list" and _KINDS.get(str(children["child"].id).lower()) == "text":
        return "tokens"
    if name == "map":
        key, value = (_KINDS.get(str(children[part].id).lower()) for part in ("key", "value"))
        if key == "text" and value in ("integer", "float", "decimal"):
            return "token counts"
    return "other"
