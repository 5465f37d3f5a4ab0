"""What a search of families and methods has chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from nbsql.answers.query import Query
from nbsql.answers.table import Table
from nbsql.engines.engine import Engine
from nbsql.family import Family
from nbsql.model import Model
from nbsql.spec.method import Classifier, Method
from nbsql.spec.options import Best, Forward, Options
from nbsql.tuning.sweep import Ranking, family_text

LEFT_OUT = "left out"
_RANKING = ("rank", "setting", "log_loss", "gain", "standard_error", "chosen")
_TRIED = ("feature", "family", "alone", "log_loss", "gain", "standard_error", "chosen")


@dataclass(frozen=True)
class Choice:
    """What was chosen, and how it was found.

    Args:
        rows: that it was judged on.
        families: by column, where they are not the default's.
        exclude: the columns that are left out.
        calibrated: whether a temperature earned its place.
        method: the classifier.
        ranking: the rows of `Auto.ranking`.
        tried: those of `Auto.tried`.
    """

    rows: int
    families: dict[str, Family]
    exclude: list[str]
    calibrated: bool
    method: Classifier | None
    ranking: list[tuple[Any, ...]]
    tried: list[tuple[Any, ...]]

    def options(self, options: Options) -> Options:
        """The options of a fit with what was chosen."""
        exclude = [options.exclude] if isinstance(options.exclude, str) else list(options.exclude)
        features = options.features
        if self.exclude and features is not None and not isinstance(features, (Best, Forward)):
            features = [name for name in ([features] if isinstance(features, str) else features) if name not in self.exclude]
        excluded = [*exclude, *self.exclude] if features is None else exclude
        options = replace(options, families={**options.families, **self.families}, features=features, exclude=excluded)
        return options if self.method is None else replace(options, method=cast("Method", self.method))


@dataclass(frozen=True, repr=False)
class Auto(Ranking):
    """What was tried for the families of the columns, and what it gained, on rows that were not met.

    `best` fits once more, to all rows of the source, and calibrates by folds if that earned its place.

    Args:
        rows: that it was judged on.
        families: that were chosen, by column: those that are not what a fit takes by itself.
        exclude: the columns that the rest does better without.
        calibrated: whether a temperature (`Model.calibrate`) earned its place.
        method: the classifier that was chosen, as `method` of a fit takes it; of another than "naive" the families are those of
            texts alone.
        ranking: a row a setting: rank, setting, log_loss, gain (over the default, in nats a row), standard_error (of that),
            chosen.
        tried: of naive Bayes, a row a column and candidate: feature, family ("left out": none), alone (the log loss with the
            prior alone), log_loss (with all other columns as they were chosen), gain (over the default family there),
            standard_error, chosen.

    >>> import duckdb, nbsql
    >>> con = duckdb.connect()
    >>> _ = con.execute("CREATE TABLE t AS SELECT i % 2 AS y, i % 2 * 3 + i % 5 AS x FROM range(60) AS r(i)")
    >>> found = nbsql.auto(con, "t", target="y", folds=3)
    >>> found.best().classes
    [0, 1]
    """

    rows: int
    families: Mapping[str, Family]
    exclude: Sequence[str]
    calibrated: bool
    method: Method
    ranking: Query
    tried: Query
    _make: Callable[..., Model] = field(repr=False)

    def _summary_tables(self) -> tuple[list[str], list[Table]]:
        lines = [
            [str(rank), f"{loss:.4f}", f"{gain:.4f}", f"{error:.4f}", f"{setting}{' (chosen)' if chosen else ''}"]
            for rank, setting, loss, gain, error, chosen in self.ranking
        ]
        tables = [Table(["rank", "log loss", "gain", "± s.e.", "setting"], lines, right=range(4), widest=200)]
        families = [[name, family_text(family)] for name, family in self.families.items()]
        families += [[name, LEFT_OUT] for name in self.exclude]
        tables += [Table(["column", "chosen"], families, widest=200)] if families else []
        return [f"{self.rows:,} rows predicted by models that have not met them"], tables


def make_auto(engine: Engine, choice: Choice, make: Callable[..., Model]) -> Auto:
    """What was chosen as a user has it."""

    def query(rows: Sequence[tuple[Any, ...]], columns: Sequence[str], texts: Sequence[int]) -> Query:
        return Query(engine, engine.renderer.statement("ranked_rows", rows, columns, texts))

    ranking, tried = query(choice.ranking, _RANKING, [1]), query(choice.tried, _TRIED, [0, 1])
    return Auto(
        choice.rows,
        choice.families,
        choice.exclude,
        choice.calibrated,
        cast("Method", choice.method or "naive"),
        ranking,
        tried,
        make,
    )
