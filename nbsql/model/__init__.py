"""A fitted model and its methods."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nbsql.model.deriving import Deriving
from nbsql.model.evaluating import Evaluating
from nbsql.model.learning import Learning
from nbsql.model.reviewing import Reviewing
from nbsql.model.scoring import Scoring
from nbsql.model.separating import Separating

if TYPE_CHECKING:
    from nbsql.report import Plots


class Model(Scoring, Reviewing, Evaluating, Separating, Deriving, Learning):
    """A fitted model: statistics in the database, and the queries on them.

    Models are returned by `nbsql.fit` and `nbsql.load`, among others. The examples of the methods go on from this one.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
    >>> con = duckdb.connect()
    >>> model = nbsql.fit(con, data, target="play")
    >>> model.classes
    ['no', 'yes']
    >>> model.predict("SELECT 'rain' AS sky").fetchall()[0][1]
    'yes'
    >>> _ = con.execute("CREATE TABLE days AS SELECT i // 4 AS week, i % 3 AS wind, i % 2 AS play FROM range(24) AS t(i)")
    >>> by_week = nbsql.fit(con, "days", target="play", exclude=["week"], slice_by="week")
    """

    @property
    def plot(self) -> Plots:
        """The pictures of the model, one method for each, such as `model.plot.ranking().save("ranking.svg")`."""
        from nbsql.report import Plots

        return Plots(self.state)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        source: Any = None,
        rows: int | Sequence[int] = 0,
        least: int = 5,
        folds: int | str | None = "auto",
        by: str | None = None,
        gain: bool = False,
    ) -> None:
        """Write a report of the model: one page of HTML that needs no network, with every picture that has data.

        The page can be read without scripts. With scripts it also answers what-if questions: other values of a row, or
        another threshold. Without a source it shows what the counts alone tell.

        Args:
            path: the path of the file, which is overwritten.
            source: rows whose class is known, on which the model is evaluated.
            rows: how many of these rows the page may show: the surest, the most doubtful and the strangest; or the numbers of
                rows of the source, from 1, such as [2, 17]. With 0, no value of a row leaves the database.
            least: counts below this are combined or left out, so that nothing is said about few rows.
            folds: for a source that the model has learnt from, so that each row is evaluated by the counts of the other folds
                or, with "loo", of all other rows. "auto" does so for the rows that the model has learnt: by leave-one-out,
                or by five folds with more than 100,000 rows or where `cross_validate` does not take "loo". None: the model
                itself judges all rows.
            by: the period of a row of the source, as `monitor` takes it; the page then has its numbers by period.
            gain: whether to try other methods on the source, and say which would gain most, as `Evaluation.gain` does.

        Raises:
            InputError: the source lacks a feature or the class, the file cannot be written, or folds are asked for on rows
                that the model has not learnt.
            NotSupportedError: the extra `report` is not installed.

        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.report(f"{folder}/weather.html", source=data)
        ...     pathlib.Path(folder, "weather.html").stat().st_size < 1_500_000
        True
        """
        from nbsql.report import write_report

        with self.state.engine.turn():
            write_report(self.state, path, source, rows=rows, least=least, folds=folds, by=by, gain=gain)
