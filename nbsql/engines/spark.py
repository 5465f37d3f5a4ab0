"""Spark: looks around in a session, and runs statements."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

from markupsafe import Markup
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from nbsql.dialect import folded
from nbsql.engines import spark_catalog
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.engines.spark_sources import find, kind_of
from nbsql.errors import DatabaseError, InputError, ModelError, NotSupportedError
from nbsql.family.text import LETTERS_AND_DIGITS
from nbsql.render import Renderer
from nbsql.spec import Column

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_LEAST_VERSION = 4
_STOPPED = "the Spark session is stopped; make another with SparkSession.builder.getOrCreate()"
_NAME = re.compile("[A-Za-z0-9_]+")
_RESERVED = ("information_schema", "global_temp", "system", "session")
# A statement that makes, changes or drops what is the session's own: its first line, and the query that may follow.
_TEMPORARY = re.compile(r"([A-Z]+) [A-Z ]+ (`nbsql (?:[^`]|``)*`)(?: AS)?(?:\n|$)")
# Rows, which may be many; all else that is temporary has the size of a model.
_STAGED = (" source`", " design`", " rows`", " sample`", " distances`")


class Spark(Engine):
    """A session of Spark, which is the user's and stays open.

    Args:
        session: a SparkSession.
        watch: called with the name of each statement before it runs.
    """

    title = "Spark"
    drafts = True
    lacks = frozenset(["predict_one", "predict_one_sql"])

    def __init__(self, session: SparkSession, *, watch: Callable[[str], None] | None = None) -> None:
        if ".connect." in type(session).__module__:
            raise NotSupportedError("Spark Connect is not available yet; pass a session of SparkSession.builder.master(...)")
        if not isinstance(session, SparkSession):
            raise InputError(f"con must be a SparkSession, not {type(session).__module__}.{type(session).__name__}")
        self.renderer = Renderer("spark")
        self.watch = watch
        self.session = session
        self._before: dict[str, DataFrame | None] | None = None  # what a transaction has changed, as it was
        if session.sparkContext._jsc is None or session.sparkContext._jsc.sc().isStopped():
            raise DatabaseError(_STOPPED)
        if int(session.version.split(".")[0]) < _LEAST_VERSION:
            raise DatabaseError(f"this session is Spark {session.version}; nbsql needs {_LEAST_VERSION}.0 or later")
        if self._setting("spark.sql.parser.escapedStringLiterals"):
            raise DatabaseError(
                "spark.sql.parser.escapedStringLiterals is true in this session, which changes what texts say; set it to false"
            )
        self.exact = self._setting("spark.sql.caseSensitive")

    def close(self) -> None:
        """The session is the user's."""

    def _setting(self, name: str) -> bool:
        return self.session.conf.get(name, "false") == "true"

    def shares(self, other: Engine) -> bool:
        return isinstance(other, Spark) and self.session is other.session

    # Running. ------------------------------------------------------------------------------------------------------

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self.errors():
            return [tuple(row) for row in self.session.sql(sql).collect()]

    def run(self, name: str, sql: str) -> None:
        """Run a statement for its effect.

        Spark makes a cached query anew whenever what it reads has changed. A table of a model must not change so, and is cut
        off from its sources; for this it need not be cached. Adding to it makes it anew.
        """
        made = _TEMPORARY.match(sql)
        if made is not None and self._before is not None and made[2] not in self._before:
            self._before[made[2]] = self._table(made[2])
        if made is None or made[1] not in ("CACHE", "INSERT") or made[2].endswith(_STAGED):
            super().run(name, sql)
            return
        if self.watch is not None:
            self.watch(name)
        with self.errors():
            rows = self.session.sql(sql[made.end() :])
            if made[1] == "INSERT":
                rows = self.session.table(made[2]).unionAll(rows)
            with self._without_constraints():
                rows.localCheckpoint().createOrReplaceTempView(made[2])

    @contextmanager
    def _without_constraints(self) -> Iterator[None]:
        """A checkpoint keeps what is known of its columns. In a union Spark takes one's columns for another's, and fails."""
        conf, name = self.session.conf, "spark.sql.constraintPropagation.enabled"
        before = conf.get(name, "true")
        conf.set(name, "false")
        try:
            yield
        finally:
            conf.set(name, str(before))

    def ask(self, macro: str, *arguments: Any, **options: Any) -> list[tuple[Any, ...]]:
        """The rows of a rendered macro; what is in the catalogue Spark tells by commands, which are no queries."""
        if macro in spark_catalog.ANSWERS:
            with self.errors():
                return spark_catalog.ANSWERS[macro](self, *arguments)
        return super().ask(macro, *arguments, **options)

    @contextmanager
    def errors(self) -> Iterator[None]:
        noise = logging.getLogger("SQLQueryContextLogger")  # pyspark prints a JVM's trace of every error there
        disabled, noise.disabled = noise.disabled, True
        try:
            yield
        except (PySparkException, Py4JError) as error:
            raise DatabaseError(one_line(error)) from error
        finally:
            noise.disabled = disabled

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Spark has none: a model is made aside, in the session, and published when it is whole (nbsql/drafts.py).

        What an error leaves in the session is as it was before.
        """
        if self._before is not None:
            yield
            return
        self._before = {}
        try:
            yield
        except BaseException:
            for name, before in self._before.items():
                with suppress(PySparkException, Py4JError, OSError):  # the session is stopped
                    if before is None:
                        self.session.catalog.dropTempView(name.strip("`"))
                    else:
                        before.createOrReplaceTempView(name)
            raise
        finally:
            self._before = None

    def _table(self, name: str) -> DataFrame | None:
        try:
            return self.session.table(name)
        except AnalysisException:
            return None

    # Answers. ------------------------------------------------------------------------------------------------------

    def dataframe(self, sql: str) -> DataFrame:
        """A query as a Spark DataFrame."""
        with self.errors():
            return self.session.sql(sql)

    def names(self, sql: str) -> list[str]:
        return list(self.dataframe(sql).columns)

    def df(self, sql: str) -> pandas.DataFrame:
        return cast("pandas.DataFrame", self.arrow(sql).to_pandas())  # which toPandas does by ways that pandas 3 warns of

    def arrow(self, sql: str) -> pyarrow.Table:
        return self.dataframe(sql).toArrow()

    def pl(self, sql: str) -> polars.DataFrame:
        import polars

        return cast("polars.DataFrame", polars.from_arrow(self.arrow(sql)))

    def show(self, sql: str) -> None:
        self.dataframe(sql).show()

    # Looking around. -----------------------------------------------------------------------------------------------

    def source(self, source: Any) -> Source:
        return find(self, source)

    def current(self) -> tuple[str, str]:
        with self.errors():
            return self.session.catalog.currentCatalog(), self.session.catalog.currentDatabase()

    def database(self, name: str | None) -> str:
        current = self.current()[0]
        if name is not None and name != current:
            raise InputError(f"models are kept in the current catalog of the session, {current!r}; USE CATALOG {name} first")
        return current

    def is_read_only(self, database: str) -> bool:  # noqa: ARG002 - Spark says so only when it is asked to write
        return False

    def schema(self, database: str, name: str) -> str | None:  # noqa: ARG002 - there is one catalog
        known = next((known for (known,) in self.ask("schemas") if folded(known) == folded(name)), None)
        return None if known is None or spark_catalog.is_blank(self, known) else known

    def check_name(self, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise InputError(f"a model's name has letters without accents, digits and underscores only on Spark, not {name!r}")
        if folded(name) in _RESERVED:
            raise ModelError(f"{name!r} is a name that Spark keeps for itself; choose another name")

    def path(self, database: str, schema: str) -> tuple[str, ...]:  # noqa: ARG002 - there is one catalog
        return (schema,)

    def set_aside(self, database: str, schema: str, drop: Callable[[str], object]) -> str | None:  # noqa: ARG002
        """Nothing moves: the new model is published beside the old one."""
        return schema

    def columns(self, relation: Markup) -> list[Column]:
        fields = self.dataframe(self.renderer.statement("empty", relation)).schema.fields
        return [Column(field.name, field.dataType.simpleString(), kind_of(field.dataType)) for field in fields]

    def check_expression(self, expression: str, source: Source, argument: str) -> None:
        subject = f"{argument} must be one SQL expression over the columns of {source.label}"
        if not isinstance(expression, str) or not expression.strip():
            raise InputError(f"{subject}, not {expression!r}")
        query = self.renderer.dialect.query(expression)
        try:
            whole = self.names(self.renderer.statement("expression_of", source.relation, query))
            self.names(self.renderer.statement("empty", self.renderer.fragment("sliced", source.relation, query)))
        except DatabaseError as error:
            if "[UNSUPPORTED_GENERATOR" in str(error.__cause__):
                raise self.makes_rows(expression, argument) from None
            if re.search(r"\[(MISSING_GROUP_BY|MISSING_AGGREGATION)", str(error.__cause__)):
                raise self.is_aggregate(expression, argument) from None
            raise InputError(f"{subject}: {error}") from None
        if len(whole) != 1:
            raise InputError(f"{subject}, not {expression!r}")

    def check_pattern(self, pattern: str) -> None:
        if pattern == LETTERS_AND_DIGITS:  # which has a macro of its own (sql/macros/spark/tokens.sql)
            return
        try:
            self.ask("matches_pattern", pattern)
        except DatabaseError:
            raise InputError(f"pattern {pattern!r} is not one that Java understands") from None


def on_spark(engine: Engine, what: str) -> Spark:
    """The engine, if it is Spark.

    Raises:
        NotSupportedError: it is another.
    """
    if isinstance(engine, Spark):
        return engine
    raise NotSupportedError(f"{what} is not available on {engine.title}; it is on Spark")


def one_line(error: Exception) -> str:
    """What Spark says, without its picture of the statement and without traces."""
    said = str(error.java_exception if isinstance(error, Py4JJavaError) else error).strip()
    if "stopped SparkContext" in said or (isinstance(error, Py4JError) and not isinstance(error, Py4JJavaError)):
        return _STOPPED
    if "INVALID_TEMP_OBJ_REFERENCE" in said:
        ends = "a temporary view, a DataFrame or a transient model"
        return f"a view cannot read what ends with this session, {ends}; use create_table"
    line = re.split(r"\n|SQLSTATE:", said)[0]
    return " ".join(re.sub(r"^\[[A-Z0-9_.]+\] ", "", line).split()) or type(error).__name__
