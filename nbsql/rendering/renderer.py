"""Renders the macros in `sql/`, the only place where SQL is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from nbsql.rendering.compiled import compile_macro
from nbsql.rendering.dialect import Dialect, restore
from nbsql.rendering.layout import Layout

_MACRO = re.compile(r"{%-? macro (\w+)\(.*?{%-? endmacro %}", re.DOTALL)


@cache
def macro_path() -> Path:
    """The folder of the dbt package: beside the modules when installed, beside the repository when editable."""
    here = Path(__file__).parents[1]
    installed = here / "sql"
    return installed if installed.is_dir() else here.parent / "sql"


def _check_rendered(value: Any) -> str:
    """Fail closed: nothing but rendered SQL and whole numbers may be printed into a statement."""
    if type(value) is Markup:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise TypeError(f"{type(value).__name__} {value!r} did not pass a gate (ident, text, number or word)")


class _Source(NamedTuple):
    """A macro, not compiled yet: its text comes after as many empty lines as it does in its file, for the line of an error."""

    name: str
    path: Path
    text: str


def _sources(path: Path) -> Iterator[_Source]:
    text = path.read_text(encoding="utf-8")
    for macro in _MACRO.finditer(text):
        yield _Source(macro[1], path, "\n" * text.count("\n", 0, macro.start()) + macro[0])


class _Macros:
    """The object `nbsql` of the templates: every macro of every file, by name, and the gates.

    The macro postgres__ident is what `ident` is in a dialect that speaks "postgres", and default__ident is in any other, as dbt
    dispatches. A macro is compiled when it is first called, since all together take most of a second and a fit needs some; the
    code is kept for the next process.
    """

    def __init__(self, folder: Path, macro_folders: Sequence[str], gates: Mapping[str, Callable[..., Markup]]) -> None:
        from jinja2 import StrictUndefined  # with the first statement, not with the package

        from nbsql.rendering.environment import SQLEnvironment

        self._environment = SQLEnvironment(
            undefined=StrictUndefined,
            autoescape=True,
            finalize=_check_rendered,
            optimized=False,  # constants are rare, and to look for them takes a good part of the time to compile
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals["nbsql"] = self
        self._sources: dict[str, _Source] = {}
        for path in folder.rglob("*.sql"):
            if _is_for_dialect(path.relative_to(folder).parts, macro_folders):
                self._sources.update({source.name: source for source in _sources(path)})
        for folder_name in reversed((*macro_folders, "default")):
            own = f"{folder_name}__"
            particular = {name.removeprefix(own): source for name, source in self._sources.items() if name.startswith(own)}
            self._sources.update(particular)
        self.__dict__.update(gates)  # which take the place of dbt's, in primitives.sql

    def __getitem__(self, name: str) -> Callable[..., Markup]:
        macro: Callable[..., Markup] = getattr(self, name)
        return macro

    def __getattr__(self, name: str) -> Callable[..., Markup]:
        """A macro that is called for the first time; from then on it is an attribute like others, thousands a statement."""
        if name not in self._sources:
            raise AttributeError(f"no macro {name!r} in {macro_path()}")
        source, environment = self._sources[name], self._environment
        code = compile_macro(environment, source.name, source.text, source.path)
        template = environment.template_class.from_code(environment, code, environment.make_globals(None))
        found: Callable[..., Markup] = getattr(template.module, source.name)
        self.__dict__[name] = found
        return found


def _is_for_dialect(parts: Sequence[str], macro_folders: Sequence[str]) -> bool:
    """Whether a file holds macros for a dialect: those of some dialects alone are in folders of `engines` that these name."""
    return parts[0] != "engines" or parts[1] in macro_folders


@cache
def _macros(dialect_name: str) -> _Macros:
    dialect = Dialect(dialect_name)
    gates = (dialect.ident, dialect.output, dialect.text, dialect.number, dialect.word, dialect.fraction)
    return _Macros(macro_path() / "macros", dialect.traits.macro_folders, {gate.__name__: gate for gate in gates})


class Renderer:
    """Calls macros for one engine.

    Args:
        dialect_name: of the engine.
        layout: the limits of the forms of scoring; None: the usual ones.

    >>> Renderer("duckdb").fragment("ident", "order")
    Markup('"order"')
    """

    layout = Layout()

    def __init__(self, dialect_name: str, layout: Layout | None = None) -> None:
        self.dialect = Dialect(dialect_name)
        self.layout = layout or self.layout
        self._macros = _macros(dialect_name)

    def has(self, macro: str) -> bool:
        """Whether there is such a macro."""
        return hasattr(self._macros, macro)

    def fragment(self, macro: str, *arguments: Any, **options: Any) -> Markup:
        """A piece of a statement, to be given to another macro."""
        return Markup(str(self._macros[macro](*arguments, **options)).strip())  # noqa: S704 - rendered by the macros

    def statement(self, macro: str, *arguments: Any, **options: Any) -> str:
        """A whole statement, as the engine runs it."""
        return restore(self.fragment(macro, *arguments, **options))
