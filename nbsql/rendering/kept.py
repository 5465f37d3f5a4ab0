"""Keeps on a machine what takes long to make, as Python keeps the code of modules: in `__pycache__`, beside a file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from importlib.util import cache_from_source
from os import getpid
from pathlib import Path

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
