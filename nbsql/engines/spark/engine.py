"""The engine of Spark."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from markupsafe import Markup

from nbsql.engines.engine import AGGREGATE, SEVERAL_ROWS
from nbsql.engines.source import Source
from nbsql.engines.spark import catalog as spark_catalog
from nbsql.engines.spark.driver import SparkDriver, constants
from nbsql.engines.spark.sources import find, kind_of
from nbsql.errors import DatabaseError, InputError, ModelError
from nbsql.rendering.dialect import folded
from nbsql.spec.column import Column

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_NAME = re.compile("[A-Za-z0-9_]+")
_COLLATION = re.compile(" collate [A-Za-z0-9_]+")
_RESERVED = ("information_schema", "global_temp", "system", "session")


def _is_collated(column: Column) -> bool:
    """Whether a column has texts with a collation. A struct, whose type may have any name in it, holds none that are read."""
    return column.kind in ("text", "tokens", "token counts") and _COLLATION.search(column.type) is not None


class Spark(SparkDriver):
    """A session of Spark. It belongs to the user and stays open."""

    @property
    def handle(self) -> object:
        return self.session

    # Running. ------------------------------------------------------------------------------------------------------

    def query_macro(self, macro: str, *arguments: Any, **options: Any) -> list[tuple[Any, ...]]:
        """The rows of the query that a macro renders; questions about the catalogue are commands in Spark, and not queries."""
        if macro in spark_catalog.ANSWERS:
            with self.timed(macro), self.errors():
                return spark_catalog.ANSWERS[macro](self, *arguments)
        return super().query_macro(macro, *arguments, **options)

    # Results. ------------------------------------------------------------------------------------------------------

    def names(self, sql: str) -> list[str]:
        return list(self.dataframe(sql).columns)

    def df(self, sql: str) -> pandas.DataFrame:
        return cast("pandas.DataFrame", self.arrow(sql).to_pandas())  # toPandas would raise warnings of pandas 3

    def arrow(self, sql: str) -> pyarrow.Table:
        return self.dataframe(sql).toArrow()

    def pl(self, sql: str) -> polars.DataFrame:
        import polars

        return cast("polars.DataFrame", polars.from_arrow(self.arrow(sql)))

    def files(self, relations: Iterable[Markup]) -> list[str]:
        relations = list(relations)
        frames = [self.dataframe(self.renderer.statement("all_rows", relation)) for relation in relations]
        with self.errors():
            return super().files(relations) + [unquote(file) for frame in frames for file in frame.inputFiles()]

    # The catalogue. ------------------------------------------------------------------------------------------------

    def _source(self, source: Any, *, is_ours: bool = False) -> Source:  # noqa: ARG002
        return find(self, source)

    def described(self, source: Source) -> Source:
        """A source whose texts are compared by their bytes, whatever the collations of its columns."""
        columns = super().described(source).columns
        if any(map(_is_collated, columns)):
            types = [(each.name, Markup(_COLLATION.sub("", each.type)) if _is_collated(each) else None) for each in columns]  # noqa: S704
            source.relation = self.renderer.fragment("without_collations", source.relation, types)
            source.columns = self.columns(source.relation)
        return source

    def current(self) -> tuple[str, str]:
        with self.errors():
            return self.session.catalog.currentCatalog(), self.session.catalog.currentDatabase()

    def catalog(self) -> str | None:
        return self.current()[0]

    def current_search_path(self) -> str:
        return json.dumps(self.current())

    def _set_search_path(self, path: str) -> None:
        catalog, schema = json.loads(path)
        with self.errors():
            self.session.catalog.setCurrentCatalog(catalog)
            self.session.catalog.setCurrentDatabase(schema)

    def database(self, name: str | None) -> str:
        current = self.current()[0]
        if name is not None and name != current:
            raise InputError(f"models are kept in the current catalog of the session, {current!r}; USE CATALOG {name} first")
        return current

    def is_read_only(self, database: str) -> bool:  # noqa: ARG002 - Spark says so only when it is asked to write
        return False

    def schema(self, database: str, name: str) -> str | None:  # noqa: ARG002 - there is one catalog
        known = next((known for (known,) in self.query_macro("schemas") if folded(known) == folded(name)), None)
        return None if known is None or spark_catalog.is_blank(self, known) else known

    def publish_constants(self, relation: Markup, view: Markup) -> bool:
        """Create a view of the single row of a relation. False if it has another number of rows, or is too long for a view."""
        with self.errors():
            select = constants(self.renderer, self.gateway.lean(self.session.table(str(relation))))
        if select is None or len(select) > self.renderer.layout.view_length:
            return False
        self.run("parameters", self.renderer.statement("create_view_as", view, select))
        return True

    def check_name(self, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise InputError(f"a model's name has letters without accents, digits and underscores only on Spark, not {name!r}")
        if folded(name) in _RESERVED:
            raise ModelError(f"{name!r} is a name that Spark keeps for itself; choose another name")

    def path(self, database: str, schema: str) -> tuple[str, ...]:  # noqa: ARG002 - there is one catalog
        return (schema,)

    def set_aside(self, database: str, schema: str, drop: Callable[[str], object]) -> str | None:  # noqa: ARG002
        """Do nothing: the new model is published beside the old one."""
        return schema

    def columns(self, relation: Markup) -> list[Column]:
        fields = self.dataframe(self.renderer.statement("without_rows", relation)).schema.fields
        return [Column(field.name, field.dataType.simpleString(), kind_of(field.dataType)) for field in fields]

    def _fault_of_expression(self, query: Markup, source: Source) -> str | None:
        try:
            whole = self.names(self.renderer.statement("expression_of", source.relation, query))
            self.names(self.renderer.statement("without_rows", self.renderer.fragment("with_slices", source.relation, query)))
        except DatabaseError as error:
            if "[UNSUPPORTED_GENERATOR" in str(error.__cause__):
                return SEVERAL_ROWS
            is_aggregate = re.search(r"\[(MISSING_GROUP_BY|MISSING_AGGREGATION)", str(error.__cause__))
            return AGGREGATE if is_aggregate else f": {error}"
        return None if len(whole) == 1 else ""

    def check_pattern(self, pattern: str) -> None:
        try:
            self.query_macro("matches_pattern", pattern)
        except DatabaseError:
            raise InputError(f"pattern {pattern!r} is not one that Java understands") from None
