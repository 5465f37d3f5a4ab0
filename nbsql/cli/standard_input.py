"""Standard input as a source, `-`. It is stored in a temporary file, because a fit reads its rows more than once."""

import re
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError

NAME = "-"
LABEL = "standard input"
_BLOCK = 1 << 20
_SPOOLED_IN_SOURCE = re.compile(r"(?<=FROM read_)(csv|json)\('[^']*nbsql-\w+[/\\]rows\.\w+'")
_SPOOLED = re.compile(r"'?[^\s']*nbsql-\w+[/\\]rows\.\w+'?")  # the path of the temporary file in a message


def spool(engine: Engine) -> Source:
    """The rows of standard input as a source: CSV, JSON (a list, or one object a line) or Parquet.

    Raises InputError if standard input is empty or a terminal, or if the engine cannot read files.
    """
    if engine.title != "DuckDB":
        raise InputError(f"standard input is a source on DuckDB alone; on {engine.title} load it into a table first")
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError("standard input is a terminal; pipe rows into it, as CSV or JSON: cat new.csv | nbsql ...")
    stream = sys.stdin.buffer
    first = stream.read(_BLOCK)
    if not first.strip():
        raise InputError("standard input is empty; pipe rows into it, as CSV or JSON: cat new.csv | nbsql ...")
    folder = tempfile.TemporaryDirectory(prefix="nbsql-")
    click.get_current_context().find_root().call_on_close(folder.cleanup)
    path = Path(folder.name) / f"rows.{_file_ending(first)}"
    with path.open("wb") as file:
        file.write(first)
        shutil.copyfileobj(stream, file, _BLOCK)
    found = engine.source(str(path))
    return Source(found.relation, LABEL, found.columns, as_texts=found.as_texts)


def with_label(message: str) -> str:
    """A message in which standard input is named as such, not by its temporary file."""
    saved = _SPOOLED_IN_SOURCE.sub(r"\1('saved.\1'", message)
    if saved != message:
        saved = re.sub("; (read it|read all|say which)", r"; save it as a file and \1", saved, count=1)
    return _SPOOLED.sub(LABEL, saved)


def _file_ending(first: bytes) -> str:
    """The file ending of the format that begins with these bytes."""
    if first.startswith(b"PAR1"):
        return "parquet"
    return "json" if first.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else "csv"


class ReadsStandardInput(Engine):
    """A mixin for engines that accepts standard input, `-`, as a source."""

    _spooled: Source | None = None

    def source(self, source: Any) -> Source:
        """The source that the user names, which may be standard input."""
        source = NAME if isinstance(source, str) and source in ("/dev/stdin", "/dev/fd/0") else source
        if isinstance(source, str) and len(source) < 256 and Path(source).is_fifo():  # such as <(...) of a shell
            raise InputError(f"{source!r} is a pipe, and a source is read more than once; name standard input, {NAME}, instead")
        if source != NAME:
            return super().source(source)
        if self._spooled is None:
            self._spooled = spool(self)
        return self._spooled

    def files(self, relations: Iterable[Markup]) -> list[str]:
        """The paths of the files that relations are read from; standard input may be a file, too."""
        return super().files(relations) + ([] if self._spooled is None else ["/dev/stdin"])
