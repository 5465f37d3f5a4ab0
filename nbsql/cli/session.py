"""Opens databases for the commands, DuckDB files and PostgreSQL servers: to read, to write, or to note what would be run."""

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
from typing import TYPE_CHECKING, Any

import click

from nbsql.engines.duckdb import DuckDB
from nbsql.engines.engine import Engine
from nbsql.errors import DatabaseError, NbsqlWarning, suggestion
from nbsql.places import is_postgres, postgresql

if TYPE_CHECKING:
    from rich.progress import Progress

_MEMORY = ":memory:"
_SELECT = re.compile(r"\s*\(*\s*(select|from|with|values|table|pivot|unpivot)\b", re.IGNORECASE)


class Recorder(Engine):
    """Notes the statements that would change a database, and runs none of them. Stands before an engine of a database."""

    def __init__(self, path: str, **options: Any) -> None:
        super().__init__(path, **options)  # type: ignore[call-arg]
        self.statements: list[str] = []

    def run(self, name: str, sql: str) -> None:
        """Note a statement."""
        self.statements.append(f"-- {name}\n{sql};")


class Rehearsal(Recorder):
    """Runs the statements that change a database, to be undone, and notes them."""

    def run(self, name: str, sql: str) -> None:
        """Run a statement and note it."""
        super(Recorder, self).run(name, sql)
        super().run(name, sql)


def _opened(path: str, role: type[Recorder] | None = None, *, read_only: bool = False) -> Any:
    """The engine of a file or a server, in a role."""
    kind: type[Engine] = postgresql() if is_postgres(path) else DuckDB
    options: dict[str, Any] = {"watch": Watch()} if is_postgres(path) else {"watch": Watch(), "read_only": read_only}
    if role is not None:
        kind = type(role.__name__, (role, kind), {})
    engine: Any = kind(path, **options)  # type: ignore[call-arg]
    if isinstance(engine, DuckDB):
        engine.ask("no_progress_bar")
    return engine


def _is_file(path: str) -> bool:
    return path != _MEMORY and not is_postgres(path)


@contextmanager
def reading(path: str) -> Iterator[Engine]:
    """A database opened to be read, so that others may read it meanwhile."""
    engine = _opened(path, read_only=_is_file(path))
    try:
        with interruptible(engine):
            yield engine
    finally:
        still(engine)
        engine.close()


@contextmanager
def recording(path: str) -> Iterator[Recorder]:
    """A database of which to print what would be run."""
    engine = _opened(path, Recorder, read_only=True)
    try:
        yield engine
    finally:
        engine.close()


@contextmanager
def rehearsing(path: str) -> Iterator[Rehearsal]:
    """A database of which to print what would be run, where later statements need earlier ones: all of it is rolled back."""
    _check_there(path)
    engine = _opened(path, Rehearsal)
    try:
        with interruptible(engine):
            if is_postgres(path):
                with engine.connection.transaction(force_rollback=True):
                    yield engine
            else:
                engine.connection.begin()  # closing ends it, without a commit
                yield engine
    finally:
        still(engine)
        engine.close()


@contextmanager
def writing(path: str, *, create: bool = True) -> Iterator[Engine]:
    """A database opened to be written; a file that was not there is taken away again if the work fails."""
    if not create:
        _check_there(path)
    new = _is_file(path) and not Path(path).exists()
    engine = _opened(path)
    try:
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


def _check_there(path: str) -> None:
    """Raise DatabaseError if there is no such file."""
    if _is_file(path) and not Path(path).exists():
        raise DatabaseError(f"no database {path!r}")


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
    if not _is_file(path) or Path(path).exists():
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
def interruptible(engine: Engine) -> Iterator[None]:
    """Let Ctrl-C stop a statement at once, which the driver of PostgreSQL sees to by itself.

    Python handles a signal only when DuckDB gives control back. But the signal's number arrives in a socket at once, where a
    thread waits for it.
    """
    if not isinstance(engine, DuckDB) or threading.current_thread() is not threading.main_thread():
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


def still(engine: Engine) -> None:
    """Take the line of progress away, before something is printed."""
    if isinstance(engine.watch, Watch):
        engine.watch.stop()


@contextmanager
def told(engine: Engine) -> Iterator[None]:
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
