"""How good a model is."""

from __future__ import annotations

from typing import Any, Literal

from nbsql.components import refuse_components
from nbsql.costs import cost_matrix
from nbsql.errors import InputError, listed, suggestion
from nbsql.judging.calibration import Calibration, calibrate
from nbsql.judging.evaluate import cost_sql, evaluate, evaluation_queries
from nbsql.judging.evaluation import Evaluation
from nbsql.model.base import Handle
from nbsql.query import Query
from nbsql.segments import refuse_segments


class Judging(Handle):
    """The model judged on rows whose class is known, and by its counts."""

    def evaluate(
        self, source: Any, *, weight: str | None = None, bins: int = 10, costs: Any = None, calibrated: bool = False
    ) -> Evaluation:
        """How well the model predicts the rows of `source`, whose class is known: its numbers, and its curves as queries.

        Rows without a class are left out and counted. A class that the model does not know counts as wrong, with a probability
        of 0. The queries of the evaluation score the source anew when they are asked for.

        Args:
            source: what to judge on; it has the column of the target, and the features.
            weight: column of row weights, at least 0; a weight w counts as w copies of the row.
            bins: how many parts the probabilities fall into for the calibration, and the rows for the lift.
            costs: judge the predictions of `predict` with these costs, and say what they cost: `cost` and `expected_cost`.
            calibrated: judge the calibrated posteriors; see `calibrate`.

        Raises:
            InputError: the source lacks a feature, the target or the weight, or has no row to judge.

        >>> import duckdb, nbsql
        >>> con = duckdb.connect()
        >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
        >>> evaluation = nbsql.fit(con, data, target="play").evaluate(data)
        >>> evaluation.accuracy, evaluation.roc_auc
        (0.75, 0.75)
        >>> evaluation.confusion.fetchall()
        [('no', 'no', 2.0), ('yes', 'no', 1.0), ('yes', 'yes', 1.0)]
        """
        found = self._source(source, judged=True)
        self._check("evaluate", found)
        method = self._calibration(calibrated)
        matrix = None if costs is None else cost_matrix(costs, self.classes)
        return evaluate(
            self._engine, self._plan, self._classes, found, weight=weight, bins=bins, calibration=method, costs=matrix
        )

    def evaluate_sql(
        self,
        source: Any,
        *,
        table: str = "metrics",
        weight: str | None = None,
        bins: int = 10,
        costs: Any = None,
        calibrated: bool = False,
    ) -> str:
        """The query that `evaluate` would run, or that of one of its tables, such as "roc", without running it.

        With costs, all of them judge the predictions of least cost, and the table "cost" is what these did cost: cost,
        expected_cost.
        """
        found = self._source(source, judged=True)
        self._check("evaluate", found)
        method = self._calibration(calibrated)
        matrix = None if costs is None else cost_matrix(costs, self.classes)
        arguments = (self._engine, self._plan, self._classes, found)
        queries = evaluation_queries(*arguments, weight=weight, bins=bins, calibration=method, costs=matrix)
        texts = {name: query.sql for name, query in queries.items()}
        if matrix is not None:
            texts["cost"] = cost_sql(*arguments, weight=weight, calibration=method, costs=matrix)
        if table not in texts:
            raise InputError(f"no table {table!r}{suggestion(str(table), texts) or f'; there are {listed(texts)}'}")
        return texts[table]

    def calibrate(
        self,
        source: Any,
        *,
        method: str = "temperature",
        folds: int | Literal["loo"] | None = 10,
        weight: str | None = None,
        test: Any = None,
    ) -> Calibration:
        """Fit what turns the posteriors into probabilities that are as often right as they say, and keep it with the model.

        Naive Bayes counts dependent features as if each told something new, so that its posteriors are too near 0 and 1.
        Afterwards `predict`, `predict_proba` and `evaluate` take `calibrated=True`, and SQL has
        `FROM name.predict_calibrated('table')` and `predict_proba_calibrated`. A calibration belongs to the model as it is:
        `update`, `forget` and `rollback` drop it, with a warning; a file keeps it, derived models have none.

        Args:
            source: rows whose class is known: with folds, the rows that the model has learnt, all of them; with `folds=None`,
                rows that it has not learnt.
            method: "temperature": all posteriors to the power of 1/T, and made to sum to 1 (Guo et al. 2017). "platt": a
                sigmoid of the log-odds of each class against the rest (Platt 1999; Lin, Lin and Weng 2007). "isotonic": a
                rising function of them (Zadrozny and Elkan 2002), which takes some thousand rows. Both are made to sum to 1.
            folds: every row is scored by a model of the other folds, or of all other rows ("loo"); see `nbsql.cross_validate`.
            weight: column of row weights of `source`, with `folds=None`, and of `test`. With folds, rows count by the weight of
                the fit.
            test: rows that neither the model nor the calibration has met, on which to judge both.

        Raises:
            InputError: the rows are not those that the model has learnt, or an argument cannot be used. Nothing has changed.
        """
        engine = self._engine
        self._refresh()
        refuse_segments(self._spec, self._title, "a calibration")
        if folds is not None:
            refuse_components(self._spec, self._title, "a calibration by folds")
        with engine.transaction():
            found = self._source(source, judged=True)
            tested = None if test is None else self._source(test, judged=True)
            for rows in filter(None, (found, tested)):
                self._check("evaluate", rows)
            calibration = calibrate(
                engine, self._plan, self._classes, self._title, found, method=method, folds=folds, weight=weight, test=tested,
                stamp=self._stamp,
            )  # fmt: skip
            stamp = self._updated_at()
        self._stamp = stamp
        return calibration

    def relevance(self, *, values: bool = False) -> Query:
        """How much each feature tells of the class, from the counts alone, the most telling first.

        A row a feature: feature, mutual_information (or information gain, in nats), symmetrical_uncertainty, chi_square, and of
        numbers f_statistic, of the analysis of variance. sql/macros/relevance.sql has the formulas.

        Args:
            values: a row a value or token, or a column of those that share a covariance matrix: feature, value, n,
                mutual_information, chi_square.
        """
        self._refresh()
        self._spec.need_counts(self._title)
        statistics, features = self._relations["statistics"], self._spec.features
        renderer = self._engine.renderer
        if values:
            return Query(
                self._engine, renderer.statement("relevance_of_values", statistics, self._relations["priors"], features)
            )
        return Query(self._engine, renderer.statement("relevance", statistics, features))
