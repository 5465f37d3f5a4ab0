"""Which macros, and which of their branches, a test on another engine renders: what a choice of few cases is made by.

The macros are watched where they are compiled. A branch is a tag `if`, `elif`, `else` or `for` of a macro that is written for
that engine, or for a family; it is watched by a `set` behind the tag, which leaves all the white space as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbsql.rendering.renderer
from nbsql.rendering.dialect import DIALECTS, Dialect
from nbsql.rendering.sources import macro_files, sources

_TAG = re.compile(r"{%-?\s*((?:if|elif|else|for)\b.*?)\s*(-?)%}", re.DOTALL)
ENGINES = ("spark", "postgres")
# What the functions in a model's schema say of weights, which have no evidence; Spark has no such functions.
_OF_FUNCTIONS = {"spark": {"plain__output_null"}}


class Recorder:
    """What has been rendered on Spark or PostgreSQL since the start; each macro is watched from its first use on.

    Args:
        everywhere: all that is rendered, on every engine, with the branches of every macro.
    """

    def __init__(self, *, everywhere: bool = False) -> None:
        self.seen: set[str] = set()
        self._everywhere = everywhere
        self._watches = False

    def start(self) -> None:
        self.seen.clear()
        if not self._watches:
            nbsql.rendering.renderer._macros.cache_clear()
            self._watch()
            self._watches = True

    def _watch(self) -> None:
        compiled = nbsql.rendering.renderer._Macros.__getattr__

        def get(macros: Any, name: str) -> Any:
            sources = macros._sources
            engine = next((each for each in ENGINES if any(key.startswith(f"{each}__") for key in sources)), None)
            if name not in sources or (engine is None and not self._everywhere):
                return compiled(macros, name)
            source = sources[name]
            if self._everywhere or _folder(source.path) in (*DIALECTS[str(engine)].macro_folders, "families"):
                macros.__dict__["record_branch"] = self.seen.add
                sources[name] = source._replace(text=watched(source.name, source.text))
            macro = compiled(macros, name)

            def recording(*arguments: Any, **options: Any) -> Any:
                self.seen.add(source.name)
                return macro(*arguments, **options)

            macros.__dict__[name] = recording
            return recording

        nbsql.rendering.renderer._Macros.__getattr__ = get  # type: ignore[method-assign]


def _folder(path: Path) -> str:
    parts = path.relative_to(nbsql.rendering.renderer.macro_path() / "macros").parts
    return parts[1] if parts[0] == "engines" else parts[0]


def branches(name: str, text: str) -> Iterator[tuple[re.Match[str], str]]:
    """The tags of a macro with the names of their branches; a second one that says the same has a number."""
    times: dict[str, int] = {}
    for tag in _TAG.finditer(text):
        said = " ".join(tag[1].split())
        times[said] = times.get(said, 0) + 1
        yield tag, f"{name}: {said}" + (f" ({times[said]})" if times[said] > 1 else "")


def watched(name: str, text: str) -> str:
    parts, end = [], 0
    for tag, branch in branches(name, text):
        quoted = branch.replace("\\", "\\\\").replace('"', '\\"')
        parts += [text[end : tag.end()], f'{{% set branch = nbsql.record_branch("{quoted}") {tag[2]}%}}']
        end = tag.end()
    return "".join([*parts, text[end:]])


def own_macros(engine: str) -> set[str]:
    """The macros that are written for an engine, but for those whose place the gates take."""
    return {
        source.name
        for folder in DIALECTS[engine].macro_folders
        for path in macro_files(nbsql.rendering.renderer.macro_path() / "macros" / "engines" / folder)
        for source in sources(path)
        if not hasattr(Dialect, source.name.partition("__")[2]) and source.name not in _OF_FUNCTIONS.get(engine, ())
    }
