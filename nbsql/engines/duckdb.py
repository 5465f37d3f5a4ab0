"""DuckDB: opens databases, finds what a user calls a source, and runs statements."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
from markupsafe import Markup

from nbsql.dialect import folded
from nbsql.errors import DatabaseError, InputError, listed, suggestion
from nbsql.render import Renderer
from nbsql.spec import Column

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
_TEMPORAL = ("date", "time", "interval")
_FILE = re.compile(r"\.(parquet|csv|tsv|json|jsonl|ndjson)(\.gz|\.zst)?$", re.IGNORECASE)
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


class DuckDB:
    """A connection to DuckDB.

    Args:
        connection: the user's own, or the path of a database file, which is then opened and closed here.
        read_only: how to open a path.
        watch: called with the name of each statement before it runs.
    """

    _numbers = itertools.count(1)

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

    # Running. ------------------------------------------------------------------------------------------------------

    def run(self, name: str, sql: str) -> None:
        """Run a statement for its effect."""
        if self.watch is not None:
            self.watch(name)
        self.rows(sql)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query, for small answers.

        Raises:
            DatabaseError: DuckDB refuses the statement.
        """
        with self.errors():
            return self.connection.execute(sql).fetchall()

    def ask(self, macro: str, *arguments: Any, **options: Any) -> list[tuple[Any, ...]]:
        """The rows of a rendered macro."""
        return self.rows(self.renderer.statement(macro, *arguments, **options))

    @contextmanager
    def errors(self) -> Iterator[None]:
        """DuckDB's errors as one line of ours."""
        try:
            yield
        except duckdb.Error as error:
            raise DatabaseError(_one_line(error)) from error

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

    def columns(self, relation: Markup) -> list[Column]:
        """The columns of a relation."""
        with self.errors():  # of a relation that is not run, errors leave the caller's transaction as it is
            found = self.connection.sql(self.renderer.statement("empty", relation))
            return [Column(name, str(kind), _kind(kind)) for name, kind in zip(found.columns, found.types, strict=True)]

    def transient_name(self) -> str:
        """A prefix for the temporary tables of a model without a name."""
        return f"nbsql {next(self._numbers)}"

    @contextmanager
    def temporaries(self) -> Iterator[Callable[[str], Markup]]:
        """Names for temporary tables, which are dropped in the end, also when the caller's transaction goes on."""
        prefix = self.transient_name()
        made: list[Markup] = []

        def name(part: str) -> Markup:
            made.append(self.renderer.dialect.ident("temp", "main", f"{prefix} {part}"))
            return made[-1]

        try:
            yield name
        finally:
            for relation in made:
                with suppress(DatabaseError):  # an aborted transaction has dropped it already
                    self.ask("drop_if_exists", relation)

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
        except duckdb.Error as error:
            raise InputError(f"{subject}: {_one_line(error)}") from None
        if len(found.columns) != len(source.columns) + 1:
            raise InputError(f"{subject}, not {expression!r}")

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

    # Sources. ------------------------------------------------------------------------------------------------------

    def source(self, source: Any) -> Source:
        """What the user means by `source`.

        Raises:
            InputError: there is no such table or view, or the text is no single SELECT.
        """
        if isinstance(source, Source):
            return source
        if isinstance(source, os.PathLike):
            source = str(Path(source))
        if isinstance(source, str):
            return self._named(source)
        return self._frame(source)

    def _named(self, text: str) -> Source:
        relations = self.ask("relations")
        match = self._find(text, relations)
        if match is not None:
            relation, kind = match
            return self._described(relation, text, is_table=kind == "table")
        if _FILE.search(text):
            return self._described(self.renderer.dialect.ident(text), text)
        query = self._query(text)
        if query is None:
            near = (self.current(), ("temp", "main"))
            names = sorted({row[2] for row in relations if row[:2] in near and not row[2].startswith("nbsql ")})
            hint = suggestion(text, names) or (f"; there are {listed(names)}" if names else "; there are no tables yet")
            raise InputError(f"no table or view {text!r}{hint}")
        with self.errors():
            _refuse_twice(self.connection.sql(query).columns, "the query")
        relation = self.renderer.fragment("subquery", self.renderer.dialect.query(query))
        return self._described(relation, "the query")

    def _find(self, text: str, relations: list[tuple[Any, ...]]) -> tuple[Markup, str] | None:
        """The table or view that a text names: as a whole, or as a path of quoted or plain names."""
        database, schema = self.current()

        def in_main(path: list[str], names: tuple[str, ...]) -> bool:
            """Whether a path of two is the database and the table, as DuckDB allows it."""
            return len(path) == 2 and [*map(folded, path)] == [folded(names[0]), folded(names[2])] and names[1] == "main"

        for path in filter(None, ([text], _parts(text))):
            found = []
            for relation in relations:
                names = relation[:3]
                same = [*map(folded, path)] == [*map(folded, names[3 - len(path) :])]
                if len(path) > 3 or not (same or in_main(path, names)):
                    continue
                if len(path) == 1 and names[:2] not in [(database, schema), (database, "main"), ("temp", "main")]:
                    continue
                if len(path) == 2 and names[0] != database and not in_main(path, names):
                    continue
                # As DuckDB resolves names: temporary relations hide those of the current schema, which hide main's.
                rank = (names[0] != "temp", names[1] != schema)
                found.append((rank, names, relation[3]))
            if found:
                _, names, kind = min(found)
                return self.renderer.dialect.ident(*(names if names[0] != database else names[1:])), kind
        return None

    def _query(self, text: str) -> str | None:
        """The one SELECT that a text holds, or None if it is not even meant as one."""
        try:
            statements = self.connection.extract_statements(text)
        except duckdb.Error as error:
            if re.match(r"\s*\(*\s*(select|from|with|values|table|pivot|unpivot|describe)\b", text, re.IGNORECASE):
                raise InputError(f"the query cannot be read: {_one_line(error)}") from None
            return None
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise InputError(f"a source is a table, a view or one SELECT, not {text!r}")
        return _without_end(statements[0].query)

    def _frame(self, frame: Any) -> Source:
        name = f"nbsql source {next(self._numbers)}"
        kind = type(frame).__name__
        if kind == "RecordBatchReader":  # it can be read only once
            frame = frame.read_all()
        try:
            self.connection.register(name, frame)
        except (duckdb.Error, TypeError) as error:  # TypeError: None is no object
            reason = str(error).splitlines()[0]
            hint = "; it reads another database" if "another database" in str(error) else ""
            if isinstance(frame, duckdb.DuckDBPyRelation):
                raise InputError(f"the relation cannot be read on this connection{hint or f' ({reason})'}") from None
            raise InputError(
                f"a source is a table, a view, a SELECT, a DuckDB relation, or a pandas, Polars or Arrow frame, not {kind}"
            ) from None
        connection = self.connection

        def release() -> None:
            try:
                connection.unregister(name)
            except duckdb.Error:  # the connection is closed, or its transaction over: the view is gone already
                return

        relation = self.renderer.dialect.ident(name)
        try:
            if kind != "LazyFrame":  # asking one for its columns would run it
                columns: Any = getattr(frame, "column_names", None) or getattr(frame, "columns", ())
                _refuse_twice(columns, f"the {kind}")
            return self._described(relation, f"the {kind}", is_frame=True, release=release)
        except BaseException:
            release()
            raise

    def _described(
        self,
        relation: Markup,
        label: str,
        *,
        is_table: bool = False,
        is_frame: bool = False,
        release: Callable[[], None] | None = None,
    ) -> Source:
        columns = self.columns(relation)
        for column in columns:
            if folded(column.name).startswith("nbsql_"):  # scoring numbers the rows in a column nbsql_row, and more
                raise InputError(f"column {column.name!r} of {label} has a name that nbsql keeps for itself; rename it")
        return Source(relation, label, columns, is_table=is_table, is_frame=is_frame, release=release)


def _refuse_twice(names: Iterable[Any], label: str) -> None:
    """Raise InputError if a name comes twice: DuckDB would number them, and a user would not know which is meant."""
    seen: set[str] = set()
    for name in map(str, names):
        if folded(name) in seen:
            raise InputError(f"column {name!r} is ambiguous in {label}, which has it twice; rename one")
        seen.add(folded(name))


def _without_end(query: str) -> str:
    """A query without the semicolons and comments that follow it, so that it can stand in parentheses."""
    text = query.encode()  # DuckDB counts bytes
    end = len(text)
    for start, kind in reversed(duckdb.tokenize(query)):
        if kind != duckdb.token_type.comment and text[start : start + 1] != b";":
            break
        end = start
    return text[:end].decode().strip()


def _open(path: str | os.PathLike[str], *, read_only: bool) -> duckdb.DuckDBPyConnection:
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


def _one_line(error: duckdb.Error) -> str:
    """What DuckDB says, without its picture of the statement and without tracebacks."""
    if isinstance(error, duckdb.TransactionException) and "conflict" in str(error).lower():
        return "another connection is changing the same model or table at this moment; try again when it is done"
    return " ".join(re.split(r"\n\nLINE |, due to the following Python exception", str(error))[0].split())


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


def _parts(text: str) -> list[str]:
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
