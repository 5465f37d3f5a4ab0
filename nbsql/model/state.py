"""What a handle knows of its model, in each thread, and the queries that follow it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from nbsql.engines.source import Source
from nbsql.learning.follow import learn_changes
from nbsql.learning.model_source import read_source
from nbsql.queries.query import Query
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

    def adopt(self, state: ModelState) -> ModelState:
        """Make a state that of this thread, and of threads that have none yet."""
        if state is not self.current:
            self._by_thread.state = self.newest = state
        return state

    def refreshed(self) -> ModelState:
        """The state, read again if the model was changed elsewhere. Every verb does so before it uses what it knows."""
        return self.adopt(learn_changes(self.current.refreshed(known=self.newest)))

    @contextmanager
    def guard(self) -> Iterator[None]:
        """As that of the state, after the model has learnt what has changed in the table that it follows."""
        with self.refreshed().guard():
            yield

    def read(self, source: Any, *, reads_target: bool = False, weighted: bool = False) -> Source:
        """The source that the user means, as `read_source` returns it; the model is read again if it was changed."""
        state, data = read_source(self.current, source, reads_target=reads_target, weighted=weighted, known=self.newest)
        self.adopt(state if weighted else learn_changes(state))  # who learns has refreshed it in the same transaction
        return data

    def rendering(self, render: Callable[..., str]) -> Callable[..., str]:
        """A function that returns what `render` does, and calls it again only if the model has changed."""
        rendered: dict[tuple[Any, ...], tuple[Any, str]] = {}

        def text(*arguments: Any, refresh: bool = True) -> str:
            # A query learns changes before its transaction (`guard`), in which it only reads.
            state = self.adopt(self.current.refreshed(known=self.newest)) if refresh else self.current
            known = rendered.get(arguments)
            if known is None or known[0] != state.version:
                known = rendered[arguments] = state.version, render(*arguments)
            return known[1]

        return text

    def query(self, render: Callable[[], str], source: Source | None = None) -> Query:
        """A query that contains numbers of the model, and is therefore rendered again if it has changed when the query runs."""
        text = self.rendering(render)
        text()
        return Query(self.current.engine, text, source, guard=self.guard)
