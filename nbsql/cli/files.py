"""Writes the rows of a query as a file, whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import click

from nbsql.cli.session import discard, still
from nbsql.engines.engine import Engine
from nbsql.errors import DatabaseError

FORMATS = ("csv", "json", "jsonl", "parquet")
_ENDINGS = {".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


def format_of(chosen: str | None, output: str | None) -> str:
    """The format of the answer: as chosen, or as the file's name says, or a table for the terminal."""
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


def write(engine: Engine, query: str, file_format: str, output: str | None) -> None:
    """Write the rows to the file `output`, or to stdout."""
    if output is None:
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / f"answer.{file_format}")
            _copy(engine, query, file, file_format)
            still(engine)
            with Path(file).open("rb") as rows:
                shutil.copyfileobj(rows, sys.stdout.buffer)
        return
    # Written beside its place and moved there, so that nobody finds half a file. The ending stays: it says what to compress.
    target = Path(output)
    part = str(target.with_name(f".{os.getpid()}.{target.name}"))
    try:
        _copy(engine, query, part, file_format)
        Path(part).replace(target)
    except OSError as error:
        raise DatabaseError(f"cannot write {output!r}: {error.strerror}") from error
    except DatabaseError as error:
        raise DatabaseError(str(error).replace(part, output)) from error.__cause__
    finally:
        discard(part)


def _copy(engine: Engine, query: str, file: str, file_format: str) -> None:
    engine.write(query, file, file_format)
