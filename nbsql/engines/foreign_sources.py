"""Sources from other libraries: wrapped frames, queries on the same connection, and streams that can be read only once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from nbsql.errors import InputError

if TYPE_CHECKING:
    import pyarrow

_FRAMES = ("pandas", "pandas.core.frame", "polars.dataframe.frame")
_READ_AGAIN = ("pandas", "polars", "pyarrow", "duckdb", "_duckdb", "numpy")
_CONVERSIONS = ("to_arrow", "to_dataframe", "to_pandas", "toArrow", "toPandas", "compute")  # the first that a frame has is said


def _library(source: object) -> str:
    return type(source).__module__.split(".")[0]


def reads_again(source: object) -> bool:
    """Whether it is an object that DuckDB reads directly, as often as it needs to."""
    return _library(source) in _READ_AGAIN


def is_array(source: object) -> bool:
    """Whether it is an array of numpy, which may be masked, or of another class that extends it."""
    return any(each.__name__ == "ndarray" for each in type(source).__mro__)


def column_names(source: Any) -> list[Any]:
    """The names of the columns of a frame, a dataset or a relation, of which none is run; none for other sources.

    Raises InputError if it reads what has gone, such as a table or a file.
    """
    try:
        if type(source).__name__ == "LazyFrame":
            return list(source.collect_schema().names())
        schema = getattr(source, "projected_schema", getattr(source, "schema", None))  # of a scanner, or of a dataset
        names = (getattr(source, "column_names", None), getattr(source, "columns", None), getattr(schema, "names", None))
    except Exception as error:  # each library has its own exceptions
        raise InputError(f"the {type(source).__name__} cannot be read: {_first_line(error)}") from None
    return list(next((each for each in names if isinstance(each, Iterable)), ()))


def unwrap(source: Any, connection: object) -> Any:
    """The frame within a narwhals frame; the SQL of an ibis table on this connection; or else the source itself.

    A frame of a class that extends pandas' or Polars' is one of theirs: as a stream of Arrow, its index would be a column.
    Raises InputError for a frame of a library that neither nbsql nor the connection knows.
    """
    while _library(source) == "narwhals" and hasattr(source, "to_native"):
        source = source.to_native()
    if not reads_again(source):
        base = next(
            (each for each in type(source).__mro__ if each.__name__ == "DataFrame" and each.__module__ in _FRAMES), None
        )
        source = source if base is None else base(source)
    if _library(source) != "ibis" or not hasattr(source, "get_backend"):
        _check_library(source, connection)
        return source
    import ibis
    from ibis.expr.operations import InMemoryTable

    try:
        backend = source.get_backend()
        if all(connection is not getattr(backend, name, None) for name in ("con", "_session")):
            return source
        if source.op().find(InMemoryTable):  # it exists in the database only while ibis runs the query
            return source
        return str(ibis.to_sql(source, dialect=backend.name))
    except Exception as error:  # each backend has its own exceptions
        raise InputError(f"the {type(source).__name__} of ibis has no SQL ({_first_line(error)}); pass its rows") from None


def _check_library(source: Any, connection: object) -> None:
    """Raise InputError for a frame that is not read, and says itself how it becomes one that is."""
    if reads_again(source) or is_stream(source) or _library(source) in ("nbsql", _library(connection)):
        return
    conversion = next((name for name in _CONVERSIONS if callable(getattr(type(source), name, None))), None)
    if conversion is not None:
        raise InputError(f"the {type(source).__name__} of {_library(source)} is not read; pass frame.{conversion}()")


def is_stream(source: object) -> bool:
    """Whether a source may be a stream that can be read only once."""
    if type(source).__name__ == "RecordBatchReader":
        return True
    return hasattr(source, "__arrow_c_stream__") and not reads_again(source)


def read_whole(source: Any) -> pyarrow.Table:
    """The rows of an Arrow stream, read once into memory, because a fit reads them several times.

    Raises InputError if the stream cannot be read, or has been read before.
    """
    kind = type(source).__name__
    try:
        import pyarrow
    except ImportError:
        raise InputError(f"a {kind} is read by pyarrow: pip install 'nbsql[frames]'") from None
    try:
        reader = source if isinstance(source, pyarrow.RecordBatchReader) else pyarrow.RecordBatchReader.from_stream(source)
        table = reader.read_all()
    except Exception as error:  # each library that fills a stream has its own exceptions
        raise InputError(f"the {kind} cannot be read: {_first_line(error)}") from None
    if not table.num_rows and not table.to_batches() and _library(source) != "ibis":
        raise InputError(f"the {kind} has no rows left: it can be read once; pass what it reads from, or reader.read_all()")
    return table


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__
