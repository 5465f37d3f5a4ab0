"""A query that has not run yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from nbsql.answers.table import Table, collapsed_sql, paragraph
from nbsql.engines.duckdb.engine import on_duckdb
from nbsql.engines.engine import Engine, Unrun
from nbsql.engines.source import Source, parts
from nbsql.errors import DatabaseError, InputError, NbsqlError, NotSupportedError
from nbsql.rendering.dialect import folded

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow
    import pyspark.sql


_Answer = TypeVar("_Answer")
_SHOWN = 10  # rows of a preview
_NOT_INSTALLED = re.compile(r"'(\w+)' is required for this operation but it was not installed")


def _are_numbers(values: Sequence[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) for value in known)


@contextmanager
def _requiring(form: str, package: str) -> Iterator[None]:
    """A package that is missing, or another that it needs, as one line of ours."""
    try:
        yield
    except Exception as error:
        match = _NOT_INSTALLED.search(str(error))  # as DuckDB has it
        if match is None and not isinstance(error, ImportError):
            raise
        missing = match[1] if match is not None else (getattr(error, "name", None) or package).split(".")[0]
        others = "without it there are .show(), .fetchall() and .create_table()"
        raise NotSupportedError(f".{form}() needs {missing}: pip install 'nbsql[frames]'; {others}") from error


class Query(Unrun):
    """The answer of a model, as SQL that runs when it is asked for. Its repr is its first rows; `sql` is its text.

    Every method that returns rows runs the query anew, against the data as it then is. A query can be a source, too.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="play")
    >>> query = model.predict("SELECT 'rain' AS sky")
    >>> query.columns
    ['sky', 'prediction', 'probability']
    >>> [row[:2] for row in query]
    [('rain', 'yes')]
    """

    def __init__(
        self,
        engine: Engine,
        sql: str | Callable[[], str],
        source: Source | None = None,
        *,
        guard: Callable[[], AbstractContextManager[None]] = nullcontext,
        first: Callable[[int], str] | None = None,
        rendered: str | None = None,
    ) -> None:
        self._engine = self.engine = engine
        self._source = source  # keeps a registered frame readable
        self._sql = sql  # the very same text until the model changes
        self._guard = guard  # makes an error of the database that of a model that is no more
        # A source may be a query of names that are looked for in the current database: in the one that it was then.
        anywhere = source is None or source.is_lent or source.anywhere
        self._path = None if anywhere else engine.path_of_names()
        self._rendered = (
            rendered if engine.forgives else None
        )  # the text as it was when the model was last looked at, until it is run
        self._first = first  # the text of a query that begins with the same rows, so many at least, and reads no more for them

    @property
    def sql(self) -> str:
        """The query as text, for the model as it is now."""
        with self._in_original_path():
            return self._text()

    def _text(self) -> str:
        return self._sql if isinstance(self._sql, str) else self._sql()

    def _in_original_path(self) -> AbstractContextManager[None]:
        """The names of the source mean what they meant when the query was made."""
        return nullcontext() if self._path is None else self._engine.looking_in(self._path)

    def _run(self, action: Callable[[str], _Answer]) -> _Answer:
        """What an act makes of the text: of the same that the model has afterwards, or else in a transaction."""
        with self._in_original_path(), self._guard(), self._engine.at_work("query"):
            text, self._rendered = self._rendered or self._text(), None
            try:
                with self._engine.errors():
                    answer = action(text)
            except DatabaseError:
                if not self._has_changed(text):
                    raise
            else:
                if not self._has_changed(text):
                    return answer
            with self._engine.transaction():
                text = self._text()
                with self._engine.errors():
                    return action(text)

    def _timed(self, action: Callable[[str], _Answer]) -> Callable[[str], _Answer]:
        """An act that the log tells of, as it does of what `Engine.rows` runs."""

        def timed(text: str) -> _Answer:
            with self._engine.timed("query"):
                return action(text)

        return timed

    def _has_changed(self, text: str) -> bool:
        """Whether the model has, of which a text was made: it is the very same else, not another that is equal."""
        try:
            return self._text() is not text
        except NbsqlError:  # the connection is closed or its transaction over, which the act has said
            return False

    @contextmanager
    def _consistent_text(self) -> Iterator[None]:
        """A transaction, so that the model does not change between the making of the text and its end."""
        own = nullcontext() if isinstance(self._sql, str) else self._engine.transaction()
        with self._in_original_path(), self._guard(), self._engine.at_work("query"), own:
            yield

    def __repr__(self) -> str:
        try:
            limited = self.limit(_SHOWN).sql
            with self._in_original_path(), self._guard(), self._engine.errors():
                rows = self._engine.preview(limited)
            if rows is not None:
                return f"nbsql.Query, its first rows ({_SHOWN} at most); .show() runs it, .sql is its text\n{rows.rstrip()}"
            columns = ", ".join(self.columns)
        except NbsqlError as error:
            return f"<nbsql.Query: {error}>"
        return f"<nbsql.Query of {columns}; .show() runs it, .sql is its text>"

    def _repr_html_(self) -> str:
        """The first rows and the SQL, as a notebook shows them; the columns alone of what is not to run unbidden."""
        try:
            limited = self.limit(_SHOWN)
            names = limited.columns
            rows = limited.fetchall() if self._engine.preview(limited.sql) is not None else []
            sql = self.sql
        except NbsqlError as error:
            return str(paragraph(f"nbsql.Query: {error}"))
        right = [place for place, values in enumerate(zip(*rows, strict=True)) if _are_numbers(values)]
        table = Table(names, [[None if value is None else str(value) for value in row] for row in rows], right)
        return str(table.html() + collapsed_sql(sql))

    def limit(self, count: int) -> Query:
        """The query of the first rows, `count` at most; what scores a source scores no more of it than that takes.

        Raises:
            InputError: the count is no whole number of at least 0.
        """
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise InputError(f"the number of rows must be a whole number of at least 0, not {count!r}")
        renderer = self._engine.renderer
        whole, part = "", ""

        def sql() -> str:
            nonlocal whole, part
            with self._in_original_path():
                text = self._text() if self._first is None else self._first(count)
            if text is not whole:
                query = renderer.fragment("subquery", renderer.dialect.query(text))
                whole, part = text, renderer.statement("all_rows", renderer.fragment("excerpt", query, count))
            return part

        fixed = self._first is None and isinstance(self._sql, str)
        limited = Query(self._engine, sql() if fixed else sql, self._source, guard=self._guard)
        limited._path = self._path  # the names mean what they meant to this one
        return limited

    def head(self, count: int = 5) -> Query:
        """As `limit`, of five rows if nothing is said."""
        return self.limit(count)

    @property
    def relation(self) -> duckdb.DuckDBPyRelation:
        """On DuckDB: the query as a relation, to go on from. A frame it reads must outlive it.

        Raises:
            InputError: the query was made when another database or schema was the current one; DuckDB reads a relation later,
                and would look for the names of the source in the wrong one.
        """
        engine = on_duckdb(self._engine, "Query.relation")
        if self._path is not None and self._path != engine.path_of_names():
            raise InputError(
                f"the query was made when {self._path or 'the first database'} was in use; USE it, or make it anew"
            )
        with self._guard():
            return engine.relation(self._text())

    @property
    def dataframe(self) -> pyspark.sql.DataFrame:
        """On Spark: the query as a DataFrame, of the model as it is now."""
        if self._engine.title != "Spark":
            raise NotSupportedError(f"Query.dataframe is not available on {self._engine.title}; it is on Spark")
        from nbsql.engines.spark.engine import on_spark

        with self._in_original_path():
            return on_spark(self._engine, "Query.dataframe").dataframe(self._text())

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        with self._in_original_path(), self._guard():
            return self._engine.names(self._text())

    def df(self) -> pandas.DataFrame:
        """The rows as a pandas DataFrame."""
        with _requiring("df", "pandas"):
            return self._run(self._timed(self._engine.df))

    def arrow(self) -> pyarrow.Table:
        """The rows as an Arrow table."""
        with _requiring("arrow", "pyarrow"):
            return self._run(self._timed(self._engine.arrow))

    def pl(self) -> polars.DataFrame:
        """The rows as a Polars DataFrame."""
        with _requiring("pl", "polars"):
            return self._run(self._timed(self._engine.pl))

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows as tuples."""
        return self._run(self._engine.rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.fetchall())

    def show(self) -> None:
        """Print the first rows as a table."""
        with self._consistent_text(), self._engine.timed("query"), self._engine.errors():
            self._engine.show(self._text())

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
        if self._source is not None and self._source.is_frame and self._source.is_lent:
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
        relation = engine.renderer.dialect.ident(*engine.path(database, schema), table)
        with self._consistent_text():
            query = engine.renderer.dialect.query(self._text())
            engine.run(name, engine.renderer.statement(macro, relation, query))
