"""Models from parts of a model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nbsql.answers.query import Query
from nbsql.errors import InputError, listed
from nbsql.learning.change import Ledger
from nbsql.learning.derive import check_slice_names, derive, slice_names
from nbsql.learning.half_life import check_reference_time
from nbsql.model.base import Handle
from nbsql.plan import Entry
from nbsql.spec.capabilities import check, check_components, check_segmented
from nbsql.spec.half_life import HalfLife
from nbsql.spec.spec import Spec
from nbsql.storage.drafts import draft_plan, publish
from nbsql.storage.files import write_file
from nbsql.storage.shared_counts import Sharing

if TYPE_CHECKING:
    from typing_extensions import Self


class Deriving(Handle):
    """The model as it was, of some of its slices, and in a file."""

    def as_of(self, batch: Any) -> Self:
        """The model as it stood after `batch`, a line of the ledger: a transient model.

        Or, of a model with a half-life and of a time, what all that it has learnt weighs then: a date, a datetime (without a
        zone in UTC), or a whole number where rows age by one. Rows of later times weigh more than once.

        Raises:
            InputError: there is no such line, or it is no time, or 500 half-lives from the newest rows, where nothing is left.

        >>> import duckdb, nbsql
        >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
        >>> model = nbsql.fit(duckdb.connect(), data, target="play")
        >>> model.update(data)
        >>> [n for _, n, *_ in model.as_of("1").priors]
        [2.0, 2.0]
        """
        self._refresh()
        check(self._spec, "as_of", self._title)
        if self._spec.half_life is not None and not isinstance(batch, str):
            return self._at_time(self._spec.half_life, batch)
        number = Ledger.of(self._engine, self._plan, self._title).find(batch).number
        return self._derive(f"as of batch {batch!r}", "cells_through", self._relations["batches"], number)

    @property
    def slice_names(self) -> list[str]:
        """The slices, by the expression `slice_by` of the fit, oldest first."""
        self._refresh()
        return slice_names(self._engine, self._plan, self._title)

    @property
    def segments(self) -> Query:
        """The segments, by the expression `segment_by` of the fit, and their rows: segment, n; NULL for the rows of none."""
        self._refresh()
        check_segmented(self._spec, self._title)
        return Query(self._engine, self._engine.renderer.statement("segments_of", self._relations["statistics"]))

    @property
    def components(self) -> Query:
        """The components of the classes, by the argument of that name of the fit, a row a component, feature and value.

        Columns: class, component, n, prior (P(c, j)), then as `likelihoods` has them of classes feature, value, likelihood,
        log_likelihood, mean, variance, rate; and of numbers centre and scale, which say to which component a later row belongs.
        """
        self._refresh()
        check_components(self._spec, self._title)
        return self._relation_query("components", "class", "component", "feature", "value")

    def slices(self, names: Sequence[Any]) -> Self:
        """The model of some slices only: a transient model. Slices are named as text, or as what is written so.

        >>> import duckdb, nbsql
        >>> con = duckdb.connect()
        >>> _ = con.execute("CREATE TABLE days AS SELECT i // 4 AS week, i % 3 AS wind, i % 2 AS play FROM range(24) AS t(i)")
        >>> model = nbsql.fit(con, "days", target="play", exclude=["week"], slice_by="week")
        >>> sum(n for _, n, *_ in model.slices([0, 1]).priors)
        8.0
        """
        self._refresh()
        check(self._spec, "derive", self._title)
        texts = check_slice_names(self._engine, self._plan, self._title, names)
        return self._derive(f"slices {listed(texts)}", "cells_of_slices", texts)

    def window(self, *, last: int | None = None, decay: float = 1.0) -> Self:
        """The model of the `last` slices (None: of all): a transient model.

        Args:
            last: how many slices, the newest first.
            decay: a slice of age k, the newest having 0, counts decay ** k times; more than 0 and at most 1.

        >>> import duckdb, nbsql
        >>> con = duckdb.connect()
        >>> _ = con.execute("CREATE TABLE days AS SELECT i // 4 AS week, i % 3 AS wind, i % 2 AS play FROM range(24) AS t(i)")
        >>> model = nbsql.fit(con, "days", target="play", exclude=["week"], slice_by="week")
        >>> sum(n for _, n, *_ in model.window(last=2).priors)
        8.0
        """
        self._refresh()
        check(self._spec, "derive", self._title)
        slice_names(self._engine, self._plan, self._title)
        if last is not None and (isinstance(last, bool) or not isinstance(last, int) or last < 1):
            raise InputError(f"last must be a whole number of at least 1, not {last!r}")
        if isinstance(decay, bool) or not isinstance(decay, (int, float)) or not 0 < decay <= 1:
            raise InputError(f"decay must be more than 0 and at most 1, not {decay!r}")
        return self._derive(f"the last {last} slices" if last else "all slices", "windowed_cells", last, float(decay))

    def drift(self, a: Any, b: Any) -> Query:
        """How far slices `b` have moved from slices `a`, the farthest feature first; batches, if the model has no slices.

        A row a feature, and one for the class, without a feature: feature, psi, kl, value, a, b. psi is the population
        stability index, kl the Kullback-Leibler divergence of b from a in nats; value is the value that moved most, a and b
        its shares, or the means of a number. Of columns that share a covariance matrix, value is the column that moved most by
        itself, a and b its means; psi and kl are NULL where one of the matrices has no inverse.

        Args:
            a: a slice, or a list of them.
            b: what to compare with it.

        >>> import duckdb, nbsql
        >>> con = duckdb.connect()
        >>> _ = con.execute("CREATE TABLE days AS SELECT i // 4 AS week, i % 3 AS wind, i % 2 AS play FROM range(24) AS t(i)")
        >>> model = nbsql.fit(con, "days", target="play", exclude=["week"], slice_by="week")
        >>> [feature for feature, *_ in model.drift(0, 5)]
        ['wind', None]
        """
        engine = self._engine
        self._refresh()
        check(self._spec, "drift", self._title)
        sides = []
        for side in (a, b):
            names = [side] if isinstance(side, str) or not isinstance(side, Sequence) else side
            if self._spec.slice_by is not None:
                texts = check_slice_names(engine, self._plan, self._title, names)
                query = self._fragment("cells_of_slices", self._relations["statistics"], texts)
            else:
                ledger = Ledger.of(engine, self._plan, self._title)
                batches = [ledger.find(name).batch for name in names]
                if not batches:
                    raise InputError(f"name at least one batch; {self._title} has {listed(e.batch for e in ledger.entries)}")
                query = self._fragment("cells_of_batches", self._relations["statistics"], batches)
            sides.append(self._fragment("subquery", query))
        return Query(engine, engine.renderer.statement("drift", *sides, self._spec.features))

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        least: int | None = None,
        epsilon: float | None = None,
        seed: int | None = None,
    ) -> None:
        """Write the model to one file, which `nbsql.import_` reads: counts and no rows, and its calibration.

        It is Parquet, the same from DuckDB, PostgreSQL and Spark, and each reads those of the others. With `least` or `epsilon`
        its counts may be shared; it has no calibration then, and its spec says so.

        Args:
            path: of the file.
            overwrite: whether to take the place of one that is there.
            least: leave out what fewer rows of a class have, and as many of the smallest other counts as hide how many.
            epsilon: add noise to all counts, whole numbers of the two-sided geometric distribution, so that the file is
                epsilon-differentially private: of rows that are added or removed, with the classes, values and edges of bins
                declared. The ledger of the model gets a line; what several files spend adds up.
            seed: of noise that can be drawn again, for a test; it is not private. None: from the system's secure generator.

        Raises:
            InputError: the file is there already, or a feature cannot be shared so.
            ModelError: the model cannot.

        >>> import duckdb, nbsql, tempfile, pathlib
        >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
        >>> model = nbsql.fit(duckdb.connect(), data, target="play")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.export(f"{folder}/weather.parquet")
        ...     [path.name for path in pathlib.Path(folder).iterdir()]
        ['weather.parquet']
        """
        self._refresh()
        engine, text = self._engine, os.fspath(path)
        sharing = Sharing(least, epsilon, seed)
        with engine.transaction() if epsilon is not None else nullcontext():
            if epsilon is not None:  # first: who cannot write what was spent does not spend it
                sharing.shared_spec(self._spec, self._title)
                number, batch = Ledger.of(engine, self._plan, self._title).next(None)
                draft = draft_plan(engine, self._plan)
                statement = draft.enter(Entry(number, batch, "export", f"{sharing.description} to {text}", 0))
                engine.run(statement.name, statement.sql)
                self._plan = publish(engine, draft, self._relations, self._stamp)
            write_file(engine, self._plan, text, self._title, overwrite=overwrite, sharing=sharing)

    def _at_time(self, half_life: HalfLife, now: Any) -> Self:
        """The model with its counts as they weigh at a time."""
        spec = replace(self._spec, half_life=replace(half_life, now=now))
        check_reference_time(self._engine, spec, self._relations["statistics"], self._title)
        return self._derive(f"as of {now}", "cells_of", spec=spec)

    def _derive(self, source: str, macro: str, *arguments: Any, spec: Spec | None = None) -> Self:
        engine = self._engine
        cells = self._fragment(macro, self._relations["statistics"], *arguments)
        cells = self._fragment("folded_cells", self._fragment("subquery", cells), "1")
        with engine.transaction():
            rows = round(engine.ask("rows_learnt", self._fragment("subquery", cells))[0][0] or 0)
            if rows <= 0:
                raise InputError(f"nothing is left of {self._title} in {source}")
            entry = Entry(1, "1", "derive", f"{source} of {self._title}", rows)
            plan, classes = derive(engine, spec or self._spec, cells, [entry], origin=self._relations)
        return type(self)(engine, plan, classes, None)
