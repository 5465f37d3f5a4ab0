"""The macros as they stand in `sql/`: in files of Jinja, and in tables of those that are one expression."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_MACRO = re.compile(r"{%-? macro (\w+)\(.*?{%-? endmacro %}", re.DOTALL)
ENTRY = re.compile(r"^(\w+)\((.*?)\) +=(?:\n  | +|$)(.*)$", re.MULTILINE)
_LINE = 140  # the most characters of a line in sql/

TABLE = "primitives.txt"  # of what engines say differently, in the folder of each
QUERIES = "queries.txt"  # of what Python asks, in one statement each


class Source(NamedTuple):
    """A macro that is not compiled yet. Empty lines before its text keep the line numbers of its file, for errors."""

    name: str
    path: Path
    text: str


def macro_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix == ".sql" or path.name in (TABLE, QUERIES))


def sources(path: Path) -> Iterator[Source]:
    """The macros of a file. Those of a table of primitives are of the engine in whose folder it is, or else `default`."""
    text = path.read_text(encoding="utf-8")
    engine = path.parent.name if path.parent.parent.name == "engines" else "default"
    for found in (_MACRO if path.suffix == ".sql" else ENTRY).finditer(text):
        name, macro = found[1], found[0]
        if path.suffix != ".sql":
            name = f"{engine}__{name}" if path.name == TABLE else name
            macro = f"{{% macro {name}({found[2]}) -%}}"
            for part in filter(None, [found[3], "{%- endmacro %}"]):
                macro += f"{' ' if len(macro.splitlines()[-1]) + len(part) < _LINE else chr(10)}{part}"
        yield Source(name, path, "\n" * text.count("\n", 0, found.start()) + macro)
