"""Predictions of one row at a time, in any number of threads."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from nbsql.errors import DatabaseError, InputError, ModelError
from nbsql.model.base import Handle
from nbsql.queries.decisions import decision_of
from nbsql.queries.one_row import Answer, RowScorer, row_sql
from nbsql.storage.state import ModelState

if TYPE_CHECKING:
    from typing_extensions import Self


class OneRow(Handle):
    """The verbs that score one row."""

    _scorer: RowScorer | None = None  # scores single rows; the version is the model's last change when it was made
    _scorer_version: Any = None
    _scorer_options: tuple[bool | None, float | None, bool] | None = None

    @cached_property
    def _handles(self) -> list[Self]:
        """Handles of the model on other connections, for threads other than that of this handle; one at a time has each."""
        return []

    def predict_one(
        self, row: Mapping[str, Any], *, certain: float | None = None, by_class: bool = False, calibrated: bool | None = None
    ) -> Answer:
        """The prediction of a single row: prediction, probability, and probabilities, the posterior of each class by label.

        The answer is that of `predict_proba`, at a fraction of its cost: the statement is prepared at the first call, reused
        by later calls, and prepared again when the model has changed. Threads may share the model. On DuckDB they then answer
        side by side, each on a cursor; on PostgreSQL one after the other, unless each loads the model with a connection of its
        own.

        Args:
            row: the values by column. None is NULL, and numpy scalars are converted. Columns that are not features are
                ignored. A value that its column could not hold is an unseen category.
            certain: as in `predict`: prediction and probability are None unless so certain, and the answer has `reason`.
            by_class: as in `predict`: with `certain`, for the rows of each prediction.
            calibrated: as in `predict`: None for calibrated posteriors if the model is calibrated.

        Raises:
            ModelError: with `certain`, the model is not calibrated by "certain".
            InputError: the row lacks a feature or has it twice, or a value has a kind that the feature does not accept, such
                as a text for a number.

        >>> model.predict_one({"sky": "sun"})["prediction"]
        'no'
        """
        self.state.engine.require("predict_one")
        if self.name is not None and self.state.is_alike and self.state.engine.reads_apart():
            with suppress(DatabaseError, ModelError):  # only this connection sees the model, or raises the same error
                return self._answer_apart(row, (calibrated, certain, by_class))
        with self.state.engine.turn():
            return self._answer(row, (calibrated, certain, by_class))

    def _answer_apart(self, row: Mapping[str, Any], options: tuple[bool | None, float | None, bool]) -> Answer:
        """The prediction of a row by a handle on a connection of its own, which no other thread uses in the meantime."""
        try:
            handle = self._handles.pop()
        except IndexError:
            handle = type(self)(replace(self._states.newest, engine=self.state.engine.apart()))
        try:
            answer = handle._answer(row, options)
        except InputError:
            self._handles.append(handle)
            raise
        self._handles.append(handle)
        return answer

    def _answer(self, row: Mapping[str, Any], options: tuple[bool | None, float | None, bool]) -> Answer:
        while True:
            if self._scorer is None or options != self._scorer_options:
                self._require("predict_one")
                calibrated, certain, by_class = options
                chosen = {"costs": None, "thresholds": None, "top_k": None, "coverage": None}
                decision = decision_of(self.state, certain=certain, by_class=by_class, **chosen)
                self._scorer = RowScorer(self._calibrated_state(calibrated), decision)
                self._scorer_version, self._scorer_options = self.state.version[0][0], options
            try:
                answer, version = self._scorer.score(row)
            except (DatabaseError, InputError):  # also a row without a feature, which the model may not have any more
                self._refresh()
                if self._scorer_version == self.state.version[0][0]:
                    raise
            else:
                if version == self._scorer_version:
                    return answer
            self._scorer = None  # the model has changed since it was made, which may be a moment ago

    def predict_one_sql(self, *, calibrated: bool | None = None) -> str:
        """The query of `predict_one`, to be prepared in SQL; $1, $2, ... are the columns of the features, in their order.

        It returns a row for each class, the most probable first: class_no, class, joint_log_likelihood, probability. It is
        valid for the current state of the model: later it raises an error that asks to prepare it again. For a model without
        such a form (`nbsql/queries/one_row.py`) it is the query of `predict_proba`, without columns of the row that have the
        name of an added one. `calibrated` is that of `predict`.

        >>> model.predict_one_sql().count("$1")
        1
        """
        engine = self.state.engine
        engine.require("predict_one_sql")
        self._require("predict_one")
        return engine.without_database_name(row_sql(self._calibrated_state(calibrated)))

    def _calibrated_state(self, calibrated: bool | None) -> ModelState:
        """The state of the model as if it had the calibration that is asked for, or none."""
        return replace(self.state, plan=replace(self.state.plan, calibration=self.state.calibration(calibrated)))
