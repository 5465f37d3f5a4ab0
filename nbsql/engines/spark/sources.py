"""Resolves sources on Spark (tables, views, queries and DataFrames) and describes their columns."""

import re
from contextlib import suppress
from typing import Any

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, types

from nbsql.engines.source import COMMENTS, Source, check_distinct, file_hint, split_path
from nbsql.engines.spark.driver import SparkDriver
from nbsql.engines.spark.gateway import GONE
from nbsql.errors import DatabaseError, InputError, listed, suggestion

_SELECT = re.compile(rf"{COMMENTS}\(*{COMMENTS}(select|with|values|table|from)\b", re.IGNORECASE | re.DOTALL)
_WHOLE = (types.ByteType, types.ShortType, types.IntegerType, types.LongType, types.NullType)
_TEMPORAL = (types.DateType, types.TimestampType, types.TimestampNTZType, types.AnsiIntervalType)


def kind_of(kind: types.DataType) -> str:
    """The kind of a type; see `Column.kind`."""
    if isinstance(kind, (types.StringType, types.CharType, types.VarcharType)):
        return "text"
    if isinstance(kind, types.BooleanType):
        return "boolean"
    if isinstance(kind, _WHOLE):  # also a column that has only NULL
        return "integer"
    if isinstance(kind, (types.FloatType, types.DoubleType)):
        return "float"
    if isinstance(kind, types.DecimalType):
        return "decimal"
    if isinstance(kind, _TEMPORAL) or kind.typeName().startswith("time"):
        return "temporal"
    if isinstance(kind, types.ArrayType) and kind_of(kind.elementType) == "text":
        return "tokens"
    if isinstance(kind, types.MapType) and kind_of(kind.keyType) == "text":
        return "token counts" if kind_of(kind.valueType) in ("integer", "float", "decimal") else "other"
    return "other"


def find(engine: SparkDriver, source: Any) -> Source:
    """The source that the user names or passes.

    Raises InputError if the text is neither a table or view nor one SELECT, or the DataFrame is of another session.
    """
    if isinstance(source, DataFrame):
        return _frame(engine, source)
    if not isinstance(source, str):
        raise InputError(
            f"a source is a table, a view, a SELECT or a Spark DataFrame on Spark, not {type(source).__name__}; "
            "make a DataFrame of it with spark.createDataFrame"
        )
    dialect = engine.renderer.dialect
    for path in filter(None, ([source], split_path(source.replace("`", '"')))):
        if (found := _table(engine, path, source)) is not None:
            return found
    query = source.strip().rstrip(";").rstrip()
    selects = _SELECT.match(query) is not None
    if selects:
        relation = engine.renderer.fragment("subquery", dialect.query(query + "\n"))  # the query may end in a comment
        try:
            return engine.described(
                Source(relation, "the query", [], rereads=lambda: engine.gateway.is_scan(engine.dataframe(query)))
            )
        except DatabaseError as error:
            raise InputError(f"the query cannot be read: {error}") from None
    names = sorted(name for catalog, schema, name, _ in engine.query_macro("relations") if not name.startswith("nbsql "))
    if len(query.split()) > 1 and not suggestion(source, names):
        raise InputError(f"a source is a table, a view or one SELECT, not {source!r}")
    hint = (
        file_hint(source)
        or suggestion(source, names)
        or (f"; there are {listed(names)}" if names else "; there are no tables yet")
    )
    raise InputError(f"no table or view {source!r}{hint}")


def _table(engine: SparkDriver, path: list[str], label: str) -> Source | None:
    """The table or view at a path; None if there is none. Its own path is full; that of a temporary view, its name alone."""
    try:
        relation = engine.renderer.dialect.ident(*path)
        if not engine.gateway.may_have(str(relation)):
            return None
        frame = engine.session.table(str(relation))
        _ = frame.columns  # Spark Connect looks for a table only when it is asked about it
    except (AnalysisException, InputError):
        return None
    full, is_quick = tuple(path), False  # to read again, at no more than the cost of a scan
    with suppress(PySparkException):  # the catalog cannot tell
        table = engine.session.catalog.getTable(str(relation))
        catalog = [table.catalog] if len(path) > 2 and table.catalog else []
        full = (table.name,) if table.isTemporary else (*catalog, *(table.namespace or path[:-1]), table.name)
        is_quick = table.tableType in ("MANAGED", "EXTERNAL") or engine.session.catalog.isCached(str(relation))
    found = Source(relation, label, [], rereads=is_quick or engine.gateway.is_scan(frame))
    found.path = full
    return engine.described(found)


def _frame(engine: SparkDriver, frame: DataFrame) -> Source:
    if not engine.gateway.owns(frame):
        raise InputError("the DataFrame is of another session; pass its own, frame.sparkSession, as con")
    if frame.isStreaming:
        raise InputError("the DataFrame is a stream; a model reads rows that have an end: write it to a table first")
    check_distinct(frame.columns, "the DataFrame")
    relation = engine.renderer.dialect.ident(engine.transient_name())
    with engine.errors():
        frame.createOrReplaceTempView(str(relation))

    def release() -> None:
        try:
            engine.session.catalog.dropTempView(str(relation).strip("`"))
        except GONE:  # the session is stopped
            return

    return engine.described(
        Source(relation, "the DataFrame", [], rereads=frame.is_cached or engine.gateway.is_scan(frame), release=release)
    )
