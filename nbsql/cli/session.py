"""Opens databases for the commands, DuckDB files and PostgreSQL servers: to read, to write, or to record statements."""

import re
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import click
from markupsafe import Markup

import nbsql
from nbsql.cli.messages import in_options
from nbsql.cli.standard_input import NAME, ReadsStandardInput, with_label
from nbsql.cli.terminal import styled
from nbsql.engines.connect import is_postgres, postgresql
from nbsql.engines.duckdb.engine import DuckDB
from nbsql.engines.duckdb.paths import discard, is_database, is_new, missing_database
from nbsql.engines.engine import Engine
from nbsql.engines.steps import script
from nbsql.engines.watch import Watch, interruptible
from nbsql.errors import DatabaseError, NbsqlError, NbsqlWarning
from nbsql.plan import Statement
from nbsql.rendering.dialect import restore
from nbsql.warn import without_counts

_MEMORY = ":memory:"
_SELECT = re.compile(r"\s*\(*\s*(select|from|with|values|table|pivot|unpivot)\b", re.IGNORECASE)


class Recorder(Engine):
    """A mixin for engines that records the statements that would change a database instead of running them."""

    records = True

    def __init__(self, path: str, **options: Any) -> None:
        super().__init__(path, **options)  # type: ignore[call-arg]
        self.statements: list[Statement] = []
        self._writes: str | None = None

    @contextmanager
    def transaction(self, writes: str | None = None) -> Iterator[None]:
        """The transaction of a verb, which names the model that it writes."""
        self._writes = writes or self._writes
        with super().transaction(writes):
            yield

    def run(self, name: str, sql: str) -> None:
        """Record a statement."""
        self.statements.append(Statement(name, sql))

    def check_in_script(
        self, database: str, schema: str, message: str, relation: str | None = None, *, exists: bool = False
    ) -> None:
        """Record the check, unless the engine makes it anyway."""
        where = None if database == self.current()[0] else database
        if sql := self.renderer.statement("check_new", where, schema, self.in_words(message), relation, exists=exists):
            self.statements.append(Statement("check the name", sql))

    @property
    def script(self) -> str:
        """The statements as one text, in one transaction."""
        return script(self, self.statements, self._writes)


class Rehearsal(Recorder):
    """A recorder that also runs the statements; they are rolled back at the end."""

    def run(self, name: str, sql: str) -> None:
        """Run a statement and record it."""
        super(Recorder, self).run(name, sql)
        super().run(name, sql)

    def query_macro(self, macro: str, *arguments: Any, **options: Any) -> list[tuple[Any, ...]]:
        """The rows of the query that a macro renders; drops of temporary tables are recorded, too."""
        if macro == "drop_if_exists":
            super().run("drop what is temporary", self.renderer.statement(macro, *arguments, **options))
        return super(Recorder, self).query_macro(macro, *arguments, **options)

    def violations(self, spec: Markup, message: str, macro: str, *arguments: Any) -> list[tuple[Any, ...]]:
        """The rows of a query that is to have none, for which the script has a statement of its own."""
        super().run("check what is forgotten", self._check(spec, message, macro, *arguments))
        return super().violations(spec, message, macro, *arguments)

    def begin(self, model: nbsql.Model) -> None:
        """Begin the script with a check that the model has not changed since the statements were made."""
        spec = model.state.relations["spec"]
        changed = self.query_value("updated_at_text", spec)
        message = f"model {model.name} has changed since this script was written; write it again"
        self.statements.insert(0, Statement("check the model", self._check(spec, message, "changed_since", spec, changed)))

    def _check(self, spec: Markup, message: str, macro: str, *arguments: Any) -> str:
        """A statement that is an error if a query has a row."""
        renderer = self.renderer
        check = renderer.fragment("check_empty", spec, renderer.fragment(macro, *arguments), message)
        return renderer.statement("checking_statement", check, renderer.dialect.text(restore(check)))


def _is_file(path: str) -> bool:
    return path != _MEMORY and not is_postgres(path)


@contextmanager
def _opened(path: str, role: type[Recorder] | None = None, *, read_only: bool = False) -> Iterator[Any]:
    """The engine of a file or a server, combined with a role such as `Recorder`, which is closed at the end."""
    _refuse_standard_input(path)
    roles = (ReadsStandardInput,) if role is None else (role, ReadsStandardInput)
    words = {"in_words": staticmethod(in_options)}
    kind: type[Engine] = type("Shell", (*roles, postgresql() if is_postgres(path) else DuckDB), words)
    options: dict[str, Any] = {} if is_postgres(path) else {"read_only": read_only}
    engine: Any = kind(path, **options)  # type: ignore[call-arg]
    engine.watch = Watch(engine.progress)
    if isinstance(engine, DuckDB):
        engine.query_macro("no_progress_bar")
    try:
        with interruptible(engine.interrupt):
            yield engine
    finally:
        end_progress(engine)
        engine.close()


@contextmanager
def open_for_reading(path: str) -> Iterator[Engine]:
    """A database opened read-only, so that others can read it at the same time."""
    _check_there(path)
    with _opened(path, read_only=_is_file(path)) as engine, show_warnings(engine):
        yield engine


def record_statements(path: str) -> AbstractContextManager[Recorder]:
    """A database whose changes are recorded instead of run."""
    return _opened(path, Recorder, read_only=True)


@contextmanager
def rehearse_statements(path: str) -> Iterator[Rehearsal]:
    """A database whose changes are recorded, run because later statements depend on them, and rolled back."""
    _check_there(path)
    with _opened(path, Rehearsal) as engine:
        if is_postgres(path):
            with engine.connection.transaction(force_rollback=True):
                yield engine
        else:
            engine.connection.begin()  # closing the connection rolls it back
            yield engine


@contextmanager
def open_for_writing(path: str, *, create: bool = True) -> Iterator[Engine]:
    """A database opened for writing; a new file is deleted again if the work fails."""
    if not create:
        _check_there(path)
    engine: Engine | None = None
    new, unused = is_new(path), False
    try:
        with _opened(path) as engine, show_warnings(engine):
            try:
                yield engine
            except BaseException:
                unused = new and _is_empty(engine)
                raise
    except KeyboardInterrupt:
        unused = unused or (new and engine is None)  # while it was opened
        raise
    finally:
        if unused:
            discard(path)


def _is_empty(engine: Engine) -> bool:
    """Whether nothing was committed: a later failure, such as a closed pipe, must not undo committed work."""
    try:
        database, _ = engine.current()
        return not any(name == database for name, *_ in engine.query_macro("relations"))
    except NbsqlError:
        return False  # leave the file to its owner


def _refuse_standard_input(path: str) -> None:
    """Raise DatabaseError for -, which can only be a SOURCE."""
    if path == NAME:
        raise DatabaseError(f"{NAME!r} is standard input, which holds no database; name a file, such as shop.duckdb")


def _check_there(path: str) -> None:
    """Raise DatabaseError if there is no such file."""
    _refuse_standard_input(path)
    if _is_file(path) and is_new(path):
        raise missing_database(path, _order_hint(path))


def _order_hint(path: str) -> str:
    """A hint where another argument of the command is a database, or else an empty text."""
    context = click.get_current_context(silent=True)
    for text in context.params.values() if context else ():
        with suppress(ValueError):  # of what could be no path
            if isinstance(text, str) and is_database(Path(text)):
                return f"; the database comes first: {text} {path}"
    return ""


def or_memory(path: str) -> str:
    """The path of a database, or of an empty one in memory if there is none yet."""
    return _MEMORY if _is_file(path) and is_new(path) else path


def load_to_change(engine: Engine, name: str) -> nbsql.Model:
    """A model that will be changed; a script of the changes begins with a check that it is still the same."""
    model = nbsql.load(engine, name)
    if isinstance(engine, Rehearsal):
        engine.begin(model)
    return model


def check_new_database(path: str, source: str) -> None:
    """Raise DatabaseError if there is no database at `path` and `source` needs one: a new file has no tables to fit."""
    _refuse_standard_input(path)
    if not _is_file(path) or not is_new(path):
        return
    if source == NAME or _SELECT.match(source) or Path(source).suffix:
        return
    raise missing_database(path, "; a new one can be made from a file or a SELECT, not from a table")


def end_progress(engine: Engine) -> None:
    """Remove the line of progress before something is printed."""
    if isinstance(engine.watch, Watch):
        engine.watch.stop()


@contextmanager
def show_warnings(engine: Engine) -> Iterator[None]:
    """Print the warnings of the code within to stderr at the end, one a line; of those that differ only by counts, the last."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NbsqlWarning)
        yield
    end_progress(engine)
    for warning in {(each.category, without_counts(str(each.message))): each for each in caught}.values():
        if isinstance(warning.message, NbsqlWarning):
            click.echo(f"{styled('warning', fg='yellow')}: {with_label(in_options(warning.message.marked))}", err=True)
        else:
            warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)
