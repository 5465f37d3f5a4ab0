"""How the SQL is written: macros without a header, long lines, and macros of an engine that repeat those whose place they take.

    python tests/support/templates.py [folder of the SQL]

A macro's header is the comment right above it. What an engine's macro repeats is the share of its lines that stand in the macro
that would be called without it; lines of template tags alone, and of brackets, do not count.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from nbsql.rendering.sources import macro_files

LONGEST_LINE = 140
LONGEST_WITHOUT_HEADER = 5
LARGEST_SHARE = 0.6
LEAST_REPEATED = 3
MACRO = re.compile(r"(?P<header>{#(?:(?!#}).)*#}\n)?(?P<text>{%-? macro (?P<name>\w+)\(.*?{%-? endmacro %})", re.DOTALL)
FRAME = re.compile(r"{%-? *(?:else|endif|endfor|endset)\b *-?%}|{%-? *(?:macro|endmacro)\b.*?%}", re.DOTALL)


class Macro(NamedTuple):
    """A macro as it stands in its file."""

    path: Path
    line: int
    name: str
    header: str
    text: str

    @property
    def has_header(self) -> bool:
        """Whether it says what it renders, or is short enough to be read instead."""
        return bool(self.header) or len(self.text.splitlines()) <= LONGEST_WITHOUT_HEADER

    @property
    def lines(self) -> list[str]:
        """The lines that say something, without their indent."""
        stripped = (" ".join(line.split()) for line in FRAME.sub("", self.text).splitlines())
        return [line for line in stripped if re.search(r"\w", line)]


class Repetition(NamedTuple):
    """A macro of an engine beside the one whose place it takes, and the share of its lines that both have."""

    macro: Macro
    base: Macro
    repeated: int
    share: float


def macros(folder: Path) -> Iterator[Macro]:
    """Every macro of a folder's files."""
    for path in macro_files(folder):
        text = path.read_text(encoding="utf-8")
        for found in MACRO.finditer(text):
            line = text.count("\n", 0, found.start("text")) + 1
            yield Macro(path, line, found["name"], found["header"] or "", found["text"])


def without_header(folder: Path) -> list[Macro]:
    """The macros of more than five lines that do not say what they render."""
    return [macro for macro in macros(folder) if not macro.has_header]


def long_lines(folder: Path) -> list[tuple[Path, int, int]]:
    """The lines of more than 140 characters: file, line, length."""
    return [
        (path, number, len(line))
        for path in macro_files(folder)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > LONGEST_LINE
    ]


def repetitions(folder: Path) -> list[Repetition]:
    """The macros of engines with more than 60 % of their lines, and at least three, in the one whose place they take."""
    known = {macro.name: macro for macro in macros(folder)}
    found = []
    for macro in known.values():
        engine, _, name = macro.name.partition("__")
        base = known.get(f"default__{name}") or known.get(name)
        if not name or engine == "default" or base is None:
            continue
        repeated = sum((Counter(macro.lines) & Counter(base.lines)).values())
        share = repeated / max(len(macro.lines), 1)
        if repeated >= LEAST_REPEATED and share > LARGEST_SHARE:
            found.append(Repetition(macro, base, repeated, share))
    return sorted(found, key=lambda repetition: (-repetition.share, repetition.macro.name))


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "sql"
    bare, long = without_header(folder), long_lines(folder)
    for macro in bare:
        print(f"{macro.path.relative_to(folder)}:{macro.line}: {macro.name} has no header")
    for path, number, length in long:
        print(f"{path.relative_to(folder)}:{number}: a line of {length} characters")
    repeated = repetitions(folder)
    for macro, base, count, share in repeated:
        print(f"{macro.path.relative_to(folder)}:{macro.line}: {macro.name} has {count} lines, {share:.0%}, of {base.name}")
    print(
        f"{sum(1 for _ in macros(folder))} macros, {len(bare)} of over {LONGEST_WITHOUT_HEADER} lines without a header, "
        f"{len(long)} lines of over {LONGEST_LINE} characters, {len(repeated)} repetitions"
    )


if __name__ == "__main__":
    main()
