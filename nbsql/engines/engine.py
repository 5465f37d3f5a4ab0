"""The interface of an engine: it runs statements, reads the catalogue, and resolves sources."""

from __future__ import annotations

import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, ClassVar

from markupsafe import Markup

from nbsql.engines.handed_over import unwrap
from nbsql.engines.log import announce, timed
from nbsql.engines.rows import json_structure, rows_as_json
from nbsql.engines.source import Source, check_distinct, check_names
from nbsql.engines.turn import Lease, turn_of
from nbsql.engines.watch import Watch, interruptible
from nbsql.errors import DatabaseError, InputError, NotSupportedError
from nbsql.plan import Statement
from nbsql.rendering.renderer import Renderer
from nbsql.spec.column import Column

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


# What an expression does that has not one value a row.
SEVERAL_ROWS, AGGREGATE = "makes rows of its own", "is an aggregate of many"


_QUOTED = re.compile(r"""(['"`])(?:(?!\1).|\1\1)*\1""", re.DOTALL)  # a literal or a quoted name in any dialect


class PendingQuery(ABC):
    """A query that has not run yet, such as `nbsql.Query`; it may be used as a source."""

    engine: Engine

    @property
    @abstractmethod
    def sql(self) -> str:
        """The query as text, which does not name the current database."""

    @property
    @abstractmethod
    def own_sql(self) -> str:
        """The query as text for this connection, in which another database may become the current one."""


class Engine(ABC):
    """A connection to a database."""

    title: ClassVar[str]  # the engine's name in messages
    exact: bool = False  # whether the names of two columns may differ in case alone
    # Whether a model is built in temporary tables and then published, as there are no transactions (nbsql/storage/drafts.py).
    drafts: ClassVar[bool] = False
    lacks: ClassVar[frozenset[str]] = frozenset()  # the capabilities that it does not have, by their names in messages
    # Whether the caller's transaction survives a statement that names a missing relation.
    survives_missing_names: ClassVar[bool] = True
    renderer: Renderer
    watch: Callable[[str], None] | None = None  # is called with the name of each statement before it runs
    _numbers = itertools.count(1)
    _at_work = False

    @abstractmethod
    def close(self) -> None:
        """Close the connection, if it was opened here."""

    @property
    @abstractmethod
    def handle(self) -> object:
        """The connection of the driver, or its session."""

    def turn(self) -> AbstractContextManager[None]:
        """The connection for this thread alone within the context; other threads wait."""
        return turn_of(self.handle)

    def reads_apart(self) -> bool:
        """Whether this thread may read what is committed by another engine (`apart`), instead of waiting for its turn."""
        return False

    def apart(self) -> Engine:
        """An engine with a connection of its own to the same database."""
        raise NotSupportedError(f"a second connection is not available on {self.title} yet; it is on DuckDB")

    def shares(self, other: Engine) -> bool:
        """Whether another engine uses the same connection, so that it can read the same models, transient ones included."""
        return self.handle is other.handle

    def require(self, what: str) -> None:
        """Raise NotSupportedError if the engine lacks a capability."""
        if what in self.lacks:
            raise NotSupportedError(f"{what} is not available on {self.title} yet; it is on DuckDB")

    # Running. ------------------------------------------------------------------------------------------------------

    def rows(self, sql: str, name: str = "query") -> list[tuple[Any, ...]]:
        """The rows of a query with a small result; `name` appears in the log. Raises DatabaseError if the engine refuses it."""
        with self.timed(name):
            return self._send(sql)

    @abstractmethod
    def _send(self, sql: str) -> list[tuple[Any, ...]]:
        """Send a statement to the driver and return its rows."""

    def timed(self, name: str) -> AbstractContextManager[None]:
        """Log the name and the duration of the statement that is sent within the context."""
        return timed(self.title, name)

    def run(self, name: str, sql: str) -> None:
        """Run a statement for its effect."""
        self.announce(name)
        self.rows(sql, name)

    def run_all(self, statements: Iterable[Statement]) -> None:
        """Run statements of a plan, one by one."""
        for statement in statements:
            self.run(statement.name, statement.sql)

    def drop(self, schema: str, statements: Sequence[Statement]) -> None:  # noqa: ARG002
        """Run statements that drop relations of a model, which others may read, in a schema."""
        self.run_all(statements)

    def announce(self, name: str) -> None:
        """Announce the next statement to those who watch."""
        if self.watch is not None:
            self.watch(name)
        announce(name)

    def run_script(self, name: str, statements: Sequence[str]) -> None:
        """Run small statements that belong together, in one call if the engine accepts several at once."""
        for statement in statements:
            self.run(name, statement)

    def part(self, label: str) -> AbstractContextManager[None]:
        """Show a part of a verb, such as a fold, instead of the names of the statements within it."""
        return self.watch.part(label) if isinstance(self.watch, Watch) else nullcontext()

    def create(self, name: str, relation: Markup, query: Markup, *, temporary: bool = True) -> Markup:
        """The table at `relation`, which this creates from the rows of a query; `name` is the name of the step."""
        self.run(name, self.renderer.statement("create_table_as", relation, query, temporary=temporary))
        return relation

    def gather(self, name: str, relation: Markup, queries: Iterable[Markup]) -> Markup:
        """The temporary table at `relation`, created from several queries, each of which runs before the next is made."""
        for number, query in enumerate(queries):
            if number:
                self.run(name, self.renderer.statement("insert_into", relation, query))
            else:
                self.create(name, relation, query)
        return relation

    def ask(self, macro: str, *arguments: Any, **options: Any) -> list[tuple[Any, ...]]:
        """The rows of the query that a macro renders."""
        return self.rows(self.renderer.statement(macro, *arguments, **options), macro)

    def prepare(self, sql: str) -> Callable[[Sequence[Any]], list[tuple[Any, ...]]]:  # noqa: ARG002
        """A statement that is parsed once, as a function of its parameters $1, $2, ...; for small results."""
        raise NotSupportedError(f"prepared statements are not available on {self.title} yet; they are on DuckDB")

    def parameter_type(self, name: str) -> str:
        """The type as which a parameter for a column is read, by the name of the column's type."""
        return name

    def kind(self, name: str) -> str:  # noqa: ARG002
        """The kind of a parameter's type; see `Column.kind`."""
        raise NotSupportedError(f"prepared statements are not available on {self.title} yet; they are on DuckDB")

    @abstractmethod
    def errors(self) -> AbstractContextManager[None]:
        """Translate the engine's errors into one-line errors of nbsql."""

    @contextmanager
    def transaction(self, writes: str | None = None) -> Iterator[None]:
        """Run the statements within in a new transaction, or in the one that the caller has open.

        `writes` is the name of the model that they write; its other writers wait until the transaction ends, if the engine can
        make them wait.
        """
        with self.supervised(), self._transaction(writes):
            yield

    def keeping_rights(self, schema: str | None, relation: str | None = None) -> AbstractContextManager[None]:  # noqa: ARG002
        """Keep the owner of what is made anew in a schema, or of one relation, and the rights of others; warn of losses."""
        return nullcontext()

    @abstractmethod
    def _transaction(self, writes: str | None) -> AbstractContextManager[None]:
        """The engine's implementation of `transaction`."""

    # Progress and interruption. ----------------------------------------------------------------------------------------

    @contextmanager
    def supervised(self, step: str | None = None) -> Iterator[None]:
        """Let Ctrl-C stop the verb, or the part of a verb, that runs within, and show its steps until it ends.

        A single statement that is not announced otherwise is announced as `step`.
        """
        with self.turn():
            if self._at_work:
                yield
                return
            self._at_work = True
            try:
                with interruptible(self.interrupt), self.reporting_progress():
                    if step is not None:
                        self.announce(step)
                    yield
            finally:
                self._at_work = False
                if isinstance(self.watch, Watch):
                    self.watch.stop()

    def interrupt(self) -> None:
        """Stop the statement that runs in another thread; not needed if the driver handles Ctrl-C itself."""
        return

    def progress(self) -> float | None:
        """The progress of the running statement in per cent; None if the engine does not report it."""
        return None

    @contextmanager
    def reporting_progress(self) -> Iterator[None]:
        """Enable `progress` within the context."""
        yield

    # The result of a query, in the form that the user wants. -------------------------------------------------------

    @abstractmethod
    def names(self, sql: str) -> list[str]:
        """The columns of a query, without running it."""

    @abstractmethod
    def df(self, sql: str) -> pandas.DataFrame:
        """The rows of a query as a pandas DataFrame."""

    @abstractmethod
    def arrow(self, sql: str) -> pyarrow.Table:
        """The rows of a query as an Arrow table."""

    @abstractmethod
    def pl(self, sql: str) -> polars.DataFrame:
        """The rows of a query as a Polars DataFrame."""

    def preview(self, sql: str) -> list[tuple[Any, ...]] | None:  # noqa: ARG002
        """The few rows of a query; None if running the query unasked could be slow or do harm."""
        return None

    def files(self, relations: Iterable[Markup]) -> list[str]:
        """The paths and globs of the files that relations may be read from, and those of the attached databases.

        Every text and quoted name in a relation, and in the views and macros that it names, counts as a path.
        """
        texts: list[str] = [*relations]
        seen, found = set[str](), list[str]()
        while texts:
            words = {word for text in texts for word in re.findall(r"\w+", text)} - seen
            seen |= words
            found += [match[0][1:-1].replace(match[1] * 2, match[1]) for text in texts for match in _QUOTED.finditer(text)]
            quoted = {name for name in found if name not in seen}
            seen |= quoted
            texts = self._definitions(sorted(words | quoted))
        return list(dict.fromkeys(found))

    def _definitions(self, names: Sequence[str]) -> list[str]:  # noqa: ARG002
        """The definitions of the views and macros that have one of some names."""
        return []

    def write(self, sql: str, path: str, file_format: str) -> None:  # noqa: ARG002
        """Write the rows of a query to a file: csv, json (one list), jsonl (one object a line) or parquet."""
        raise NotSupportedError(f"files are not available on {self.title} yet; they are on DuckDB")

    # The catalogue. ------------------------------------------------------------------------------------------------

    def source(self, source: Any) -> Source:
        """The source that the user names or passes. Raises InputError if it cannot be found, or is of another connection."""
        if isinstance(source, Source):
            return source
        source = unwrap(source, self.handle)
        if isinstance(source, (Mapping, list, tuple)) and self.title != "Spark":
            return self._rows(source)
        if not isinstance(source, PendingQuery):
            return self._source(source)
        if not self.shares(source.engine):
            raise InputError("the query is of another connection, which cannot be read here; pass its rows: query.arrow()")
        found = self._query_source(source.own_sql)
        found.needs = source
        return found

    def source_and_stamp(self, source: Any, spec: Markup) -> tuple[Source, Any]:  # noqa: ARG002
        """The source, and the `updated_at` of a model as `ask` returns it; None if it was not queried with the source."""
        return self.source(source), None

    @abstractmethod
    def _source(self, source: Any) -> Source:
        """The source, if it is neither a `Source` or an nbsql query nor rows in Python."""

    def _query_source(self, sql: str) -> Source:
        """The source that is an nbsql query, given its text."""
        return self._source(sql)

    def _rows(self, rows: Mapping[Any, Any] | Sequence[Any]) -> Source:
        """A source of rows in Python, in their order."""
        text, columns = rows_as_json(rows)
        check_distinct(columns, "the rows")
        relation = self.renderer.fragment("rows_from_json", text, json_structure(columns), list(columns.items()))
        return self.described(Source(relation, "the rows", [], is_frame=True))

    def described(self, source: Source) -> Source:
        """A source whose columns were not known yet. Raises InputError if it cannot have their names."""
        source.columns = self.columns(source.relation)
        check_distinct([column.name for column in source.columns], source.label)
        check_names(source.columns, source.label)
        return source

    @abstractmethod
    def current(self) -> tuple[str, str]:
        """The names of the current database and schema."""

    def current_search_path(self) -> str:
        """The session's search path for unqualified names, in the form that `using_search_path` accepts."""
        path: str = self.ask("search_path")[0][0]
        return path

    @contextmanager
    def using_search_path(self, path: str) -> Iterator[None]:
        """Set the search path that `current_search_path` returned earlier, and restore the present one at the end."""
        with self.turn():
            now = self.current_search_path()
            if now == path:
                yield
                return
            self._set_search_path(path)
            try:
                yield
            finally:
                with suppress(DatabaseError):  # the transaction was aborted, and its end restores the setting
                    self._set_search_path(now)

    def _set_search_path(self, path: str) -> None:
        self.ask("set_search_path", path)

    def creating_macros(self, path: Sequence[str]) -> AbstractContextManager[None]:  # noqa: ARG002
        """The context for creating macros in the schema at `path`, in which they find each other and the tables they read."""
        return nullcontext()

    def catalog(self) -> str | None:
        """The current catalog, if the names of a model leave it out; None if there is only one, or if the names contain it."""
        return None

    def portable(self, sql: str) -> str:
        """A statement without the name of the current database, so that it also runs in a copy that has another name."""
        return sql

    def resolve_path(self, path: Sequence[str]) -> tuple[str, str, str]:
        """The database, schema and name of a new table at a path of one to three names."""
        before = self.current()[: 3 - len(path)]
        database, schema, table = (*before, *path)
        return database, schema, table

    @abstractmethod
    def database(self, name: str | None) -> str:
        """The name of an attached database as the catalogue spells it; None stands for the current one."""

    @abstractmethod
    def is_read_only(self, database: str) -> bool:
        """Whether the database is read-only."""

    @abstractmethod
    def schema(self, database: str, name: str) -> str | None:
        """The schema of that name as the catalogue spells it, or None."""

    def missing(self, database: str, schema: str, parts: Mapping[str, str]) -> list[str]:
        """The names of parts, whose kinds are tables, views and macros, that a schema does not have."""
        present = {name for name, _ in self.ask("contents", database, schema)}
        return [part for part in parts if part not in present]

    def path(self, database: str, schema: str) -> tuple[str, ...]:
        """The path by which a statement names a schema."""
        return database, schema

    def set_aside(self, database: str, schema: str, drop: Callable[[str], object]) -> str | None:  # noqa: ARG002
        """Rename a schema, so that others can read it until the transaction ends; `drop` is then called with the new name.

        Returns the new name, or None if readers of this engine do not need it and nothing was done.
        """
        return None

    def foreign_owner(self, schema: str) -> str | None:  # noqa: ARG002
        """The owner of a schema, if it is another role, whose functions would run with the rights of this one."""
        return None

    @abstractmethod
    def check_name(self, name: str) -> None:
        """Raise ModelError if no schema can have that name."""

    @abstractmethod
    def columns(self, relation: Markup) -> list[Column]:
        """The columns of a relation."""

    def type_name(self, text: str) -> Markup:
        """A type as the engine writes it, from the name that a spec stores."""
        return self.renderer.dialect.query(text)

    def resolve_expression(self, expression: str, source: Source, argument: str) -> str:
        """The expression in the form in which a model keeps it; its errors are those of `check_expression`."""
        self.check_expression(expression, source, argument)
        return expression

    def check_expression(self, expression: str, source: Source, argument: str) -> None:
        """Raise InputError unless the text is a single SQL expression over the columns of a source."""
        is_text = isinstance(expression, str) and expression.strip() != ""
        if is_text and expression.isdecimal() and any(column.name == expression for column in source.columns):
            quoted = str(self.renderer.dialect.ident(expression))
            raise InputError(f"{argument}={expression!r} is a number in SQL, not the column; write {quoted!r}")
        fault = self._fault_of_expression(self.renderer.dialect.query(expression), source) if is_text else ""
        if fault in (SEVERAL_ROWS, AGGREGATE):
            raise InputError(f"{argument} must have one value a row, and {expression!r} {fault}")
        if fault is not None:
            subject = f"{argument} must be one SQL expression over the columns of {source.label}"
            raise InputError(f"{subject}{fault or f', not {expression!r}'}")

    @abstractmethod
    def _fault_of_expression(self, query: Markup, source: Source) -> str | None:
        """Why a text is no expression of one value a row; "" if it is no single expression at all, None if it is one."""

    @abstractmethod
    def check_pattern(self, pattern: str) -> None:
        """Raise InputError unless the engine accepts the regular expression; that of letters and digits has its own macro."""

    # Temporary tables. ---------------------------------------------------------------------------------------------

    def transient_name(self) -> str:
        """A prefix for the temporary tables of a model without a name."""
        return f"nbsql {next(self._numbers)}"

    def lease(self, prefix: str, drops: Callable[[], Sequence[str]]) -> Lease:
        """A lease of temporary tables whose names begin with `prefix`; `drops` makes the statements that drop them."""

        def release(connection: Any, after_statement: bool) -> bool:
            return drop(connection, drops, after_statement)

        drop = self._drop_released  # which must not refer to the engine
        return Lease(prefix, turn_of(self.handle), release)

    @staticmethod
    @abstractmethod
    def _drop_released(connection: Any, drops: Callable[[], Sequence[str]], after_statement: bool) -> bool:
        """Run statements on a connection, outside of any transaction; False if something of the caller's is open there."""

    @contextmanager
    def temporaries(self, *, staying: bool = False) -> Iterator[Callable[[str], Markup]]:
        """A function that names temporary tables, which are dropped at the end, even if the caller's transaction continues.

        If they are `staying`, they are dropped at the end only after an error; otherwise when nobody holds the function, or a
        query that names such a table.
        """
        prefix, renderer = self.transient_name(), self.renderer
        made: list[Markup] = []

        def drops() -> list[str]:
            return [renderer.statement("drop_if_exists", relation) for relation in made]

        lease = self.lease(prefix, drops) if staying else None

        def name(part: str, _lease: object = lease) -> Markup:
            made.append(renderer.dialect.ident(*renderer.dialect.traits.temporary, f"{prefix} {part}"))
            return made[-1]

        done = False
        try:
            yield name
            done = True
        finally:
            for relation in () if done and staying else made:
                with suppress(DatabaseError):  # an aborted transaction has already dropped it
                    self.ask("drop_if_exists", relation)
