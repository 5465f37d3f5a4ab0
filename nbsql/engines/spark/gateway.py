"""What only Spark's own process knows: classic sessions are asked through py4j, those of Spark Connect through its protocol."""

import re
from contextlib import suppress
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from nbsql.errors import InputError
from nbsql.plan.parts import PUBLISHED

try:
    from py4j.protocol import Py4JError as Py4JError
    from py4j.protocol import Py4JJavaError as Py4JJavaError
except ImportError:  # the package pyspark-client, which only connects, comes without it

    class Py4JError(Exception):  # type: ignore[no-redef]
        """Never raised where py4j is not installed."""

    class Py4JJavaError(Py4JError):  # type: ignore[no-redef,misc]
        """Never raised where py4j is not installed."""

        java_exception: object


ERRORS = (PySparkException, Py4JError, ConnectionError)
GONE = (*ERRORS, AttributeError, OSError)  # of a session that is stopped
_UNKNOWN_SIZE = 2**63 - 1  # bytes, as Spark takes a relation to have whose size it does not know
# In a union Spark confuses the columns of checkpoints that keep constraints on them, and fails.
_CUT_OFF = {"spark.sql.constraintPropagation.enabled": "false"}
# What reads a model and no rows runs sooner than it is compiled. In one partition nothing need be shuffled or broadcast, which
# would be jobs of their own, as the stages of adaptive plans are.
_SMALL = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.shuffle.partitions": "1",
}
_MOST_LITERALS = 10_000  # rows of a query's own
_MOST_BYTES = 1_000_000  # of the files of a table
PUBLISHED_TABLE = re.compile(rf"({'|'.join(PUBLISHED)})_([0-9]+)")  # a table of a model (catalog.py)
_SINGLE = "nbsql: rows in one partition"  # the name of a checkpoint


def gateway_of(session: Any) -> "Classic | Connect":
    """The gateway of a session. Raises InputError for what is none."""
    if type(session).__name__ == "SparkSession" and type(session).__module__ == "pyspark.sql.connect.session":
        return Connect(session)
    if type(session).__name__ == "SparkSession" and type(session).__module__ == "pyspark.sql.session":
        return Classic(session)
    raise InputError(f"con must be a SparkSession, not {type(session).__module__}.{type(session).__name__}")


class Classic:
    """A session beside its virtual machine, whose objects py4j reaches."""

    def __init__(self, session: Any) -> None:
        self.session = session
        self._copies: dict[tuple[bool, int], Any] = {}

    def is_stopped(self) -> bool:
        """Whether no statement can run any more."""
        context = self.session.sparkContext._jsc
        return context is None or bool(context.sc().isStopped())

    def owns(self, frame: DataFrame) -> bool:
        """Whether a DataFrame is of this session."""
        return bool(frame.sparkSession._jsparkSession == self.session._jsparkSession)  # several objects may stand for one

    def may_have(self, name: str) -> bool:  # noqa: ARG002
        """Whether a relation may be there. It is asked for, which says so at no cost."""
        return True

    def keep_view(self, name: str) -> DataFrame:
        """A temporary view as it is now, for the time when another has its name."""
        frame: DataFrame = self.session.table(name)
        return frame

    def forget_view(self, name: str) -> None:
        """Drop what `keep_view` has kept of a temporary view: nothing."""

    def cut_off(self, rows: DataFrame) -> DataFrame:
        """The rows as they are now, checkpointed, without their estimated size in bytes where 64 bits do not hold it.

        A checkpoint keeps the estimate of its query, and a join multiplies those of its sides. In a search whose every step
        joins the step before with itself, the estimate has several times the digits at each step, until they fill the memory.

        Of a single partition Spark is told that it is one, so that it groups, sorts and numbers the rows without a shuffle.
        """
        session = self._copy(is_small=self._is_small(rows))
        kept = self._in_session(session, rows).localCheckpoint()
        plan, is_sized = kept._jdf.queryExecution().analyzed(), False
        with suppress(ValueError):  # of more digits than Python reads
            is_sized = plan.stats().sizeInBytes() < _UNKNOWN_SIZE
        if is_sized:
            kept = self._in_session(self.session._jsparkSession, kept)
        else:
            unsized = self.session._jsparkSession.internalCreateDataFrame(plan.rdd(), kept._jdf.schema(), False)
            kept = DataFrame(unsized, self.session)
        if plan.rdd().getNumPartitions() > 1:
            return kept
        plan.rdd().setName(_SINGLE)
        return kept.coalesce(1)

    def lean(self, rows: DataFrame) -> DataFrame:
        """The same rows, planned for little work if the query reads tables of a model only; to be collected."""
        return self._in_session(self._copy(is_small=True), rows) if self._is_small(rows) else rows

    def _copy(self, *, is_small: bool) -> Any:
        """A copy of the session with settings of ours, as the user may be running queries in the session at the same time."""
        original: Any = self.session._jsparkSession
        key = is_small, original.conf().getAll().hashCode()
        if key not in self._copies:
            self._copies[key] = original.cloneSession()
            for name, value in {**_CUT_OFF, **(_SMALL if is_small else {})}.items():
                self._copies[key].conf().set(name, value)
        return self._copies[key]

    def _in_session(self, session: Any, rows: DataFrame) -> DataFrame:
        """The rows of a query that another session plans."""
        jvm: Any = self.session._jvm
        plan = rows._jdf.queryExecution().analyzed()
        return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(session, plan), self.session)

    def _is_small(self, rows: DataFrame) -> bool:
        """Whether a query reads only literals, small tables of models, and what was cut off in one partition."""
        jvm: Any = self.session._jvm
        as_list = jvm.scala.jdk.javaapi.CollectionConverters.asJava
        plan: Any = rows._jdf.queryExecution().analyzed()
        plans = [plan, *as_list(plan.subqueriesAll())]
        return all(_is_small_leaf(leaf) for each in plans for leaf in as_list(each.collectLeaves()))

    def is_scan(self, frame: DataFrame) -> bool:
        """Whether a DataFrame only reads Parquet or ORC files, or a cached table: columns of them, and the rows of a filter."""
        jvm: Any = self.session._jvm
        as_list = jvm.scala.jdk.javaapi.CollectionConverters.asJava
        plan: Any = frame._jdf.queryExecution().optimizedPlan()
        if not plan.deterministic():
            return False
        while (kind := plan.getClass().getSimpleName()) in ("Project", "Filter"):
            if kind == "Project" and not all(map(_is_column, as_list(plan.projectList()))):
                return False
            plan = plan.child()
        if kind != "LogicalRelation":
            return bool(kind == "InMemoryRelation")
        files = plan.relation()
        is_files = files.getClass().getSimpleName() == "HadoopFsRelation"
        return bool(is_files and files.fileFormat().toString() in ("Parquet", "ORC"))


def _is_small_leaf(leaf: Any) -> bool:
    kind = leaf.getClass().getSimpleName()
    if kind == "LogicalRDD":
        return bool(leaf.rdd().name() == _SINGLE)
    if kind == "LogicalRelation":
        table = leaf.catalogTable()
        is_published = table.isDefined() and PUBLISHED_TABLE.fullmatch(table.get().identifier().table())
        return bool(is_published and leaf.relation().sizeInBytes() <= _MOST_BYTES)
    if kind == "LocalRelation":
        return bool(leaf.data().size() <= _MOST_LITERALS)
    return kind in ("OneRowRelation", "CTERelationRef")


def _is_column(expression: Any) -> bool:
    """Whether an expression of a plan is a column, perhaps renamed or cast."""
    while (kind := expression.getClass().getSimpleName()) in ("Alias", "Cast"):
        expression = expression.child()
    return bool(kind == "AttributeReference")


class Connect:
    """A session of Spark Connect, which sends plans to a server and tells nothing of how they are carried out."""

    def __init__(self, session: Any) -> None:
        self.session = session

    def is_stopped(self) -> bool:
        return bool(self.session.is_stopped)

    def owns(self, frame: DataFrame) -> bool:
        return self._number(frame.sparkSession) == self._number(self.session)

    @staticmethod
    def _number(session: Any) -> str:
        return str(session.session_id)

    def may_have(self, name: str) -> bool:
        return bool(self.session.catalog.tableExists(name))  # the server would log a trace of forty lines for what is not there

    def keep_view(self, name: str) -> DataFrame:
        kept = _before(name)  # a frame of a name reads what has the name when it runs; a view has what it was made of
        self.session.table(name).createOrReplaceTempView(kept)
        frame: DataFrame = self.session.table(kept)
        return frame

    def forget_view(self, name: str) -> None:
        self.session.catalog.dropTempView(_before(name).strip("`"))

    def cut_off(self, rows: DataFrame) -> DataFrame:
        """The rows, sent here and back: they have the size of a model, and a server forgets a checkpoint that nobody holds."""
        frame: DataFrame = self.session.createDataFrame(rows.toArrow(), rows.schema)  # none follows from no rows
        return frame

    def lean(self, rows: DataFrame) -> DataFrame:
        return rows

    def is_scan(self, frame: DataFrame) -> bool:  # noqa: ARG002
        """Never known: what is no table of the catalogue is copied first."""
        return False


def _before(name: str) -> str:
    return f"{name[:-1]} before`"
