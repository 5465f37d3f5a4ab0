"""Models derived from parts of a model, and its export."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

from nbsql.errors import InputError, NoPartError, listed, path_text
from nbsql.evaluation.profile import drift
from nbsql.family.checks import whole_number
from nbsql.learning.change import Ledger
from nbsql.learning.derive import check_slice_names, derive, slice_names
from nbsql.learning.half_life import check_reference_time
from nbsql.model.base import Handle
from nbsql.plan import Entry
from nbsql.queries.query import Query
from nbsql.spec.half_life import HalfLife
from nbsql.spec.spec import Spec
from nbsql.storage.files import write_file
from nbsql.storage.state import ModelState

if TYPE_CHECKING:
    from typing_extensions import Self


class Deriving(Handle):
    """Earlier states, slices and segments of a model, drift, and files."""

    def as_of(self, batch: Any) -> Self:
        """The model as it was after `batch`, an entry of the ledger, as a transient model.

        For a model with a half-life, `batch` may also be a time, at which everything that the model has learnt is weighted: a
        date, a datetime (without a time zone, in UTC), or a whole number if rows age by whole numbers. Rows of later times
        weigh more than once.

        Raises:
            InputError: there is no such entry, it is not a time, or it is more than 500 half-lives from the newest rows,
                where nothing is left.

        >>> model.update(data)
        >>> [n for _, n, *_ in model.as_of("1").priors]
        [2.0, 2.0]
        """
        self._require("as_of")
        if self.state.spec.half_life is not None and not isinstance(batch, str):
            return self._at_time(self.state.spec.half_life, batch)
        with self.state.engine.turn():
            number = Ledger.of(self.state).find(batch).number
            return self._derive(f"as of batch {batch!r}", "cells_through", self.state.relations["batches"], number)

    @property
    def slice_names(self) -> list[str]:
        """The slices by the expression `slice_by` of the fit, oldest first."""
        self._refresh()
        return slice_names(self.state)

    @property
    def segments(self) -> Query:
        """The segments of the fit (`segment_by`), and their rows, with segment and n.

        A NULL segment stands for rows without one.
        """
        self._refresh()
        if self.state.spec.segment_by is None:
            raise NoPartError(f'{self.state.title} has no segments; fit it with ⟨segment_by="region"⟩, for example')
        return self._macro_query("segments_of", self.state.relations["statistics"])

    @property
    def components(self) -> Query:
        """The components of the classes, by `nbsql.Mixture`, with one row per component, feature and value.

        Columns: class, component, n, prior (P(c, j)); then, as in `likelihoods` for classes, feature, value, likelihood,
        log_likelihood, mean, variance, rate; and for numbers centre and scale, which assign later rows to components.
        """
        self._refresh()
        if self.state.spec.components is None:
            raise NoPartError(f"{self.state.title} has no components; fit it with ⟨method=nbsql.Mixture(2)⟩, for example")
        return self._relation("components", "class", "component", "feature", "value")

    def slices(self, names: Sequence[Any]) -> Self:
        """The model of some slices only, as a transient model.

        Slices are named by their text, or by values with that text; None is that of the rows without a slice.

        >>> sum(n for _, n, *_ in by_week.slices([0, 1]).priors)
        8.0
        """
        self._require("derive")
        with self.state.engine.turn():
            texts = check_slice_names(self.state, names)
            shown = listed("NULL" if text is None else text for text in texts)
            return self._derive(f"slices {shown}", "cells_of_slices", texts)

    def window(self, *, last: int | None = None, decay: float = 1.0) -> Self:
        """The model of the `last` slices (None: of all), as a transient model.

        Args:
            last: the number of slices, the newest first.
            decay: a slice of age k counts decay ** k times, where the newest slice has age 0; above 0 and at most 1.

        >>> sum(n for _, n, *_ in by_week.window(last=2).priors)
        8.0
        """
        self._require("derive")
        slice_names(self.state)
        if last is not None:
            whole_number(last, "last")
        if isinstance(decay, bool) or not isinstance(decay, Real) or not 0 < decay <= 1:
            raise InputError(f"decay must be more than 0 and at most 1, not {decay!r}")
        return self._derive(f"the last {last} slices" if last else "all slices", "windowed_cells", last, float(decay))

    def drift(self, a: Any, b: Any) -> Query:
        """How far slices `b` have moved from slices `a`, the feature that moved most first.

        Without slices, batches are compared. A row for each feature, and one for the class, without a feature: feature, psi,
        kl, value, a, b. psi is the population stability index, kl the Kullback-Leibler divergence of b from a in nats. value
        is the value that moved most, and a and b are its shares, or the means of a number. Columns that share a covariance
        matrix have the row of the one that moved most, which is the value.

        Args:
            a: a slice, or a list of slices, named as in `slices`.
            b: the slices to compare with it.

        >>> [feature for feature, *_ in by_week.drift(0, 5)]
        ['wind', None]
        """
        self._refresh()
        return drift(self.state, a, b)

    def export(self, path: str | os.PathLike[str], *, overwrite: bool = False, least: int | None = None) -> None:
        """Write the model to a file that `nbsql.import_` reads: counts, no rows, and its calibration.

        The file is Parquet, with the same format from DuckDB, PostgreSQL and Spark, each of which reads the files of the
        others. With `least` counts of few rows are left out, so that the others may be shared; the file then has no
        calibration, and its spec records the number.

        Args:
            path: the path of the file.
            overwrite: whether to replace an existing file.
            least: leave out counts of fewer than this many rows, and the next smallest ones of a feature and class until those
                left out have as many rows together, since the count of the class may reveal their sum.

        Raises:
            InputError: the file exists already, cannot be written or is a database, or a feature cannot be shared this way.
            ModelError: the model cannot be shared this way.

        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.export(f"{folder}/weather.parquet")
        ...     [path.name for path in pathlib.Path(folder).iterdir()]
        ['weather.parquet']
        """
        engine, text = self.state.engine, path_text(path)
        with engine.turn():
            self._refresh()
            write_file(self.state, text, overwrite=overwrite, least=least)

    def _at_time(self, half_life: HalfLife, now: Any) -> Self:
        """The model with its counts weighted at a time."""
        spec = replace(self.state.spec, half_life=replace(half_life, now=now))
        check_reference_time(self.state.engine, spec, self.state.relations["statistics"], self.state.title)
        return self._derive(f"as of {now}", "cells_of", spec=spec)

    def _derive(self, source: str, macro: str, *arguments: Any, spec: Spec | None = None) -> Self:
        engine = self.state.engine
        cells = engine.renderer.subquery(macro, self.state.relations["statistics"], *arguments)
        cells = engine.renderer.fragment("folded_cells", cells, "1")
        with engine.transaction():
            rows = round(engine.query_value("rows_learnt", engine.renderer.fragment("subquery", cells)) or 0)
            if rows <= 0:
                raise InputError(f"nothing is left of {self.state.title} in {source}")
            entry = Entry(1, "1", "derive", f"{source} of {self.state.title}", rows)
            plan, classes = derive(engine, spec or self.state.spec, cells, [entry], origin=self.state.relations)
        return type(self)(ModelState(engine, plan, classes))
