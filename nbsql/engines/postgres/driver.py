"""The driver of PostgreSQL: runs statements on a connection, with its transactions and errors."""

from __future__ import annotations

import logging
import re
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from nbsql.engines.engine import Engine
from nbsql.engines.postgres.address import is_misread, without_passwords
from nbsql.errors import DatabaseError, InputError
from nbsql.plan import Statement
from nbsql.rendering.renderer import Renderer

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # it would print warnings about rollbacks after an error

_LEAST_VERSION = 15
_LOCKED = "55P03"  # a lock is not available
_BUSY = ("40001", "40P01", _LOCKED)  # serialization failure, deadlock
_AGAIN = "try again when it is done"
_ATTEMPT, _PATIENCE = 500, 60_000  # milliseconds of one attempt to drop tables, less than deadlock_timeout, and of all
_LONG = 2_000  # characters from which on a statement is not JIT-compiled


class PostgreSQLDriver(Engine):
    """A connection to PostgreSQL, on which statements run; from an address, postgresql://..., it is opened and closed here."""

    title = "PostgreSQL"
    survives_missing_names = False
    exact = True

    def __init__(self, connection: psycopg.Connection[Any] | str) -> None:
        self.renderer = Renderer("postgres")
        self.owned = isinstance(connection, str)
        self._within = False  # whether a transaction of `transaction` is open
        self._last: list[Callable[[], object]] = []  # functions to call at the end of a transaction
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

    def _send(self, sql: str) -> list[tuple[Any, ...]]:
        return self._fetch(sql)[1]

    def _fetch(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The columns and the rows of a statement."""
        with self.errors(), self.savepoint(), self._without_jit(sql), self._cursor() as cursor:
            cursor.execute(sql.encode(self.connection.info.encoding))
            if cursor.description is None:
                return [], []
            return [column.name for column in cursor.description], cursor.fetchall()

    def prepare(self, sql: str) -> Callable[[Sequence[Any]], list[tuple[Any, ...]]]:
        statement = sql.encode(self.connection.info.encoding)

        def rows(values: Sequence[Any]) -> list[tuple[Any, ...]]:
            with (
                self.timed("prepared"),
                self.errors(),
                self.savepoint(),
                psycopg.RawCursor(self.connection, row_factory=tuple_row) as cursor,
            ):
                found: list[tuple[Any, ...]] = cursor.execute(statement, values, prepare=True).fetchall()
                return found

        return rows

    def _cursor(self) -> psycopg.Cursor[tuple[Any, ...]]:
        return psycopg.Cursor(self.connection, row_factory=tuple_row)

    @contextmanager
    def _without_jit(self, sql: str) -> Iterator[None]:
        """Turn off JIT compilation for a long statement: it takes seconds and saves less. Our transactions turn it off, too."""
        if self._within or len(sql) < _LONG:
            yield
            return
        with self.connection.transaction(), self._cursor() as cursor:
            before = cursor.execute(self.renderer.statement("set_transaction_settings", "off").encode()).fetchall()[0][:2]
            yield
            cursor.execute(self.renderer.statement("set_transaction_settings", *before).encode())

    def savepoint(self, *, trial: bool = False) -> AbstractContextManager[Any]:
        """A savepoint if a transaction is open, because an error would abort it; no transaction is left open.

        In a `trial` an error may be handled. Otherwise our own transaction needs no savepoint, as it is lost anyway.
        """
        idle = self.connection.info.transaction_status == TransactionStatus.IDLE
        if (self._within and not trial) or (idle and self.connection.autocommit):
            return nullcontext()
        found: AbstractContextManager[Any] = self.connection.transaction()
        return found

    def drop(self, schema: str, statements: Sequence[Statement]) -> None:
        """Run them in attempts of half a second, as new readers wait behind one: until `lock_timeout`, or else for a minute."""
        began, patience = time.monotonic(), 0
        while True:
            try:
                with self.savepoint(trial=True):
                    patience = self.ask("set_lock_timeout", _ATTEMPT)[0][0]
                    self.run_all(statements)
                    self.ask("set_lock_timeout", patience)
                return
            except DatabaseError as error:
                if getattr(error.__cause__, "sqlstate", None) != _LOCKED:
                    raise
                if (time.monotonic() - began) * 1000 > (patience or _PATIENCE):
                    who = self.ask("readers", schema)[0][0]
                    raise DatabaseError(f"{who} reads the model, whose tables are to be made anew; {_AGAIN}") from None
            time.sleep(_ATTEMPT / 1000)

    @contextmanager
    def errors(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise DatabaseError(_one_line(error)) from error

    @contextmanager
    def _transaction(self, writes: str | None) -> Iterator[None]:
        """A new transaction that sees one snapshot of the database, or a savepoint in the caller's transaction.

        A new one does not wait for other writers of a model, as it would not see what they have written: it begins afterwards.
        """
        if self._within:
            yield
            return
        idle = self.connection.info.transaction_status == TransactionStatus.IDLE
        key = zlib.crc32(repr(("nbsql", writes)).encode())
        while True:
            with self.errors(), self.connection.transaction():
                self._within = True
                try:
                    if idle:
                        self.ask("repeatable_read")
                    if writes is None or self.ask("lock_for_writing", key, waits=not idle)[0][0]:
                        before = self.ask("set_transaction_settings", "off")[0][:2]
                        yield
                        for act in self._last:
                            act()
                        self.ask("set_transaction_settings", *before)
                        return
                finally:
                    self._within = False
                    self._last.clear()
            self.run("wait for another writer", self.renderer.statement("lock_for_writing", key, waits=True))


def _open(address: str) -> psycopg.Connection[Any]:
    try:
        return psycopg.connect(address, autocommit=True)
    except psycopg.Error as error:
        reason = " ".join(without_passwords(str(error).split("\n")[0]).split())
        if is_misread(address):  # the reason may contain a part of the password
            reason = "in the password of an address @ is written as %40, / as %2F, ? as %3F, # as %23 and % as %25"
        raise DatabaseError(f"cannot connect to PostgreSQL: {reason}") from None  # a trace would show the password


def _one_line(error: psycopg.Error) -> str:
    """PostgreSQL's message in one line, without the excerpt of the statement."""
    state = error.sqlstate
    said = " ".join((error.diag.message_primary or str(error)).split())
    if state in _BUSY or said == "tuple concurrently updated" or error.diag.constraint_name == "pg_namespace_nspname_index":
        return f"another connection is changing the same model or table at this moment; {_AGAIN}"
    if state == "2BP01":  # dependent objects still exist
        who = (error.diag.message_detail or "something").split(" depends on ")[0]
        return f"{who} reads what is to be made anew; drop it first, and make it again afterwards"
    if state == "42501" and said.startswith("must be owner"):
        return re.sub(r"function (.+)[.].+", r"model \1", said) + "; connect as its owner"
    if state == "42501":  # insufficient privilege
        cure = " (a model needs CREATE on the database; without a name it needs TEMPORARY only)" if "database" in said else ""
        if "temporary" in said:
            cure = " (TEMPORARY on the database, which whatever learns needs)"
        return f"{said}; the owner can GRANT it{cure}"
    if state == "25P02":  # in a failed transaction
        return "an earlier statement of this transaction has failed; roll it back first"
    if state in ("54000", "54011"):  # program limit exceeded, too many columns
        return f"so many features do not fit into a row of PostgreSQL's tables ({said}); take fewer"
    if state == "22012":  # division by zero
        return f"{said} in a row of the source; divide by nullif(x, 0), say"
    if state == "42P16" and "temporary" in said:  # invalid table definition
        return "a view cannot read what ends with this session, a temporary table or a transient model; use create_table"
    if state == "25006":  # read-only transaction
        return f"{said}; connect to a server that can be written, without default_transaction_read_only"
    return said
