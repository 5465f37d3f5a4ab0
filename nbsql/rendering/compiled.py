"""Compiles each macro once on a machine, as Python does with modules: the code is stored in `__pycache__`, beside the file."""

from __future__ import annotations

import marshal
import sys
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.util import MAGIC_NUMBER, cache_from_source
from os import getpid
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

_DIGEST = 32  # bytes of a digest


def compile_macro(environment: Environment, name: str, text: str, path: Path) -> CodeType:
    """The code of a macro: the stored code, if the macro and the compiler have not changed, or else newly compiled code."""
    kept = Path(cache_from_source(str(path.with_name(f"{path.stem}.{name}.py"))))
    made_of = _compiler() + str(path).encode() + text.encode()
    with suppress(OSError):  # the file does not exist yet, or is not readable
        content = kept.read_bytes()
        digest, code = content[:_DIGEST], content[_DIGEST:]
        if digest == sha256(made_of + code).digest():
            found: CodeType = marshal.loads(code)  # noqa: S302 - whoever may write here may as well write a module
            return found
    found = environment.compile(text, filename=str(path))
    if not sys.dont_write_bytecode:
        code = marshal.dumps(found)
        _keep(kept, sha256(made_of + code).digest() + code)
    return found


@cache
def _compiler() -> bytes:
    """An identification of the compiler: the versions of Python and Jinja, and our own code."""
    return MAGIC_NUMBER + version("jinja2").encode() + Path(__file__).with_name("environment.py").read_bytes()


def _keep(path: Path, content: bytes) -> None:
    """Write a file atomically, because others may read it at the same time; do nothing if the folder is not writable."""
    unfinished = path.with_name(f"{path.name}.{getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(content)
        unfinished.replace(path)
    with suppress(OSError):
        unfinished.unlink(missing_ok=True)
