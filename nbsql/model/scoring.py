"""Predictions, likelihoods and explanations of rows."""

from collections.abc import Sequence
from typing import Any, Literal

from nbsql.engines.source import passed_columns
from nbsql.errors import InputError, NbsqlError, listed, suggestion
from nbsql.family.checks import whole_number
from nbsql.model.imputing import Imputing
from nbsql.model.one_row import OneRow
from nbsql.model.weighing import Weighing
from nbsql.plan import VERBS, Rows
from nbsql.queries.decisions import Decision, check_calibrated, decision_of
from nbsql.queries.query import Query
from nbsql.queries.sample import sample
from nbsql.queries.standalone.inline import inline_query, relation_as_written, source_elsewhere
from nbsql.spec.rules import check_source

Verb = Literal["predict", "predict_proba", "joint_log_likelihood", "log_evidence", "explain", "statistics"]


class Scoring(Imputing, OneRow, Weighing):
    """The verbs that score rows, and rows drawn from the model."""

    def predict(
        self,
        source: Any,
        *,
        target: str | None = None,
        labelled: bool = False,
        costs: Any = None,
        thresholds: Any = None,
        top_k: int | None = None,
        coverage: float | None = None,
        certain: float | None = None,
        by_class: bool = False,
        calibrated: bool | None = None,
        columns: Sequence[str] | None = None,
    ) -> Query:
        """The rows of `source` with `prediction` and `probability`, the posterior of the prediction.

        The most probable class is predicted; ties go to the label that sorts first. A row that no class can
        explain has a NULL prediction. Rows of a frame keep their order. At most one of `costs`, `thresholds`, `top_k`,
        `coverage` and `certain` may be given.

        Args:
            source: the rows to score.
            target: another column of the model, to be predicted from all others through the class, as by `impute`. The source
                need not have it, and its values there are ignored. For a category, `prediction` is the most probable value
                seen in the fit, for a number in bins the bin, and `probability` is its probability among them; for a number
                with a density it is the mean, and the column `deviation` is its standard deviation. Only `labelled`, `top_k`
                and `columns` go with it.
            labelled: with such a target, take the class of a row as certain, if the model knows it.
            costs: the costs of predictions: {(actual, predicted): cost}, {actual: {predicted: cost}}, or a pandas DataFrame
                of actual (index) by predicted (columns). A pair that is not given costs 0 if it is right and 1 if it is
                wrong. The class with the least mean cost over the posteriors is predicted, and the column `expected_cost` is
                that cost.
            thresholds: {class: probability}. Such a class is predicted where its posterior reaches its threshold, low or
                high; if several do, the most probable of them; if none does, the most probable class without a threshold, or
                NULL if there is none. For one class, a threshold has the effect shown in the table `thresholds` of an
                evaluation.
            top_k: return this many classes, the most probable first: a row for each source row and `rank`, from 1. They are
                rows and not a list, so that they can be filtered, joined and counted. All classes are returned if there are
                fewer. A row that no class can explain is returned once.
            coverage: for 0.9, `prediction_set` is the smallest list of classes that contains the true class of at least 9
                rows of 10, as long as rows are like those by which `calibrate(..., method="conformal")` calibrated the model.
                An empty list says that the row is unlike all of them. The coverage is rounded up to a thousandth.
            certain: for 0.95, predict the rows that are certain enough for at least 95 % of these predictions to be right, as
                long as rows are like those by which `calibrate(..., method="certain")` calibrated the model; this holds with
                the confidence that was asked for there, 95 % by default. The other rows have a NULL prediction, and the column
                `reason` says why; `review` chooses those to label. A row of which nothing is known is never predicted.
            by_class: with `coverage`, guarantee it for each class, and with `certain` for the rows of each prediction, not only
                for all rows together.
            calibrated: True for the posteriors that `calibrate` has fitted, False for those of the model itself; None for the
                calibrated ones if the model is calibrated.
            columns: the columns of the source to return along with those that are added; [] returns none of them, None all.

        Raises:
            InputError: the source lacks a feature, or already has a column that would be added; or an option is invalid.
            ModelError: calibrated is True and the model is not calibrated or, with coverage, not by "conformal",
                or, with certain, not by "certain".

        >>> model.predict("SELECT 'rain' AS sky").fetchall()
        [('rain', 'yes', 0.6666666666666666)]
        >>> model.predict("SELECT 'rain' AS sky", costs={("no", "yes"): 9}).fetchall()
        [('rain', 'no', 0.3333333333333334, 0.6666666666666666)]
        >>> model.predict("SELECT 'rain' AS sky", thresholds={"no": 0.1}).fetchall()
        [('rain', 'no', 0.3333333333333334)]
        >>> model.predict("SELECT 'rain' AS sky", top_k=2).fetchall()
        [('rain', 'yes', 0.6666666666666666, 1), ('rain', 'no', 0.3333333333333334, 2)]
        >>> model.predict("SELECT 7 AS id, 'rain' AS sky", columns=["id"]).fetchall()
        [(7, 'yes', 0.6666666666666666)]
        """
        if target is not None and target != self.state.spec.target:
            if any(each is not None for each in (costs, thresholds, coverage, certain)) or by_class or calibrated is not None:
                raise InputError(
                    "⟨predict(target=...)⟩ of a feature goes with ⟨top_k⟩, ⟨labelled⟩ and ⟨columns⟩; leave out the others"
                )
            top_k = None if top_k is None else whole_number(top_k, "top_k")
            return self._predict_column(source, target, top_k, columns, labelled=labelled)
        if labelled:
            raise InputError("⟨labelled⟩ goes with a target that is a feature; the class is what is predicted")

        self.state.require("prediction")

        def make_decision() -> Decision | None:
            if all(each is None for each in (costs, thresholds, top_k, coverage, certain)) and not by_class:
                return None
            given = {"costs": costs, "thresholds": thresholds, "top_k": top_k, "coverage": coverage, "certain": certain}
            return decision_of(self.state, **given, by_class=by_class)

        chosen = make_decision()  # raises before the source is read
        if chosen is None:
            return self._query("predict", source, calibrated=calibrated, columns=columns)
        verb, macro, data = chosen.verb, chosen.macro, self._source(source)

        def render(rows: Rows) -> str:
            arguments = getattr(make_decision(), "arguments", ())  # the classes may have changed since
            method = self.state.calibration(calibrated)
            if chosen.calibration is None:
                return self.state.plan.decide(macro, arguments, rows, self.state.classes, calibration=method)
            check_calibrated(self.state, chosen)
            return self.state.plan.decide(
                macro, (*arguments, method is not None), rows, self.state.classes, calibration=method, reads=["calibration"]
            )

        return self._scoring_query(verb, data, render, columns)

    def predict_proba(self, source: Any, *, calibrated: bool | None = None, columns: Sequence[str] | None = None) -> Query:
        """The rows of `source` as by `predict` with a column `probability_<label>` for each class; these sum to 1.

        With `columns`, only these columns of the source are returned.

        >>> model.predict_proba("SELECT 'rain' AS sky").columns
        ['sky', 'prediction', 'probability', 'probability_no', 'probability_yes']
        """
        return self._query("predict_proba", source, calibrated=calibrated, columns=columns)

    def joint_log_likelihood(self, source: Any, *, columns: Sequence[str] | None = None) -> Query:
        """The rows of `source` with `joint_log_likelihood_<label>` for each class, ln p(x, c) in nats.

        For a logistic model these are scores, whose softmax is the posterior: with two classes, the log-odds of the larger
        label, and 0.

        >>> model.joint_log_likelihood("SELECT 'rain' AS sky").columns
        ['sky', 'joint_log_likelihood_no', 'joint_log_likelihood_yes']
        """
        return self._query("joint_log_likelihood", source, columns=columns)

    def log_evidence(self, source: Any, *, columns: Sequence[str] | None = None) -> Query:
        """The rows of `source` with `log_evidence`, ln p(x) in nats: low for a row unlike any class.

        >>> model.log_evidence("SELECT 'rain' AS sky").columns
        ['sky', 'log_evidence']
        """
        return self._query("log_evidence", source, columns=columns)

    def explain(self, source: Any) -> Query:
        """The contribution of each feature of a row to each class: row_id, the id columns, class, feature, value, contribution.

        An id column of one of these names comes back with the prefix `source_`, such as `source_row_id`.

        The contributions of a row in a class sum to its joint log-likelihood. The row without a feature is the prior, or the
        bias of a logistic model.

        >>> rows = model.explain("SELECT 'rain' AS sky").fetchall()
        >>> [(label, feature, value) for _, label, feature, value, _ in rows]
        [('no', None, None), ('no', 'sky', 'rain'), ('yes', None, None), ('yes', 'sky', 'rain')]
        """
        return self._query("explain", source)

    def log_likelihood(self, source: Any, *, labelled: bool = False, mean: bool = False) -> float:
        """The log-likelihood of all rows of `source`, in nats: the sum of their ln p(x).

        Args:
            source: the rows to score.
            labelled: return the sum of ln p(x, c) instead, where c is the class of the row. Rows without a class are left
                out; a row of a class that the model does not know makes it -inf.
            mean: divide by the number of rows.

        Raises:
            InputError: the source lacks a feature, or the target if `labelled`, or has no row to take the mean of.

        >>> round(model.log_likelihood(data, mean=True), 4)
        -0.5977
        """
        with self.state.engine.turn():
            data = self._source(source, reads_target=labelled)
            ((count, total, _),) = self.state.engine.rows(self.log_likelihood_sql(data, labelled=labelled))
        if mean and not count:
            raise InputError(f"{data.label} has no row to take the mean of")
        return float(total) / int(count) if mean else float(total)

    def log_likelihood_sql(self, source: Any, *, labelled: bool = False) -> str:
        """The query that `log_likelihood` would run, without running it: rows, log_likelihood, mean.

        >>> print(model.log_likelihood_sql(data)[:4])
        SELE
        """
        data = self._source(source, reads_target=labelled)
        if not labelled:
            query = self.state.engine.renderer.dialect.query(self._query("log_evidence", data).sql)
            return self.state.engine.renderer.statement("total_log_evidence", query)
        self.state.require("labelled")
        self._check("evaluate", data)
        check_source(self.state.spec, data.columns, data.label, self.state.title, exact=self.state.engine.exact, training=True)
        return self.state.engine.without_database_name(self.state.plan.query_log_joint(data.relation, self.state.classes))

    def sample(self, n: int, *, seed: int = 0) -> Query:
        """`n` rows drawn from the model: a class by the priors, then each feature from its distribution in that class.

        Columns have the names and types of those that the model was fitted on, the target last. A number that its type cannot
        hold is NULL, as is one of a single bin, which has no ends. A derived column is drawn like any other, apart from those
        that it is derived from. The same seed gives the same rows, and a shorter sample has the first rows of a longer one.

        Args:
            n: the number of rows.
            seed: a whole number.

        Raises:
            InputError: a feature has a family that cannot be drawn from: a complement, a beta or gamma distribution, one that
                depends on other columns, or weighted words, n-grams or the presence of words.

        >>> day = {"yes": {"wind": {"weak": 1}}, "no": {"wind": {"strong": 1}}}
        >>> model = nbsql.from_tables(duckdb.connect(), priors={"yes": 0.75, "no": 0.25}, likelihoods=day, target="play")
        >>> model.sample(3, seed=7).columns
        ['wind', 'play']
        """
        self._require("sample")
        return sample(self.state, n, seed)

    def sql(
        self,
        verb: Verb,
        source: Any,
        *,
        inline: bool = False,
        dialect: str | None = None,
        columns: Sequence[str] | None = None,
        calibrated: bool | None = None,
    ) -> str:
        """The query of a verb ("predict", "explain", ...) over a source, without running it.

        Args:
            verb: "predict", "predict_proba", "joint_log_likelihood", "log_evidence" or "explain"; with a dialect also
                "statistics", what a fit of the source would count: a row for each cell, class, feature, value, n, mean, m2.
            source: the rows to score.
            inline: write the numbers of the model into the query, so that it reads the source only: a scorer that runs where
                there is no model. It has a line for each value, so that a vocabulary makes it long. A table that is not here
                has the columns of the model.
            dialect: write such a scorer for another engine: "bigquery", "clickhouse", "databricks", "mysql", "redshift",
                "snowflake", "spark", "sqlite", "trino", "tsql", "postgres" or "duckdb". The source is then a table of that
                engine, or a SELECT in its dialect, with the columns of the model, whose types are not checked. A class
                that is a date, a time or a number beyond BIGINT and double comes as its text.
            columns: the columns of the source to return; [] returns none of them. None returns all but, with a dialect that
                cannot select all columns but some (other than BigQuery, ClickHouse, Databricks, Snowflake and DuckDB), the id
                and the features.
            calibrated: for "predict" and "predict_proba", as there: None for calibrated posteriors if the model is calibrated.

        Raises:
            InputError: the verb or dialect is unknown, or the source cannot be scored.
            NotSupportedError: with a dialect, a feature is a text, a bag or a list, or the model has segments or components.

        >>> query = model.sql("predict", "SELECT 'rain' AS sky", inline=True)
        >>> duckdb.connect().execute(query).fetchall()
        [('rain', 'yes', 0.6666666666666666)]
        """
        if verb == "statistics" and dialect is None:
            raise InputError("the verb 'statistics' is for rows of another engine; name it by ⟨dialect='bigquery'⟩, say")
        if verb not in [*VERBS, "statistics"]:
            raise InputError(f"no verb {verb!r}{suggestion(str(verb), VERBS) or f'; the verbs are {listed(VERBS)}'}")
        if calibrated is not None and (verb == "statistics" or not VERBS[verb].has_posteriors):
            raise InputError(f"⟨calibrated⟩ is about posteriors, which {verb} does not return; leave it out")
        if dialect is not None:
            if inline:
                raise InputError("a dialect gives a scorer with the numbers in it already; leave out ⟨inline=True⟩")
            return self._standalone(verb, source, dialect, columns, calibrated)
        if columns is not None and not VERBS[verb].keeps_rows:
            raise InputError(f"⟨columns⟩ goes with the verbs that pass columns of the source on, not with {verb!r}")
        if not inline:
            return self._query(verb, source, columns=columns, calibrated=calibrated).sql
        self.state.require("inline")
        try:
            data = self._source(source)
        except NbsqlError as error:
            self._refresh()
            data = source_elsewhere(self.state.engine, self.state.spec, source, error)
        self._query(verb, data, columns=columns, calibrated=calibrated)
        passed = passed_columns(data, columns, exact=self.state.engine.exact)
        data.facts.relation = relation_as_written(self.state.engine, data.facts, source)
        method = self.state.calibration(calibrated) if VERBS[verb].has_posteriors else None
        query = inline_query(self.state, verb, data, self._rows(verb, data, passed), method)
        return self.state.engine.without_database_name(query)

    def _standalone(self, verb: str, source: Any, dialect: str, columns: Sequence[str] | None, calibrated: bool | None) -> str:
        from nbsql.queries.standalone.scorer import check_dialect, standalone_query
        from nbsql.queries.standalone.statistics import standalone_statistics

        check_dialect(dialect)
        self._refresh()
        if verb == "log_evidence":
            self.state.require("log_evidence")
        self.state.require("dialect")
        if verb == "statistics":
            if columns is not None:
                raise InputError("⟨columns⟩ goes with the verbs that pass columns of the source on, not with 'statistics'")
            return standalone_statistics(self.state, source, dialect)
        method = self.state.calibration(calibrated) if VERBS[verb].has_posteriors else None
        return standalone_query(self.state, verb, source, dialect, columns, method)
