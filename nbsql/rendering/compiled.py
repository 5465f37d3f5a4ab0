"""Compiles each macro once on a machine."""

from __future__ import annotations

import marshal
from functools import cache
from importlib.metadata import version
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING

from nbsql.rendering.kept import kept

if TYPE_CHECKING:
    from jinja2 import Environment


def compile_macro(environment: Environment, name: str, text: str, path: Path) -> CodeType:
    """The code of a macro: the kept code, if the macro and the compiler have not changed, or else newly compiled code."""
    made_of = _compiler() + str(path).encode() + text.encode()
    code = kept(
        path.with_name(f"{path.stem}.{name}"), made_of, lambda: marshal.dumps(environment.compile(text, filename=str(path)))
    )
    found: CodeType = marshal.loads(code)  # noqa: S302 - whoever may write there may as well write a module
    return found


@cache
def _compiler() -> bytes:
    """An identification of the compiler: the versions of Python and Jinja, and our own code."""
    return MAGIC_NUMBER + version("jinja2").encode() + Path(__file__).with_name("environment.py").read_bytes()
