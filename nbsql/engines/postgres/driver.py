"""The driver of PostgreSQL: runs statements on a connection, with its transactions and errors."""

import logging
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any

import psycopg
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg.rows import tuple_row

from nbsql.engines.engine import Engine
from nbsql.engines.postgres.address import as_read, is_misread, without_passwords
from nbsql.engines.postgres.messages import AGAIN, LOCKED, one_line
from nbsql.engines.turn import turn_of
from nbsql.errors import DatabaseError, InputError
from nbsql.plan import Statement
from nbsql.rendering.renderer import Renderer
from nbsql.warn import warn_user

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # it would print warnings about rollbacks after an error

_LEAST_VERSION = 15
_ATTEMPT, _PATIENCE = 500, 60_000  # milliseconds of one attempt to drop tables, less than deadlock_timeout, and of all
# The path on which our statements look for names. Whatever other schemas a session has on its path may hold an operator or a
# function of another role that fits the types of an argument better than PostgreSQL's own, and would run in its place.
OWN_PATH = "pg_catalog, pg_temp"


class _EndsStatements(psycopg.Cursor[tuple[Any, ...]]):
    """A cursor whose statement ends with whatever a signal's handler raises, such as a limit of time.

    psycopg ends it after KeyboardInterrupt alone; after others it would run on, and the connection do nothing else.
    """

    def execute(self, *arguments: Any, **options: Any) -> Any:
        try:
            return super().execute(*arguments, **options)
        except BaseException:
            if self.connection.info.transaction_status == TransactionStatus.ACTIVE:
                with suppress(psycopg.Error):  # it is lost
                    self.connection.cancel()
                    while self.connection.pgconn.get_result() is not None:
                        pass
            raise


class _RawCursor(_EndsStatements, psycopg.RawCursor[tuple[Any, ...]]):
    """The same for statements with $1, $2 for their values."""


class PostgreSQLDriver(Engine):
    """A connection to PostgreSQL, on which statements run; from an address, postgresql://..., it is opened and closed here."""

    title = "PostgreSQL"
    survives_missing_names = False
    exact = True

    def __init__(self, connection: psycopg.Connection[Any] | str) -> None:
        self.renderer = Renderer("postgres")
        self.owned = isinstance(connection, str)
        self._within = False  # whether a transaction of `transaction` is open
        self._path: str | None = OWN_PATH  # the path of the statements that run now; None is that of the session
        self._path_before = ""  # within a transaction of `transaction`, the path of the session
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
            has_bytes = self.connection.info.encoding == "ascii"
        if version < _LEAST_VERSION:
            self.close()
            raise DatabaseError(f"this server is PostgreSQL {version}; nbsql needs {_LEAST_VERSION} or later")
        if has_bytes:
            self.close()
            raise DatabaseError("the client_encoding of this connection is SQL_ASCII, in which texts are bytes; set it to UTF8")

    def close(self) -> None:
        if self.owned:
            self.connection.close()

    def _send(self, sql: str) -> list[tuple[Any, ...]]:
        return self._fetch(sql)[1]

    def _fetch(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The columns and the rows of a statement."""
        encoding = self.connection.info.encoding
        with self.errors(), self.savepoint(), self._cursor() as cursor:
            if self._within:
                cursor.execute(sql.encode(encoding), prepare=False)
                return _rows(cursor)
            restores = self._is_in_transaction
            # Sent in one text, the two are one transaction, which the settings do not outlast.
            cursor.execute(f"{self._settings_statement()};\n{sql}".encode(encoding), prepare=False)
            before = cursor.fetchall()[0][:3]
            cursor.nextset()
            found = _rows(cursor)
            if restores:
                cursor.execute(self._settings_statement(*before).encode(encoding), prepare=False)
            return found

    def prepare(self, sql: str) -> Callable[[Sequence[Any]], list[tuple[Any, ...]]]:
        statement = sql.encode(self.connection.info.encoding)

        def rows(values: Sequence[Any]) -> list[tuple[Any, ...]]:
            with (
                self.timed("prepared"),
                self.errors(),
                self.with_settings(),
                _RawCursor(self.connection, row_factory=tuple_row) as cursor,
            ):
                found: list[tuple[Any, ...]] = cursor.execute(statement, values, prepare=True).fetchall()
                return found

        return rows

    def _cursor(self) -> psycopg.Cursor[tuple[Any, ...]]:
        return _EndsStatements(self.connection, row_factory=tuple_row)

    @property
    def _is_in_transaction(self) -> bool:
        return self.connection.info.transaction_status != TransactionStatus.IDLE

    def _settings_statement(self, jit: str = "off", digits: str | None = None, path: str | None = None) -> str:
        """The statement that makes our settings, or those that were in force before; see set_transaction_settings."""
        return self.renderer.statement("set_transaction_settings", jit, digits, self._path if digits is None else path)

    @contextmanager
    def with_settings(self, *, trial: bool = False) -> Iterator[None]:
        """A transaction or savepoint within which statements have our settings; our own transactions have them already."""
        if self._within:
            with self.savepoint(trial=trial):
                yield
            return
        restores, encoding = self._is_in_transaction, self.connection.info.encoding
        with self.connection.transaction(), self._cursor() as cursor:
            before = cursor.execute(self._settings_statement().encode(encoding), prepare=False).fetchall()[0]
            yield
            if restores:
                cursor.execute(self._settings_statement(*before[:3]).encode(encoding), prepare=False)

    # The search path. ------------------------------------------------------------------------------------------------

    def current_search_path(self) -> str:
        """The path of our statements, which is not that of the session: names in a source are resolved when it is found."""
        return self._path if self._path is not None else self.session_path()

    @contextmanager
    def using_search_path(self, path: str | None) -> Iterator[None]:
        """Run the statements within on a path, or on that of the session if it is None."""
        with self.turn():
            before = self._path
            self.take_search_path(path)
            try:
                yield
            finally:
                with suppress(DatabaseError):  # the transaction was aborted, and its end restores the setting
                    self.take_search_path(before)

    def take_search_path(self, path: str | None) -> None:
        """Run what follows on a path, or on that of the session."""
        if path != self._path:
            self._path = path
            if self._within:
                self.query_macro("set_search_path", self._path_before if path is None else path)

    def session_path(self) -> str:
        if self._within:
            return self._path_before
        with self.using_search_path(None):
            path: str = self.query_value("search_path")
        return path

    def savepoint(self, *, trial: bool = False) -> AbstractContextManager[Any]:
        """A savepoint if a transaction is open, because an error would abort it; no transaction is left open.

        In a `trial` an error may be handled. Otherwise our own transaction needs no savepoint, as it is lost anyway.
        """
        if (self._within and not trial) or (self.connection.autocommit and not self._is_in_transaction):
            return nullcontext()
        found: AbstractContextManager[Any] = self.connection.transaction()
        return found

    def drop(self, schema: str, statements: Sequence[Statement]) -> None:
        """Run them in attempts of half a second, as new readers wait behind one: until `lock_timeout`, or else for a minute."""
        began, patience = time.monotonic(), 0
        while True:
            try:
                with self.savepoint(trial=True):
                    patience = self.query_value("set_lock_timeout", _ATTEMPT)
                    self.run_all(statements)
                    self.query_macro("set_lock_timeout", patience)
                return
            except DatabaseError as error:
                if getattr(error.__cause__, "sqlstate", None) != LOCKED:
                    raise
                if (time.monotonic() - began) * 1000 > (patience or _PATIENCE):
                    who = self.query_value("readers", schema)
                    raise DatabaseError(f"{who} reads the model, whose tables are to be made anew; {AGAIN}") from None
            time.sleep(_ATTEMPT / 1000)

    @contextmanager
    def keeping_rights(self, schema: str | None, relation: str | None = None) -> Iterator[None]:
        if schema is None:
            yield
            return
        render = self.renderer.statement
        for macro in ("keep_rights", "give_rights"):
            self.rows(render("checking_statement", "", self.renderer.dialect.text(render(macro, schema, relation))), macro)
            if macro == "keep_rights":
                yield
        missing = [act for (act,) in self.query_macro("statements_of_lost_rights", schema, relation)]
        if missing:
            title = f"model {schema!r}" if relation is None else repr(relation)
            warn_user(f"{title} has lost its owner or rights of others; run as the owner: {'; '.join(missing)}")

    @contextmanager
    def errors(self) -> Iterator[None]:
        if turn_of(self.handle).is_forked:
            raise DatabaseError("the connection is that of the process from which this one was forked; connect anew here")
        with self.turn():
            if self.connection.pgconn.pipeline_status != PipelineStatus.OFF:
                raise DatabaseError("the connection is within its pipeline(), where answers come later; use it outside of that")
            try:
                yield
            except psycopg.Error as error:
                raise DatabaseError(one_line(error)) from error
            except NotImplementedError as error:  # of psycopg, for a time with a time zone or an interval
                raise DatabaseError(f"{error}; SET DateStyle = 'ISO', and IntervalStyle = 'postgres'") from error

    @staticmethod
    def _drop_released(connection: Any, drops: Callable[[], Sequence[str]], after_statement: bool) -> bool:  # noqa: ARG004
        if connection.closed:
            return True
        if connection.lock.locked() or connection.info.transaction_status != TransactionStatus.IDLE:
            return False
        with suppress(psycopg.Error), connection.transaction(), psycopg.Cursor(connection) as cursor:
            for statement in drops():
                cursor.execute(statement.encode(connection.info.encoding))
        return True

    @contextmanager
    def _transaction(self, writes: str | None) -> Iterator[None]:
        """A new transaction that sees one snapshot of the database, or a savepoint in the caller's transaction.

        A new one does not wait for other writers of a model, as it would not see what they have written: it begins afterwards.
        """
        if self._within:
            yield
            return
        idle = not self._is_in_transaction
        key = zlib.crc32(repr(("nbsql", writes)).encode())
        while True:
            with self.errors(), self.connection.transaction():
                self._within = True
                try:
                    if idle:
                        self.query_macro("repeatable_read")
                    before = self.rows(self._settings_statement(), "settings")[0][:3]
                    self._path_before = before[2]
                    if writes is None or self.query_value("lock_for_writing", key, waits=not idle):
                        with self.keeping_rights(writes):
                            yield
                        for act in self._last:
                            act()
                        self.rows(self._settings_statement(*before), "settings")
                        return
                finally:
                    self._within = False
                    self._last.clear()
            self.run("wait for another writer", self.renderer.statement("lock_for_writing", key, waits=True))


def _rows(cursor: psycopg.Cursor[tuple[Any, ...]]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The columns and the rows of the statement that has run."""
    if cursor.description is None:
        return [], []
    return [column.name for column in cursor.description], cursor.fetchall()


def _open(address: str) -> psycopg.Connection[Any]:
    try:
        return psycopg.connect(as_read(address), autocommit=True)
    except (psycopg.Error, UnicodeError) as error:  # the latter of a host's name
        reason = " ".join(without_passwords(str(error).split("\n")[0]).split())
        if is_misread(address):  # the reason may contain a part of the password
            reason = "in the password of an address @ is written as %40, / as %2F, ? as %3F, # as %23, % as %25 and "
            reason += "a blank as %20"
        raise DatabaseError(f"cannot connect to PostgreSQL: {reason}") from None  # a trace would show the password
