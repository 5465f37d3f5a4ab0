"""What a handle knows of its model, in each thread."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from nbsql.plan import Plan
from nbsql.plan.classes import ClassColumn


class State(NamedTuple):
    """What is known of a model: its plan, its classes, and `updated_at` before they were read."""

    plan: Plan
    classes: list[ClassColumn]
    stamp: Any


class States:
    """The state of each thread, which no other thread changes in the middle of a verb."""

    def __init__(self, state: State) -> None:
        self._by_thread = threading.local()
        self.newest = state

    @property
    def current(self) -> State:
        """The state of this thread; the newest of all if it has none yet."""
        found: State = getattr(self._by_thread, "state", self.newest)
        return found

    def adopt(self, state: State) -> None:
        """Make a state that of this thread, and of threads that have none yet."""
        self._by_thread.state = self.newest = state
