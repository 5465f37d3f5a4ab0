"""The part of an engine that knows what there is: databases, schemas, relations, and their columns and types."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress

from markupsafe import Markup

from nbsql.engines.runner import Runner
from nbsql.errors import DatabaseError
from nbsql.spec.column import Column


class Catalogue(Runner):
    """A connection whose databases, schemas and relations can be asked for by their names."""

    exact: bool = False  # whether the names of two columns may differ in case alone

    @abstractmethod
    def current(self) -> tuple[str, str]:
        """The names of the current database and schema."""

    def current_search_path(self) -> str:
        """The session's search path for unqualified names, in the form that `using_search_path` accepts."""
        path: str = self.query_value("search_path")
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
        self.query_macro("set_search_path", path)

    def creating_macros(self, path: Sequence[str]) -> AbstractContextManager[None]:  # noqa: ARG002
        """The context for creating macros in the schema at `path`, in which they find each other and the tables they read."""
        return nullcontext()

    def catalog(self) -> str | None:
        """The current catalog, if the names of a model leave it out; None if there is only one, or if the names contain it."""
        return None

    def without_database_name(self, sql: str) -> str:
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

    def check_home(self, database: str) -> None:
        """Raise NotSupportedError if a database cannot hold a model."""

    @abstractmethod
    def schema(self, database: str, name: str) -> str | None:
        """The schema of that name as the catalogue spells it, or None."""

    def schemas_named(self, name: str) -> list[tuple[str, str]]:  # noqa: ARG002
        """The schemas of that name in all attached databases, each with its database."""
        return []

    def missing(self, database: str, schema: str, parts: Mapping[str, str]) -> list[str]:
        """The names of parts, whose kinds are tables, views and macros, that a schema does not have."""
        present = {name for name, _ in self.query_macro("contents", database, schema)}
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
