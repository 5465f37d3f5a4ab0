"""The engine of DuckDB."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, cast

import duckdb
from markupsafe import Markup

from nbsql.engines.duckdb.calls import nbsql_call
from nbsql.engines.duckdb.driver import DuckDBDriver
from nbsql.engines.duckdb.messages import one_line
from nbsql.engines.duckdb.sources import Sources
from nbsql.engines.engine import AGGREGATE, SEVERAL_ROWS, Engine
from nbsql.engines.runner import FOLLOW
from nbsql.engines.source import Source
from nbsql.errors import DatabaseError, InputError, ModelError, NbsqlError, NotSupportedError, suggestion
from nbsql.family import NUMBERS
from nbsql.rendering.dialect import folded, restore
from nbsql.spec.column import Column

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_KINDS = {
    "varchar": "text",
    "enum": "text",
    "uuid": "text",
    "boolean": "boolean",
    **dict.fromkeys(["tinyint", "smallint", "integer", "bigint", "hugeint"], "integer"),
    **dict.fromkeys(["utinyint", "usmallint", "uinteger", "ubigint", "uhugeint"], "integer"),
    "null": "integer",  # the type of a table's column that has only NULL
    "float": "float",
    "double": "float",
    "decimal": "decimal",
}
# The types whose values JSON may not be able to represent.
_FLOATING = {"FLOAT": "number", "DOUBLE": "number", "FLOAT[]": "numbers", "DOUBLE[]": "numbers"}
# The name of a database before those of a schema, which is another one, and a relation; or what may hold such a text.
_DATABASE = (
    r"""(?<!\.){name}\.(?!{name}\.)(?="(?:[^"]|"")*"\.")"""
    r"""|(?P<other>'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)"""
)
_RESERVED = ("system", "temp", "information_schema", "pg_catalog")
_HOMES = ("duckdb", "ducklake")  # the types of databases in which there are macros
_TEMPORAL = ("date", "time", "interval")


class DuckDB(DuckDBDriver):
    """A connection to DuckDB."""

    preview_seconds = 2.0

    @property
    def handle(self) -> object:
        return self.connection

    # Running. ------------------------------------------------------------------------------------------------------

    def require(self, what: str) -> None:
        if what == FOLLOW and duckdb.__version__ < "2":
            raise NotSupportedError(f"{what} needs the triggers of DuckDB 2.0, and this is {duckdb.__version__}; upgrade it")
        super().require(what)

    def parameter_type(self, name: str) -> str:
        if name in ("TIMESTAMP_S", "TIMESTAMP_MS"):  # as which a time would be rounded, to another hour or day
            return "TIMESTAMP"
        return "VARCHAR" if name.startswith("ENUM") or name == '"NULL"' else name

    def kind(self, name: str) -> str:
        return _kind(duckdb.sqltype(name))

    def without_database_name(self, sql: str) -> str:
        try:
            name = re.escape(str(self.renderer.dialect.ident(self.current()[0])))
        except DatabaseError:  # the connection is closed, and there is no current database
            return sql
        return re.sub(_DATABASE.format(name=name), lambda found: found["other"] or "", sql, flags=re.DOTALL)

    def resolve_path(self, path: Sequence[str]) -> tuple[str, str, str]:
        if len(path) == 2 and self.schema(self.current()[0], path[0]) is None:
            # DuckDB takes the first of two names for a database if there is no such schema.
            path = (path[0], "public" if self._type(path[0]) == "postgres" else "main", path[1])
        return super().resolve_path(path)

    def _source(self, source: Any, *, is_ours: bool = False) -> Source:  # noqa: ARG002
        return Sources(self).find(source)

    def source_and_version(self, source: Any, spec: Markup) -> tuple[Source, Any]:
        sources, found = Sources(self), None
        path = sources.path(source) if isinstance(source, str) else []
        if path:
            with suppress(NbsqlError):  # the separate queries below raise it again
                # Two queries, as DuckDB plans a relation again when it is run.
                columns = self.columns(self.renderer.dialect.ident(*path))
                (answer,) = self.query_macro("catalog_and_version", sorted({path[-1], source}), spec)
                found = sources.source_of_relation(source, answer, columns)
        return found or super().source_and_version(source, spec)

    # Results. ------------------------------------------------------------------------------------------------------

    def relation(self, sql: str) -> duckdb.DuckDBPyRelation:
        self.end_unread_result()
        with self.errors():
            return self.bound(sql)

    def names(self, sql: str) -> list[str]:
        return list(self.relation(sql).columns)

    def named_rows(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        with self.timed("query"), self.errors():
            result = nbsql_call(self.connection.execute, sql)  # a relation would plan the query twice
            return [column[0] for column in result.description], nbsql_call(result.fetchall)

    def df(self, sql: str) -> pandas.DataFrame:
        return nbsql_call(nbsql_call(self.connection.execute, sql).df)  # a relation would plan the query twice

    def arrow(self, sql: str) -> pyarrow.Table:
        return cast("pyarrow.Table", nbsql_call(self.relation(sql).to_arrow_table))

    def pl(self, sql: str) -> polars.DataFrame:
        return cast("polars.DataFrame", nbsql_call(self.relation(sql).pl))

    def preview(self, sql: str) -> list[tuple[Any, ...]] | None:
        """The rows; None if they take long, or if an error would abort the caller's transaction."""
        if self._in_transaction():
            return None
        timer = threading.Timer(self.preview_seconds, self.connection.interrupt)
        try:
            relation = self.relation(sql)
            timer.start()
            return relation.fetchall()
        except duckdb.InterruptException:
            return None
        finally:
            timer.cancel()

    def files(self, relations: Iterable[Markup]) -> list[str]:
        return super().files(relations) + [path for path, *_ in self.query_macro("files_of_databases")]

    def _definitions(self, names: Sequence[str]) -> list[str]:
        return [text for (text,) in self.query_macro("definitions", names)] if names else []

    def write(self, sql: str, path: str, file_format: str) -> None:
        query = self.renderer.dialect.query(sql)
        if file_format != "parquet":
            found = self.relation(sql)
            # In CSV lists of texts are JSON, in which every text has quotes.
            lists = ["texts" if _kind(kind) == "tokens" else None for kind in found.types]
            kinds = lists if file_format == "csv" else [_FLOATING.get(str(kind)) for kind in found.types]
            if any(kind is not None for kind in kinds):
                query = self.renderer.fragment("as_json", query, list(zip(found.columns, kinds, strict=True)))
        self.query_macro("copy_to", query, path, file_format)

    # The catalogue. ------------------------------------------------------------------------------------------------

    def creating_macros(self, path: Sequence[str]) -> AbstractContextManager[None]:
        """Set the search path to the model's schema: DuckDB resolves the names in a macro by the search path."""
        if len(path) < 2 or path[0] == self.current()[0]:
            return nullcontext()
        return self.using_search_path(restore(self.renderer.dialect.ident(*path)))

    def database(self, name: str | None) -> str:
        """The name of an attached database as the catalogue spells it; of the current one for None."""
        if name is None:
            return self.current()[0]
        if not isinstance(name, str):
            raise InputError(f"the name of a database must be text, not {name!r}")
        names: list[str] = list(dict.fromkeys(row[0] for row in self.query_catalog("schemas")))
        for known in names:
            if folded(known) == folded(name):
                return known
        raise InputError(f"no database {name!r} is attached{suggestion(name, names) or '; ATTACH it first'}")

    def is_read_only(self, database: str) -> bool:
        return any(name == database and read_only for name, _, read_only, _ in self.query_catalog("schemas"))

    def _type(self, database: str) -> str | None:
        """Of which type an attached database is, such as "duckdb" or "postgres"."""
        return next((kind for name, *_, kind in self.query_catalog("schemas") if folded(name) == folded(database)), None)

    def check_home(self, database: str) -> None:
        kind = self._type(database)
        if kind not in _HOMES:
            itself = "; or connect to it as 'postgresql://...'" if kind == "postgres" else ""
            raise NotSupportedError(
                f"{database!r} is attached from {kind}, where DuckDB keeps no macros, and so no model; name a database of "
                f"DuckDB's with ⟨database='...'⟩{itself}"
            )

    def schema(self, database: str, name: str) -> str | None:
        """The schema of that name as the catalogue spells it, or None."""
        found = [schema for place, schema, *_ in self.query_catalog("schemas") if folded(place) == folded(database)]
        return next((known for known in found if folded(known) == folded(name)), None)

    def schemas_named(self, name: str) -> list[tuple[str, str]]:
        return [(place, schema) for place, schema, *_ in self.query_catalog("schemas") if folded(schema) == folded(name)]

    def missing(self, database: str, schema: str, parts: Mapping[str, str]) -> list[str]:
        own = (folded(database), schema)
        present = {name for place, inside, name, _ in self.query_catalog("relations") if (folded(place), inside) == own}
        path = self.renderer.dialect.ident(database, schema)
        present |= {part for part, kind in parts.items() if kind == "macro" and self._has_macro(path, part)}
        return [part for part in parts if part not in present]

    def _has_macro(self, path: Markup, name: str) -> bool:
        """Whether a schema has a table macro: to list all functions takes longer than everything else that loads a model."""
        try:
            self.bound(self.renderer.statement("call_without_arguments", path, name))
        except duckdb.CatalogException:
            return False
        except duckdb.BinderException:  # each has arguments
            pass
        return True

    def check_name(self, name: str) -> None:
        databases = {folded(row[0]) for row in self.query_catalog("schemas")}
        first, _, rest = name.partition(".")
        if rest and folded(first) in databases:
            raise ModelError(
                f"{name!r} begins with the name of a database; to store it there: ⟨name={rest!r}⟩, ⟨database={first!r}⟩"
            )
        if folded(name) in {*databases, *_RESERVED}:
            what = "a schema of DuckDB's own" if folded(name) in _RESERVED else "a database"
            raise ModelError(f"{name!r} is the name of {what}; choose another name, such as ⟨name={f'{name}_model'!r}⟩")

    def columns(self, relation: Markup) -> list[Column]:
        with self.errors():  # errors of a relation that is not run do not affect the caller's transaction
            return _columns(self.bound(self.renderer.statement("without_rows", relation)))

    def _fault_of_expression(self, query: Markup, source: Source) -> str | None:
        try:
            statements = self.parsed(self.renderer.statement("expression", query))
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                return ""
            sliced = self.renderer.fragment("with_slices", source.relation, query)
            found = self.bound(self.renderer.statement("without_rows", sliced))
            if len(found.columns) != len(source.columns) + 1:
                return ""
            self.bound(self.renderer.statement("expression_of_one_value", source.relation, query))
        except duckdb.Error as error:
            if "UNNEST not supported here" in str(error):
                return SEVERAL_ROWS
            return AGGREGATE if "must appear in the GROUP BY clause" in str(error) else f": {one_line(error)}"
        return None

    def check_pattern(self, pattern: str) -> None:
        """Raise InputError unless RE2 accepts the pattern. A cursor keeps an error from aborting the caller's transaction."""
        cursor = self.connection.cursor()
        try:
            cursor.execute(self.renderer.statement("matches_pattern", pattern)).fetchall()
        except duckdb.Error as error:
            reason = str(error).split(": ", 1)[-1].splitlines()[0]
            raise InputError(f"pattern {pattern!r} is not one that RE2 understands: {reason}") from None
        finally:
            cursor.close()


def on_duckdb(engine: Engine, what: str) -> DuckDB:
    """The engine, if it is DuckDB. Raises NotSupportedError for another engine, which does not support `what` yet."""
    if isinstance(engine, DuckDB):
        return engine
    raise NotSupportedError(f"{what} is not available on {engine.title} yet; it is on DuckDB")


def _columns(found: duckdb.DuckDBPyRelation) -> list[Column]:
    return [Column(name, str(kind), _kind(kind)) for name, kind in zip(found.columns, found.types, strict=True)]


def _kind(column_type: Any) -> str:
    name = str(column_type.id).lower()
    if name in _KINDS:
        return _KINDS[name]
    if name.startswith(_TEMPORAL):
        return "temporal"
    children = dict(column_type.children) if name in ("list", "map") else {}
    if name == "list" and _KINDS.get(str(children["child"].id).lower()) == "text":
        return "tokens"
    if name == "map":
        key, value = (_KINDS.get(str(children[part].id).lower()) for part in ("key", "value"))
        if key == "text" and value in NUMBERS:
            return "token counts"
    return "other"
