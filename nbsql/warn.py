"""Warnings that point at the line of the user's code that called nbsql."""

from __future__ import annotations

import contextlib
import sys
import traceback
import warnings
from pathlib import Path

from nbsql.errors import NbsqlWarning

_HERE = str(Path(__file__).parent)


def warn_user(message: str) -> None:
    """Issue an `NbsqlWarning` at the innermost line outside of this package."""
    level = 1
    for frame, _ in traceback.walk_stack(sys._getframe()):
        if not frame.f_code.co_filename.startswith((_HERE, contextlib.__file__)):
            break
        level += 1
    warnings.warn(message, NbsqlWarning, stacklevel=level)
