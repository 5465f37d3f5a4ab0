"""Writes the rows of a query to a file atomically."""

import errno
import os
import select
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from nbsql.cli.session import end_progress
from nbsql.cli.terminal import write_bytes
from nbsql.engines.duckdb.engine import DuckDB
from nbsql.engines.engine import Engine
from nbsql.engines.output import output_file
from nbsql.engines.source import Source
from nbsql.errors import DatabaseError

FORMATS = ("csv", "json", "jsonl", "parquet")
_ENDINGS = {".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


def format_of(chosen: str | None, output: str | None) -> str:
    """The chosen format, or that of the file's ending, or a table for the terminal."""
    if output is None:
        if chosen == "parquet":
            raise click.UsageError("parquet needs a file: --output FILE")
        return chosen or "table"
    if chosen == "table":
        raise click.UsageError("a table is for the terminal; choose another --format for a file")
    endings = [suffix.lower() for suffix in Path(output).suffixes[-2:]]
    known = [_ENDINGS[ending] for ending in endings if ending in _ENDINGS]
    if chosen is None and not known:
        raise click.UsageError(f"no format ends like {Path(output).name!r}; name one with --format")
    return chosen or known[0]


def write(engine: Engine, query: str, file_format: str, output: str | None, *sources: Source | None) -> None:
    """Write the rows of a query on some sources to the file `output`, or to stdout."""
    if output is None:
        stream(engine, [query], file_format)
        return
    with output_file(output, engine.files([each.relation for each in sources if each is not None])) as draft:
        engine.write(query, str(draft), file_format)


def is_piped() -> bool:
    """Whether another program reads what is printed."""
    try:
        return stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError, AttributeError):  # stdout is not a file
        return False


def stream(engine: Engine, queries: Sequence[str], file_format: str) -> None:
    """Write the rows of several queries with the same columns to stdout, one query after the other.

    Raises BrokenPipeError if the reader closed the pipe; the running query was then stopped.
    """
    with tempfile.TemporaryDirectory() as folder, _stop_with_reader(engine) as has_gone:
        for position, query in enumerate(queries):
            file = Path(folder) / f"{position}.{file_format}"
            try:
                engine.write(query, str(file), file_format)
            except DatabaseError:
                if has_gone():
                    raise BrokenPipeError(errno.EPIPE, "the reader has gone") from None
                raise
            end_progress(engine)
            with file.open("rb") as rows:
                if position and file_format == "csv":
                    rows.readline()  # the header, which contains no line breaks
                while part := rows.read(1 << 20):
                    write_bytes(part)
            file.unlink()


@contextmanager
def _stop_with_reader(engine: Engine) -> Iterator[Callable[[], bool]]:
    """Stop the running query when the reader of stdout closes the pipe: poll reports it at once, a write only later."""
    if not (is_piped() and isinstance(engine, DuckDB) and hasattr(select, "poll")):  # which Windows lacks, for example
        yield lambda: False
        return
    gone, over = threading.Event(), threading.Event()
    connection, descriptor = engine.connection, sys.stdout.fileno()

    def wait() -> None:
        poll = select.poll()
        poll.register(descriptor, select.POLLERR)
        while not over.is_set():
            if poll.poll(50):
                gone.set()
                connection.interrupt()
                over.wait(0.05)  # a statement that began in the meantime must end, too

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    try:
        yield gone.is_set
    finally:
        over.set()
        waiting.join()
