"""PostgreSQL: opens connections, looks around in them, and runs statements."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import psycopg
from markupsafe import Markup
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from nbsql.engines.address import misread, without_passwords
from nbsql.engines.engine import Engine
from nbsql.engines.postgres_files import write
from nbsql.engines.postgres_sources import compared_by_type, described, find, kind_of
from nbsql.engines.source import Source
from nbsql.errors import DatabaseError, InputError, ModelError
from nbsql.family.text import LETTERS_AND_DIGITS
from nbsql.render import Renderer
from nbsql.spec import Column

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_LEAST_VERSION = 15
_BUSY = ("40001", "40P01", "55P03")  # serialization failure, deadlock, lock not available
_SHOWN = 40
_LONG = 2_000  # characters of a statement that PostgreSQL shall not compile


class PostgreSQL(Engine):
    """A connection to PostgreSQL.

    Args:
        connection: the user's own, of psycopg 3, or the address of a database, postgresql://..., which is then opened and
            closed here.
        watch: called with the name of each statement before it runs.
    """

    title = "PostgreSQL"
    exact = True

    def __init__(
        self,
        connection: psycopg.Connection[Any] | str,
        *,
        watch: Callable[[str], None] | None = None,
    ) -> None:
        self.renderer = Renderer("postgres")
        self.watch = watch
        self.owned = isinstance(connection, str)
        self._within = False  # whether a transaction of `transaction` is open
        self._last: list[Callable[[], object]] = []  # what is done as the last of a transaction
        if isinstance(connection, str):
            self.connection: psycopg.Connection[Any] = _open(connection)
        elif isinstance(connection, psycopg.Connection):
            self.connection = connection
        else:
            kind = f"{type(connection).__module__.split('.')[0]}.{type(connection).__name__}"
            raise InputError(f"con must be a connection of psycopg 3 (psycopg.connect) or a postgresql:// address, not {kind}")
        with self.errors():
            version = self.connection.info.server_version // 10_000
        if version < _LEAST_VERSION:
            self.close()
            raise DatabaseError(f"this server is PostgreSQL {version}; nbsql needs {_LEAST_VERSION} or later")

    def close(self) -> None:
        if self.owned:
            self.connection.close()

    def shares(self, other: Engine) -> bool:
        return isinstance(other, PostgreSQL) and self.connection is other.connection

    # Running. ------------------------------------------------------------------------------------------------------

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self._fetch(sql)[1]

    def _fetch(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The columns and the rows of a statement."""
        with self.errors(), self.guarded(), self._uncompiled(sql), self._cursor() as cursor:
            cursor.execute(sql.encode(self.connection.info.encoding))
            if cursor.description is None:
                return [], []
            return [column.name for column in cursor.description], cursor.fetchall()

    def prepared(self, sql: str) -> Callable[[Sequence[Any]], list[tuple[Any, ...]]]:
        statement = sql.encode(self.connection.info.encoding)

        def rows(values: Sequence[Any]) -> list[tuple[Any, ...]]:
            with self.errors(), self.guarded(), psycopg.RawCursor(self.connection, row_factory=tuple_row) as cursor:
                found: list[tuple[Any, ...]] = cursor.execute(statement, values, prepare=True).fetchall()
                return found

        return rows

    def parameter_type(self, name: str) -> str:
        return name if compared_by_type(name) else "text"

    def kind(self, name: str) -> str:
        return kind_of(name, "b")

    def _cursor(self) -> psycopg.Cursor[tuple[Any, ...]]:
        return psycopg.Cursor(self.connection, row_factory=tuple_row)

    @contextmanager
    def _uncompiled(self, sql: str) -> Iterator[None]:
        """A long statement is run, not compiled, which takes seconds and saves less. Our transactions see to it themselves."""
        if self._within or len(sql) < _LONG:
            yield
            return
        with self.connection.transaction(), self._cursor() as cursor:
            compiled = cursor.execute(self.renderer.statement("compile_statements", "off").encode()).fetchall()[0][0]
            yield
            cursor.execute(self.renderer.statement("compile_statements", compiled).encode())

    def guarded(self, *, trial: bool = False) -> AbstractContextManager[Any]:
        """A savepoint where a transaction is open, which an error would abort; no transaction is left behind.

        Args:
            trial: whether the error may be overcome; if not, our own transaction is lost anyway.
        """
        idle = self.connection.info.transaction_status == TransactionStatus.IDLE
        if (self._within and not trial) or (idle and self.connection.autocommit):
            return nullcontext()
        found: AbstractContextManager[Any] = self.connection.transaction()
        return found

    @contextmanager
    def errors(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise DatabaseError(_one_line(error)) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction of its own, which sees one state of the database, or a savepoint in the caller's."""
        if self._within:
            yield
            return
        idle = self.connection.info.transaction_status == TransactionStatus.IDLE
        with self.errors(), self.connection.transaction():
            self._within = True
            try:
                if idle:
                    self.ask("repeatable_read")
                compiled = self.ask("compile_statements", "off")[0][0]
                yield
                for act in self._last:
                    act()
                self.ask("compile_statements", compiled)
            finally:
                self._within = False
                self._last.clear()

    def names(self, sql: str) -> list[str]:
        return [name for name, _ in described(self, sql)]

    def df(self, sql: str) -> pandas.DataFrame:
        import pandas

        names, rows = self._fetch(sql)
        return pandas.DataFrame.from_records(rows, columns=names)

    def arrow(self, sql: str) -> pyarrow.Table:
        import pyarrow

        names, rows = self._fetch(sql)
        columns = zip(*rows, strict=True) if rows else [()] * len(names)
        return pyarrow.Table.from_arrays([pyarrow.array(column) for column in columns], names=names)

    def pl(self, sql: str) -> polars.DataFrame:
        import polars

        names, rows = self._fetch(sql)
        return polars.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)

    def show(self, sql: str) -> None:
        from rich.console import Console

        query = self.renderer.fragment("subquery", self.renderer.dialect.query(sql))
        names, rows = self._fetch(self.renderer.statement("first_rows", query, _SHOWN))
        cells = [names, *(["NULL" if value is None else str(value) for value in row] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
        lines.insert(1, "  ".join("-" * width for width in widths))
        Console().print("\n".join(lines), markup=False, highlight=False, emoji=False, soft_wrap=True)

    def write(self, sql: str, path: str, file_format: str) -> None:
        write(self, sql, path, file_format)

    # Looking around. -----------------------------------------------------------------------------------------------

    def source(self, source: Any) -> Source:
        return find(self, source)

    def current(self) -> tuple[str, str]:
        database, schema = self.ask("current_names")[0]
        if schema is None:
            raise DatabaseError("the search_path of this connection names no schema that is there; SET search_path first")
        return database, schema

    def database(self, name: str | None) -> str:
        current: str = self.ask("current_names")[0][0]
        if name is not None and name != current:
            raise InputError(f"a connection to PostgreSQL reaches one database only, {current!r}; connect to {name!r}")
        return current

    def is_read_only(self, database: str) -> bool:  # noqa: ARG002 - there is one
        return bool(self.ask("is_read_only")[0][0])

    def schema(self, database: str, name: str) -> str | None:
        return next((known for (known,) in self.ask("schemas", database) if known == name), None)

    def check_name(self, name: str) -> None:
        if name.startswith("pg_") or name == "information_schema":
            raise ModelError(f"{name!r} is a name that PostgreSQL keeps for itself; choose another name")
        if len(name.encode()) > 63:
            raise InputError(f"a model's name has at most 63 bytes on PostgreSQL, which would cut {name!r}")

    def path(self, database: str, schema: str) -> tuple[str, ...]:  # noqa: ARG002 - there is one database
        return (schema,)

    def set_aside(self, database: str, schema: str, drop: Callable[[str], object]) -> str | None:  # noqa: ARG002
        aside = f"{self.transient_name()} {self.connection.info.backend_pid}"
        ident = self.renderer.dialect.ident
        self.run("set the old model aside", self.renderer.statement("rename_schema", ident(schema), ident(aside)))
        self._last.append(lambda: drop(aside))
        return aside

    def columns(self, relation: Markup) -> list[Column]:
        found = described(self, self.renderer.statement("empty", relation))
        types = {oid: kind for oid, *kind in self.ask("types", sorted({oid for _, oid in found}))} if found else {}
        return [Column(name, types[oid][0], kind_of(*types[oid])) for name, oid in found]

    def check_expression(self, expression: str, source: Source, argument: str) -> None:
        subject = f"{argument} must be one SQL expression over the columns of {source.label}"
        if not isinstance(expression, str) or not expression.strip():
            raise InputError(f"{subject}, not {expression!r}")
        query = self.renderer.dialect.query(expression)
        try:
            whole = described(self, self.renderer.statement("expression_of", source.relation, query))
            sliced = self.renderer.fragment("sliced", source.relation, query)
            described(self, self.renderer.statement("empty", sliced))
        except DatabaseError as error:
            if getattr(error.__cause__, "sqlstate", None) == "42803":  # grouping error
                raise self.is_aggregate(expression, argument) from None
            raise InputError(f"{subject}: {error}") from None
        if len(whole) != 1:
            raise InputError(f"{subject}, not {expression!r}")
        try:
            described(self, self.renderer.statement("expression_of_one_value", source.relation, query))
        except DatabaseError:
            raise self.makes_rows(expression, argument) from None

    def check_pattern(self, pattern: str) -> None:
        if pattern == LETTERS_AND_DIGITS:  # which has a macro of its own (sql/macros/postgres/tokens.sql)
            return
        try:
            with self.errors(), self.guarded(trial=True):
                self.ask("matches_pattern", pattern)
        except DatabaseError as error:
            raise InputError(f"pattern {pattern!r} is not one that PostgreSQL understands: {error}") from None


def _open(address: str) -> psycopg.Connection[Any]:
    logging.getLogger("psycopg").addHandler(logging.NullHandler())  # it would print how a rollback fares that Ctrl-C cut short
    try:
        return psycopg.connect(address, autocommit=True)
    except psycopg.Error as error:
        reason = " ".join(without_passwords(str(error).split("\n")[0]).split())
        if misread(address):  # the reason may have a part of the password in it
            reason = "in the password of an address @ is written as %40, / as %2F, ? as %3F, # as %23 and % as %25"
        raise DatabaseError(f"cannot connect to PostgreSQL: {reason}") from None  # no password in a trace


def _one_line(error: psycopg.Error) -> str:
    """What PostgreSQL says, without its picture of the statement."""
    state = error.sqlstate
    if state in _BUSY:
        return "another connection is changing the same model or table at this moment; try again when it is done"
    said = " ".join((error.diag.message_primary or str(error)).split())
    if state == "2BP01":  # dependent objects still exist
        who = (error.diag.message_detail or "something").split(" depends on ")[0]
        return f"{who} reads the model, whose tables are to be made anew; drop it first, and make it again afterwards"
    if state == "42501":  # insufficient privilege
        cure = " (a model needs CREATE on the database; without a name it needs TEMPORARY only)" if "database" in said else ""
        return f"{said}; the owner can GRANT it{cure}"
    if state in ("54000", "54011"):  # program limit exceeded, too many columns
        return f"so many features do not fit into a row of PostgreSQL's tables ({said}); take fewer"
    if state == "25006":  # read-only transaction
        return f"{said}; connect to a server that can be written, without default_transaction_read_only"
    return said
