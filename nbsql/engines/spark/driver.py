"""The driver of Spark: runs statements in a session, with its substitute for transactions and its errors."""

import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import duckdb
from markupsafe import Markup
from pyspark.errors import AnalysisException
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession

from nbsql.engines.duckdb.engine import DuckDB
from nbsql.engines.engine import Engine
from nbsql.engines.runner import FOLLOW, MATRICES_IN_SQL, Runner
from nbsql.engines.spark.gateway import ERRORS, GONE, Py4JError, Py4JJavaError, gateway_of
from nbsql.engines.turn import turn_of
from nbsql.errors import DatabaseError
from nbsql.plan import Solved, Statement
from nbsql.rendering.renderer import Renderer
from nbsql.spec.spec import Feature

_LEAST_VERSION = 4
_STOPPED = "the Spark session is stopped; make another with SparkSession.builder.getOrCreate()"
_RAISED = re.compile(r"Traceback \(most recent call last\):\n(?:\s.*\n)*(\S.*)")  # the error of a Python function
_LOST = re.compile(r"ExecutorLostFailure|java\.lang\.OutOfMemoryError|SparkOutOfMemoryError|FetchFailed|MetadataFetchFailed")
_LOST_CURE = (
    "Spark ran out of memory or lost an executor; start the session with more, "
    "spark.driver.memory or spark.executor.memory (8g, say), or fit fewer features or rows"
)
# Of a server of Spark Connect: what it no longer knows.
_ENDED = re.compile(r"INVALID_HANDLE\.(SESSION|OPERATION)_(?!ALREADY)")
_ENDED_CURES = {
    "SESSION": "the server of Spark Connect has ended this session; make another, SparkSession.builder.remote(...).create()",
    "OPERATION": "the server of Spark Connect gave the statement up, as its answer was not fetched in time; try again, or "
    "start the server with a larger spark.connect.execute.manager.detachedTimeout (1h, say)",
}
_ANSWER = re.compile(r'status = StatusCode\.(\w+)\s+details = "([^"\n]*)')  # of a server of Spark Connect, or of its connection
# Settings that statements need as they are by default, and what another value does.
_NEEDED = {
    "spark.sql.parser.escapedStringLiterals": ("false", "changes what texts say"),
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": ("false", "makes decimals of numbers such as 1e300"),
    "spark.sql.ansi.enforceReservedKeywords": ("false", "reserves words that are names of columns"),
    "spark.sql.crossJoin.enabled": ("true", "refuses joins with one row"),
    "spark.sql.parser.quotedRegexColumnNames": ("false", "reads names of columns as patterns"),
    "spark.sql.legacy.ctePrecedencePolicy": ("corrected", "confuses queries that have one name"),
}
# A statement that creates, changes or drops a temporary relation: its first line, and the query that may follow.
_TEMPORARY = re.compile(r"([A-Z]+) [A-Z ]+ (`nbsql (?:[^`]|``)*`)(?: AS)?(?:\n|$)")
# Tables of rows, which may be large; all other temporary tables have the size of a model.
_STAGED = (" source`", " design`", " rows`", " sample`", " distances`")

_LIKELIHOODS = (
    "class string, feature string, value string, unseen boolean, likelihood double, log_likelihood double, score double, "
    "mean double, variance double, rate double"
)

# pyspark logs a JVM trace of every error; those that become errors of nbsql are not logged, and the user's own are.
_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


for _name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
    PySparkLogger.getLogger(_name).addFilter(lambda _: not _quiet.get())


class SparkDriver(Engine):
    """A session of Spark, in which statements run."""

    title = "Spark"
    drafts = True
    unsupported = frozenset(["auto", FOLLOW, MATRICES_IN_SQL, "predict_one", "predict_one_sql"])

    def __init__(self, session: SparkSession) -> None:
        self.gateway = gateway_of(session)
        self.renderer = Renderer("spark")
        self.session = session
        self._before: dict[str, DataFrame | None] | None = None  # the state before a transaction of what it changed
        if self.gateway.is_stopped():
            raise DatabaseError(_STOPPED)
        if int(session.version.split(".")[0]) < _LEAST_VERSION:
            raise DatabaseError(f"this session is Spark {session.version}; nbsql needs {_LEAST_VERSION}.0 or later")
        for name, (usual, reason) in _NEEDED.items():
            if (set_to := str(self.session.conf.get(name, usual)).lower()) != usual:
                raise DatabaseError(f"{name} is {set_to} in this session, which {reason}; set it to {usual}")
        self.exact = str(session.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"

    def close(self) -> None:
        """Do nothing: the session is the user's."""

    @contextmanager
    def turn(self) -> Iterator[None]:
        """No turn, as any number of threads use a session at once; at its end, what nobody holds is dropped."""
        yield
        turn_of(self.session).free(after_statement=True)

    @staticmethod
    def _drop_released(connection: Any, drops: Callable[[], Sequence[str]], after_statement: bool) -> bool:  # noqa: ARG004
        with suppress(*GONE):
            for statement in drops():
                connection.sql(statement)
        return True

    def _send(self, sql: str) -> list[tuple[Any, ...]]:
        with self.errors():
            return [tuple(row) for row in self.gateway.lean(self.session.sql(sql)).collect()]

    def run(self, name: str, sql: str) -> None:
        """Run a statement for its effect.

        Spark recomputes a cached query whenever one of its sources has changed. A table of a model must not change in this way,
        so it is cut off from its sources, and not cached. Inserting into it creates it anew.

        A cached table of rows keeps its plan. Spark would read its text again at each use, and give `rand()` another seed.
        """
        made = _TEMPORARY.match(sql)
        if made is not None and self._before is not None and made[2] not in self._before:
            self._before[made[2]] = self._table(made[2])
        if made is None or made[1] not in ("CACHE", "INSERT"):
            super().run(name, sql)
            return
        self.announce(name)
        with self.timed(name), self.errors():
            rows = self.session.sql(sql[made.end() :])
            if made[2].endswith(_STAGED):
                rows.createOrReplaceTempView(made[2])
                self.session.sql(sql[: made.end(2)])
                return
            if made[1] == "INSERT":
                rows = self.session.table(made[2]).unionAll(rows)
            select = constants(self.renderer, self.gateway.lean(rows)) if made[2].endswith(" parameters`") else None
            if select is not None:
                self.session.sql(self.renderer.statement("create_view_as", Markup(made[2]), select, temporary=True))  # noqa: S704
                return
            self.gateway.cut_off(rows).createOrReplaceTempView(made[2])

    def run_all(self, statements: Iterable[Statement]) -> None:
        for statement in statements:
            if isinstance(statement, Solved):
                self._solve(statement)
            else:
                self.run(statement.name, statement.sql)

    def _solve(self, statement: Solved) -> None:
        self.announce(statement.name)
        engine, cells = self._beside(statement.sql)
        query = engine.renderer.statement("likelihoods_of_matrices", cells, statement.features)
        with self.timed(statement.name), self.errors():
            rows = self.session.createDataFrame(engine.arrow(query), _LIKELIHOODS)
            rows.createOrReplaceTempView(str(statement.relation))
        if self._before is not None:
            self._before.setdefault(str(statement.relation), None)

    def solver(self, statistics: Markup, features: Sequence[Feature]) -> tuple[Runner, Markup]:
        return self._beside(self.renderer.statement("cells_to_solve", statistics, features))

    def _beside(self, query: str) -> tuple[DuckDB, Markup]:
        """A database in this process with the rows of a query as its table `cells`."""
        with self.timed("cells to solve"), self.errors():
            rows = self.gateway.lean(self.session.sql(query)).toArrow()
        engine = DuckDB(duckdb.connect())
        engine.connection.register("cells", rows)
        return engine, engine.renderer.dialect.ident("cells")

    @contextmanager
    def errors(self) -> Iterator[None]:
        quiet = _quiet.set(True)
        try:
            yield
        except ERRORS as error:
            # The frames of pyspark and the error refer to each other, and would keep the query alive, with its view of a frame.
            traceback.clear_frames(error.__traceback__)
            raise DatabaseError(one_line(error)) from error
        except AttributeError as error:  # pyspark's own: its context has lost the virtual machine
            if not self.gateway.is_stopped():
                raise
            raise DatabaseError(_STOPPED) from error
        finally:
            _quiet.reset(quiet)

    @contextmanager
    def _transaction(self, writes: str | None) -> Iterator[None]:  # noqa: ARG002
        """Restore the session after an error.

        Spark has no transactions: a model is built in the session and published when it is complete (nbsql/storage/drafts.py).
        """
        if self._before is not None:
            yield
            return
        self._before = {}
        try:
            yield
        except BaseException:
            for name, before in self._before.items():
                with suppress(*GONE):
                    if before is None:
                        self.session.catalog.dropTempView(name.strip("`"))
                    else:
                        before.createOrReplaceTempView(name)
            raise
        finally:
            with suppress(*GONE):
                for name, before in self._before.items():
                    if before is not None:
                        self.gateway.forget_view(name)
            self._before = None

    def _table(self, name: str) -> DataFrame | None:
        try:
            return self.gateway.keep_view(name)
        except AnalysisException as error:
            traceback.clear_frames(error.__traceback__)  # as in `errors`
            return None

    def dataframe(self, sql: str) -> DataFrame:
        """A query as a Spark DataFrame."""
        with self.errors():
            frame = self.session.sql(sql)
            _ = frame.columns  # Spark Connect looks at a query only when it is asked about it
        return frame


def one_line(error: Exception) -> str:
    """Spark's message in one line, without the excerpt of the statement and without traces."""
    said = str(error.java_exception if isinstance(error, Py4JJavaError) else error).strip()
    if re.search("stopped SparkContext|SparkContext was shut down", said) or isinstance(error, ConnectionError):
        return _STOPPED
    if isinstance(error, Py4JError) and not isinstance(error, Py4JJavaError):
        return _STOPPED
    if "INVALID_TEMP_OBJ_REFERENCE" in said:
        ends = "a temporary view, a DataFrame or a transient model"
        return f"a view cannot read what ends with this session, {ends}; use create_table"
    if raised := _RAISED.search(said):
        return f"a Python function in the query raised {raised[1]}"
    if _LOST.search(said):
        return _LOST_CURE
    if ended := _ENDED.search(said):
        return _ENDED_CURES[ended[1]]
    if answer := _ANSWER.search(said):
        gone = "Spark Connect does not answer; start its server, and make another session"
        return gone if answer[1] == "UNAVAILABLE" else f"Spark Connect answers {answer[1]}: {answer[2]}"
    line = re.split(r"\n|SQLSTATE:", said)[0]
    return " ".join(re.sub(r"^([\w.]+: |\([\w.]+\) )?\[[A-Z0-9_.]+\] ", "", line).split()) or type(error).__name__


# The types of columns whose literals do not depend on the settings of the session.
_LITERAL = ("string", "double", "bigint", "int", "smallint", "tinyint", "boolean", "date", "timestamp_ntz")


def constants(renderer: Renderer, rows: DataFrame) -> Markup | None:
    """A SELECT of constants with the values of a relation of one row, which is computed here: Spark would join a table.

    None if there is not exactly one row, or if a column has a type without literals.
    """
    fields = rows.schema.fields
    types = [field.dataType.simpleString() for field in fields]
    if not all(kind in _LITERAL for kind in types):
        return None
    found = rows.take(2)
    if len(found) != 1:
        return None
    values = zip(fields, types, found[0], strict=True)
    columns = [(field.name, kind, *_digits(kind, value)) for field, kind, value in values]
    return renderer.fragment("constant_row", columns)


def _digits(kind: str, value: Any) -> tuple[Any, bool]:
    """A value in the form that a gate accepts, and whether that is the gate for numbers."""
    if value is None:
        return None, False
    if kind == "double" and abs(value) < float("inf"):  # false for NaN, too
        return value, True
    return str(value), False
