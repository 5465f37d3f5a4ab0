"""A query that has not run yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from nbsql.dialect import folded
from nbsql.engines.duckdb import on_duckdb
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source, parts
from nbsql.errors import InputError, NotSupportedError

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow
    import pyspark.sql


class Query:
    """The answer of a model, as SQL that runs when it is asked for.

    Every method that returns rows runs the query anew, against the data as it then is.
    """

    def __init__(
        self,
        engine: Engine,
        sql: str | Callable[[], str],
        source: Source | None = None,
        *,
        guard: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._engine = engine
        self._source = source  # keeps a registered frame readable
        self._sql = sql
        self._guard = guard  # makes an error of the database that of a model that is no more

    @property
    def sql(self) -> str:
        """The query as text, for the model as it is now."""
        return self._sql if isinstance(self._sql, str) else self._sql()

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        """A transaction, so that the model does not change between the making of the text and its end."""
        with self._guard(), nullcontext() if isinstance(self._sql, str) else self._engine.transaction():
            yield

    def __repr__(self) -> str:
        return f"<nbsql.Query: {self.sql}>"

    @property
    def relation(self) -> duckdb.DuckDBPyRelation:
        """On DuckDB: the query as a relation, to go on from. A frame it reads must outlive it."""
        engine = on_duckdb(self._engine, "Query.relation")
        with self._guard():
            return engine.relation(self.sql)

    @property
    def dataframe(self) -> pyspark.sql.DataFrame:
        """On Spark: the query as a DataFrame, of the model as it is now."""
        if self._engine.title != "Spark":
            raise NotSupportedError(f"Query.dataframe is not available on {self._engine.title}; it is on Spark")
        from nbsql.engines.spark import on_spark

        return on_spark(self._engine, "Query.dataframe").dataframe(self.sql)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        with self._guard():
            return self._engine.names(self.sql)

    def df(self) -> pandas.DataFrame:
        """The rows as a pandas DataFrame."""
        with self._at_once(), self._engine.errors():
            return self._engine.df(self.sql)

    def arrow(self) -> pyarrow.Table:
        """The rows as an Arrow table."""
        with self._at_once(), self._engine.errors():
            return self._engine.arrow(self.sql)

    def pl(self) -> polars.DataFrame:
        """The rows as a Polars DataFrame."""
        with self._at_once(), self._engine.errors():
            return self._engine.pl(self.sql)

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows as tuples."""
        with self._at_once():
            return self._engine.rows(self.sql)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.fetchall())

    def show(self) -> None:
        """Print the first rows as a table."""
        with self._at_once(), self._engine.errors():
            self._engine.show(self.sql)

    def create_table(self, name: str) -> None:
        """Create the table `name` with the rows; the name may be a path, as that of a source: analytics.scored.

        Raises:
            InputError: there is a relation of that name already.
            DatabaseError: the database cannot be written.
        """
        self._create("create_table_as", name)

    def create_view(self, name: str) -> None:
        """Create the view `name`, or at that path, which runs the query whenever it is read.

        Raises:
            InputError: the query reads a frame, which a view would outlive, or there is a relation of that name already.
            DatabaseError: the database cannot be written.
        """
        if self._source is not None and self._source.is_frame:
            raise InputError(f"a view cannot read {self._source.label}, which lives in this process; use create_table")
        self._create("create_view_as", name)

    def _create(self, macro: str, name: str) -> None:
        engine = self._engine
        if not isinstance(name, str) or not name:
            raise InputError(f"the name of a table or view must be a text of at least one character, not {name!r}")
        path = (parts(name) if "." in name or '"' in name else []) or [name]  # a name may have blanks around it
        if len(path) > 3:
            raise InputError(f"{name!r} is no path to a table; quote a name that has dots in it: '\"{name}\"'")
        database, schema, table = whole = engine.placed(path)
        if any([*map(folded, row[:3])] == [*map(folded, whole)] for row in engine.ask("relations")):
            raise InputError(f"{name!r} is there already; drop it first, or choose another name")
        relation = engine.renderer.dialect.ident(*(whole if database != engine.current()[0] else (schema, table)))
        with self._at_once():
            query = engine.renderer.dialect.query(self.sql)
            engine.run(name, engine.renderer.statement(macro, relation, query))
