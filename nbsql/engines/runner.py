"""The part of an engine that runs statements: one after another, in transactions, in sight of those who watch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, ClassVar

from markupsafe import Markup

from nbsql.engines.turn import turn_of
from nbsql.engines.watch import Watch, announce, interruptible, timed
from nbsql.errors import NotSupportedError
from nbsql.plan import Statement
from nbsql.rendering.renderer import Renderer
from nbsql.spec.spec import Feature

FOLLOW = "following a table"  # a capability, by its name in messages
MATRICES_IN_SQL = "a script of covariance matrices"


class Runner(ABC):
    """A connection to a database, which runs statements one after another."""

    title: ClassVar[str]  # the engine's name in messages
    # Whether a model is built in temporary tables and then published, as there are no transactions (nbsql/storage/drafts.py).
    drafts: ClassVar[bool] = False
    plans_once: ClassVar[bool] = False  # whether it has `plan_once`
    unsupported: ClassVar[frozenset[str]] = frozenset()  # the capabilities that it does not have, by their names in messages
    # Whether the caller's transaction survives a statement that names a missing relation.
    survives_missing_names: ClassVar[bool] = True
    records: ClassVar[bool] = False  # whether the statements become a script, which checks again what is known now
    renderer: Renderer
    watch: Callable[[str], None] | None = None  # is called with the name of each statement before it runs
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
        """Whether this thread may read what is committed by another engine (`Engine.apart`) without waiting for its turn."""
        return False

    def shares(self, other: Runner) -> bool:
        """Whether another engine uses the same connection, so that it can read the same models, transient ones included."""
        return self.handle is other.handle

    def require(self, what: str) -> None:
        """Raise NotSupportedError if the engine lacks a capability."""
        if what in self.unsupported:
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
        self.announce(name)
        self.rows(sql, name)

    def run_all(self, statements: Iterable[Statement]) -> None:
        for statement in statements:
            self.run(statement.name, statement.sql)

    def solver(self, statistics: Markup, features: Sequence[Feature]) -> tuple[Runner, Markup]:  # noqa: ARG002
        """The engine that solves the covariance matrices of features, and their cells there: this one, if its SQL can."""
        return self, statistics

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

    def create_from_queries(self, name: str, relation: Markup, queries: Iterable[Markup]) -> Markup:
        """The temporary table at `relation`, created from several queries, each of which runs before the next is made."""
        for number, query in enumerate(queries):
            if number:
                self.run(name, self.renderer.statement("insert_into", relation, query))
            else:
                self.create(name, relation, query)
        return relation

    def query_macro(self, macro: str, *arguments: Any, **options: Any) -> list[tuple[Any, ...]]:
        """The rows of the query that a macro renders."""
        return self.rows(self.renderer.statement(macro, *arguments, **options), macro)

    def query_value(self, macro: str, *arguments: Any, **options: Any) -> Any:
        """The one value that the query of a macro has."""
        return self.query_macro(macro, *arguments, **options)[0][0]

    def violations(self, spec: Markup, message: str, macro: str, *arguments: Any) -> list[tuple[Any, ...]]:  # noqa: ARG002
        """The rows of a query that is to have none; a script of a change to the model of `spec` then stops with the message."""
        return self.query_macro(macro, *arguments)

    def check_in_script(  # noqa: B027 - nothing, where statements run at once
        self, database: str, schema: str, message: str, relation: str | None = None, *, exists: bool = False
    ) -> None:
        """Let a script fail with a message if a schema, or a relation in it, is there when it runs, or not if it `exists`."""

    def prepare(self, sql: str) -> Callable[[Sequence[Any]], list[tuple[Any, ...]]]:  # noqa: ARG002
        """A statement that is parsed once, as a function of its parameters $1, $2, ...; for small results."""
        raise NotSupportedError(f"prepared statements are not available on {self.title} yet; they are on DuckDB")

    def plan_once(
        self,
        sql: str,  # noqa: ARG002
        types: Sequence[Markup],  # noqa: ARG002
    ) -> Callable[[Sequence[Any]], list[tuple[Any, ...]]] | None:
        """The same for a statement that reads no relation, so that it is planned once, too; None if it cannot be.

        Its parameters are read as these types.
        """
        return None

    def parameter_type(self, name: str) -> str:
        """The type as which a value for a column is read, by the name of the column's type."""
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
