"""Renders the macros in `sql/`, the only place where SQL is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from nbsql.dialect import Dialect, restore


def macro_path() -> Path:
    """The folder of the dbt package: beside the modules when installed, beside the repository when editable."""
    here = Path(__file__).parent
    installed = here / "sql"
    return installed if installed.is_dir() else here.parent / "sql"


def _only_rendered(value: Any) -> Any:
    """Fail closed: nothing but rendered SQL and whole numbers may be printed into a statement."""
    if isinstance(value, Markup) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise TypeError(f"{type(value).__name__} {value!r} did not pass a gate (ident, text, number or word)")


# The dialects with a folder of macros of their own.
ENGINES = ("postgres",)


class _Macros:
    """The object `nbsql` of the templates: every macro of every file, by name."""

    def __init__(self) -> None:
        self._macros: dict[str, Callable[..., Markup]] = {}

    def add(self, name: str, macro: Callable[..., Markup]) -> None:
        self._macros[name] = macro

    def __getitem__(self, name: str) -> Callable[..., Markup]:
        return self._macros[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._macros)

    def __getattr__(self, name: str) -> Callable[..., Markup]:
        try:
            return self._macros[name]
        except KeyError:
            raise AttributeError(f"no macro {name!r} in {macro_path()}") from None


def _spoken(file: str, dialect_name: str) -> bool:
    """Whether a file holds macros for a dialect: those of one engine alone are in a folder of its name."""
    folder = file.split("/")[0]
    return file.endswith(".sql") and (folder == dialect_name or folder not in ENGINES)


@cache
def _macros(dialect_name: str) -> _Macros:
    macros = _Macros()
    environment = Environment(
        loader=FileSystemLoader(macro_path() / "macros"),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=_only_rendered,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["nbsql"] = macros
    for file in environment.list_templates(filter_func=lambda file: _spoken(file, dialect_name)):
        module = environment.get_template(file).module
        for name, macro in vars(module).items():
            if not name.startswith("_") and callable(macro):
                macros.add(name, macro)
    for name in [name for name in macros if name.startswith(f"{dialect_name}__")]:
        macros.add(name.removeprefix(f"{dialect_name}__"), macros[name])  # as dbt dispatches
    dialect = Dialect(dialect_name)
    for gate in (dialect.ident, dialect.output, dialect.text, dialect.number, dialect.word):
        macros.add(gate.__name__, gate)
    return macros


class Renderer:
    """Calls macros for one engine.

    >>> Renderer("duckdb").fragment("ident", "order")
    Markup('"order"')
    """

    def __init__(self, dialect_name: str) -> None:
        self.dialect = Dialect(dialect_name)
        self._macros = _macros(dialect_name)

    def fragment(self, macro: str, *arguments: Any, **options: Any) -> Markup:
        """A piece of a statement, to be given to another macro."""
        return Markup(str(self._macros[macro](*arguments, **options)).strip())  # noqa: S704 - rendered by the macros

    def statement(self, macro: str, *arguments: Any, **options: Any) -> str:
        """A whole statement, as the engine runs it."""
        return restore(self.fragment(macro, *arguments, **options))
