"""A model as pictures, and as a page."""

from __future__ import annotations

import os
from typing import Any

from nbsql.model.deriving import Deriving
from nbsql.model.judging import Judging
from nbsql.model.reviewing import Reviewing
from nbsql.model.scoring import Scoring
from nbsql.report import Plots, write_report


class Showing(Scoring, Reviewing, Judging, Deriving):
    """What can be looked at of a model. The pictures need the extra `report`: pip install 'nbsql[report]'."""

    @property
    def plot(self) -> Plots:
        """The pictures of the model, a method each: `model.plot.ranking().save("ranking.svg")`."""
        return Plots(self)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        source: Any = None,
        rows: int = 0,
        least: int = 5,
        folds: int | str | None = "auto",
        by: str | None = None,
    ) -> None:
        """Write a report of the model: one page of HTML that needs no network, with all pictures that there is something for.

        It can be read without scripts, and with them answers: what if a row had these values, and what if the threshold were
        another. Without a source it says what the counts alone tell.

        Args:
            path: of the file, which is written anew if it is there.
            source: rows whose class is known, on which to judge the model.
            rows: how many of these the page may show, the surest, the most doubtful and the strangest; 0 shows none, so that no
                value of a row leaves the database.
            least: counts below are folded together or left out, so that nothing is said of a few rows.
            folds: of a source that the model has learnt from, so that each row is judged by the counts of the other folds, or,
                "loo", of all other rows. "auto" does so for a table that the model was fitted on: by leave-one-out, and by five
                folds beyond 100,000 rows, or where a family does not allow the one. None: the model judges all rows itself.
            by: what period a row of the source is of, as `monitor` takes it, which the page then has, too.

        Raises:
            InputError: the source lacks a feature or the class, the file cannot be written, or folds are asked for of rows that
                the model has not learnt.
            NotSupportedError: the extra `report` is not installed.

        >>> import duckdb, nbsql, tempfile, pathlib
        >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
        >>> model = nbsql.fit(duckdb.connect(), data, target="play")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.report(f"{folder}/weather.html", source=data)
        ...     pathlib.Path(folder, "weather.html").stat().st_size < 1_500_000
        True
        """
        write_report(self, path, source, rows=rows, least=least, folds=folds, by=by)
