"""What a model says of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from nbsql.answers.decisions import Decision, check_top_k, decision_of
from nbsql.answers.elsewhere.inline import inline_query
from nbsql.answers.one_row import Answer, RowScorer, row_sql
from nbsql.answers.query import Query
from nbsql.answers.sample import mean_or_total, sample
from nbsql.engines.source import passed_columns
from nbsql.errors import DatabaseError, InputError, ModelError, listed, suggestion
from nbsql.model.imputing import Imputing
from nbsql.model.weighing import Weighing
from nbsql.plan import VERBS, Rows
from nbsql.spec.capabilities import check
from nbsql.spec.rules import check_source

Verb = Literal["predict", "predict_proba", "joint_log_likelihood", "log_evidence", "explain", "statistics"]


class Scoring(Imputing, Weighing):
    """The verbs of a model, and the model as a source of rows."""

    _scorer: RowScorer | None = None  # of single rows, and the time of the model's last change when it was made
    _scorer_stamp: Any = None

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
        by_class: bool = False,
        calibrated: bool = False,
        columns: Sequence[str] | None = None,
    ) -> Query:
        """The rows of `source`, with `prediction` and `probability`, the posterior of the prediction.

        The most probable class wins; a tie goes to the larger prior, then to the smaller label. A row that no class can
        explain has a NULL prediction. Rows of a frame come back in its order. At most one of costs, thresholds, top_k
        and coverage:

        Args:
            source: what to score.
            target: another column of the model, to be predicted from all others through the class, as `impute` does; the source
                need not have it, and what it has is not looked at. Of a category `prediction` is the likeliest value that the
                fit met, of a number in bins the bin, and `probability` is that among them; of a number with a density it is
                the mean, and the column `deviation` is its standard deviation. It goes with top_k and columns.
            labelled: with such a target, take for certain the class that a row has, if the model knows it.
            costs: what a prediction costs: {(actual, predicted): cost}, {actual: {predicted: cost}}, or a pandas DataFrame of
                actual (index) by predicted (columns). A pair left out costs 0 if it is right and 1 if it is wrong. The class
                that costs least, on average over the posteriors, is predicted, and the column `expected_cost` says how much.
            thresholds: {class: probability}. Such a class is predicted where its posterior reaches its threshold, low or high,
                the most probable one of several; where none does, the most probable class without a threshold, or NULL if
                there is none. So a threshold does to one class what the table `thresholds` of an evaluation says of it.
            top_k: this many classes, the most probable first: a row a source row and `rank`, from 1. Not a list in one row,
                so that they can be filtered, joined and counted like any rows. All classes, if there are fewer; a row that
                no class can explain comes once.
            coverage: 0.9, say: `prediction_set` is the smallest list of classes that holds the true one of at least 9 rows of
                10, as long as rows come as those by which `calibrate(..., method="conformal")` has calibrated the model. An
                empty one says that the row is like none of them. It is rounded up to a thousandth.
            by_class: with coverage, hold that of each class, not only of all rows together.
            calibrated: take the posteriors as `calibrate` has fitted them.
            columns: of the source, that come back with what is added; [] for none of them, None for all.

        Raises:
            InputError: the source lacks a feature, or has a column that is to be added already; or an option is of no use.
            ModelError: the model is not calibrated, or with coverage otherwise than by "conformal".

        >>> import duckdb, nbsql
        >>> con = duckdb.connect()
        >>> data = "SELECT * FROM (VALUES ('sun', 'dry'), ('sun', 'dry'), ('rain', 'wet')) AS t(sky, day)"
        >>> model = nbsql.fit(con, data, target="day")
        >>> model.predict("SELECT 'sun' AS sky").fetchall()
        [('sun', 'dry', 0.8181818181818181)]
        >>> model.predict("SELECT 'sun' AS sky", costs={("wet", "dry"): 9}).fetchall()
        [('sun', 'wet', 0.18181818181818182, 0.8181818181818181)]
        >>> model.predict("SELECT 'sun' AS sky", thresholds={"wet": 0.1}).fetchall()
        [('sun', 'wet', 0.18181818181818182)]
        >>> model.predict("SELECT 'sun' AS sky", top_k=2).fetchall()
        [('sun', 'dry', 0.8181818181818181, 1), ('sun', 'wet', 0.18181818181818182, 2)]
        >>> model.predict("SELECT 7 AS id, 'sun' AS sky", columns=["id"]).fetchall()
        [(7, 'dry', 0.8181818181818181)]
        """
        if target is not None and target != self._spec.target:
            if any(each is not None for each in (costs, thresholds, coverage)) or by_class or calibrated:
                raise InputError("predict(target=...) of a feature goes with top_k, labelled and columns; leave out the others")
            top_k = None if top_k is None else check_top_k(top_k)
            return self._predict_column(source, target, top_k, columns, labelled=labelled)
        if labelled:
            raise InputError("labelled goes with a target that is a feature; the class is what is predicted")

        def make_decision() -> Decision | None:
            if costs is None and thresholds is None and top_k is None and coverage is None and not by_class:
                return None
            return decision_of(
                self.classes, costs=costs, thresholds=thresholds, top_k=top_k, coverage=coverage, by_class=by_class
            )

        chosen = make_decision()  # refused before the source is looked at
        if chosen is None:
            return self._query("predict", source, calibrated=calibrated, columns=columns)
        verb, macro, found = chosen.verb, chosen.macro, self._source(source)

        def render(rows: Rows) -> str:
            arguments = getattr(make_decision(), "arguments", ())  # the classes may be others by now
            method = self._calibration(calibrated or chosen.calibration is not None)
            if chosen.calibration not in (None, method):
                cure = f"calibrate it by {chosen.calibration!r}"
                raise ModelError(f"{self._title} is calibrated by {method!r}, which promises no coverage; {cure}")
            reads = ["calibration"] if chosen.calibration else []
            posteriors = method if calibrated and not reads else None
            return self._plan.decide(macro, arguments, rows, self._classes, calibration=posteriors, reads=reads)

        return self._scoring_query(verb, found, render, columns)

    def predict_one(self, row: Mapping[str, Any]) -> Answer:
        """What the model says of one row that is at hand: prediction, probability, and probabilities, a class each, by label.

        The answer is that of `predict_proba`, at a fraction of its cost: the statement is made at the first call and kept for
        the next ones, and made anew when the model has changed. Another thread needs a model of its own, as it does a cursor:
        `nbsql.load(con.cursor(), "spam")`.

        Args:
            row: the values by column; None is NULL, and scalars of numpy are what they hold. Columns that are no features are
                passed over. A value that its column could not hold is a category never met.

        Raises:
            InputError: the row lacks a feature or has it twice, or a value is of a kind that is not taken for it, such as a
                text for a number.

        >>> import duckdb, nbsql
        >>> data = "SELECT * FROM (VALUES ('sun', 'dry'), ('sun', 'dry'), ('rain', 'wet')) AS t(sky, day)"
        >>> nbsql.fit(duckdb.connect(), data, target="day").predict_one({"sky": "sun"})["prediction"]
        'dry'
        """
        engine = self._engine
        engine.need("predict_one")
        scorer = self._scorer
        if scorer is not None:
            try:
                answer, stamp = scorer.score(row)
            except DatabaseError:
                self._refresh()
                if self._scorer_stamp == self._stamp[0][0]:
                    raise
            else:
                if stamp == self._scorer_stamp:
                    return answer
        self._refresh()
        check(self._spec, "predict_one", self._title)
        self._scorer, self._scorer_stamp = RowScorer(engine, self._plan, self._classes, self._title), self._stamp[0][0]
        return self._scorer.score(row)[0]

    def predict_one_sql(self) -> str:
        """The query of `predict_one`, to be prepared in SQL; $1, $2, ... are the columns of the features, in their order.

        It has a row a class, the most probable first: class_no, class, joint_log_likelihood, probability. It is for the model
        as it is now: later it raises an error that asks to prepare it anew. Of a model without such a form
        (`nbsql/answers/one_row.py`) it is the query of `predict_proba`.

        >>> import duckdb, nbsql
        >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
        >>> model = nbsql.fit(duckdb.connect(), data, target="play")
        >>> model.predict_one_sql().count("$1")
        1
        """
        engine = self._engine
        engine.need("predict_one_sql")
        self._refresh()
        check(self._spec, "predict_one", self._title)
        return row_sql(engine, self._plan, self._classes, self._title, self._stamp[0][0])

    def predict_proba(self, source: Any, *, calibrated: bool = False, columns: Sequence[str] | None = None) -> Query:
        """As `predict`, and `probability_<label>` a class, which sum to 1; with `columns`, only these of the source.

        >>> import duckdb, nbsql
        >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
        >>> model = nbsql.fit(duckdb.connect(), data, target="play")
        >>> model.predict_proba("SELECT 'rain' AS sky").columns
        ['sky', 'prediction', 'probability', 'probability_no', 'probability_yes']
        """
        return self._query("predict_proba", source, calibrated=calibrated, columns=columns)

    def joint_log_likelihood(self, source: Any, *, columns: Sequence[str] | None = None) -> Query:
        """The rows of `source`, or only these columns, with `joint_log_likelihood_<label>` a class: ln p(x, c), in nats.

        Of a logistic model the scores, whose softmax is the posterior: of two classes the log-odds of the larger label, and 0.

        >>> import duckdb, nbsql
        >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
        >>> model = nbsql.fit(duckdb.connect(), data, target="play")
        >>> model.joint_log_likelihood("SELECT 'rain' AS sky").columns
        ['sky', 'joint_log_likelihood_no', 'joint_log_likelihood_yes']
        """
        return self._query("joint_log_likelihood", source, columns=columns)

    def log_evidence(self, source: Any, *, columns: Sequence[str] | None = None) -> Query:
        """The rows of `source`, or only these columns, with `log_evidence`, ln p(x) in nats: low for a row of no class.

        >>> import duckdb, nbsql
        >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
        >>> model = nbsql.fit(duckdb.connect(), data, target="play")
        >>> model.log_evidence("SELECT 'rain' AS sky").columns
        ['sky', 'log_evidence']
        """
        return self._query("log_evidence", source, columns=columns)

    def explain(self, source: Any) -> Query:
        """A row a source row, class and feature: row_id, the id columns, class, feature, value, contribution.

        The contributions of one row and class sum to its joint log-likelihood; the row without a feature is the prior, or the
        bias of a logistic model.

        >>> import duckdb, nbsql
        >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
        >>> model = nbsql.fit(duckdb.connect(), data, target="play")
        >>> rows = model.explain("SELECT 'rain' AS sky").fetchall()
        >>> [(label, feature, value) for _, label, feature, value, _ in rows]
        [('no', None, None), ('no', 'sky', 'rain'), ('yes', None, None), ('yes', 'sky', 'rain')]
        """
        return self._query("explain", source)

    def log_likelihood(self, source: Any, *, labelled: bool = False, mean: bool = False) -> float:
        """The log-likelihood of all rows of `source` together, in nats: the sum of their ln p(x).

        Args:
            source: what to score.
            labelled: the sum of ln p(x, c) instead, c the class that the row has; rows without a class are left out, and one of
                a class that the model does not know makes it -inf.
            mean: divided by the number of rows.

        Raises:
            InputError: the source lacks a feature, or the target if `labelled`, or has no row to take the mean of.

        >>> import duckdb, nbsql
        >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
        >>> model = nbsql.fit(duckdb.connect(), data, target="play")
        >>> round(model.log_likelihood(data, mean=True), 4)
        -0.5977
        """
        found = self._source(source, reads_target=labelled)
        return mean_or_total(self._engine.rows(self.log_likelihood_sql(found, labelled=labelled)), found.label, mean=mean)

    def log_likelihood_sql(self, source: Any, *, labelled: bool = False) -> str:
        """The query that `log_likelihood` would run, without running it: total, rows.

        >>> import duckdb, nbsql
        >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
        >>> model = nbsql.fit(duckdb.connect(), data, target="play")
        >>> print(model.log_likelihood_sql(data)[:4])
        SELE
        """
        found = self._source(source, reads_target=labelled)
        if not labelled:
            query = self._engine.renderer.dialect.query(self._query("log_evidence", found).sql)
            return self._engine.renderer.statement("total_log_evidence", query)
        check(self._spec, "labelled", self._title)
        self._check("evaluate", found)
        check_source(self._spec, found.columns, found.label, self._title, exact=self._engine.exact, training=True)
        return self._plan.log_joint(found.relation, self._classes)

    def sample(self, n: int, *, seed: int = 0) -> Query:
        """`n` rows as the model has them: a class, by the priors, then each feature from its distribution in that class.

        Columns are named and typed as those that the model was fitted on, the target last. A number that its type cannot hold
        is NULL. The same seed gives the same rows, and the first rows of a longer sample are those of a shorter one.

        Args:
            n: how many.
            seed: a whole number.

        Raises:
            InputError: a feature is of a family that cannot be drawn: a complement, or words that are weighed, n-grams or asked
                for their presence.

        >>> import duckdb, nbsql
        >>> day = {"yes": {"wind": {"weak": 1}}, "no": {"wind": {"strong": 1}}}
        >>> model = nbsql.from_tables(duckdb.connect(), priors={"yes": 0.75, "no": 0.25}, likelihoods=day, target="play")
        >>> model.sample(3, seed=7).columns
        ['wind', 'play']
        """
        self._refresh()
        check(self._spec, "sample", self._title)
        return sample(self._engine, self._plan, self._title, n, seed)

    def sql(
        self,
        verb: Verb,
        source: Any,
        *,
        inline: bool = False,
        dialect: str | None = None,
        columns: Sequence[str] | None = None,
    ) -> str:
        """The query of a verb ("predict", "explain", ...) over a source, without running it.

        Args:
            verb: "predict", "predict_proba", "joint_log_likelihood", "log_evidence" or "explain"; with a dialect also
                "statistics", what a fit of the source would count: a row a cell, class, feature, value, n, mean, m2.
            source: what to score.
            inline: write the numbers of the model into the query, so that it reads the source alone: a frozen scorer, which
                runs where there is no model. It has a line a value, and so a vocabulary makes it long.
            dialect: write such a scorer for another engine: "bigquery", "clickhouse", "databricks", "mysql", "redshift",
                "snowflake", "spark", "sqlite", "trino", "tsql", "postgres" or "duckdb". The source is then a table of that
                engine, or a SELECT as it writes them, and has the columns of the model, whose types are not looked at.
            columns: of the source, that come back; [] for none of them. None is all, but with a dialect that has no word for
                all columns but some (others than BigQuery, ClickHouse, Databricks, Snowflake, DuckDB) the id and the features.

        Raises:
            InputError: there is no such verb or dialect, or the source cannot be scored.
            NotSupportedError: with a dialect, a feature is a text, a bag or a list, or rows have models of their own.

        >>> import duckdb, nbsql
        >>> data = "SELECT * FROM (VALUES ('sun', 'dry'), ('sun', 'dry'), ('rain', 'wet')) AS t(sky, day)"
        >>> query = nbsql.fit(duckdb.connect(), data, target="day").sql("predict", "SELECT 'sun' AS sky", inline=True)
        >>> duckdb.connect().execute(query).fetchall()
        [('sun', 'dry', 0.8181818181818181)]
        """
        if verb not in VERBS and (verb != "statistics" or dialect is None):
            raise InputError(f"no verb {verb!r}{suggestion(str(verb), VERBS) or f'; the verbs are {listed(VERBS)}'}")
        if dialect is not None:
            if inline:
                raise InputError("a dialect gives a scorer with the numbers in it already; leave out inline=True")
            return self._frozen(verb, source, dialect, columns)
        if columns is not None and not VERBS[verb].a_row:
            raise InputError(f"columns goes with the verbs that pass columns of the source on, not with {verb!r}")
        found = self._source(source)
        query = self._query(verb, found, columns=columns).sql
        if not inline:
            return query
        check(self._spec, "inline", self._title)
        passed = passed_columns(found, columns, exact=self._engine.exact)
        return inline_query(self._engine, self._plan, self._classes, verb, found, self._rows(verb, found, passed))

    def _frozen(self, verb: str, source: Any, dialect: str, columns: Sequence[str] | None) -> str:
        from nbsql.answers.elsewhere.scorer import check_dialect, frozen_query
        from nbsql.answers.elsewhere.statistics import frozen_statistics

        check_dialect(dialect)
        self._refresh()
        if verb == "log_evidence":
            check(self._spec, "log_evidence", self._title)
        check(self._spec, "dialect", self._title)
        if verb == "statistics":
            if columns is not None:
                raise InputError("columns goes with the verbs that pass columns of the source on, not with 'statistics'")
            return frozen_statistics(self._engine, self._spec, source, dialect, self._title)
        return frozen_query(self._engine, self._plan, self._classes, verb, source, dialect, columns)
