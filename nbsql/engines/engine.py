"""What every engine does for the rest of nbsql: runs statements, looks around, and finds what a source means."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, ClassVar

from markupsafe import Markup

from nbsql.engines.source import Source
from nbsql.errors import DatabaseError, InputError, NotSupportedError
from nbsql.render import Renderer
from nbsql.spec import Column

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Engine(ABC):
    """A connection to a database.

    Attributes:
        title: what messages call the engine.
        exact: whether names of columns differ by their case alone.
        drafts: whether a model is made in temporary tables and then published, for want of transactions (nbsql/drafts.py).
        lacks: what it does not have, by the name that messages give it.
        renderer: of its dialect.
        watch: called with the name of each statement before it runs.
    """

    title: ClassVar[str]
    exact: bool = False
    drafts: ClassVar[bool] = False
    lacks: ClassVar[frozenset[str]] = frozenset()
    renderer: Renderer
    watch: Callable[[str], None] | None
    _numbers = itertools.count(1)

    @abstractmethod
    def close(self) -> None:
        """Close the connection, if it was opened here."""

    @abstractmethod
    def shares(self, other: Engine) -> bool:
        """Whether another engine is on the same connection, and so reaches the same models, transient ones too."""

    def need(self, what: str) -> None:
        """Raise NotSupportedError if the engine lacks it."""
        if what in self.lacks:
            raise NotSupportedError(f"{what} is not available on {self.title} yet; it is on DuckDB")

    # Running. ------------------------------------------------------------------------------------------------------

    @abstractmethod
    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query, for small answers.

        Raises:
            DatabaseError: the engine refuses the statement.
        """

    def run(self, name: str, sql: str) -> None:
        """Run a statement for its effect."""
        if self.watch is not None:
            self.watch(name)
        self.rows(sql)

    def create(self, name: str, relation: Markup, query: Markup, *, temporary: bool = True) -> None:
        """Make a table of the rows of a query; `name` says what for."""
        self.run(name, self.renderer.statement("create_table_as", relation, query, temporary=temporary))

    def ask(self, macro: str, *arguments: Any, **options: Any) -> list[tuple[Any, ...]]:
        """The rows of a rendered macro."""
        return self.rows(self.renderer.statement(macro, *arguments, **options))

    def prepared(self, sql: str) -> Callable[[Sequence[Any]], list[tuple[Any, ...]]]:  # noqa: ARG002
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

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """A transaction of its own, or the one that the caller has open."""

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

    def write(self, sql: str, path: str, file_format: str) -> None:  # noqa: ARG002
        """Write the rows of a query to a file: csv, json (one list), jsonl (an object a line) or parquet."""
        raise NotSupportedError(f"files are not available on {self.title} yet; they are on DuckDB")

    # Looking around. -----------------------------------------------------------------------------------------------

    @abstractmethod
    def source(self, source: Any) -> Source:
        """What the user means by `source`.

        Raises:
            InputError: there is no such table or view, or the text is no single SELECT.
        """

    @abstractmethod
    def current(self) -> tuple[str, str]:
        """The names of the current database and schema."""

    def placed(self, path: Sequence[str]) -> tuple[str, str, str]:
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

    def makes_rows(self, expression: str, argument: str) -> InputError:
        """What is raised where an expression has several values a row."""
        return InputError(f"{argument} must have one value a row, and {expression!r} makes rows of its own")

    def is_aggregate(self, expression: str, argument: str) -> InputError:
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
