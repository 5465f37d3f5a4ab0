"""The result of a search over families and methods."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from nbsql.errors import listed
from nbsql.evaluation.calibration import draw_toward_priors
from nbsql.family import Family
from nbsql.model import Model
from nbsql.queries.query import Query
from nbsql.queries.table import Table
from nbsql.spec.method import Method
from nbsql.spec.options import Best, Options
from nbsql.storage.calibration import restore_calibration
from nbsql.tuning.held_out import Judgement
from nbsql.tuning.sweep import Ranking, family_text

LEFT_OUT = "left out"
SEEN = "the choice has seen the rows of the figures below, so that those of the best are too good"
RULE = "rank is by log loss; another setting is chosen over naive Bayes if it gains more than one standard error"
RANKING = ("rank", "setting", "log_loss", "gain", "standard_error", "chosen")
TRIED = ("feature", "family", "alone", "log_loss", "gain", "standard_error", "chosen")


@dataclass(frozen=True, repr=False)
class Auto(Ranking):
    """The families and the method that were chosen, and what each candidate gained on rows that its models had not seen.

    `best` fits once more, on all rows of the source, and calibrates by folds if that was chosen.

    Args:
        rows: the number of rows that the choice has seen.
        families: the chosen families by column, where they differ from those that a fit infers.
        exclude: the columns without which the model is better, those that a covariance matrix cannot have because they do not
            vary or follow from others, and those of 0 and 1 that are part of a category.
        calibrated: whether a temperature (`Model.calibrate`) was chosen.
        method: the chosen classifier, as `method` of a fit takes it; for another than "naive" and "weighted", `families`
            has only those of texts and of numbers that are categories.
        not_tried: what a budget of seconds has left untried, as texts; nothing otherwise.
        refused: the methods among those tried by default that the rows do not allow, or that were far behind another in the
            first fold, and why.
        reasons: for each column of `families` and `exclude` that the search chose, why, as a text with the gain over the
            default in naive Bayes; and why a covariance matrix cannot have a column.
        ranking: a row for each setting, the chosen one first: rank (by log_loss), setting, log_loss, gain (over the default, in
            nats per row), standard_error (of the gain), chosen. The chosen one need not have rank 1: another setting is chosen
            over naive Bayes, and a temperature over none, only if it gains more than one standard error.
        tried: for naive Bayes, a row for each column and candidate: feature, family ("left out": none), alone (the log loss
            of the column with the prior alone), log_loss (with all other columns as chosen), gain (over the default family,
            with the same), standard_error, chosen.
        held_out: how well what was chosen predicts the rows that were kept aside, a sixth of them: their number, the log loss
            by a model of the other rows, that of the priors, and the gain over it with its standard error. None if there were
            fewer than 30 rows, or two folds of the user's, so that all were needed for the choice.
        temperature: that of the folds, at which the rows kept aside were predicted, if another method than naive Bayes was
            chosen with one; `best` fits its own to folds of all rows. None otherwise.
        shrinkage: how far `best` draws the posteriors toward the priors: the part of the gain over these that the best of so
            many settings would have by luck, 0.95 at most, and as much if these alone predict the rows kept aside better. 0 if
            that is less than a twentieth, or with `calibrate=False`.
        derive: the categories that columns of 0 and 1 encode, of which one is 1 in a row (as `pandas.get_dummies` makes them):
            their names, and the SQL expressions of their values. They take the place of these columns.
        is_sample: whether the budget took a sample of the rows.

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
    not_tried: Sequence[str]
    refused: Mapping[str, str]
    reasons: Mapping[str, str]
    ranking: Query
    tried: Query
    held_out: Judgement | None = None
    temperature: float | None = None
    shrinkage: float = 0.0
    derive: Mapping[str, str] = field(default_factory=dict)
    _encoded: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)  # the columns of each of these
    is_sample: bool = False
    _make: Callable[..., Model] = field(default=cast("Any", None), repr=False)  # `nbsql.auto` adds it

    def _summary_tables(self) -> tuple[list[str], list[Table]]:
        lines = [
            [str(rank), f"{loss:.4f}", f"{gain:.4f}", f"{error:.4f}", f"{setting}{' (chosen)' if chosen else ''}"]
            for rank, setting, loss, gain, error, chosen in self.ranking
        ]
        tables = [Table(["rank", "log loss", "gain", "± s.e.", "setting"], lines, right=range(4), widest=200)]
        families = [[name, family_text(family), self.reasons.get(name, "")] for name, family in self.families.items()]
        encoded = {name for columns in self._encoded.values() for name in columns}
        left_out = [name for name in self.exclude if name not in encoded]
        families += [[name, LEFT_OUT, self.reasons.get(name, "")] for name in left_out]
        tables += [Table(["column", "chosen", "why"], families, widest=200)] if families else []
        return [*self.lines(), f"{self.rows:,} rows predicted by models that have not seen them", RULE, SEEN], tables

    def lines(self) -> list[str]:
        """What was chosen, how well it predicts rows that were kept aside, and what was not tried."""
        chosen = next(setting for _, setting, *_, is_chosen in self.ranking if is_chosen)
        judged = "no row was kept aside: evaluate it on rows that it has not seen" if self.held_out is None else self.held_out
        untried = [f"the budget ran out; not tried: {'; '.join(self.not_tried)}"] if self.not_tried else []
        refused = [f"not tried: {name}: {reason}" for name, reason in self.refused.items()]
        sample = ["chosen on a sample of the rows, selected by a hash; a larger budget takes more"] if self.is_sample else []
        encoded = [f"one category, {name}: {_first_and_last(columns)}" for name, columns in self._encoded.items()]
        is_worse = self.held_out is not None and self.held_out.is_worse
        why = "alone, these predict the rows kept aside better" if is_worse else "luck explains as much of the gain over them"
        shrunk = [f"posteriors are drawn toward the priors by {self.shrinkage:.0%}: {why}"] if self.shrinkage else []
        return [f"chosen: {chosen}; {judged}", *shrunk, *sample, *encoded, *untried, *refused]


def _first_and_last(columns: Sequence[str]) -> str:
    return listed(columns) if len(columns) < 5 else f"{columns[0]!r} to {columns[-1]!r}, {len(columns)} columns of 0 and 1"


def chosen_options(choice: Auto, options: Options) -> Options:
    """The options of a fit with a choice."""
    features, left_out = options.features, choice.exclude
    if left_out and features is not None and not isinstance(features, Best):
        features = [name for name in ([features] if isinstance(features, str) else features) if name not in left_out]
    options = options if features is not None else options.excluding(*left_out)
    return replace(options, families={**options.families, **choice.families}, features=features, method=choice.method)


def calibrate_as_chosen(model: Model, choice: Auto, source: Any, folds: int, temperature: float | None = None) -> Model:
    """A model with the calibration of a choice; its temperature is that of folds of the source, unless one is given."""
    if choice.calibrated and temperature is None:
        temperature = model.calibrate(source, folds=folds).temperature
    elif temperature is not None:
        text = json.dumps([{"method": "temperature", "temperature": temperature}])
        plan = restore_calibration(model.state.engine, model.state.plan, model.state.classes, text)
        model = Model(replace(model.state, plan=plan))
    if choice.shrinkage:
        draw_toward_priors(model.state, 1 - choice.shrinkage, temperature or 1.0)
        model.refresh()
    return model
