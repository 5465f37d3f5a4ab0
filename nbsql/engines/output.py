"""Output files: which files may be written, and how they appear whole or not at all."""

import glob
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path

from nbsql.engines.duckdb.paths import is_database
from nbsql.errors import DatabaseError, InputError, path_text

_BESIDE = re.compile(r"(.+)\.(wal|tmp)(\..+)?", re.IGNORECASE)  # what DuckDB keeps beside a database of the first name
_SCHEME = re.compile(r"file:(//(localhost)?(?=/))?", re.IGNORECASE)


def check_output(path: str | os.PathLike[str], reads: Iterable[str] = ()) -> Path:
    """The file that a path names, which may be written; links are followed.

    Raises InputError if it is a folder, a device or a pipe, is a database or belongs to one, cannot be written, or is one of
    `reads`: paths and globs.
    """
    text = path_text(path)
    with _writing(text):
        target = Path(text).expanduser().resolve()
        if target.is_dir() or text.endswith(("/", os.sep)):
            raise InputError(f"{text!r} is a folder; name a file in it, such as {str(Path(text) / 'output')!r}")
        if not target.parent.is_dir():
            raise InputError(f"cannot write {text!r}: its folder does not exist; make it first")
        if target.exists() and not target.is_file():
            raise InputError(f"cannot write {text!r}: it is a device or a pipe; name a file")
        if target.exists() and not os.access(target, os.W_OK):
            raise InputError(f"cannot write {text!r}: Permission denied")
        beside = _BESIDE.fullmatch(target.name)
        if is_database(target):
            raise InputError(f"{text!r} is a database, which the output would replace; write to another file")
        if beside is not None and is_database(target.with_name(beside[1])):
            raise InputError(f"{text!r} is a file that the database {beside[1]!r} uses; write to another file")
        for read in reads:
            if _is_read(target, _SCHEME.sub("", read)):
                raise InputError(f"{text!r} is a file that is read here, by the name {read!r}; write to another file")
    return target


@contextmanager
def output_file(path: str | os.PathLike[str], reads: Iterable[str] = ()) -> Iterator[Path]:
    """A file to write to, which takes the place of the one at the path, with its permissions, unless an error is raised.

    Raises InputError as `check_output` does, or if the file cannot be written.
    """
    text, target = path_text(path), check_output(path, reads)
    endings = "".join(Path(target.name).suffixes[-2:])[-20:]  # they choose the format and the compression
    draft = target.with_name(f".nbsql-{secrets.token_hex(4)}{endings}")
    try:
        with _writing(text, draft):
            yield draft
            if target.exists():
                shutil.copymode(target, draft)
                with suppress(OSError):  # only root may give a file away
                    os.chown(draft, target.stat().st_uid, target.stat().st_gid)
            draft.replace(target)
    finally:
        with suppress(OSError):
            draft.unlink()


@contextmanager
def _writing(text: str, draft: Path | None = None) -> Iterator[None]:
    """Name the user's path in the errors of writing a file."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write {text!r}: {error.strerror or error}") from error
    except DatabaseError as error:
        raise DatabaseError(str(error).replace(str(draft), text)) from error.__cause__
    except ValueError as error:
        if isinstance(error, InputError) or draft is not None:  # it is about what is written, and not about the path
            raise
        raise InputError(f"cannot write {text!r}: {error}") from None  # a null byte in it


def _is_read(target: Path, read: str) -> bool:
    """Whether a file is the one at a path, or one of those, now or later, that a glob matches."""
    with suppress(OSError, ValueError, RuntimeError):  # a text that names no file
        named = Path(read).expanduser()
        if named.exists():
            return named.samefile(target)
        if not glob.has_magic(read) or not re.search(r"[./]", read):  # a text of signs alone is hardly a glob
            return False
        fixed = next(number for number, part in enumerate(named.parts) if glob.has_magic(part))
        folder, rest = Path(*named.parts[:fixed]), named.parts[fixed:]
        if target.is_relative_to(folder.resolve()) and _matches(target.relative_to(folder.resolve()).parts, rest):
            return True
        return target.exists() and any(file.is_file() and file.samefile(target) for file in folder.glob(str(Path(*rest))))
    return False


def _matches(parts: tuple[str, ...], patterns: tuple[str, ...]) -> bool:
    """Whether the names along a path match a glob, in which ** stands for any number of folders."""
    if not patterns or not parts:
        return not parts and not patterns
    if patterns[0] == "**":
        return _matches(parts, patterns[1:]) or _matches(parts[1:], patterns)
    return fnmatchcase(parts[0], patterns[0]) and _matches(parts[1:], patterns[1:])
