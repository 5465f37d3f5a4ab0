"""What a handle knows of its model, in each thread."""

from __future__ import annotations

import threading

from nbsql.storage.state import ModelState


class States:
    """The state of each thread, which no other thread changes in the middle of a verb."""

    def __init__(self, state: ModelState) -> None:
        self._by_thread = threading.local()
        self.newest = state

    @property
    def current(self) -> ModelState:
        """The state of this thread; the newest of all if it has none yet."""
        found: ModelState = getattr(self._by_thread, "state", self.newest)
        return found

    def adopt(self, state: ModelState) -> None:
        """Make a state that of this thread, and of threads that have none yet."""
        if state is not self.current:
            self._by_thread.state = self.newest = state
