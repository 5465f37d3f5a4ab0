"""The type of the fixture `refused` (tests/conftest.py)."""

from collections.abc import Callable
from contextlib import AbstractContextManager

Refused = Callable[[type[Exception], str], AbstractContextManager[None]]
