"""The files of the dbt package, and the dispatch of its macros to the adapter's engine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from nbsql.rendering.dialect import DIALECTS
from nbsql.rendering.renderer import macro_path

ADAPTERS = ("duckdb", "postgres")
DISPATCH = Path("dbt/dispatch.sql")
DESCRIBED = Path("dbt/macros.yml")
INTERNAL = Path("dbt/internal.yml")

_MACRO = re.compile(r"{%-? (macro|test) (\w+)\((.*?)\) -?%}", re.DOTALL)
_NAME = re.compile(r"{%-? macro (\w+)\(")
_HEADER = """{#
  The macros of which engines have forms of their own: each by adapter.dispatch, from this package or from the project that uses
  it, whose snowflake__double, say, is what `double` is there. Written by python -m nbsql.dbt write; add one, and write anew.
#}

"""
_LINE = 140  # the most characters, as everywhere in sql/
_HIDDEN = """# Macros that are not for a project to call, hidden from its docs. Written by python -m nbsql.dbt write.
version: 2

macros:
"""


class Macro(NamedTuple):
    """A macro, as dbt reads it.

    Attributes:
        name: the name in dbt; that of a generic test begins with `test_`.
        parameters: the text of the parameters, with their defaults.
        path: the path of its file in the package.
    """

    name: str
    parameters: str
    path: Path

    @property
    def arguments(self) -> list[str]:
        """The names of its parameters."""
        return [part.split("=")[0].strip() for part in re.split(r",(?![^(\[{]*[)\]}])", self.parameters) if part.strip()]


def ignored() -> list[str]:
    """The folders and files of macros that dbt must not read."""
    lines = (macro_path() / ".dbtignore").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def shipped() -> Iterator[Path]:
    """The files of macros that dbt reads, within the package."""
    for file in sorted(macro_path().rglob("*.sql")):
        name = file.relative_to(macro_path()).as_posix()
        if file.parent == macro_path():
            continue
        if not any(fnmatch(name, f"{line}*" if line.endswith("/") else line) for line in ignored()):
            yield file.relative_to(macro_path())


def macros() -> dict[str, Macro]:
    """The macros that dbt reads, by name."""
    found = {}
    for path in shipped():
        for kind, name, parameters in _MACRO.findall((macro_path() / path).read_text(encoding="utf-8")):
            known = f"test_{name}" if kind == "test" else name
            found[known] = Macro(known, parameters, path)
    return found


def engines() -> set[str]:
    """The prefixes of the names of engine-specific macros, including engines whose macros dbt does not read."""
    return {folder.name for folder in (macro_path() / "macros" / "engines").iterdir()}


def dispatch_sql() -> str:
    """The file that dispatches calls to the macros of the engine.

    A macro that several engines share (`plain__x`) gets the prefix of each of them that has no macro of its own.
    """
    known = {name: macro for name, macro in macros().items() if macro.path != DISPATCH}
    texts = {path.relative_to(macro_path()): path.read_text(encoding="utf-8") for path in macro_path().rglob("*.sql")}
    named = {name for path, text in texts.items() for name in _NAME.findall(text) if path != DISPATCH}
    called = {name for path in shipped() for name in re.findall(r"nbsql\.(\w+)\(", texts[path])}
    led = {}
    for name, macro in known.items():
        form, _, general = name.partition("__")
        if form == "default" and general not in known:
            led[general] = _dispatching(general, macro, "adapter.dispatch('{}', 'nbsql')")
        elif form in DIALECTS and general in called - named and f"default__{general}" not in known:
            led[general] = _dispatching(general, macro, f"nbsql.{name}")  # the only macro
    lines = [led[name] for name in sorted(led)]
    for adapter in ADAPTERS:
        for folder in DIALECTS[adapter].macro_folders[1:]:
            for name in sorted(known):
                own = f"{adapter}__{name.removeprefix(f'{folder}__')}"
                if name.startswith(f"{folder}__") and own not in known:
                    lines.append(_dispatching(own, known[name], f"nbsql.{name}"))
    return _HEADER + "".join(lines)


def internal_yaml() -> str:
    """The file that hides internal macros from a project's docs: all that `macros.yml` does not describe."""
    described = set(re.findall(r"^  - name: (\w+)$", (macro_path() / DESCRIBED).read_text(encoding="utf-8"), re.MULTILINE))
    hidden = sorted(macros().keys() - described)
    return _HIDDEN + "".join(f'  - {{name: "{name}", docs: {{show: false}}}}\n' for name in hidden)


def _dispatching(name: str, macro: Macro, to: str) -> str:
    parts = (
        f"{{% macro {name}({macro.parameters}) %}}",
        f"{{% do return({to.format(name)}({', '.join(macro.arguments)})) %}}",
        "{% endmacro %}",
    )
    line = " ".join(parts)
    return ("\n".join(parts) if len(line) > _LINE else line) + "\n"
