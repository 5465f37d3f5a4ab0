"""Evaluation of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations
from typing import Any, Literal

from nbsql.engines.source import Source
from nbsql.errors import Cure, InputError, listed, suggestion
from nbsql.evaluation.calibration import Calibration, Method, calibrate
from nbsql.evaluation.evaluate import Evaluator, beside_priors, comparison, queries_of_judged_rows
from nbsql.evaluation.evaluation import QUERIES, SLICES, Evaluation, read_evaluation, rows_in_words
from nbsql.evaluation.gain import best_gain_over_model
from nbsql.evaluation.learnt import learnt_rows
from nbsql.evaluation.monitor import monitor
from nbsql.evaluation.refitted_folds import judged_by_folds
from nbsql.evaluation.slices import Slices
from nbsql.learning.model_source import check_columns, read_source
from nbsql.model.base import Handle
from nbsql.queries.decisions import cost_matrix
from nbsql.queries.query import Query
from nbsql.rendering.dialect import folded
from nbsql.spec.derived import inputs
from nbsql.storage.state import ModelState
from nbsql.warn import warn_user


class Evaluating(Handle):
    """Evaluation on rows whose class is known, and by the model's own counts."""

    def evaluate(
        self,
        source: Any,
        *,
        weight: str | None = None,
        bins: int = 10,
        costs: Any = None,
        calibrated: bool | None = None,
        by: str | Sequence[str] | None = None,
        folds: int | Literal["loo"] | None = None,
    ) -> Evaluation:
        """How well the model predicts the rows of `source`, whose class is known: numbers, and curves as queries.

        Rows without a class are left out, and their number is reported. A class that the model does not know counts as a
        wrong prediction with a probability of 0. The queries of the evaluation score the source again when they are read.

        Rows that the model has learnt are predicted too well. A warning says so, and also if the log loss is above that of the
        priors. Learnt rows are recognised by their counts, not by a name. The connection that has learnt them also recognises a
        part of them, until it is closed.

        Args:
            source: the rows to evaluate, with the target and the features.
            weight: the column of row weights, at least 0; a weight w counts as w copies of the row.
            bins: the number of bins of the probabilities for the calibration, and of the rows for the lift.
            costs: evaluate the predictions that `predict` makes with these costs, and report `cost` and `expected_cost`.
            calibrated: True evaluates the calibrated posteriors (see `calibrate`), False those of the model itself, and None
                the calibrated ones if the model is calibrated.
            by: a column, or several, by whose values the numbers are also computed: `slices` of the evaluation. An expression
                must be a column of the source, which may be a query.
            folds: for all rows that the model has learnt: evaluate each by the counts of the other folds or, with "loo", of
                all other rows, as `cross_validate` does. They weigh as in the fit, and are not calibrated.

        Raises:
            InputError: the source lacks a feature, the target, the weight or a column of `by`, or has no row to evaluate.

        >>> evaluation = model.evaluate(data)
        >>> evaluation.accuracy, evaluation.roc_auc
        (0.75, 0.75)
        >>> evaluation.confusion.fetchall()
        [('no', 'no', 2.0), ('yes', 'no', 1.0), ('yes', 'yes', 1.0)]
        """
        with self.state.engine.turn():  # no other thread changes the model between making a query and running it
            evaluator = self._evaluator(source, weight, costs, calibrated=calibrated)
            if folds is None:
                evaluation = evaluator.evaluate(bins, by)
                learnt, share = learnt_rows(self.state, evaluator.source, weight)
            else:
                if not (weight is costs is by is None) or calibrated:
                    raise InputError("⟨folds⟩ go with ⟨bins⟩ alone; leave out ⟨weight⟩, ⟨costs⟩, ⟨calibrated⟩ and ⟨by⟩")
                evaluation, learnt, share = self._evaluate_by_folds(evaluator.source, folds, bins), None, 0.0
            evaluation = replace(
                beside_priors(evaluation, self.state.spec, self.priors),
                learnt=learnt,
                share_learnt=share,
                _gain=partial(best_gain_over_model, self.state, evaluator.source, self.state.spec.weight if folds else weight),
            )
            for line in evaluation.cautions(Cure.marked):
                warn_user(line)
            return evaluation

    def _evaluate_by_folds(self, source: Source, folds: int | str, bins: int) -> Evaluation:
        """The evaluation of the rows that the model has learnt, each by a model without it."""
        self._require("calibrate_by_folds")
        engine = self.state.engine
        with engine.transaction(self.name), engine.temporaries(staying=True) as staying:  # its tables are read later
            cure = "evaluate others without ⟨folds⟩"
            judged = judged_by_folds(self.state, source, folds, cure, staying)
            return read_evaluation(queries_of_judged_rows(engine, judged, source, bins), None)

    def _evaluator(self, source: Any, weight: str | None, costs: Any, *, calibrated: bool | None) -> Evaluator:
        data = self._source(source, reads_target=True)
        self.state.require("prediction")
        self._check("evaluate", data)
        method = self.state.calibration(calibrated)
        matrix = None if costs is None else cost_matrix(costs, self.state)
        return Evaluator(self.state, data, weight, method, matrix)

    def compare(self, other: Evaluating, source: Any, *, weight: str | None = None, calibrated: bool | None = None) -> Query:
        """How much better or worse than `other` the model predicts the same rows, with confidence intervals.

        A row for each number: class (NULL for the whole), metric, value, other, difference (value - other), standard_error,
        and low and high, the 95 % confidence interval of the difference over all rows of this kind. The metrics are accuracy,
        log_loss, brier, and the roc_auc of each class that both models know. Standard errors are those of the differences row
        by row, so that what is easy or hard for both models cancels; those of the areas are by DeLong, DeLong and
        Clarke-Pearson (Biometrics 44, 1988).

        Args:
            other: a model of the same target, in the same connection.
            source: rows that neither model has learnt from, with the target and the features of both.
            weight: the column of row weights, at least 0; a weight w counts as w copies of the row.
            calibrated: None compares each model as it answers, calibrated if it is; True or False is of both.

        Raises:
            InputError: the models differ in target or connection, the source lacks a column that is needed, or a weight is not
                a number of at least 0.

        >>> data = "SELECT i % 2 AS y, 'a' || i % 4 AS a, 'b' || i % 3 AS b FROM range(60) AS t(i)"
        >>> better, worse = (nbsql.fit(con, data, target="y", features=[name]) for name in "ab")
        >>> better.compare(worse, data).fetchall()[0][:5]
        (None, 'accuracy', 1.0, 0.5, 0.5)
        """
        if not isinstance(other, Evaluating):
            raise InputError(f"other must be a model, as nbsql.load returns it, not {other!r}")
        if not self.state.engine.shares(other.state.engine):
            raise InputError("the models are not in one connection; load both of them with the same one")
        if folded(other.target) != folded(self.target):
            raise InputError(
                f"{self.state.title} predicts {self.target!r} and the other {other.target!r}; compare models of one target"
            )
        expressions = {folded(each.name): each.expression for each in self.state.spec.derived}
        for each in other.state.spec.derived:
            # What was derived from words or times has a column of one meaning, whatever words each of the models has met.
            is_given = not each.words and each.part is None
            if is_given and expressions.get(folded(each.name), each.expression) != each.expression:
                raise InputError(f"the models derive {each.name!r} by different expressions; fit one of them by another name")
        self._refresh()
        data = read_source(_reader_of_both(self.state, other.state), source, reads_target=True)[1]
        self.state.require("prediction")
        for model in (self, other):
            check_columns(model.state, data)
            _warn_of_learnt_rows(model.state, data, "compare on rows that neither has learnt")
        calibrations = [model.state.calibration(calibrated) for model in (self, other)]
        return comparison(self.state, other.state, data, weight, calibrations)

    def monitor(
        self,
        source: Any,
        *,
        reference: Any = None,
        by: str | None = None,
        weight: str | None = None,
        calibrated: bool | None = None,
        summary: bool = False,
    ) -> Query:
        """How the rows of each period differ from a reference, and how well the model predicts them.

        One row per period, feature (NULL for the whole), class (NULL except for shares of classes) and metric: period (as
        text; a time with a time zone in that of the session), feature, class, metric, value, reference (the same number for
        the reference), moved (for a psi: the value that contributes most) and by_chance (for a psi: what as many rows would
        show if nothing had moved). The metrics of a feature are psi, nulls and unseen. Those of the whole are psi (of the
        score), posterior_psi, label_psi, rows, log_evidence, unexplained, expected_accuracy (the mean probability of the
        predictions, which needs no label), labelled, unknown, accuracy and log_loss. Those of a class are predicted, posterior
        and actual.
        sql/macros/evaluation/monitor.sql has the formulas.

        Without reference rows, the reference is the model's counts, so that no training rows are needed. The counts do not
        give the distribution of probabilities and evidence, so the psi of the score is then NULL.

        Args:
            source: the rows, with the features. If it also has the target, the rows where it is not NULL are evaluated.
            reference: rows to compare with, such as those of a good month; their numbers are cut into bins of a tenth of the
                rows each.
            by: the period of a row: a column, or an SQL expression such as "date_trunc('week', sent_at)". None is a single
                period, NULL.
            weight: the column of row weights in both; a row without a weight above 0 is not counted.
            calibrated: as in `predict`: None for calibrated posteriors if the model is calibrated.
            summary: return one row for each period instead: period, rows, labelled, accuracy, log_loss, log_evidence, the
                feature that moved most, its psi, and the value that moved.

        Raises:
            InputError: a source lacks a feature or the weight, or `by` is not an expression over the columns of the source.
            ModelError: the model has no counts.

        >>> by_week.monitor("days", by="week").columns
        ['period', 'feature', 'class', 'metric', 'value', 'reference', 'moved', 'by_chance']
        >>> [(period, value) for period, _, _, metric, value, *_ in by_week.monitor("days", by="week") if metric == "rows"][:2]
        [('0', 4.0), ('1', 4.0)]
        >>> by_week.monitor("days", by="week", summary=True).fetchall()[0][:2]
        ('0', 4.0)
        """
        data = self._source(source)
        reference_rows = None if reference is None else self._source(reference)
        self.state.require("drift")
        for rows in filter(None, (data, reference_rows)):
            self._check("evaluate", rows)
        method = self.state.calibration(calibrated)
        return monitor(self.state, data, reference_rows, by, weight, method, summary=summary)

    def evaluate_sql(
        self,
        source: Any,
        *,
        table: str = "metrics",
        weight: str | None = None,
        bins: int = 10,
        costs: Any = None,
        calibrated: bool | None = None,
        by: str | Sequence[str] | None = None,
    ) -> str:
        """The query that `evaluate` would run, or that of one of its tables, such as "roc", without running it.

        With `by` there are also the tables "slices" and "slice_intervals". With costs, all tables evaluate the predictions of
        least cost, and the table "cost" has what these cost: cost, expected_cost.

        >>> print(model.evaluate_sql(data)[:4])
        WITH
        """
        evaluator = self._evaluator(source, weight, costs, calibrated=calibrated)
        queries = evaluator.queries(bins, by)
        texts = {name: query.sql for name, query in queries.items()}
        if isinstance(slices := queries.get("slices"), Slices):
            texts["slice_intervals"] = slices.intervals.sql
        if evaluator.costs is not None:
            texts["cost"] = self.state.engine.without_database_name(evaluator.cost_sql(evaluator.costs))
        table = str(table)
        if table in texts:
            return texts[table]
        if table in SLICES:
            raise InputError(f"the table {table!r} is of slices; say by which column, ⟨by='region'⟩")
        if table == "cost":
            raise InputError("the table 'cost' is of the costs of mistakes; say them, costs={actual: {predicted: cost}}")
        known = (*QUERIES, *SLICES, "cost")
        raise InputError(f"no table {table!r}{suggestion(table, known)}; there are {listed(known, len(known))}")

    def calibrate(
        self,
        source: Any,
        *,
        method: Method = "temperature",
        folds: int | Literal["loo"] | None = 10,
        weight: str | None = None,
        test: Any = None,
        confidence: float | None = None,
    ) -> Calibration:
        """Fit a calibration, so that posteriors are right as often as they say, and store it with the model.

        Naive Bayes counts dependent features as independent evidence, so its posteriors are too close to 0 and 1. A calibrated
        model has calibrated posteriors in every verb, in SQL, and in a scorer for another engine. With `calibrated=False` a
        verb leaves the calibration out; SQL has `FROM name.predict_uncalibrated('table')`, `predict_proba_uncalibrated` and
        `evaluate_uncalibrated`. Log-likelihoods and contributions do not change. `update`, `forget` and `rollback` drop the
        calibration, with a warning. Files keep it; derived models have none. Calibrating again replaces it. A model can have a
        calibration of sets of classes ("conformal") or of certain predictions beside one of posteriors.

        Args:
            source: rows whose class is known: with folds, all rows that the model has learnt; with `folds=None`, rows that it
                has not learnt.
            method: "temperature": all posteriors to the power of 1/T, normalised to sum to 1 (Guo et al. 2017). "platt": a
                sigmoid of the log-odds of each class against the rest (Platt 1999; Lin, Lin and Weng 2007). "isotonic": an
                increasing function of them (Zadrozny and Elkan 2002), which needs some thousand rows. Both are normalised to
                sum to 1. "conformal": the least posterior of the true class for `predict(..., coverage=0.9)`; it leaves the
                posteriors unchanged (Sadinle, Lei and Wasserman 2019). "certain": how certain a prediction must be for
                `predict(..., certain=0.95)`; it leaves them unchanged, too (Geifman and El-Yaniv 2017). SQL has
                `FROM name.predict_certain('table', 0.95)`.
            folds: every row is scored by a model of the other folds, or of all other rows ("loo"); see
                `nbsql.cross_validate`.
            weight: the column of row weights of `source`, with `folds=None`, and of `test`. With folds, rows count by the
                weight of the fit.
            test: rows that neither the model nor the calibration has seen, on which both are evaluated.
            confidence: how probable it is that "certain" keeps what it promises, by the rows that it was calibrated on; None
                for 0.95.

        Raises:
            InputError: the rows are not those that the model has learnt, or an argument cannot be used. Nothing has changed.

        >>> _ = con.execute("CREATE TABLE t AS SELECT i % 2 AS y, i % 2 * 2 + i % 5 AS x FROM range(60) AS r(i)")
        >>> model = nbsql.fit(con, "t", target="y")
        >>> model.calibrate("t", folds="loo").rows
        60
        """
        engine = self.state.engine
        self._require("calibrate" if folds is None else "calibrate_by_folds")
        with engine.transaction(self.name):
            data = self._source(source, reads_target=True)
            test_rows = None if test is None else self._source(test, reads_target=True)
            for rows in filter(None, (data, test_rows)):
                self._check("evaluate", rows)
            if folds is None:
                _warn_of_learnt_rows(self.state, data, "calibrate by folds of them, or on rows that it has not learnt")
            if test_rows is not None:
                _warn_of_learnt_rows(self.state, test_rows, "test on rows that it has not learnt")
            calibration = calibrate(
                self.state, data, method=method, folds=folds, weight=weight, test=test_rows, confidence=confidence
            )
        self._refresh()
        return calibration


def _warn_of_learnt_rows(state: ModelState, source: Source, cure: str) -> None:
    learnt, share = learnt_rows(state, source)
    if share:
        rows = rows_in_words(learnt, share)
        warn_user(f"{state.title} has learnt {rows}, so that its numbers on them are too good; {cure}")


def _reader_of_both(model: ModelState, other: ModelState) -> ModelState:
    """The one of two models by which a source is read, deriving and joining all columns that both of them need.

    Raises InputError if one of them reads a column as it is that the other replaces, or if each joins some of its own.
    """
    made = [{*(folded(each.name) for each in one.spec.derived), *one.spec.joins} for one in (model, other)]
    for (one, of_one), (two, of_two) in permutations(zip((model, other), made, strict=True)):
        spec = two.spec
        read = {folded(name) for feature in spec.features for name in feature.columns} | {*map(folded, inputs(spec.derived))}
        replaced = [each for each in one.spec.derived if folded(each.name) in of_one - of_two]
        if clash := [
            each.name for each in replaced
            if folded(each.name) in read or (folded(each.name) == folded(spec.target) and not each.words)
        ]:  # fmt: skip
            fact = f"one of the models replaces {listed(clash)}, which the other reads as it is"
            raise InputError(f"{fact}; fit both with the same ⟨missing⟩ and ⟨derive⟩")
    if made[0] >= made[1]:
        return model
    if made[1] >= made[0]:
        return other
    if model.spec.joins != other.spec.joins:
        raise InputError("each of the models joins columns that the other does not; compare what ⟨evaluate⟩ says of each")
    more = [each for each in other.spec.derived if folded(each.name) not in made[0]]
    both = replace(model.spec, derived=(*model.spec.derived, *more))
    return replace(model, plan=replace(model.plan, spec=both))
