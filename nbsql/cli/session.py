"""Opens databases for the commands: to read, to write, or to note down what would be run."""

from __future__ import annotations

import re
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nbsql.engines.duckdb import DuckDB
from nbsql.errors import DatabaseError, NbsqlWarning, NotSupportedError, suggestion
from nbsql.places import is_postgres

if TYPE_CHECKING:
    from rich.progress import Progress

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


class Rehearsal(DuckDB):
    """Runs the statements that change a database, to be undone, and notes them."""

    def __init__(self, path: str) -> None:
        super().__init__(path, watch=Watch())
        self.statements: list[str] = []

    def run(self, name: str, sql: str) -> None:
        """Run a statement and note it."""
        super().run(name, sql)
        self.statements.append(f"-- {name}\n{sql};")


@contextmanager
def reading(path: str) -> Iterator[DuckDB]:
    """A database opened to be read, so that others may read it meanwhile."""
    _check_file(path)
    engine = DuckDB(path, read_only=path != _MEMORY, watch=Watch())
    engine.ask("no_progress_bar")
    try:
        with interruptible(engine):
            yield engine
    finally:
        still(engine)
        engine.close()


@contextmanager
def recording(path: str) -> Iterator[Recorder]:
    """A database of which to print what would be run."""
    _check_file(path)
    engine = Recorder(path)
    try:
        yield engine
    finally:
        engine.close()


@contextmanager
def rehearsing(path: str) -> Iterator[Rehearsal]:
    """A database of which to print what would be run, where later statements need earlier ones: all of it is rolled back."""
    _check_file(path)
    if path != _MEMORY and not Path(path).exists():
        raise DatabaseError(f"no database {path!r}")
    engine = Rehearsal(path)
    try:
        engine.ask("no_progress_bar")
        with interruptible(engine):
            engine.connection.begin()
            yield engine
    finally:
        still(engine)
        engine.close()  # ends the transaction without a commit


@contextmanager
def writing(path: str, *, create: bool = True) -> Iterator[DuckDB]:
    """A database opened to be written; one that was not there is taken away again if the work fails."""
    _check_file(path)
    new = path != _MEMORY and not Path(path).exists()
    if new and not create:
        raise DatabaseError(f"no database {path!r}")
    engine = DuckDB(path, watch=Watch())
    try:
        engine.ask("no_progress_bar")
        with interruptible(engine):
            yield engine
    except BaseException:
        still(engine)
        engine.close()
        if new:
            discard(path)
        raise
    still(engine)
    engine.close()


def _check_file(path: str) -> None:
    """Raise NotSupportedError if it is no file, but a server."""
    if is_postgres(path):
        raise NotSupportedError(
            "the command line works on DuckDB files; for PostgreSQL use Python: nbsql.fit('postgresql://...', ...)"
        )


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
    _check_file(path)
    if path == _MEMORY or Path(path).exists():
        return
    if _SELECT.match(source) or Path(source).suffix:
        return
    near = [file.name for file in Path(path).parent.glob("*") if file.suffix in (".duckdb", ".db", ".ddb")]
    hint = suggestion(Path(path).name, near) or "; a new one can be made from a file or a SELECT, not from a table"
    raise DatabaseError(f"no database {path!r}{hint}")


class Watch:
    """Shows on a terminal which statement is at work, and for how long. Called with the statement's name."""

    def __init__(self) -> None:
        self._progress: Progress | None = None

    def __call__(self, name: str) -> None:
        """Show the statement."""
        if not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        if self._progress is None:
            columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._progress.start()
            self._progress.add_task("", total=None)
        self._progress.update(self._progress.task_ids[0], description=escape(name))

    def stop(self) -> None:
        """Take the line away."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


@contextmanager
def interruptible(engine: DuckDB) -> Iterator[None]:
    """Let Ctrl-C stop a statement at once.

    Python handles a signal only when DuckDB gives control back. But the signal's number arrives in a socket at once, where a
    thread waits for it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread receives signals
        return
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)

    def wait() -> None:
        for number in iter(lambda: ours.recv(1), b""):
            if number[0] == signal.SIGINT:
                engine.connection.interrupt()

    before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        theirs.close()
        waiting.join()
        ours.close()


def still(engine: DuckDB) -> None:
    """Take the line of progress away, before something is printed."""
    if isinstance(engine.watch, Watch):
        engine.watch.stop()


@contextmanager
def told(engine: DuckDB) -> Iterator[None]:
    """Say the warnings of what runs inside on stderr, at the end, one a line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NbsqlWarning)
        yield
    still(engine)
    for warning in caught:
        if issubclass(warning.category, NbsqlWarning):
            click.echo(f"{click.style('warning', fg='yellow')}: {warning.message}", err=True)
        else:
            warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)
