"""Shell completion: database files, and the models, tables and columns in them.

An argument is completed according to its name, an option according to its metavar. If a database cannot be read, for example
because another process has locked it, nothing is offered and no error is shown.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

import nbsql
from nbsql.cli.session import open_for_reading
from nbsql.engines.connect import is_postgres
from nbsql.engines.engine import Engine
from nbsql.errors import NbsqlError
from nbsql.family import FAMILIES

_DATABASES = (".duckdb", ".db", ".ddb")
_HIDDEN = ("information_schema", "pg_catalog")


def databases(_context: click.Context, begun: str) -> list[CompletionItem]:
    """The folders and the files whose names look like databases; any file if there is none."""
    folder = Path(begun) if begun.endswith("/") else Path(begun).parent
    found = []
    with suppress(OSError):
        for path in sorted(folder.iterdir()):
            name = str(path) if begun.startswith(str(folder)) else path.name
            if name.startswith(begun) and path.suffix in _DATABASES:
                found.append(CompletionItem(name))
    return found or [CompletionItem(begun, type="file")]


def models(context: click.Context, begun: str) -> list[CompletionItem]:
    return _completions(_query_database(context, nbsql.models), begun)


def sources(context: click.Context, begun: str) -> list[CompletionItem]:
    """The tables and views of the database; files if none of them begins so."""
    found = _completions(_query_database(context, _relations), begun)
    return found or [CompletionItem(begun, type="file")]


def columns(context: click.Context, begun: str) -> list[CompletionItem]:
    return _completions(_query_database(context, lambda engine: _columns(engine, context)), begun)


def families(context: click.Context, begun: str) -> list[CompletionItem]:
    """COLUMN=FAMILY: the columns of the source, or the families after an equals sign."""
    column, equals, _ = begun.rpartition("=")
    if equals:
        return _completions((f"{column}={family}" for family in FAMILIES), begun)
    return [CompletionItem(f"{item.value}=") for item in columns(context, begun)]


_Completer = Callable[[click.Context, str], list[CompletionItem]]

# By the name of an argument or the metavar of an option.
COMPLETERS: dict[str, _Completer] = {
    "database": databases,
    "model": models,
    "models": models,
    "other": models,
    "source": sources,
    "priors": sources,
    "likelihoods": sources,
    "statistics": sources,
    "MODEL": models,
    "SOURCE": sources,
    "COLUMN": columns,
    "COLUMN=FAMILY": families,
    "auto|FILE": lambda _context, begun: [CompletionItem(begun, type="file")],
}
_NEW = {"fit", "sweep", "auto", "merge", "import", "from-tables", "from-statistics"}  # their --name is the name of a new model


def complete(command: click.Command) -> None:
    """Add completion to the parameters of a command."""
    for parameter in command.params:
        metavar = parameter.metavar or parameter.type.name
        named = metavar if isinstance(parameter, click.Option) else parameter.name
        if named in COMPLETERS and not (parameter.name == "name" and command.name in _NEW):
            parameter.shell_complete = COMPLETERS[named]  # type: ignore[method-assign,assignment]


def _completions(names: Iterable[str], begun: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(begun)]


def _query_database(context: click.Context, question: Callable[[Engine], list[str]]) -> list[str]:
    """The answer of the command's database; nothing if it cannot be read."""
    path = _argument(context, "database")
    if not path or not (is_postgres(path) or Path(path).is_file()):
        return []
    with suppress(NbsqlError), open_for_reading(path) as engine:
        return question(engine)
    return []


def _argument(context: click.Context, name: str) -> Any:
    """The value of an argument; while an option still lacks its value, click has not assigned the arguments yet."""
    names = [parameter.name for parameter in context.command.params if isinstance(parameter, click.Argument)]
    return context.params.get(name) or dict(zip(names, context.args, strict=False)).get(name)


def _relations(engine: Engine) -> list[str]:
    """The tables and views that can be named without a schema, except those of models."""
    place = engine.current()
    return sorted({row[2] for row in engine.query_macro("relations") if tuple(row[:2]) == place and row[1] not in _HIDDEN})


def _columns(engine: Engine, context: click.Context) -> list[str]:
    source = _argument(context, "source")
    return [column.name for column in engine.source(source).columns] if source and source != "-" else []
