"""Database files: the check for a new one, the error for a missing one, and the deletion of one that was created."""

import os
import re
from contextlib import suppress
from pathlib import Path

from nbsql.errors import DatabaseError, InputError, suggestion

_NO_FILE = re.compile(r":|\w\w+:|local\[")  # not paths: databases in memory and on servers, and Spark
# How other libraries name a database; as a path it would be a new file, with the password in its name.
_FOREIGN = re.compile(
    r"\s*['\"]?((?:jdbc:)?(?:postgres\w*|pg|duckdb|sqlite|mysql|mariadb)(?:\+\w+)?\s*:/|"
    r"(?:host|hostaddr|dbname|user|password|port|service)\s*=)"
)
_MAGIC = slice(8, 12)  # the place of "DUCK" in a database file


def exists(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file or a folder that this user can see; `Path.exists` fails in a folder that is closed to them."""
    return os.access(path, os.F_OK)


def is_new(path: object) -> bool:
    """Whether it is the path of a database file that does not exist."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        return False
    return _NO_FILE.match(os.fspath(path)) is None and not exists(path)


def missing_database(path: str | os.PathLike[str], cure: str = "") -> DatabaseError:
    """The error for a missing file. It suggests a file with a similar name in the same folder, or else `cure`."""
    if (foreign := _foreign(path)) is not None:
        return foreign
    found = Path(path)
    near = (
        [file.name for file in found.parent.glob("*") if file.suffix in (".duckdb", ".db", ".ddb")]
        if exists(found.parent)
        else []
    )
    return DatabaseError(f"no database {os.fspath(path)!r}{suggestion(found.name, near) or cure}")


def _foreign(path: str | os.PathLike[str]) -> DatabaseError | None:
    """The error for what names a database to psycopg, SQLAlchemy or JDBC."""
    match = _FOREIGN.match(os.fspath(path))
    if match is None or exists(path):
        return None
    address = "such as 'postgresql://user@host/dbname'"
    return DatabaseError(f"what begins with {match[1]!r} is neither the path of a DuckDB database nor an address {address}")


def check_path(path: str | os.PathLike[str]) -> None:
    """Raise DatabaseError if it is no path, a new database has no folder, or if the file is none of DuckDB.

    DuckDB 2.0 opens a file of rows as a database in memory, with a view of them: a model would be stored there, and lost.
    """
    if (foreign := _foreign(path)) is not None:
        raise foreign
    text, file = os.fspath(path), Path(path)
    if is_new(path) and not (exists(file.parent) and file.parent.is_dir()):
        raise DatabaseError(f"cannot open {text!r}: its folder does not exist; make it first")
    if exists(file) and file.is_dir():
        raise DatabaseError(f"{text!r} is a folder; name a database file")
    if exists(file) and file.is_file() and file.stat().st_size:
        with suppress(OSError):  # what cannot be read, DuckDB says
            if not _has_magic(file):
                raise DatabaseError(f"{text!r} is no DuckDB database; name a database file, and the rows as the source")


def check_readable(path: str | os.PathLike[str]) -> None:
    """Raise InputError for a pipe or a device, which may have no end; for a pipe of the shell, <(...), there is a writer."""
    text, file = os.fspath(path), Path(path)
    if exists(file) and not file.is_file() and not file.is_dir() and not text.startswith("/dev/fd/"):
        raise InputError(f"cannot read {text!r}: it is a pipe or a device; name a file")


def is_database(path: Path) -> bool:
    """Whether it is the file of a DuckDB database, which this user can read."""
    with suppress(OSError):
        return path.is_file() and _has_magic(path)
    return False


def _has_magic(path: Path) -> bool:
    return first_bytes(path, _MAGIC.stop)[_MAGIC] == b"DUCK"


def first_bytes(path: Path, n: int) -> bytes:
    """The first n bytes of a file. To open and close a database that this process has open would end DuckDB's lock on it."""
    if (number := _descriptor(path)) is not None:
        return os.pread(number, n, 0)
    with path.open("rb") as opened:
        return opened.read(n)


def is_open_here(path: str | os.PathLike[str]) -> bool:
    """Whether the file of that name is one that this process has open, and not another that was put in its place."""
    if not exists("/dev/fd"):  # Windows, where nobody can replace a file that is open
        return exists(path)
    return _descriptor(path) is not None


def _descriptor(path: str | os.PathLike[str]) -> int | None:
    """The number by which this process has the file of that name open, if it has, and the system has such numbers."""
    with suppress(OSError):
        found = Path(path).stat()
        for number in [int(file.name) for file in Path("/dev/fd").iterdir()]:
            with suppress(OSError):  # that of the list of them is closed by now
                if os.path.samestat(os.fstat(number), found):
                    return number
    return None


def discard(path: str | os.PathLike[str]) -> None:
    """Delete a database file that this process created."""
    for file in (os.fspath(path), f"{os.fspath(path)}.wal"):
        with suppress(OSError):
            Path(file).unlink()
