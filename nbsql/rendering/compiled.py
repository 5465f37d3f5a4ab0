"""A macro is compiled once a machine, as a module of Python is: its code is kept in `__pycache__`, beside its file."""

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

_DIGEST = 32  # bytes of one


def compile_macro(environment: Environment, name: str, text: str, path: Path) -> CodeType:
    """The code of a macro: what is kept of it, as long as all that it was made of is the same, and else compiled anew.

    Args:
        environment: that compiles.
        name: of the macro.
        text: of the macro.
        path: of its file.
    """
    kept = Path(cache_from_source(str(path.with_name(f"{path.stem}.{name}.py"))))
    made_of = _compiler() + str(path).encode() + text.encode()
    with suppress(OSError):  # there is none yet, or it may not be read
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
    """What makes code of a macro: Python, Jinja and our part of it."""
    return MAGIC_NUMBER + version("jinja2").encode() + Path(__file__).with_name("environment.py").read_bytes()


def _keep(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, since others may read it meanwhile; where nobody may write, nothing is kept."""
    unfinished = path.with_name(f"{path.name}.{getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(content)
        unfinished.replace(path)
    with suppress(OSError):
        unfinished.unlink(missing_ok=True)
