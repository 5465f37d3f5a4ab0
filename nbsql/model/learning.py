"""Changes to a model over time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from nbsql.errors import InputError
from nbsql.learning.change import Change
from nbsql.model.base import Handle
from nbsql.queries.query import Query, relation_query
from nbsql.storage import schema as schemas
from nbsql.storage.drafts import draft_plan, publish


class Learning(Handle):
    """The verbs that change a model."""

    @property
    def batches(self) -> Query:
        """The ledger of all changes, a row for each, with batch, operation, source, rows, at (UTC) and number."""
        return relation_query(self.state, "batches", "number")

    def update(self, source: Any, *, batch: str | None = None) -> None:
        """Add the rows of `source`. The model is then the one that a fit of all its rows would give, whatever their order.

        Args:
            source: rows with the columns that the model was fitted on, of the same types.
            batch: a name for the ledger; None is the next number.

        Raises:
            InputError: the source or its rows cannot be learnt, or the ledger has that name already. Nothing has changed.
            ModelError: the model does not follow from counts that can be added to.

        >>> model.update("SELECT 'rain' AS sky, 'no' AS play")
        >>> [n for _, n, *_ in model.priors]
        [3.0, 2.0]
        """
        with self._change() as change, self._source(source, reads_target=True, weighted=True) as rows:
            change.update(rows, batch)

    def forget(self, source: Any = None, *, batch: str | None = None) -> None:
        """Subtract the rows of `source`, or those of `batch`. The model is then as if it had never seen them.

        Args:
            source: rows that the model has learnt.
            batch: a batch of the ledger, whose rows are subtracted instead.

        Raises:
            InputError: the model has not learnt these rows; the message names the first such count. Nothing has changed.

        >>> model.forget("SELECT 'rain' AS sky, 'yes' AS play")
        >>> [n for _, n, *_ in model.priors]
        [2.0, 1.0]
        """
        if (source is None) == (batch is None):
            raise InputError("forget takes a source or a batch, one of them")
        with self._change() as change:
            if batch is not None:
                change.forget_batch(batch)
                return
            with self._source(source, reads_target=True, weighted=True) as rows:
                change.forget(rows)

    def rollback(self, batch: str) -> None:
        """Undo all changes after `batch`.

        Args:
            batch: an entry of the ledger, as `batches` lists them.

        >>> model.update(data, batch="again")
        >>> model.rollback("again")
        >>> [n for _, n, *_ in model.priors]
        [4.0, 4.0]
        """
        with self._change() as change:
            change.rollback(batch)

    def compact(self, through: str | None = None) -> None:
        """Fold the cells of all batches up to `through`, or of all batches, into one. What was forgotten is then gone for good.

        The model stays the same; its earlier states are lost.

        Args:
            through: the last batch to fold, by default of all.

        >>> model.update(data)
        >>> model.compact()
        >>> len(model.batches.fetchall())
        1
        """
        with self._change() as change:
            change.compact(through)

    def drop(self) -> None:
        """Remove the model from the database.

        >>> nbsql.fit(con, data, target="play", name="weather").drop()
        >>> nbsql.models(con)
        []
        """
        engine = self.state.engine
        with engine.transaction(self.name):
            if self.name is not None:
                database = self.state.relations.path[0] if len(self.state.relations.path) > 1 else engine.current()[0]
                schemas.drop_schema(engine, database, schemas.find(engine, database, self.name, complete=False))
                return
            schemas.drop_transient(engine, self.state.relations)

    @contextmanager
    def _change(self) -> Iterator[Change]:
        with self.state.guard(), self.state.engine.transaction(self.name):
            self._require("ledger")
            change = Change(replace(self.state, plan=draft_plan(self.state.engine, self.state.plan)))
            yield change
            plan = publish(self.state.engine, change.plan, self.state.relations, self.state.version)
            version = self.state.updated_at()
        self._states.adopt(replace(self.state, plan=plan, classes=change.classes, version=version))
