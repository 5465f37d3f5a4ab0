"""A source that a model has scored, which the pictures read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

from markupsafe import Markup

from nbsql.engines.source import Source
from nbsql.errors import InputError, ModelError, NotSupportedError
from nbsql.evaluation.evaluate import beside_priors, queries_of_judged_rows, rows_to_judge
from nbsql.evaluation.evaluation import Evaluation, read_evaluation
from nbsql.evaluation.learnt import learnt_rows
from nbsql.evaluation.leave_one_out import LOO, check_folds
from nbsql.evaluation.refitted_folds import judged_by_folds
from nbsql.learning.follow import learn_changes
from nbsql.learning.model_source import check_columns, read_source
from nbsql.plan import Plan, Rows
from nbsql.queries.query import Query, priors_query
from nbsql.queries.table import plain as shown
from nbsql.storage.state import ModelState

BINS = 10  # bins of the calibration and the lift
STEPS = 100  # steps of the threshold
CELLS = 60  # cells along an axis of a curve
LOO_ROWS = 100_000  # above this number rows are scored by folds, unless leave-one-out is requested
FOLDS = 5


class ScoredSource:
    """A source that the model has scored once, in a temporary table that all panels read.

    `label` is its name for readers. By `folds` each row is scored by a model without it; None scores all rows by the model
    itself, and "auto" chooses as described in `Model.report`.
    """

    def __init__(
        self, state: ModelState, source: Source, temporary: Callable[[str], Markup], label: str, folds: int | str | None = None
    ) -> None:
        self.state = state
        self.source = source
        self.label = label
        self.temporary = temporary
        self.folds = folds
        self.how = ""  # a note for readers on how the rows were scored, once they are
        self.rows = rows_to_judge(state, source, None)

    @cached_property
    def scores(self) -> Markup:
        """The temporary table of the scored rows, calibrated if the model is."""
        return self._scores(self.state.plan.calibration)

    @cached_property
    def evaluation(self) -> Evaluation:
        """The evaluation of the model on the rows."""
        queries = queries_of_judged_rows(self.state.engine, self.judged(), self.source, BINS, self.points)
        found = read_evaluation(queries, None)
        found = beside_priors(found, self.state.spec, priors_query(self.state))
        if self.held_out is not None:
            return found
        learnt, share = self._learnt_rows
        return replace(found, calibrated_by=self.state.plan.calibration, learnt=learnt, share_learnt=share)

    @cached_property
    def points(self) -> Markup:
        """The temporary table of the points of all curves (curves.sql), which are counted and sorted once."""
        engine = self.state.engine
        query = engine.renderer.fragment("counted_points", self.judged())
        return engine.create("score", self.temporary("points of the curves"), query)

    @property
    def learnt(self) -> str | None:
        """The part of the rows of the model that these rows are; None for other rows."""
        return self._learnt_rows[0]

    @cached_property
    def _learnt_rows(self) -> tuple[str | None, float]:
        return learnt_rows(self.state, self.source)

    @cached_property
    def uncalibrated(self) -> Query | None:
        """The calibration table without the calibration of the model; None if the evaluation is without it, too.

        Folds are judged without it, because it may have been fitted on these rows.
        """
        if self.state.plan.calibration is None or self.held_out is not None:
            return None
        judged = self._judged(self._scores(None))
        return queries_of_judged_rows(self.state.engine, judged, self.source, BINS)["calibration"]

    def judged(self) -> Markup:
        """The common table expressions of the evaluated rows."""
        return self._judged(self.scores) if self.held_out is None else self.held_out

    @cached_property
    def held_out(self) -> Markup | None:
        """The evaluated rows, each scored by a model without it; None if the model itself scores them.

        Raises InputError if folds were requested, and the model has not learnt these rows.
        """
        if self.folds != "auto":
            return None if self.folds is None else self._judged_by_folds(self.folds)
        if self.learnt is None:
            return None
        few = self.state.engine.query_value("row_count", self.source.relation) <= LOO_ROWS
        found, reason = self._check_folds(LOO) if few else (None, "")
        if found is None:
            found, reason = self._check_folds(FOLDS)
        if found is None:
            learnt = f"The model has learnt from {shown(self.label)}, so its metrics there are optimistic"
            self.how = f"{learnt}; folds are not possible: {reason}"
        return found

    @property
    def is_optimistic(self) -> bool:
        """Whether the model itself has scored rows that it has learnt, because no folds are possible."""
        return self.folds == "auto" and self.learnt is not None and self.held_out is None

    def _check_folds(self, folds: int | str) -> tuple[Markup | None, str]:
        try:
            return self._judged_by_folds(folds), ""
        except (InputError, ModelError, NotSupportedError) as error:
            return None, str(error)

    def _judged_by_folds(self, folds: int | str) -> Markup:
        cure = "evaluate others with ⟨folds=None⟩"
        judged = judged_by_folds(self.state, self.source, folds, cure, self.temporary, weighted=False)
        others = "all other rows (leave-one-out)" if folds == LOO else f"the other {int(folds) - 1} of {folds} folds"
        self.how = f"Each row is evaluated by the counts of {others}, because the model has learnt from {shown(self.label)}"
        return judged

    def query(self, macro: str, *arguments: Any, **options: Any) -> Query:
        """A query on the evaluated rows."""
        engine = self.state.engine
        return Query(engine, engine.renderer.statement(macro, self.judged(), *arguments, **options), self.source)

    def sql(self, macro: str, *arguments: Any) -> str:
        """The query in a form that also scores the source, so that a reader can run it, unless folds scored the rows."""
        state = self.state
        if self.held_out is not None:
            renderer = state.engine.renderer
            return renderer.statement("with_fold_comment", renderer.fragment(macro, self.held_out, *arguments))
        judged = state.plan.judged_rows(self.rows, state.classes, calibration=state.plan.calibration)
        return state.engine.without_database_name(state.engine.renderer.statement(macro, judged, *arguments))

    def slices(self, by: Sequence[str], least: int) -> tuple[Query, str]:
        """The slices by values of some columns, the worst first (feature_slices.sql), and the query that scores the source."""
        state, engine = self.state, self.state.engine
        rows, method = replace(self.rows, by=[(name, True) for name in by]), state.plan.calibration
        anew = state.plan.judged_rows(rows, state.classes, calibration=method)
        sql, own = (
            engine.renderer.statement("feature_slices", judged, by, least) for judged in (anew, self._judged(self.scores, by))
        )
        return Query(engine, own, self.source), engine.without_database_name(sql)

    def telling_rows(self, count: int) -> Markup:
        """The temporary table of the most informative rows, `count` of each kind. Raises ModelError for a model with joins."""
        state, engine = self.state, self.state.engine
        if state.spec.joins:
            raise ModelError(f"{state.title} has joins, and a row of the source does not contain the joined values")
        context, _ = state.plan.scored(self.rows, state.classes)
        # A weight is not evaluated, and not among the rows; a segment may depend on any column.
        needed = replace(state.spec, weight=None, half_life=None).columns
        columns = needed if state.spec.segment_by is None else self.rows.columns
        query = engine.renderer.fragment("notable_rows", context, self.scores, columns, count, True)
        return engine.create("rows", self.temporary("telling rows"), query)

    def row(self, number: int) -> ScoredSource:
        """A single row of the source, by its number from 1, scored by the model itself."""
        found = self.source
        relation = self.state.engine.renderer.fragment("excerpt", found.relation, 1, number - 1)
        alone = Source(relation, found.label, found.columns, is_frame=found.is_frame)
        alone.joins, alone.derived, alone.added, alone.needs = found.joins, found.derived, found.added, found
        return ScoredSource(self.state, alone, lambda part: self.temporary(f"{part} of row {number}"), self.label)

    def explained(self, relation: Markup) -> Query:
        """The query of the contributions of each value of some rows, with the number of the row instead of its key."""
        state, plan = self.state, self.state.plan
        alone = Plan(plan.renderer, replace(plan.spec, id=()), plan.relations, wide=plan.wide)
        rows = Rows(relation, [column.name for column in state.engine.columns(relation)])
        return Query(state.engine, alone.score("explain", rows, state.classes), self.source)

    def _scores(self, calibration: str | None) -> Markup:
        state = self.state
        _, scored = state.plan.scored(self.rows, state.classes, calibration=calibration)
        relation = self.temporary("scores" if calibration is None else "calibrated scores")
        return state.engine.create("score", relation, state.engine.renderer.fragment("all_rows", scored))

    def _judged(self, scores: Markup, by: Sequence[str] = ()) -> Markup:
        plan = self.state.plan
        context, _ = plan.scored(self.rows, self.state.classes)
        parameters = plan.relations["parameters"]
        return plan.renderer.fragment("judged_rows", context, scores, parameters, None, self.rows.as_text, by=by)


def files_read(state: ModelState, *sources: Source | None) -> tuple[str, ...]:
    """The paths and globs of the files that the sources of a picture are read from, and those of the databases."""
    return tuple(state.engine.files([source.relation for source in sources if source is not None]))


@contextmanager
def score_source(
    state: ModelState, source: Any, folds: int | str | None = "auto"
) -> Iterator[tuple[ModelState, ScoredSource | None]]:
    """The model as it is now, and a source that it has scored for pictures, whose temporary tables are dropped at the end.

    Without a source it is None.

    Raises InputError if the source lacks a feature or the class, or the folds are impossible.
    """
    if folds not in (None, "auto"):
        check_folds(folds)
        if source is None:
            raise InputError("⟨folds⟩ are of the rows of a source; give it, or leave out ⟨folds⟩")
    if source is None:
        yield learn_changes(state.refreshed()), None
        return
    state, found = read_source(state, source, reads_target=True)
    check_columns(state, found)
    with state.engine.temporaries() as temporary:
        label = source if isinstance(source, str) and len(source) < 60 else found.label
        yield state, ScoredSource(state, found, temporary, label, folds)
