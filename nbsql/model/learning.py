"""Changes to a model over time."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nbsql.engines.runner import FOLLOW
from nbsql.errors import InputError
from nbsql.evaluation.learnt import forget_dead, live_batches, remember, warn_of_repeated_batch
from nbsql.learning.change import Change, changing
from nbsql.learning.follow import Present, discard_changes, follow, unfollow
from nbsql.model.base import Handle
from nbsql.queries.query import Query
from nbsql.storage import schema as schemas
from nbsql.warn import warn_user


class Learning(Handle):
    """The verbs that change a model."""

    @property
    def batches(self) -> Query:
        """The ledger of all changes, a row for each, with batch, operation, source, rows, at (UTC) and number."""
        return self._relation("batches", "number")

    def update(self, source: Any, *, batch: str | None = None) -> None:
        """Add the rows of `source`. The model is then the one that a fit of all its rows would give, whatever their order.

        What the first fit has chosen by its rows stays as it is, though all rows might choose otherwise: the families, the
        edges of bins, the parents of a tree, the centres of a mixture or of clusters, learnt weights. A batch of the same
        counts as an older one, as where a job has run again, is learnt with a warning.

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
            batches = live_batches(change.draft)  # on Spark the model itself is as before until the end
            remember(self.state, rows, batches)
            warn_of_repeated_batch(change.draft, batches)

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
            else:
                with self._source(source, reads_target=True, weighted=True) as rows:
                    change.forget(rows)
            forget_dead(self.state)

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

    def follow(self, source: str, *, present: Present | None = None) -> None:
        """Follow a table: learn the rows that are inserted into it from now on, forget those that are deleted.

        Triggers write the changed rows into the model's table `changes`, in the transaction of the change, so that a rollback
        takes them back. The next verb that reads the model learns them, on a connection that may write, in its transaction;
        `refresh` does only that. The SQL macros answer as of then. An updated row is forgotten as it was, and learnt as it is.

        Args:
            source: a table in the database of the model.
            present: whether the rows that the table has now are "learnt" already, or "new" and learnt first. By default the
                ledger tells: they are learnt if a fit or an update was from the table, and of as many rows.

        Raises:
            InputError: the source is no table, is elsewhere, or the ledger does not say whether its rows are learnt.
            ModelError: the model cannot be changed, has no name, or follows a table already.
            NotSupportedError: the engine has no triggers that see the changed rows; DuckDB has them from 2.0 on.

        >>> _ = con.execute("CREATE OR REPLACE TABLE inbox AS FROM (VALUES ('sun', 'no'), ('rain', 'yes')) AS t(sky, play)")
        >>> followed = nbsql.fit(con, "inbox", target="play", name="followed", replace=True)
        >>> followed.follow("inbox")
        >>> _ = con.execute("INSERT INTO inbox VALUES ('rain', 'yes')")
        >>> [n for _, n, *_ in followed.priors]
        [1.0, 2.0]
        """
        self.state.engine.require(FOLLOW)
        table = self.state.engine.source(source)
        with self._change() as change:
            follow(change, table, lambda: self._source(table, reads_target=True, weighted=True), present)

    def unfollow(self) -> None:
        """Stop following a table. The model keeps the rows that it has learnt from it.

        Raises:
            ModelError: the model follows no table.

        >>> _ = con.execute("CREATE OR REPLACE TABLE inbox AS FROM (VALUES ('sun', 'no'), ('rain', 'yes')) AS t(sky, play)")
        >>> followed = nbsql.fit(con, "inbox", target="play", name="followed", replace=True)
        >>> followed.follow("inbox")
        >>> followed.unfollow()
        >>> [operation for _, operation, *_ in followed.batches]
        ['fit', 'follow', 'unfollow']
        """
        with self.state.engine.transaction(self.name):
            try:
                self._refresh()
            except InputError as error:
                warn_user(f"{error.marked}, or leave them out, as is done now")
                discard_changes(self.state)
            with self._change() as change:
                unfollow(change)

    def refresh(self) -> None:
        """Learn the changes of the table that the model follows, as any verb that reads the model does; raise what hinders it.

        >>> model.refresh()
        """
        self._refresh()

    def compact(self, through: str | None = None) -> None:
        """Add the counts of all batches up to `through`, or of all batches, into one. Forgotten rows are then gone for good.

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
            with changing(self.state) as change:
                yield change
        self._states.adopt(change.result)
