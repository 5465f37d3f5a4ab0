"""A model over time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nbsql import schema as schemas
from nbsql.changes import Change
from nbsql.drafts import drafted, publish
from nbsql.errors import InputError
from nbsql.model.base import Handle
from nbsql.query import Query


class Learning(Handle):
    """What changes a model."""

    @property
    def batches(self) -> Query:
        """The ledger, a row a change: batch, operation, source, rows, at (UTC), number."""
        return self._read("batches", "number")

    def update(self, source: Any, *, batch: str | None = None) -> None:
        """Learn the rows of `source` too: the model is then that of all its rows at once, whatever their order.

        Args:
            source: has the columns that the model was fitted on, of the same types.
            batch: a name for the ledger; None takes the next number.

        Raises:
            InputError: the source, or its rows, cannot be learnt, or the ledger has that name already. Nothing has changed.
            ModelError: what the model has learnt cannot be added to.
        """
        with self._change() as change:
            self._with_source(source, lambda found: change.update(found, batch))

    def forget(self, source: Any = None, *, batch: str | None = None) -> None:
        """Unlearn the rows of `source`, or what came with `batch`: the model is then as if it had never met them.

        Raises:
            InputError: the model has not learnt these rows; the message names the first of them. Nothing has changed.
        """
        if (source is None) == (batch is None):
            raise InputError("forget takes a source or a batch, one of them")
        with self._change() as change:
            if batch is not None:
                change.forget_batch(batch)
            else:
                self._with_source(source, change.forget)

    def rollback(self, batch: str) -> None:
        """Undo every change after `batch`, a line of the ledger."""
        with self._change() as change:
            change.rollback(batch)

    def compact(self, through: str | None = None) -> None:
        """Fold the cells of all batches up to `through`, or of all, into one; what was forgotten is then gone for good.

        The model stays the same; its earlier states are no more.
        """
        with self._change() as change:
            change.compact(through)

    def drop(self) -> None:
        """Remove the model from the database."""
        engine = self._engine
        with engine.transaction():
            if self.name is not None:
                database = self._relations.path[0] if len(self._relations.path) > 1 else engine.current()[0]
                schemas.drop_schema(engine, database, schemas.find(engine, database, self.name))
                return
            for name, kind in schemas.CONTENTS.items():
                if kind != "macro":
                    engine.run(
                        f"drop {name}", engine.renderer.statement("drop_relation", kind, self._relations[name], if_exists=True)
                    )

    @contextmanager
    def _change(self) -> Iterator[Change]:
        with self._there(), self._engine.transaction():
            self._refresh()
            self._spec.need_counts(self._title)
            change = Change(self._engine, drafted(self._engine, self._plan), self._classes, self._title)
            yield change
            plan = publish(self._engine, change.plan, self._relations, self._stamp)
            stamp = self._updated_at()
        self._plan, self._classes, self._stamp = plan, change.classes, stamp
