"""Renders the macros in `sql/`, the only place where SQL is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from nbsql.dialect import Dialect, restore

_MACRO = re.compile(r"{%-? macro (\w+)\(")


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


class _Macros:
    """The object `nbsql` of the templates: every macro of every file, by name, and the gates.

    A file is compiled when one of its macros is first called: a fit needs some of them, and all together take most of a second.
    """

    def __init__(self, folder: Path, gates: Mapping[str, Callable[..., Markup]]) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(folder),
            undefined=StrictUndefined,
            autoescape=True,
            finalize=_only_rendered,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals["nbsql"] = self
        self._files = {
            name: file.relative_to(folder).as_posix()
            for file in folder.rglob("*.sql")
            for name in _MACRO.findall(file.read_text(encoding="utf-8"))
        }
        self._macros = dict(gates)  # which take the place of dbt's, in primitives.sql

    def __getitem__(self, name: str) -> Callable[..., Markup]:
        if name not in self._macros:
            module = self._environment.get_template(self._files[name]).module
            self._macros[name] = getattr(module, name)
        return self._macros[name]

    def __getattr__(self, name: str) -> Callable[..., Markup]:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no macro {name!r} in {macro_path()}") from None


@cache
def _macros(dialect_name: str) -> _Macros:
    dialect = Dialect(dialect_name)
    gates = (dialect.ident, dialect.text, dialect.number, dialect.word)
    return _Macros(macro_path() / "macros", {gate.__name__: gate for gate in gates})


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
