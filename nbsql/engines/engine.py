"""What every engine does for the rest of nbsql: runs statements, looks around, and finds what a source means."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, ClassVar

from markupsafe import Markup

from nbsql.engines.handed_over import unwrap
from nbsql.engines.log import announce, timed
from nbsql.engines.rows import json_structure, rows_as_json
from nbsql.engines.source import Source, check_distinct, check_names
from nbsql.engines.watch import Watch, interruptible
from nbsql.errors import DatabaseError, InputError, NotSupportedError
from nbsql.rendering.renderer import Renderer
from nbsql.spec.column import Column

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class PendingQuery(ABC):
    """A query that has not run yet: `nbsql.Query`, which may be a source."""

    engine: Engine

    @property
    @abstractmethod
    def sql(self) -> str:
        """The query as text."""


class Engine(ABC):
    """A connection to a database.

    Attributes:
        title: what messages call the engine.
        exact: whether names of columns differ by their case alone.
        drafts: whether a model is made in temporary tables and then published, for want of transactions
            (nbsql/storage/drafts.py).
        lacks: what it does not have, by the name that messages give it.
        forgives: whether the caller's transaction goes on after a statement that names what is not there.
        renderer: of its dialect.
        watch: called with the name of each statement before it runs.
    """

    title: ClassVar[str]
    exact: bool = False
    drafts: ClassVar[bool] = False
    lacks: ClassVar[frozenset[str]] = frozenset()
    survives_missing_names: ClassVar[bool] = True
    renderer: Renderer
    watch: Callable[[str], None] | None
    _numbers = itertools.count(1)
    _at_work = False

    @abstractmethod
    def close(self) -> None:
        """Close the connection, if it was opened here."""

    @abstractmethod
    def shares(self, other: Engine) -> bool:
        """Whether another engine is on the same connection, and so reaches the same models, transient ones too."""

    def is_on(self, connection: object) -> bool:
        """Whether another library's connection is the one that this engine is on."""
        ours = (getattr(self, name, None) for name in ("connection", "session"))
        return any(connection is each for each in ours if each is not None)

    def require(self, what: str) -> None:
        """Raise NotSupportedError if the engine lacks it."""
        if what in self.lacks:
            raise NotSupportedError(f"{what} is not available on {self.title} yet; it is on DuckDB")

    # Running. ------------------------------------------------------------------------------------------------------

    def rows(self, sql: str, name: str = "query") -> list[tuple[Any, ...]]:
        """The rows of a query, for small answers; `name` is what the log calls it.

        Raises:
            DatabaseError: the engine refuses the statement.
        """
        with self.timed(name):
            return self._send(sql)

    @abstractmethod
    def _send(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a statement, as the driver fetches them."""

    def timed(self, name: str) -> AbstractContextManager[None]:
        """A statement that is sent within, in the log: its name and its seconds."""
        return timed(self.title, name)

    def run(self, name: str, sql: str) -> None:
        """Run a statement for its effect."""
        self.announce(name)
        self.rows(sql, name)

    def announce(self, name: str) -> None:
        """Tell whoever watches which statement runs next."""
        if self.watch is not None:
            self.watch(name)
        announce(name)

    def run_script(self, name: str, statements: Sequence[str]) -> None:
        """Run small statements that belong together, at once where the engine takes several."""
        for statement in statements:
            self.run(name, statement)

    def create(self, name: str, relation: Markup, query: Markup, *, temporary: bool = True) -> None:
        """Make a table of the rows of a query; `name` says what for."""
        self.run(name, self.renderer.statement("create_table_as", relation, query, temporary=temporary))

    def ask(self, macro: str, *arguments: Any, **options: Any) -> list[tuple[Any, ...]]:
        """The rows of a rendered macro."""
        return self.rows(self.renderer.statement(macro, *arguments, **options), macro)

    def prepare(self, sql: str) -> Callable[[Sequence[Any]], list[tuple[Any, ...]]]:  # noqa: ARG002
        """A statement that is parsed once, as a function of its parameters $1, $2, ...; for small answers."""
        raise NotSupportedError(f"prepared statements are not available on {self.title} yet; they are on DuckDB")

    def parameter_type(self, name: str) -> str:
        """The type, by the name of a column's, that a value of a column is read as where it is a parameter."""
        return name

    def kind(self, name: str) -> str:  # noqa: ARG002
        """The kind of a type of a parameter, as `Column` has it."""
        raise NotSupportedError(f"prepared statements are not available on {self.title} yet; they are on DuckDB")

    @abstractmethod
    def errors(self) -> AbstractContextManager[None]:
        """The engine's errors as one line of ours."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction of its own, or the one that the caller has open."""
        with self.supervised(), self._transaction():
            yield

    @abstractmethod
    def _transaction(self) -> AbstractContextManager[None]:
        """What `transaction` is on this engine."""

    # What a user sees and does while a verb is at work. ----------------------------------------------------------------

    @contextmanager
    def supervised(self, step: str | None = None) -> Iterator[None]:
        """A verb at work, or a part of one: Ctrl-C stops it, and its steps are shown until it ends.

        Args:
            step: what it does, where that is a single statement, which nobody else names.
        """
        if self._at_work:
            yield
            return
        self._at_work = True
        try:
            with interruptible(self), self.reporting_progress():
                if step is not None:
                    self.announce(step)
                yield
        finally:
            self._at_work = False
            if isinstance(self.watch, Watch):
                self.watch.stop()

    def interrupt(self) -> None:
        """Stop the statement that runs in another thread; an engine whose driver sees to Ctrl-C by itself needs none."""
        return

    def progress(self) -> float | None:
        """The share of the statement at work that is done, in per cent; None where the engine does not say."""
        return None

    @contextmanager
    def reporting_progress(self) -> Iterator[None]:
        """See to it that `progress` is known within."""
        yield

    # The answer of a query, as the user wants it. ------------------------------------------------------------------

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

    @abstractmethod
    def show(self, sql: str) -> None:
        """Print the first rows of a query."""

    def preview(self, sql: str) -> str | None:  # noqa: ARG002
        """The rows of a query, which are few, as a text; None where the engine had better not be asked unbidden."""
        return None

    def write(self, sql: str, path: str, file_format: str) -> None:  # noqa: ARG002
        """Write the rows of a query to a file: csv, json (one list), jsonl (an object a line) or parquet."""
        raise NotSupportedError(f"files are not available on {self.title} yet; they are on DuckDB")

    # Looking around. -----------------------------------------------------------------------------------------------

    def source(self, source: Any) -> Source:
        """What the user means by `source`.

        Raises:
            InputError: there is no such table or view, the text is no single SELECT, or the query is of another connection.
        """
        if isinstance(source, Source):
            return source
        source = unwrap(source, self.is_on)
        if isinstance(source, (Mapping, list, tuple)) and self.title != "Spark":
            return self._rows(source)
        if not isinstance(source, PendingQuery):
            return self._source(source)
        if not self.shares(source.engine):
            raise InputError("the query is of another connection, which cannot be read here; pass its rows: query.arrow()")
        found = self._source(source.sql)
        found.needs = source
        return found

    def source_and_stamp(self, source: Any, spec: Markup) -> tuple[Source, Any]:  # noqa: ARG002
        """What the user means by `source`, and `updated_at` of a model, as `ask` has it; None where it was not asked for."""
        return self.source(source), None

    @abstractmethod
    def _source(self, source: Any) -> Source:
        """What the user means by a source that is neither known yet nor a query of ours, nor rows that Python holds."""

    def _rows(self, rows: Mapping[Any, Any] | Sequence[Any]) -> Source:
        """Rows that Python holds, in their order."""
        text, columns = rows_as_json(rows)
        check_distinct(columns, "the rows")
        relation = self.renderer.fragment("rows_from_json", text, json_structure(columns), list(columns.items()))
        found = Source(relation, "the rows", self.columns(relation), is_frame=True)
        check_names(found.columns, found.label)
        return found

    @abstractmethod
    def current(self) -> tuple[str, str]:
        """The names of the current database and schema."""

    def current_search_path(self) -> str:
        """Where names without a database or a schema are looked for: the session's setting, as `using_search_path` takes it."""
        path: str = self.ask("search_path")[0][0]
        return path

    @contextmanager
    def using_search_path(self, path: str) -> Iterator[None]:
        """Names are looked for where they were when `current_search_path` said so, and afterwards where they are now."""
        now = self.current_search_path()
        if now == path:
            yield
            return
        self.ask("set_search_path", path)
        try:
            yield
        finally:
            with suppress(DatabaseError):  # an aborted transaction, whose end takes the setting back
                self.ask("set_search_path", now)

    def creating_macros(self, path: Sequence[str]) -> AbstractContextManager[None]:  # noqa: ARG002
        """What macros of the schema at a path are made within, if they are to find each other and what they read."""
        return nullcontext()

    def catalog(self) -> str | None:
        """The current catalog, where the names of a model leave it out; None where there is but one, or they name it."""
        return None

    def resolve_path(self, path: Sequence[str]) -> tuple[str, str, str]:
        """The database, schema and name of a table that is to be made at a path of one to three names."""
        before = self.current()[: 3 - len(path)]
        database, schema, table = (*before, *path)
        return database, schema, table

    @abstractmethod
    def database(self, name: str | None) -> str:
        """The name of a database that is at hand, as the catalogue spells it; of the current one for None."""

    @abstractmethod
    def is_read_only(self, database: str) -> bool:
        """Whether nothing can be written to a database."""

    @abstractmethod
    def schema(self, database: str, name: str) -> str | None:
        """The schema of that name as the catalogue spells it, or None."""

    def path(self, database: str, schema: str) -> tuple[str, ...]:
        """How a statement names a schema."""
        return database, schema

    def set_aside(self, database: str, schema: str, drop: Callable[[str], object]) -> str | None:  # noqa: ARG002
        """Rename a schema, so that others can read it until the end of the transaction, when `drop` is given the new name.

        Returns:
            The new name; None: readers need no such thing here, and nothing was done.
        """
        return None

    @abstractmethod
    def check_name(self, name: str) -> None:
        """Raise ModelError if no schema can have that name."""

    @abstractmethod
    def columns(self, relation: Markup) -> list[Column]:
        """The columns of a relation."""

    def type_name(self, text: str) -> Markup:
        """A type as the engine writes it, by the name that a spec has of it."""
        return self.renderer.dialect.query(text)

    @abstractmethod
    def check_expression(self, expression: str, source: Source, argument: str) -> None:
        """Raise InputError unless the text is one SQL expression over the columns of a source."""

    def several_rows_error(self, expression: str, argument: str) -> InputError:
        """What is raised where an expression has several values a row."""
        return InputError(f"{argument} must have one value a row, and {expression!r} makes rows of its own")

    def aggregate_error(self, expression: str, argument: str) -> InputError:
        """What is raised where an expression has one value of many rows."""
        return InputError(f"{argument} must have one value a row, and {expression!r} is an aggregate of many")

    @abstractmethod
    def check_pattern(self, pattern: str) -> None:
        """Raise InputError unless the engine understands the pattern."""

    # Temporary tables. ---------------------------------------------------------------------------------------------

    def transient_name(self) -> str:
        """A prefix for the temporary tables of a model without a name."""
        return f"nbsql {next(self._numbers)}"

    @contextmanager
    def temporaries(self, *, staying: bool = False) -> Iterator[Callable[[str], Markup]]:
        """Names for temporary tables, which are dropped in the end, also when the caller's transaction goes on.

        Args:
            staying: drop them only if something goes wrong; they go with the connection.
        """
        prefix = self.transient_name()
        dialect = self.renderer.dialect
        made: list[Markup] = []

        def name(part: str) -> Markup:
            made.append(dialect.ident(*dialect.traits.temporary, f"{prefix} {part}"))
            return made[-1]

        done = False
        try:
            yield name
            done = True
        finally:
            for relation in () if done and staying else made:
                with suppress(DatabaseError):  # an aborted transaction has dropped it already
                    self.ask("drop_if_exists", relation)
