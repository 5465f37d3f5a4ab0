"""Queries that run when their rows are asked for."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from markupsafe import Markup

from nbsql.engines.duckdb.engine import on_duckdb
from nbsql.engines.engine import Engine, PendingQuery
from nbsql.engines.source import Source, split_path
from nbsql.engines.turn import Lease, turn_of
from nbsql.errors import DatabaseError, InputError, NbsqlError, NotSupportedError
from nbsql.family.checks import true_or_false, whole_number
from nbsql.queries.table import note_of_left_out, paragraph, table_of_rows
from nbsql.rendering.dialect import folded
from nbsql.storage.schema import model_names
from nbsql.storage.state import ModelState

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow
    import pyspark.sql

    from nbsql.engines.spark.engine import Spark


_Answer = TypeVar("_Answer")
_SHOWN = 10  # rows of a preview
_PRINTED = 40  # rows that `show` prints
_WIDTH = 120  # characters of a table in a notebook, and where no terminal is
_NOT_INSTALLED = re.compile(r"'(\w+)' is required for this operation but it was not installed")
_NO_TYPE = re.compile(r'Unsupported type "(.+?)"|from `month_day_nano_(interval)|create series from (Union)')  # also of Polars


@contextmanager
def _requiring(form: str, package: str) -> Iterator[None]:
    """Turn the error of a missing package, or of one that it needs, into a one-line error of nbsql."""
    try:
        import_module(package)  # here, as DuckDB takes a package for missing whose import a signal has stopped
        yield
    except Exception as error:
        match = _NOT_INSTALLED.search(str(error))  # DuckDB's wording
        if match is None and (kind := _NO_TYPE.search(str(error))):
            fact = f"{package} has no type for a column of {kind[kind.lastindex or 0].upper()}"
            raise NotSupportedError(f"{fact}; cast the column to text, or leave it out with ⟨columns=[...]⟩") from error
        if match is None and not isinstance(error, ImportError):
            raise
        missing = match[1] if match is not None else (getattr(error, "name", None) or package).split(".")[0]
        others = "without it there are .show(), .fetchall() and .create_table()"
        raise NotSupportedError(f".{form}() needs {missing}: pip install 'nbsql[frames]'; {others}") from error


class Query(PendingQuery):
    """A query that runs when its rows are asked for. `repr` shows the first rows; `sql` is the text.

    Every method that returns rows runs the query again, on the data as it is then. A query can itself be used as a source.

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
        added: int = 0,
        index: Any = None,
    ) -> None:
        self._engine = self.engine = engine
        self._source = source  # kept so that a registered frame stays readable
        self._sql = sql  # returns the identical text until the model changes
        # Keep the tables of a model without a name, for one; what returns a text keeps what it reads by itself.
        self._leases = [*Lease.of_text(sql)] if isinstance(sql, str) else []
        self._guard = guard  # turns a database error into a ModelError if the model is gone
        # The names in a source are resolved in the database that is current now, not in the one that is current when it runs.
        anywhere = source is None or source.is_registered or source.anywhere
        self._path = None if anywhere else engine.current_search_path()
        # The text as it was when the model was last read; it is used once.
        self._rendered = rendered if engine.survives_missing_names else None
        # The text of a query whose first rows, at least so many, are the same, and that reads no more than these need.
        self._first = first
        self._index = index  # of the pandas frame to whose rows its own belong, one to each, in the same order
        self._added = added  # the last columns, which a verb added to those of its source, and which a table always shows

    @property
    def sql(self) -> str:
        """The text of the query, for the model as it is now. It runs in a copy of the database, too, by whatever name."""
        with self._in_original_path():
            return self._engine.without_database_name(self._text())

    @property
    def own_sql(self) -> str:
        """The text for this connection, in which another database may become the current one."""
        with self._in_original_path():
            return self._text()

    def _text(self) -> str:
        return self._sql if isinstance(self._sql, str) else self._sql()

    def _in_original_path(self) -> AbstractContextManager[None]:
        """Resolve the names of the source as they were resolved when the query was made."""
        return nullcontext() if self._path is None else self._engine.using_search_path(self._path)

    def _run(self, action: Callable[[str], _Answer]) -> _Answer:
        """The result of an action on the text. If the model changed while the action ran, it runs again in a transaction."""
        with self._in_original_path(), self._guard(), self._engine.supervised("query"):
            rendered, self._rendered = self._rendered, None
            if turn_of(self._engine.handle).in_callers_transaction:  # an error of an outdated text would abort it
                rendered = None
            text = rendered or self._text()
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

    def _rows_as(self, form: str, package: str) -> Any:
        """The rows in a form of another library; the log records the query, as it records what `Engine.rows` runs."""

        def timed(text: str) -> Any:
            with self._engine.timed("query"):
                return getattr(self._engine, form)(text)

        with _requiring(form, package):
            return self._run(timed)

    def _has_changed(self, text: str) -> bool:
        """Whether the model has changed since the text was made: an unchanged model returns the identical object."""
        try:
            return self._text() is not text
        except NbsqlError:  # the connection or its transaction has ended; the action has raised that already
            return False

    @contextmanager
    def _consistent_text(self) -> Iterator[None]:
        """A transaction, so that the model does not change between making the text and running it."""
        own = nullcontext() if isinstance(self._sql, str) else self._engine.transaction()
        with self._in_original_path(), self._guard(), self._engine.supervised("query"), own:
            yield

    def __repr__(self) -> str:
        try:
            rows = self._preview()
            columns = self.columns
        except NbsqlError as error:
            return f"<nbsql.Query: {error}>"
        if rows is None:
            return f"<nbsql.Query of {', '.join(columns)}; .show() runs it, .sql is its text>"
        table, left_out = table_of_rows(columns, rows).fitted(get_terminal_size((_WIDTH, 0)).columns, self._added)
        title = f"nbsql.Query, its first rows ({_SHOWN} at most); .show() runs it, .sql is its text"
        return "\n".join([title, table.text(), *note_of_left_out(left_out)])

    def _preview(self) -> list[tuple[Any, ...]] | None:
        """The first rows; None if the query should not run unasked."""
        limited = self.limit(_SHOWN).sql
        with self._in_original_path(), self._guard(), self._engine.errors():
            return self._engine.preview(limited)

    def __reduce__(self) -> NoReturn:
        raise NotSupportedError("a query reads its database and is not pickled; its rows are, as .df() or .fetchall()")

    def _repr_html_(self) -> str:
        """The first rows and the SQL, as a notebook shows them. A query that should not run unasked shows its columns only."""
        try:
            columns, rows, sql = self.columns, self._preview(), self.sql
        except NbsqlError as error:
            return str(paragraph(f"nbsql.Query: {error}"))
        table, left_out = table_of_rows(columns, rows or []).fitted(_WIDTH, self._added)
        notes = note_of_left_out(left_out) if rows is not None else ["not run yet; .show() runs it"]
        return str(
            Markup("").join([table.html(), *map(paragraph, notes)])
            + Markup("<details><summary>SQL</summary><pre>{}</pre></details>").format(sql)
        )

    def limit(self, count: int) -> Query:
        """The query of the first rows, at most `count`. It scores no more rows of the source than these need.

        Raises:
            InputError: the count is not a whole number of at least 0.
        """
        whole_number(count, "the number of rows", least=0)
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
        limited = Query(self._engine, sql() if fixed else sql, self._source, guard=self._guard, added=self._added)
        limited._path = self._path  # names are resolved as in this query
        limited._index = None if self._index is None else self._index[:count]
        return limited

    def head(self, count: int = 5) -> Query:
        """The same as `limit`, with five rows by default."""
        return self.limit(count)

    @property
    def relation(self) -> duckdb.DuckDBPyRelation:
        """The query as a relation of DuckDB.

        What the query reads stays until the connection is closed: a frame is registered, and a model without a name has its
        temporary tables. DuckDB does not tell when the last relation that was made of this one is gone. No other form of the
        rows, such as `create_table` or `df`, keeps anything.

        Raises:
            InputError: another database or schema was current when the query was made. DuckDB reads a relation later, and
                would resolve the names of the source in the wrong one.
        """
        engine = on_duckdb(self._engine, "Query.relation")
        if self._path is not None and self._path != engine.current_search_path():
            raise InputError(
                f"the query was made when {self._path or 'the first database'} was in use; USE it, or make it anew"
            )
        with self._guard():
            relation = engine.relation(self._text())
        self._keep()
        return relation

    def _keep(self) -> None:
        """Leave what the query reads until the connection is closed: frames, and the tables of models without a name.

        A finalizer of the relation would be too early: `relation.filter(...)` reads them, too, and holds no object of Python.
        """
        for lease in Lease.of_text(self._text()):
            lease.keep()
        if self._source is not None:
            self._source._keep()

    def to_spark(self) -> pyspark.sql.DataFrame:
        """The query as a DataFrame of Spark, for the model as it is now."""
        if self._engine.title != "Spark":
            raise NotSupportedError(f"Query.to_spark is not available on {self._engine.title}; it is on Spark")
        with self._in_original_path():
            return cast("Spark", self._engine).dataframe(self._text())

    dataframe = property(to_spark, doc="What `to_spark` returns.")

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        with self._in_original_path(), self._guard():
            return self._engine.names(self._text())

    def df(self) -> pandas.DataFrame:
        """The rows as a pandas DataFrame. A row for each row of a pandas frame has the index of that row."""
        rows = cast("pandas.DataFrame", self._rows_as("df", "pandas"))
        if self._index is not None and len(rows) == len(self._index):
            rows.index = self._index  # as pandas aligns a column that is assigned to the frame
        return rows

    def arrow(self) -> pyarrow.Table:
        """The rows as an Arrow table."""
        return cast("pyarrow.Table", self._rows_as("arrow", "pyarrow"))

    def pl(self) -> polars.DataFrame:
        """The rows as a Polars DataFrame."""
        return cast("polars.DataFrame", self._rows_as("pl", "polars"))

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows as tuples."""
        return self._run(self._engine.rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.fetchall())

    def show(self) -> None:
        """Print the first 40 rows as a table that fits the terminal. The columns that a verb adds are always shown."""
        rows, width = self.limit(_PRINTED + 1).fetchall(), get_terminal_size((_WIDTH, 0)).columns
        table, left_out = table_of_rows(self.columns, rows[:_PRINTED]).fitted(width, self._added)
        more = [f"the first {_PRINTED} rows"] if len(rows) > _PRINTED else []
        if sys.stdout is not None:  # where there is none, print is as quiet
            sys.stdout.write("\n".join([table.text(), *more, *note_of_left_out(left_out), ""]))

    def create_table(self, name: str, *, replace: bool = False) -> None:
        """Create the table `name` with the rows. The name may be a path, such as analytics.scored.

        Args:
            name: the name of the table.
            replace: whether to replace a table of that name, in the same transaction.

        Raises:
            InputError: a relation of that name exists already, or is read by the query or part of a model.
            DatabaseError: the database cannot be written.
            NotSupportedError: `replace` on Spark, which has no transactions.
        """
        self._create("table", name, replace=replace)

    def create_view(self, name: str, *, replace: bool = False) -> None:
        """Create the view `name`, which runs the query whenever it is read. The name may be a path.

        Args:
            name: the name of the view.
            replace: whether to replace a view of that name, in the same transaction.

        Raises:
            InputError: the query reads a frame, which the view would outlive, or a relation of that name exists already.
            DatabaseError: the database cannot be written.
            NotSupportedError: `replace` on Spark, which has no transactions.
        """
        if self._source is not None and self._source.is_frame and self._source.is_registered:
            raise InputError(f"a view cannot read {self._source.label}, which lives in this process; use create_table")
        self._create("view", name, replace=replace)
        self._keep()

    def _create(self, kind: str, name: str, *, replace: bool) -> None:
        engine = self._engine
        if not isinstance(name, str) or not name:
            raise InputError(f"the name of a table or view must be a text of at least one character, not {name!r}")
        path = (split_path(name) if "." in name or '"' in name else []) or [name]  # a name may have spaces around it
        if len(path) > 3:
            raise InputError(f"{name!r} is no path to a table; quote a name that has dots in it: '\"{name}\"'")
        database, schema, table = whole = engine.resolve_path(path)
        replace = true_or_false(replace, "replace")
        if replace and engine.drafts:
            raise NotSupportedError(
                f"⟨replace=True⟩ is not available on {engine.title}, which has no transactions; drop it first"
            )
        existing = next(
            (row for row in engine.query_macro("relations") if [*map(folded, row[:3])] == [*map(folded, whole)]), None
        )
        cure = "drop it first" if engine.drafts else "replace it with ⟨replace=True⟩"
        taken = f"{name!r} is there already; {cure}, or choose another name"
        if existing is not None and not replace:
            raise InputError(taken)
        if not replace:
            engine.check_in_script(database, schema, taken, table)
        if existing is not None and (existing[3] == "view") != (kind == "view"):
            raise InputError(f"{name!r} is a {'table' if kind == 'view' else 'view'}; drop it first, or choose another name")
        if replace and schema in model_names(engine, database):
            raise InputError(f"{name!r} is in the schema of model {schema!r}; choose another schema")
        render, relation = engine.renderer.statement, engine.renderer.dialect.ident(*engine.path(database, schema), table)
        rights = engine.keeping_rights(schema, table) if replace else nullcontext()
        with self._consistent_text(), engine.transaction() if replace else nullcontext(), rights:
            text = self._text()
            if replace:
                engine.run(f"drop {name}", render("drop_relation", kind, relation, if_exists=True))
                self._check_readable(text, name)
            engine.run(name, render(f"create_{kind}_as", relation, engine.renderer.dialect.query(text)))

    def _check_readable(self, text: str, name: str) -> None:
        """Raise InputError if the query cannot be read without what was dropped."""
        try:
            self._engine.names(text)
        except DatabaseError as error:
            raise InputError(f"{name!r} is read for its own new rows; choose another name") from error


def macro_query(
    state: ModelState, macro: str, *arguments: Any, guard: Callable[[], AbstractContextManager[None]] | None = None
) -> Query:
    """The query that a macro renders from relations of a model."""
    return Query(state.engine, state.engine.renderer.statement(macro, *arguments), guard=guard or state.guard)


def named_rows(query: Query) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names of the columns of a query, and its rows, by one statement."""
    return query._run(query._engine.named_rows)


def priors_query(state: ModelState) -> Query:
    """The query of the priors of a model, in the order of its classes."""
    return macro_query(state, "sorted_by", state.relations["priors"], ["class"])
