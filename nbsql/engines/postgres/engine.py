"""The engine of PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from markupsafe import Markup

from nbsql.engines.engine import AGGREGATE, SEVERAL_ROWS
from nbsql.engines.postgres.driver import PostgreSQLDriver
from nbsql.engines.postgres.sources import describe_query, find, has_several_spellings, kind_of, resolved_expression
from nbsql.engines.source import Source
from nbsql.errors import DatabaseError, InputError, ModelError, NotSupportedError
from nbsql.spec.column import Column

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class PostgreSQL(PostgreSQLDriver):
    """A connection to PostgreSQL."""

    preview_seconds = 2.0

    @property
    def handle(self) -> object:
        return self.connection

    # Running. ------------------------------------------------------------------------------------------------------

    def parameter_type(self, name: str) -> str:
        # The padding of a "bpchar" does not count.
        return name if name in ("bpchar", '"char"') or has_several_spellings(name) else "text"

    def kind(self, name: str) -> str:
        return kind_of(name, "b")

    def names(self, sql: str) -> list[str]:
        return [name for name, _ in describe_query(self, sql)]

    def named_rows(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        with self.timed("query"):
            return self._fetch(sql)

    def df(self, sql: str) -> pandas.DataFrame:
        import pandas

        names, rows = self._fetch(sql)
        return pandas.DataFrame.from_records(rows, columns=names)

    def arrow(self, sql: str) -> pyarrow.Table:
        import pyarrow

        names, rows = self._fetch(sql)
        columns = zip(*rows, strict=True) if rows else [()] * len(names)
        return pyarrow.Table.from_arrays([pyarrow.array(column) for column in columns], names=names)

    def pl(self, sql: str) -> polars.DataFrame:
        import polars

        names, rows = self._fetch(sql)
        return polars.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)

    def preview(self, sql: str) -> list[tuple[Any, ...]] | None:
        """The rows; None if they take long, or if an error would abort the caller's transaction."""
        if self._is_in_transaction:
            return None
        timer = threading.Timer(self.preview_seconds, self.connection.cancel)
        try:
            timer.start()
            return self.rows(sql)
        except DatabaseError as error:
            if isinstance(error.__cause__, psycopg.errors.QueryCanceled):
                return None
            raise
        finally:
            timer.cancel()

    def write(self, sql: str, path: str, file_format: str) -> None:
        if file_format not in ("csv", "json", "jsonl"):
            raise NotSupportedError(f"{file_format} files are not available on PostgreSQL; choose csv, json or jsonl")
        query = self.renderer.dialect.query(sql)
        if file_format == "csv":
            columns = self.columns(self.renderer.fragment("subquery", query))
            lists = [column.name for column in columns if column.kind == "tokens"]
            query = self.renderer.fragment("as_text", query, [column.name for column in columns], lists)
        statement = self.renderer.statement("copy_to", query, path, file_format).encode(self.connection.info.encoding)
        with (
            self.timed("copy_to"),
            self.errors(),
            self.with_settings(),
            psycopg.Cursor(self.connection) as cursor,
            Path(path).open("wb") as file,
        ):
            if file_format == "csv":
                with cursor.copy(statement) as copied:
                    file.writelines(copied)
                return
            between, first = (b",\n\t", b"[\n\t") if file_format == "json" else (b"\n", b"")
            for (row,) in cursor.stream(statement):
                file.write(first + row.encode())
                first = between
            if file_format == "json":
                file.write(b"[]\n" if first.startswith(b"[") else b"\n]\n")
            elif first:
                file.write(b"\n")

    # The catalogue. ------------------------------------------------------------------------------------------------

    def _source(self, source: Any, *, is_ours: bool = False) -> Source:
        with self.turn():  # no other thread changes the path meanwhile
            return find(self, source, is_ours=is_ours)

    def current(self) -> tuple[str, str]:
        with self.using_search_path(None):
            database, schema, _ = self.query_macro("current_database_and_schema")[0]
        return database, schema or ""

    def resolve_path(self, path: Sequence[str]) -> tuple[str, str, str]:
        found = super().resolve_path(path)
        if not found[1]:
            raise DatabaseError("the search_path of this connection names no schema that is there; name one, as in public.t")
        return found

    def database(self, name: str | None) -> str:
        current = self.current()[0]
        if name is not None and name != current:
            raise InputError(f"a connection to PostgreSQL reaches one database only, {current!r}; connect to {name!r}")
        return current

    def is_read_only(self, database: str) -> bool:  # noqa: ARG002 - there is one
        return bool(self.query_value("is_read_only"))

    def schema(self, database: str, name: str) -> str | None:
        return next((known for (known,) in self.query_macro("schemas", database) if known == name), None)

    def foreign_owner(self, schema: str) -> str | None:
        return next((owner for (owner,) in self.query_macro("foreign_owner", schema)), None)

    def check_name(self, name: str) -> None:
        if name.startswith("pg_") or name == "information_schema":
            raise ModelError(f"{name!r} is a name that PostgreSQL keeps for itself; choose another name")
        if len(name.encode()) > 63:
            raise InputError(f"a model's name has at most 63 bytes on PostgreSQL, which would cut {name!r}")

    def path(self, database: str, schema: str) -> tuple[str, ...]:  # noqa: ARG002 - there is one database
        return (schema,)

    def set_aside(self, database: str, schema: str, drop: Callable[[str], object]) -> str | None:  # noqa: ARG002
        aside = f"{self.transient_name()} {self.connection.info.backend_pid}"
        ident = self.renderer.dialect.ident
        self.run("set the old model aside", self.renderer.statement("rename_schema", ident(schema), ident(aside)))
        self._last.append(lambda: drop(aside))
        return aside

    def columns(self, relation: Markup) -> list[Column]:
        found = describe_query(self, self.renderer.statement("without_rows", relation))
        types = {oid: kind for oid, *kind in self.query_macro("types", sorted({oid for _, oid in found}))} if found else {}
        return [Column(name, types[oid][0], kind_of(*types[oid])) for name, oid in found]

    def resolve_expression(self, expression: str, source: Source, argument: str, *, alone: bool = False) -> str:
        return super().resolve_expression(resolved_expression(self, expression, source), source, argument, alone=alone)

    def _fault_of_expression(self, query: Markup, source: Source) -> str | None:
        render, several = self.renderer.statement, "42804"  # a set instead of a single value
        try:
            whole = describe_query(self, render("expression_of", source.relation, query))
            describe_query(self, render("without_rows", self.renderer.fragment("with_slices", source.relation, query)))
            if len(whole) != 1:
                return ""
        except DatabaseError as error:
            state = getattr(error.__cause__, "sqlstate", None)
            if state != several:
                return AGGREGATE if state == "42803" else f": {error}"  # a grouping error
        try:
            describe_query(self, render("expression_of_one_value", source.relation, query))
        except DatabaseError:
            return SEVERAL_ROWS
        return None

    def check_pattern(self, pattern: str) -> None:
        try:
            with self.errors(), self.savepoint(trial=True):
                self.query_macro("matches_pattern", pattern)
        except DatabaseError as error:
            raise InputError(f"pattern {pattern!r} is not one that PostgreSQL understands: {error}") from None
