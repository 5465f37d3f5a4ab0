"""The interface of an engine: a connection that runs statements, knows its catalogue, resolves sources and answers queries."""

from __future__ import annotations

import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from nbsql.engines.catalogue import Catalogue
from nbsql.engines.foreign_sources import unwrap
from nbsql.engines.rows import json_structure, rows_as_json
from nbsql.engines.source import Source, check_distinct, check_names
from nbsql.engines.turn import Lease, turn_of
from nbsql.errors import Cure, DatabaseError, InputError, NotSupportedError, in_words, index_hint
from nbsql.rendering.dialect import restore

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


class Engine(Catalogue):
    """A connection to a database."""

    _numbers = itertools.count(1)

    def apart(self) -> Engine:
        """An engine with a connection of its own to the same database."""
        raise NotSupportedError(f"a second connection is not available on {self.title} yet; it is on DuckDB")

    def in_words(self, message: str) -> str:
        """A message that a script is to raise, in the words of the face that prints it."""
        return in_words(message)

    # Sources. ------------------------------------------------------------------------------------------------------

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
        found = self._source(source.own_sql, is_ours=True)
        found.needs = source
        return found

    def source_and_version(self, source: Any, spec: Markup) -> tuple[Source, Any]:  # noqa: ARG002
        """The source, and the `updated_at` of a model as `query_macro` returns it; None if it was not queried with it."""
        return self.source(source), None

    @abstractmethod
    def _source(self, source: Any, *, is_ours: bool = False) -> Source:
        """The source, if it is neither a `Source` nor rows in Python; of an nbsql query, which `is_ours`, its text."""

    def _rows(self, rows: Mapping[Any, Any] | Sequence[Any]) -> Source:
        """A source of rows in Python, in their order."""
        text, columns = rows_as_json(rows)
        check_distinct(columns, "the rows")
        relation = self.renderer.fragment("rows_from_json", text, json_structure(columns), list(columns.items()))
        return self.described(Source(relation, "the rows", [], is_frame=True))

    def numbers_rows(self, source: Source) -> bool:
        """Whether the rows of a source have numbers, `rowid`: those of a table in which no column has this name."""
        return source.is_table and self.renderer.traits.row_numbers and source.column("rowid") is None

    def described(self, source: Source) -> Source:
        """A source whose columns were not known yet. Raises InputError if it cannot have their names."""
        source.columns = self.columns(source.relation)
        check_distinct(source.names, source.label)
        check_names(source.columns, source.label)
        return source

    def resolve_expression(self, expression: str, source: Source, argument: str, *, alone: bool = False) -> str:
        """The expression in the form in which a model keeps it; its errors are those of `check_expression`."""
        self.check_expression(expression, source, argument, alone=alone)
        return expression

    def check_expression(self, expression: str, source: Source, argument: str, *, alone: bool = False) -> None:
        """Raise InputError unless the text is a single SQL expression over the columns of a source.

        With `alone` it reads one row and has no window of others, so that a row has the same value in every source.
        """
        is_text = isinstance(expression, str) and expression.strip() != ""
        if is_text and expression.isdecimal() and any(column.name == expression for column in source.columns):
            quoted = str(self.renderer.dialect.ident(expression))
            given = Cure(f"{in_words(argument)}={expression!r}").marked()
            raise InputError(f"{given} is a number in SQL, not the column; write {quoted!r}")
        argument = Cure(argument).marked() if argument.isidentifier() else argument
        fault = self._fault_of_expression(self.renderer.dialect.query(expression), source) if is_text else ""
        if fault in (SEVERAL_ROWS, AGGREGATE):
            raise InputError(f"{argument} must have one value a row, and {expression!r} {fault}")
        if fault is not None:
            subject = f"{argument} must be one SQL expression over the columns of {source.label}"
            hint = index_hint(set(re.findall(r"\w+", expression)), source.label) if is_text else ""
            raise InputError(f"{subject}{hint or fault or f', not {expression!r}'}")
        if alone and re.search(r"\bover\b", expression, re.IGNORECASE):
            try:
                self.names(
                    self.renderer.statement("expression_of_one_row", source.relation, self.renderer.dialect.query(expression))
                )
            except DatabaseError:
                raise InputError(
                    f"{argument} must read one row, and {expression!r} has a window of others; compute it in the source"
                ) from None

    @abstractmethod
    def _fault_of_expression(self, query: Markup, source: Source) -> str | None:
        """Why a text is no expression of one value a row; "" if it is no single expression at all, None if it is one."""

    @abstractmethod
    def check_pattern(self, pattern: str) -> None:
        """Raise InputError unless the engine accepts the regular expression; that of letters and digits has its own macro."""

    # The result of a query, in the form that the user wants. -------------------------------------------------------

    @abstractmethod
    def names(self, sql: str) -> list[str]:
        """The columns of a query, without running it."""

    def named_rows(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The columns of a query, and its rows; in one statement, if the engine says both at once."""
        return self.names(sql), self.rows(sql)

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
        texts = [*map(restore, relations)]
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
            made.append(renderer.dialect.ident(*renderer.traits.temporary, f"{prefix} {part}"))
            return made[-1]

        done = False
        try:
            yield name
            done = True
        finally:
            for relation in () if done and staying else made:
                with suppress(DatabaseError):  # an aborted transaction has already dropped it
                    self.query_macro("drop_if_exists", relation)
