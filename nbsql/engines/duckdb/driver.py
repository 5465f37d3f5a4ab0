"""The driver of DuckDB: runs statements on a connection, with its transactions and errors."""

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb
from markupsafe import Markup

from nbsql.engines.duckdb.calls import nbsql_call
from nbsql.engines.duckdb.messages import one_line
from nbsql.engines.duckdb.paths import check_path, discard, is_new, is_open_here, missing_database
from nbsql.engines.duckdb.planned import planned
from nbsql.engines.engine import Engine
from nbsql.engines.turn import turn_of
from nbsql.engines.watch import Watch, front_end, interruptible, raised_by_a_handler
from nbsql.errors import DatabaseError, InputError
from nbsql.rendering.renderer import Renderer

# The oldest storage version that keeps models for every DuckDB that opens it. DuckDB 1.3 reads a column of texts as NULL
# throughout if a newer DuckDB has written it for 1.3 with a NULL in it, and predicts otherwise.
_STORAGE = "v1.4.0"
_NAME = r'"(?:[^"]|"")+"'
_STORED = re.compile(  # what a DuckLake stores otherwise, or not
    r"(?:COMMENT ON (?P<subject>MACRO TABLE|COLUMN)|CREATE (?P<kind>TABLE|VIEW|OR REPLACE MACRO)) "
    rf"(?P<path>(?:{_NAME}\.)*{_NAME})(?(kind)(?:\([^\n]*\))? AS(?: TABLE)?\n(?P<query>.*))",
    re.DOTALL,
)
# A statement that leaves models and relations of the user's as they are.
_HARMLESS = re.compile(r'(?:CREATE TEMP |(?:INSERT INTO|DELETE FROM) "temp"\."main"\."nbsql \d+ (?!batches|statistics))')
_HOLDER = re.compile(r"lock is held in (.+?) \(PID (\d+)\)")


class DuckDBDriver(Engine):
    """A connection to DuckDB, on which statements run; from a path it is opened, maybe read-only, and closed here."""

    title = "DuckDB"
    plans_once = True
    _seen: dict[tuple[Any, ...], list[tuple[Any, ...]]] | None = None  # results of catalogue queries, in our own transaction
    # The attached DuckLakes, as statements name them, and whether each is the current database.
    _lakes: Mapping[str, bool] = MappingProxyType({})
    _begun = False  # whether the transaction has run no statement yet
    _is_in_verb = False  # whether a verb has a transaction, its own or the caller's
    _has_written = False  # whether the verb has changed a model or a relation of the user's

    def __init__(self, connection: duckdb.DuckDBPyConnection | str | os.PathLike[str], *, read_only: bool = False) -> None:
        self.renderer = Renderer("duckdb")
        self._thread = threading.get_ident()
        self.owned = isinstance(connection, (str, os.PathLike))
        if isinstance(connection, (str, os.PathLike)):
            self.connection = _open(connection, read_only=read_only)
        elif isinstance(wrapped := getattr(connection, "_cursor", connection), duckdb.DuckDBPyConnection):
            self.connection = wrapped  # the session that dbt hands to a Python model wraps one
        else:
            cure = "; rows come second, after duckdb.connect(), say" if hasattr(connection, "columns") else ""
            if type(connection).__module__.startswith("sqlalchemy."):
                cure = "; engine.raw_connection().driver_connection is one"
            kind, known = type(connection).__name__, "a connection of DuckDB or psycopg 3, or the path or address of a database"
            raise InputError(f"con must be {known}, not {kind}{cure}")

    def close(self) -> None:
        """Close the connection, if it was opened here."""
        if self.owned:
            self.connection.close()

    def _send(self, sql: str) -> list[tuple[Any, ...]]:
        with self.errors():
            rows: list[tuple[Any, ...]] = nbsql_call(nbsql_call(self.connection.execute, sql).fetchall)
        return rows

    def prepare(self, sql: str) -> Callable[[Sequence[Any]], list[tuple[Any, ...]]]:
        with self.errors():
            statement = self.parsed(sql)[0]

        def rows(values: Sequence[Any]) -> list[tuple[Any, ...]]:
            with self.timed("prepared"), self.errors():
                found: list[tuple[Any, ...]] = nbsql_call(nbsql_call(self.connection.execute, statement, values).fetchall)
                return found

        return rows

    def plan_once(self, sql: str, types: Sequence[Markup]) -> Callable[[Sequence[Any]], list[tuple[Any, ...]]] | None:
        try:
            planned_rows = planned(self.renderer, sql, types)
        except duckdb.Error:  # it names a type or a function of the user's
            return None

        def rows(values: Sequence[Any]) -> list[tuple[Any, ...]]:
            with self.timed("planned"), interruptible(self.interrupt), self._translated():
                return planned_rows(values)

        return rows

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Translate DuckDB's errors into one-line errors of nbsql, and Ctrl-C into KeyboardInterrupt, in this thread's turn."""
        with self.turn(), nullcontext() if self._at_work else interruptible(self.interrupt), self._translated():
            yield

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            raise DatabaseError(one_line(error)) from error
        except RuntimeError as error:
            if str(error) == "Query interrupted":  # DuckDB's message if the handler of a signal has raised
                raise raised_by_a_handler() from None
            raise

    def bound(self, sql: str) -> duckdb.DuckDBPyRelation:
        """A query as a relation, which DuckDB has planned and not run. Raises duckdb.Error if it cannot be planned."""
        with self.turn():
            relation: duckdb.DuckDBPyRelation = nbsql_call(self.connection.sql, sql)
        return relation

    def parsed(self, sql: str) -> list[duckdb.Statement]:
        """The statements of a text. Raises duckdb.Error if it is none."""
        with self.turn():
            return self.connection.extract_statements(sql)

    def end_unread_result(self) -> None:
        """End a result of the user's `execute` that is not read to its end, as any statement does.

        DuckDB would neither create a relation nor register a frame beside it.
        """
        self.query_macro("current_database_and_schema")

    def interrupt(self) -> None:
        self.connection.interrupt()

    def progress(self) -> float | None:
        with suppress(duckdb.Error):  # the connection is closed
            return float(self.connection.query_progress())
        return None

    @contextmanager
    def reporting_progress(self) -> Iterator[None]:
        """Enable DuckDB's progress bar without printing it: DuckDB measures progress only then. nbsql shows its own line.

        In a notebook DuckDB refuses these settings unless ipywidgets is installed, so there nbsql shows steps without a share.
        """
        if not isinstance(self.watch, Watch) or front_end() != "terminal":
            yield
            return
        before = self.query_macro("progress_settings")[0]
        self._set_progress(True, False)
        try:
            yield
        finally:
            with suppress(DatabaseError):  # the caller's transaction has failed, or the connection is closed
                self._set_progress(*before)

    def _set_progress(self, *values: bool) -> None:
        for name, value in zip(("enable_progress_bar", "enable_progress_bar_print"), values, strict=True):
            self.query_macro("set_switch", name, "true" if value else "false")

    def _roll_back(self) -> None:
        """Roll the transaction back, even if the Ctrl-C that ended it reaches DuckDB only now.

        A connection that has come to an end by the error has nothing to roll back, and the error is the one to tell.
        """
        with suppress(duckdb.FatalException, duckdb.ConnectionException, duckdb.TransactionException):  # none is open
            try:
                self.connection.rollback()
            except duckdb.InterruptException:
                self.connection.rollback()

    @contextmanager
    def _transaction(self, writes: str | None) -> Iterator[None]:
        """A transaction of its own, or the one that the caller has open.

        The latter is aborted by an error after which half a change would be left in it: DuckDB has no savepoints. An error
        within a verb that calls another is that verb's to handle.
        """
        is_outer, self._is_in_verb = not self._is_in_verb, True
        try:
            with self._in_callers_or_own(writes, is_outer=is_outer):
                yield
        finally:
            self._is_in_verb = not is_outer

    @contextmanager
    def _in_callers_or_own(self, writes: str | None, *, is_outer: bool) -> Iterator[None]:
        if turn_of(self.handle).is_forked and not all(read_only for _, read_only, *_ in self.query_macro("files_of_databases")):
            raise DatabaseError(
                "this process was forked from the one that has the database open, which would lose what is written here; "
                "write there, or close it there and open it here"
            )
        self._has_written = self._has_written and not is_outer
        if self._in_transaction():
            turn_of(self.handle).in_callers_transaction = writes is not None or turn_of(self.handle).in_callers_transaction
            try:
                yield  # the caller will commit or roll back
            except BaseException:
                if self._has_written and is_outer:
                    with suppress(DatabaseError):
                        self.query_macro("abort_transaction")
                raise
            return
        self._seen, self._begun = {}, True
        try:
            with self.errors():
                self.connection.begin()
            yield
            with self.errors():
                self.connection.commit()
        except BaseException:  # Ctrl-C may come as the transaction begins, or before it ends
            self._roll_back()
            raise
        finally:
            self._seen = None

    def _in_transaction(self) -> bool:
        """Whether the caller has a transaction open: outside of one, every statement has its own transaction number.

        Trying BEGIN would work too, but an error would abort the caller's transaction.
        """
        ((number, current, lakes),) = self.query_macro("transaction_and_lakes")
        self._lakes = {str(self.renderer.dialect.ident(lake)): lake == current for lake in lakes or ()}
        return [(number,)] == self.query_macro("transaction_number")

    def reads_apart(self) -> bool:
        turn = turn_of(self.handle)
        if turn.in_callers_transaction and threading.get_ident() != self._thread:
            with turn:
                turn.in_callers_transaction = self._in_transaction()
        return threading.get_ident() != self._thread and not turn.in_callers_transaction

    def apart(self) -> Engine:
        return type(self)(self.connection.cursor())

    @staticmethod
    def _drop_released(connection: Any, drops: Callable[[], Sequence[str]], after_statement: bool) -> bool:
        if not after_statement and duckdb.__version__ < "2":  # an unread result would lose its rows; later versions refuse
            return False
        number, sql = Renderer("duckdb").statement("transaction_number"), connection.sql
        try:
            if nbsql_call(sql, number).fetchall() == nbsql_call(sql, number).fetchall():
                return False  # a rollback by the caller would bring the tables back
        except duckdb.Error as error:  # an unread result, or a transaction that has failed
            return isinstance(error, duckdb.ConnectionException)
        with suppress(duckdb.Error):
            nbsql_call(sql, ";\n".join(drops()))
        return True

    def run(self, name: str, sql: str) -> None:
        for statement in self._storable(sql):
            if not (self._has_written and self._is_in_verb) and not _HARMLESS.match(statement):
                self._check_files(statement)
                self._has_written = True
            super().run(name, statement)
        self._begun = False
        if self._seen:
            self._seen.clear()

    def _check_files(self, statement: str) -> None:
        """Raise DatabaseError if what a statement writes would be lost with a file that nobody finds any more.

        A statement that names no database writes in the one in use. Files of other kinds, such as SQLite's, need not be open.
        """
        files = self.query_macro("files_of_databases")
        named = [each for each in files if f"{self.renderer.dialect.ident(each[2])}." in statement]
        in_use = [each for each in files if each[-1] and '"temp".' not in statement]
        for path, read_only, _, kind, _ in named or in_use:
            if kind == "duckdb" and not read_only and Path(path).is_absolute() and not is_open_here(path):
                raise DatabaseError(
                    f"the file {path!r} was deleted or replaced after it was opened, so that what is written would be lost; "
                    "close the connection and open the file again"
                )

    def run_script(self, name: str, statements: Sequence[str]) -> None:
        self.run(name, ";\n".join(statements))

    def _storable(self, sql: str) -> Iterator[str]:
        """A text of statements as it is, or its statements one by one, as a DuckLake stores them if it is their database.

        A lake takes no table whose columns have a collation or are an ENUM, and no comment on a macro or on a column of a view.
        """
        if not self._lakes:
            yield sql
            return
        for statement in self.parsed(sql):
            text = statement.query.strip()
            found = _STORED.match(text)
            if found is None or not self._is_in_lake(found):
                yield text
            elif found["kind"] is not None:
                query, texts = self.renderer.dialect.query(found["query"]), []
                if found["kind"] == "TABLE":
                    rows = self.bound(found["query"])
                    columns = zip(rows.columns, rows.types, strict=True)
                    texts = [name for name, kind in columns if kind.id in ("varchar", "enum")]
                yield text.removesuffix(found["query"]) + self.renderer.statement("in_lake", query, texts)

    def _is_in_lake(self, found: re.Match[str]) -> bool:
        """Whether what a statement creates or comments on is in a DuckLake: the one it names, or else the current database."""
        path = re.findall(_NAME, found["path"])
        is_named = len(path) == (4 if found["subject"] == "COLUMN" else 3)
        return path[0] in self._lakes if is_named else any(self._lakes.values())

    def query_catalog(self, macro: str, *arguments: Any) -> list[tuple[Any, ...]]:
        """The rows of a catalogue query, cached within our own transaction until the next statement runs."""
        if self._seen is None:
            return self.query_macro(macro, *arguments)
        if self._begun and not self._seen:
            self._prefetch_catalog()
        key = (macro, *arguments)
        if key not in self._seen:
            self._seen[key] = self.query_macro(macro, *arguments)
        return self._seen[key]

    def _prefetch_catalog(self) -> None:
        """Run all catalogue queries that a verb needs before its first statement in one query."""
        rows = self.query_macro("schemas_and_relations")
        self._seen = {
            ("current_database_and_schema",): [row[6:] for row in rows[:1]],
            ("schemas",): [(*row[:2], *row[4:6]) for row in rows if row[3] == "schema"],
            ("relations",): [row[:4] for row in rows if row[3] != "schema"],
        }

    @contextmanager
    def using_search_path(self, path: str) -> Iterator[None]:
        seen, self._seen = self._seen, None
        try:
            with super().using_search_path(path):
                yield
        finally:
            self._seen = seen if seen is None else {}

    def current(self) -> tuple[str, str]:
        """The names of the current database and schema."""
        database, schema = self.query_catalog("current_database_and_schema")[0]
        return database, schema


def _open(path: str | os.PathLike[str], *, read_only: bool) -> duckdb.DuckDBPyConnection:
    if not os.fspath(path):  # DuckDB would open a new database in memory
        raise InputError("the path of a database must be a text of at least one character, not ''")
    if read_only and is_new(path):
        raise missing_database(path)
    check_path(path)
    new = is_new(path)
    try:
        if new:  # closed again, so that others may open the file with other settings
            duckdb.connect(os.fspath(path), config={"storage_compatibility_version": _STORAGE}).close()
        return duckdb.connect(os.fspath(path), read_only=read_only)
    except duckdb.Error as error:
        if new:  # the disk is full
            discard(path)
        reason = str(error)
        if "Permission denied" in reason:
            of_reader = "you may only read it; ask for the right to write it, or in Python pass a connection that is read_only"
            right = of_reader if os.access(path, os.R_OK) else "you have no right to; ask its owner for it"
            message = f"cannot open {os.fspath(path)!r}: {right}"
        elif "lock" in reason:
            holder = _HOLDER.search(reason)
            by = f"{holder[1]} (PID {holder[2]})" if holder is not None else "another process"
            message = f"{os.fspath(path)!r} is locked by {by}; close it there first{_or_read_only(path)}"
        elif "different configuration" in reason:
            message = f"this process has {os.fspath(path)!r} open with other settings; pass that connection instead of the path"
        else:
            said = one_line(error) if "extension" in reason else " ".join(reason.split())
            message = f"cannot open {os.fspath(path)!r}: {said}"
        raise DatabaseError(message) from error
    except KeyboardInterrupt:
        if new:
            discard(path)
        raise


def _or_read_only(path: str | os.PathLike[str]) -> str:
    """The other cure of a lock: processes that only read a file may share it."""
    try:
        duckdb.connect(os.fspath(path), read_only=True).close()
    except duckdb.Error:
        return ", or open it read-only in both"
    return ", or open it read-only, as there"
