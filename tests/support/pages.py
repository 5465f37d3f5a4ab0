"""The blocks of a page: they run in order, and what each prints stands below it, in a block of the language `output`."""

import ast
import io
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

import duckdb

import nbsql
from nbsql.queries.table import table_of_rows

# A block with its language and, for SQL, a database or, on PostgreSQL, that word; then what it printed.
BLOCK = re.compile(r"^```(\w+)(?: (\S+\.duckdb|postgres))?\n(.*?)^```\n(?:\n```output\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
LANGUAGES = {"python", "sql", "sh"}
ADDRESS = "postgresql://shop@db.example.com/shop"  # of the pages, which nobody has
_STATEMENTS = 3  # of a block that together fill the lines that it may print; of more, each prints as many as one of these
_WIDTH = 88
_NUMBER = re.compile(r"(-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]\d+)?)")
_VARYING = re.compile(r"\d[\d.,]*(?= ?(?:s|ms|MB|kB|seconds?|minutes|macros)\b|…$)")  # how long it took, how large it is


def run_blocks(
    text: str, title: str, names: dict[str, object], *programs: Path, lines: int = 24, postgres: str | None = None
) -> str:
    """Run the blocks of a page, in order, in this folder; return the page with what they print now, of each block some `lines`.

    A shell finds programs in the folders `programs` first, then those of this Python. Blocks on PostgreSQL run only if
    `postgres` is the address of a database, which takes the place of that on the page.
    """
    path = os.pathsep.join([*map(str, programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": str(_WIDTH)}

    def with_output(found: re.Match[str]) -> str:
        language, file, block, _ = found.groups()
        printed: list[str] = []
        if file == "postgres":
            if postgres is None:
                return found[0]
            block = block.replace(ADDRESS, postgres)
        if language == "python":
            printed = [*_python(block, title, names)]
        elif file == "postgres" and language == "sql":
            printed = [*_tables_of_postgres(str(postgres), block)]
        elif language == "sql":
            printed = [*_tables(file or "shop.duckdb", block)]
        elif language == "sh" and not block.startswith("pip install"):
            printed = _shell(block, environment)
        elif language not in LANGUAGES:
            return found[0]
        if postgres is not None:
            printed = [each.replace(postgres, ADDRESS) for each in printed]
        source, shown = found[0].split("\n\n```output\n")[0].rstrip("\n"), [each for each in printed if each.strip()]
        most = lines // min(max(len(shown), 1), _STATEMENTS)
        output = "\n\n".join(_shortened(each, most) for each in shown)
        return f"{source}\n\n```output\n{output}\n```\n" if shown else f"{source}\n"

    return BLOCK.sub(with_output, text)


def _python(block: str, title: str, names: dict[str, object]) -> Iterator[str]:
    """What each statement prints."""
    for statement in ast.parse(block, title).body:
        with redirect_stdout(io.StringIO()) as out:
            exec(compile(ast.Module([statement], []), title, "exec"), names)  # noqa: S102
        yield out.getvalue()


def _shell(block: str, environment: dict[str, str]) -> list[str]:
    """What each command prints: bash writes a mark before it."""
    marked = f"exec 9>&1; trap 'printf \"\\036\" >&9' DEBUG\n{block}"
    result = subprocess.run(
        ["bash", "-euc", marked],  # noqa: S607
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    return result.stdout.split("\036")


def _tables(file: str, block: str) -> Iterator[str]:
    """What each query answers, as a table."""
    script = re.sub(r"^\.read (\S+)$", lambda read: Path(read[1]).read_text(encoding="utf-8"), block, flags=re.MULTILINE)
    with duckdb.connect(file) as con:
        for statement in con.extract_statements(script):
            found = con.execute(statement)
            columns, rows = [column[0] for column in found.description or ()], found.fetchall()
            if statement.type == duckdb.StatementType.SELECT:
                assert rows, statement.query
                yield table_of_rows(columns, rows).fitted(_WIDTH, keep=1)[0].text()


def _tables_of_postgres(address: str, block: str) -> Iterator[str]:
    """What each query answers on PostgreSQL, as a table."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as con:
        for statement in block.split(";\n"):
            if statement.strip() and (found := con.execute(statement)).description:
                columns = [column.name for column in found.description]
                yield table_of_rows(columns, found.fetchall()).fitted(_WIDTH, keep=1)[0].text()


def _shortened(printed: str, lines: int) -> str:
    """What a page shows of it: the first lines, of the width of a page, without the place and the time of the run."""
    today = datetime.now(timezone.utc).date().isoformat()
    plain = re.sub(r"\x1b\[[0-9;]*m", "", printed.strip("\n"))
    for folder in (Path.cwd(), Path(nbsql.__file__).parent, Path(nbsql.__file__).parents[1]):
        plain = plain.replace(str(folder), "…")
    shown = re.sub(rf"({today} |^)\d\d:\d\d(:\d\d[.\d+]*)?", "…", plain, flags=re.MULTILINE)
    cut = [line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…" for line in map(str.rstrip, shown.splitlines())]
    more = len(cut) - lines
    return "\n".join(cut if more <= 1 else [*cut[:lines], f"… ({more} more lines)"])


def differences(page: str, other: str) -> list[str]:
    """The lines of two pages that differ by more than blanks, last digits, how long something took, and, within an output, the
    order of its lines, which is that of threads.
    """
    lines, others = _lines(page), _lines(other)
    if len(lines) != len(others):
        return sorted({line for line, *_ in lines} ^ {line for line, *_ in others})
    return [f"{one[0]}\n{two[0]}" for one, two in zip(lines, others, strict=True) if not _alike(one, two)]


def _alike(line: tuple[str, list[str], list[float]], other: tuple[str, list[str], list[float]]) -> bool:
    close = partial(math.isclose, rel_tol=2e-3, abs_tol=1e-12)
    return line[1] == other[1] and all(map(close, line[2], other[2]))


def _lines(page: str) -> list[tuple[str, list[str], list[float]]]:
    """Each line, its words and its numbers; those of an output sorted."""
    lines = []
    for place, text in enumerate(re.split(r"^```output\n(.*?)^```\n", page, flags=re.MULTILINE | re.DOTALL)):
        found = []
        for line in text.splitlines():
            parts = _NUMBER.split(re.sub(r"[ ─]+", " ", _VARYING.sub("…", line)))
            found.append((line, parts[::2], [float(number.replace(",", "")) for number in parts[1::2]]))
        lines += sorted(found, key=lambda line: (line[1], [f"{number:.2g}" for number in line[2]])) if place % 2 else found
    return lines
