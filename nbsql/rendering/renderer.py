"""Renders the macros in `sql/`, which contain all SQL of nbsql."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from nbsql.errors import NotSupportedError
from nbsql.rendering.compiled import compile_macro
from nbsql.rendering.dialect import Dialect, restore
from nbsql.rendering.layout import Layout
from nbsql.rendering.sources import Source, macro_files, sources

if TYPE_CHECKING:
    from jinja2.runtime import Macro


@cache
def macro_path() -> Path:
    """The folder of the dbt package: beside the modules in an installation, or beside nbsql/ in the repository."""
    here = Path(__file__).parents[1]
    for folder in (here / "sql", here.parent / "sql"):
        if folder.is_dir():
            return folder
    raise NotSupportedError(f"the SQL of nbsql is not in {here}: an archive does not do; install nbsql with pip, or unpack it")


def _check_rendered(value: Any) -> str:
    """Raise an error unless a value is rendered SQL or a whole number: nothing else may be printed into a statement."""
    if type(value) is Markup:
        return value
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    raise TypeError(f"{type(value).__name__} {value!r} did not pass a gate (ident, text, number or word)")


class _Macros:
    """The object `nbsql` of the templates: the macros of all files by name, and the gates.

    Macros are dispatched as in dbt: `ident` is the macro postgres__ident in a dialect whose folders include "postgres", and
    default__ident in all others. A macro is compiled at its first call, because all together take most of a second and a fit
    needs only some. The code is stored for the next process.
    """

    def __init__(self, folder: Path, macro_folders: Sequence[str], gates: Mapping[str, Callable[..., Markup]]) -> None:
        from jinja2 import StrictUndefined  # imported with the first statement, not with the package
        from jinja2.runtime import Context

        from nbsql.rendering.environment import SQLEnvironment, direct

        self._direct: Callable[[Macro], Callable[..., Markup]] = direct
        self._environment = SQLEnvironment(
            undefined=StrictUndefined,
            autoescape=True,
            finalize=_check_rendered,
            optimized=False,  # constants are rare, and the search for them takes much of the compile time
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals["nbsql"] = self
        self._context = Context(self._environment, self._environment.globals, None, {})
        self._sources: dict[str, Source] = {}
        for path in macro_files(folder):
            room, *parts = path.relative_to(folder).parts
            if room != "engines" or parts[0] in macro_folders:  # the folders of `engines` are for the dialects that list them
                self._sources.update({source.name: source for source in sources(path)})
        for folder_name in reversed((*macro_folders, "default")):
            own = f"{folder_name}__"
            particular = {name.removeprefix(own): source for name, source in self._sources.items() if name.startswith(own)}
            self._sources.update(particular)
        self.__dict__.update(gates)  # the gates replace those for dbt in primitives.sql

    def __getitem__(self, name: str) -> Callable[..., Markup]:
        macro: Callable[..., Markup] = getattr(self, name)
        return macro

    def __getattr__(self, name: str) -> Callable[..., Markup]:
        """Compile a macro at its first use. It then becomes an attribute, because a statement calls thousands of macros."""
        if name not in self._sources:
            raise AttributeError(f"no macro {name!r} in {macro_path()}")
        source, environment = self._sources[name], self._environment
        code = compile_macro(environment, source.name, source.text, source.path)
        names: dict[str, Any] = {"environment": environment}
        exec(code, names)  # noqa: S102 - as Jinja does with the code of a template, which has more to it
        for _ in names["root"](self._context):  # which defines the macro, and prints nothing
            pass
        self.__dict__[name] = found = self._direct(self._context.vars[source.name])
        return found


@cache
def _macros(dialect_name: str, *folders: str) -> _Macros:
    dialect = Dialect(dialect_name)
    gates = (dialect.ident, dialect.output, dialect.text, dialect.number, dialect.word, dialect.fraction)
    return _Macros(macro_path() / "macros", (*folders, dialect_name), {gate.__name__: gate for gate in gates})


class Renderer:
    """Renders macros for one dialect, with the limits of the forms of scoring; `folders` come before those of the dialect.

    >>> Renderer("duckdb").fragment("ident", "order")
    Markup('"order"')
    """

    layout = Layout()

    def __init__(self, dialect_name: str, *folders: str) -> None:
        self.dialect = Dialect(dialect_name)
        self.traits = self.dialect.traits
        self._macros = _macros(dialect_name, *folders)

    def has(self, macro: str) -> bool:
        return hasattr(self._macros, macro)

    def fragment(self, macro: str, *arguments: Any, **options: Any) -> Markup:
        """A piece of a statement, for use as an argument of another macro."""
        return Markup(str(self._macros[macro](*arguments, **options)).strip())  # noqa: S704 - rendered by the macros

    def subquery(self, macro: str, *arguments: Any, **options: Any) -> Markup:
        """The query of a macro as a relation."""
        return self.fragment("subquery", self.fragment(macro, *arguments, **options))

    def statement(self, macro: str, *arguments: Any, **options: Any) -> str:
        """A complete statement, ready for the engine."""
        return restore(self.fragment(macro, *arguments, **options))
