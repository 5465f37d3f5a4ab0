"""Opens databases for the commands: to read, to write, or to note down what would be run."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from nbsql.engines.duckdb import DuckDB
from nbsql.errors import DatabaseError, NbsqlWarning, suggestion

_MEMORY = ":memory:"
_SELECT = re.compile(r"\s*\(*\s*(select|from|with|values|table|pivot|unpivot)\b", re.IGNORECASE)


class Recorder(DuckDB):
    """Notes the statements that would change a database, and runs none of them."""

    def __init__(self, path: str) -> None:
        super().__init__(path, read_only=True)
        self.statements: list[str] = []

    def run(self, name: str, sql: str) -> None:
        """Note a statement."""
        self.statements.append(f"-- {name}\n{sql};")


@contextmanager
def reading(path: str) -> Iterator[DuckDB]:
    """A database opened to be read, so that others may read it meanwhile."""
    with working("open the database") as watch:
        engine = DuckDB(path, read_only=path != _MEMORY, watch=watch)
        try:
            yield engine
        finally:
            engine.close()


@contextmanager
def recording(path: str) -> Iterator[Recorder]:
    """A database of which to print what would be run."""
    engine = Recorder(path)
    try:
        yield engine
    finally:
        engine.close()


@contextmanager
def writing(path: str, *, create: bool = True) -> Iterator[DuckDB]:
    """A database opened to be written; one that was not there is taken away again if the work fails."""
    new = path != _MEMORY and not Path(path).exists()
    if new and not create:
        raise DatabaseError(f"no database {path!r}")
    with working("open the database") as watch:
        engine = DuckDB(path, watch=watch)
        try:
            yield engine
        except BaseException:
            engine.close()
            if new:
                discard(path)
            raise
        engine.close()


def discard(path: str) -> None:
    """Delete a database file that this process made."""
    for file in (path, f"{path}.wal"):
        with suppress(OSError):
            Path(file).unlink()


def check_new_database(path: str, source: str) -> None:
    """Raise unless there is a database at `path`, or `source` needs none: a new file has no tables to fit from.

    Raises:
        DatabaseError: a misspelt path, most likely.
    """
    if path == _MEMORY or Path(path).exists():
        return
    if _SELECT.match(source) or Path(source).suffix:
        return
    near = [file.name for file in Path(path).parent.glob("*") if file.suffix in (".duckdb", ".db", ".ddb")]
    hint = suggestion(Path(path).name, near) or "; a new one can be made from a file or a SELECT, not from a table"
    raise DatabaseError(f"no database {path!r}{hint}")


@contextmanager
def working(task: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal which statement is at work, and for how long; yields how to say it."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False) as progress:
        shown = progress.add_task(task, total=None)
        yield lambda name: progress.update(shown, description=escape(name))


@contextmanager
def told() -> Iterator[list[str]]:
    """The warnings of what runs inside, said on stderr at the end, one a line."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NbsqlWarning)
        yield messages
    for warning in caught:
        if issubclass(warning.category, NbsqlWarning):
            messages.append(str(warning.message))
            click.echo(f"{click.style('warning', fg='yellow')}: {warning.message}", err=True)
        else:
            warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)


