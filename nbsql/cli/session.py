"""Opens databases for the commands, DuckDB files and PostgreSQL servers: to read, to write, or to note what would be run."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from nbsql.cli.messages import in_options
from nbsql.cli.standard_input import NAME, ReadsStandardInput
from nbsql.cli.terminal import styled
from nbsql.engines.connect import is_postgres, postgresql
from nbsql.engines.duckdb.engine import DuckDB
from nbsql.engines.duckdb.paths import discard, is_new, missing_database
from nbsql.engines.engine import Engine
from nbsql.engines.steps import script
from nbsql.engines.watch import Watch, interruptible
from nbsql.errors import DatabaseError, NbsqlError, NbsqlWarning
from nbsql.model import Model
from nbsql.plan import Statement

_MEMORY = ":memory:"
_SELECT = re.compile(r"\s*\(*\s*(select|from|with|values|table|pivot|unpivot)\b", re.IGNORECASE)


class Recorder(Engine):
    """Notes the statements that would change a database, and runs none of them. Stands before an engine of a database."""

    def __init__(self, path: str, **options: Any) -> None:
        super().__init__(path, **options)  # type: ignore[call-arg]
        self.statements: list[Statement] = []

    def run(self, name: str, sql: str) -> None:
        """Note a statement."""
        self.statements.append(Statement(name, sql))

    @property
    def script(self) -> str:
        """The statements as one text, in one transaction."""
        return script(self, self.statements)


class Rehearsal(Recorder):
    """Runs the statements that change a database, to be undone, and notes them."""

    def run(self, name: str, sql: str) -> None:
        """Run a statement and note it."""
        super(Recorder, self).run(name, sql)
        super().run(name, sql)

    def ask(self, macro: str, *arguments: Any, **options: Any) -> list[tuple[Any, ...]]:
        """The rows of a rendered macro; what is temporary goes at the end of the script, too."""
        if macro == "drop_if_exists":
            super().run("drop what is temporary", self.renderer.statement(macro, *arguments, **options))
        return super(Recorder, self).ask(macro, *arguments, **options)

    def begin(self, model: Model) -> None:
        """Have the script begin with a check that the model is the one that the other statements were made for."""
        changed = self.ask("updated_at_text", model._relations["spec"])[0][0]
        message = f"model {model.name} has changed since this script was written; write it again"
        arguments = (model._relations["spec"], changed, message)
        self.statements.insert(0, Statement("check the model", self.renderer.statement("check_unchanged", *arguments)))


def _open_engine(path: str, role: type[Recorder] | None = None, *, read_only: bool = False) -> Any:
    """The engine of a file or a server, in a role."""
    _check_name(path)
    roles = (ReadsStandardInput,) if role is None else (role, ReadsStandardInput)
    kind: type[Engine] = type("Shell", (*roles, postgresql() if is_postgres(path) else DuckDB), {})
    options: dict[str, Any] = {} if is_postgres(path) else {"read_only": read_only}
    engine: Any = kind(path, **options)  # type: ignore[call-arg]
    engine.watch = Watch(engine.progress)
    if isinstance(engine, DuckDB):
        engine.ask("no_progress_bar")
    return engine


def _is_file(path: str) -> bool:
    return path != _MEMORY and not is_postgres(path)


@contextmanager
def open_for_reading(path: str) -> Iterator[Engine]:
    """A database opened to be read, so that others may read it meanwhile."""
    engine = _open_engine(path, read_only=_is_file(path))
    try:
        with interruptible(engine):
            yield engine
    finally:
        end_progress(engine)
        engine.close()


@contextmanager
def record_statements(path: str) -> Iterator[Recorder]:
    """A database of which to print what would be run."""
    engine = _open_engine(path, Recorder, read_only=True)
    try:
        yield engine
    finally:
        engine.close()


@contextmanager
def rehearse_statements(path: str) -> Iterator[Rehearsal]:
    """A database of which to print what would be run, where later statements need earlier ones: all of it is rolled back."""
    _check_there(path)
    engine = _open_engine(path, Rehearsal)
    try:
        with interruptible(engine):
            if is_postgres(path):
                with engine.connection.transaction(force_rollback=True):
                    yield engine
            else:
                engine.connection.begin()  # closing ends it, without a commit
                yield engine
    finally:
        end_progress(engine)
        engine.close()


@contextmanager
def open_for_writing(path: str, *, create: bool = True) -> Iterator[Engine]:
    """A database opened to be written; a file that was not there is taken away again if the work fails."""
    if not create:
        _check_there(path)
    new, unused = is_new(path), False
    engine = _open_engine(path)
    try:
        with interruptible(engine):
            yield engine
    except BaseException:
        unused = new and _is_empty(engine)
        raise
    finally:
        end_progress(engine)
        engine.close()
        if unused:
            discard(path)


def _is_empty(engine: Engine) -> bool:
    """Whether nothing was committed: what fails afterwards, the printing into a closed pipe say, undoes no work."""
    try:
        database, _ = engine.current()
        return not any(name == database for name, *_ in engine.ask("relations"))
    except NbsqlError:
        return False  # the file is then left to its owner


def _check_name(path: str) -> None:
    """Raise DatabaseError if it is standard input, which may be a SOURCE."""
    if path == NAME:
        raise DatabaseError(f"{NAME!r} is standard input, which holds no database; name a file, such as shop.duckdb")


def _check_there(path: str) -> None:
    """Raise DatabaseError if there is no such file."""
    _check_name(path)
    if _is_file(path) and is_new(path):
        raise missing_database(path)


def check_new_database(path: str, source: str) -> None:
    """Raise unless there is a database at `path`, or `source` needs none: a new file has no tables to fit from.

    Raises:
        DatabaseError: a misspelt path, most likely.
    """
    _check_name(path)
    if not _is_file(path) or not is_new(path):
        return
    if source == NAME or _SELECT.match(source) or Path(source).suffix:
        return
    raise missing_database(path, "; a new one can be made from a file or a SELECT, not from a table")


def end_progress(engine: Engine) -> None:
    """Take the line of progress away, before something is printed."""
    if isinstance(engine.watch, Watch):
        engine.watch.stop()


@contextmanager
def show_warnings(engine: Engine) -> Iterator[None]:
    """Say the warnings of what runs inside on stderr, at the end, one a line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NbsqlWarning)
        yield
    end_progress(engine)
    for warning in caught:
        if issubclass(warning.category, NbsqlWarning):
            click.echo(f"{styled('warning', fg='yellow')}: {in_options(str(warning.message))}", err=True)
        else:
            warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)
