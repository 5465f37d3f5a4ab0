"""Database files: whether one is there, what is said where none is, and how one that was made goes again."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from nbsql.errors import DatabaseError, suggestion

_NO_FILE = re.compile(r":|\w\w+:|local\[")  # what no path begins with: databases in memory and on servers, and Spark


def is_new(path: object) -> bool:
    """Whether it is the path of a database file that is not there."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        return False
    return _NO_FILE.match(os.fspath(path)) is None and not Path(path).exists()


def missing_database(path: str | os.PathLike[str], cure: str = "") -> DatabaseError:
    """What is raised where there is no such file, with the name of one beside it that is much like it, or else a cure."""
    found = Path(path)
    near = [file.name for file in found.parent.glob("*") if file.suffix in (".duckdb", ".db", ".ddb")]
    return DatabaseError(f"no database {os.fspath(path)!r}{suggestion(found.name, near) or cure}")


def discard(path: str | os.PathLike[str]) -> None:
    """Delete a database file that this process made."""
    for file in (os.fspath(path), f"{os.fspath(path)}.wal"):
        with suppress(OSError):
            Path(file).unlink()
