"""Compiles each macro once on a machine: what takes long to make is kept in `__pycache__`, as Python keeps modules."""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.util import MAGIC_NUMBER, cache_from_source
from os import getpid
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING

_DIGEST = 32  # bytes of a digest


def kept(path: Path, made_of: bytes, make: Callable[[], bytes]) -> bytes:
    """What was kept for a path, if it was made of the same, or else what is made anew."""
    place = Path(cache_from_source(str(path.with_name(f"{path.name}.py"))))
    with suppress(OSError):  # the file does not exist yet, or is not readable
        content = place.read_bytes()
        digest, found = content[:_DIGEST], content[_DIGEST:]
        if digest == sha256(made_of + found).digest():
            return found
    made = make()
    if not sys.dont_write_bytecode:
        _keep(place, sha256(made_of + made).digest() + made)
    return made


def _keep(path: Path, content: bytes) -> None:
    """Write a file atomically, because others may read it at the same time; do nothing if the folder is not writable."""
    unfinished = path.with_name(f"{path.name}.{getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(content)
        unfinished.replace(path)
    with suppress(OSError):
        unfinished.unlink(missing_ok=True)


if TYPE_CHECKING:
    from nbsql.rendering.environment import SQLEnvironment


def compile_macro(environment: SQLEnvironment, name: str, text: str, path: Path) -> CodeType:
    """The code of a macro: the kept code, if the macro and the compiler have not changed, or else newly compiled code."""
    made_of = _compiler() + str(path).encode() + text.encode()
    code = kept(path.with_name(f"{path.stem}.{name}"), made_of, lambda: marshal.dumps(environment.code(text, str(path))))
    found: CodeType = marshal.loads(code)  # noqa: S302 - whoever may write there may as well write a module
    return found


@cache
def _compiler() -> bytes:
    """An identification of the compiler: the versions of Python and Jinja, and our own code."""
    return MAGIC_NUMBER + version("jinja2").encode() + Path(__file__).with_name("environment.py").read_bytes()
