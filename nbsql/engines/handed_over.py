"""Sources that other libraries hand over: a wrapped frame, a query of the same connection, or a stream that is read once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nbsql.errors import InputError

if TYPE_CHECKING:
    import pyarrow

# Of these, DuckDB reads the objects themselves, as often as it likes.
_READ_AGAIN = ("pandas", "polars", "pyarrow", "duckdb", "_duckdb", "numpy")


def _library(source: object) -> str:
    return type(source).__module__.split(".")[0]


def unwrap(source: Any, is_on: Callable[[object], bool]) -> Any:
    """What a frame of narwhals wraps; the SQL of a table of ibis, if it is of this very connection; else the source itself."""
    while _library(source) == "narwhals" and hasattr(source, "to_native"):
        source = source.to_native()
    if _library(source) != "ibis" or not hasattr(source, "get_backend"):
        return source
    import ibis
    from ibis.expr.operations import InMemoryTable

    try:
        backend = source.get_backend()
        if not is_on(getattr(backend, "con", None)) and not is_on(getattr(backend, "_session", None)):
            return source
        if source.op().find(InMemoryTable):  # which the database has only while ibis runs the query
            return source
        return str(ibis.to_sql(source, dialect=backend.name))
    except Exception as error:  # of whichever backend
        raise InputError(f"the {type(source).__name__} of ibis has no SQL ({_first_line(error)}); pass its rows") from None


def is_stream(source: object) -> bool:
    """Whether a source may be such that it can be read but once."""
    if type(source).__name__ == "RecordBatchReader":
        return True
    return hasattr(source, "__arrow_c_stream__") and _library(source) not in _READ_AGAIN


def read_whole(source: Any) -> pyarrow.Table:
    """The rows of a stream of Arrow's, read once and held, because a fit reads them several times.

    Raises:
        InputError: it cannot be read, or was read before.
    """
    kind = type(source).__name__
    try:
        import pyarrow
    except ImportError:
        raise InputError(f"a {kind} is read by pyarrow: pip install 'nbsql[frames]'") from None
    try:
        reader = source if isinstance(source, pyarrow.RecordBatchReader) else pyarrow.RecordBatchReader.from_stream(source)
        table = reader.read_all()
    except Exception as error:  # of whichever library fills the stream
        raise InputError(f"the {kind} cannot be read: {_first_line(error)}") from None
    if not table.num_rows and not table.to_batches() and _library(source) != "ibis":
        raise InputError(f"the {kind} has no rows left: it can be read once; pass what it reads from, or reader.read_all()")
    return table


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__
