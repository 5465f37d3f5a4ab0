"""Fitting, loading and using models."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal

from markupsafe import Markup

from nbsql import schema as schemas
from nbsql.calibration import Calibration, calibrate, method_of
from nbsql.changes import Change, Ledger
from nbsql.context import ClassColumn, class_columns
from nbsql.costs import cost_matrix
from nbsql.decisions import Decision, decision
from nbsql.derived import derive, known_slices, slice_names, write_file
from nbsql.dialect import folded
from nbsql.engines.duckdb import DuckDB
from nbsql.engines.source import Source
from nbsql.errors import InputError, listed, suggestion
from nbsql.evaluation import Evaluation, evaluate, evaluation_queries
from nbsql.family import Family
from nbsql.inline import inlined
from nbsql.linear import weights
from nbsql.plan import VERBS, Entry, Plan
from nbsql.query import Query
from nbsql.relations import Relations
from nbsql.resolve import check_source
from nbsql.sampling import mean_or_total, sample
from nbsql.segments import check_segmented, refuse_segments
from nbsql.spec import Spec

# The column that a verb adds and no source may have.
_ADDS = {
    "predict": ("prediction", "probability"),
    "predict with costs": ("prediction", "probability", "expected_cost"),
    "predict with thresholds": ("prediction", "probability"),
    "predict with top_k": ("prediction", "probability", "rank"),
    "predict_proba": ("prediction", "probability"),
    "log_evidence": ("log_evidence",),
}


def planned(engine: DuckDB, spec: Spec, relations: Relations) -> Plan:
    """The plan of a model that is there. Its tables say which form they have: another version may draw the limits elsewhere."""
    wide = all(column.name != "class_no" for column in engine.columns(relations["parameters"]))
    return Plan(engine.renderer, spec, relations, wide=wide)


class Model:
    """A fitted model: the statistics in the database, and the queries on them.

    Made by `nbsql.fit` and `nbsql.load`.
    """

    def __init__(self, engine: DuckDB, plan: Plan, classes: list[ClassColumn], name: str | None) -> None:
        self._engine = engine
        self._plan = plan
        self._spec = plan.spec
        self._relations = plan.relations
        self._classes = classes
        self._stamp = engine.ask("updated_at", plan.relations["spec"])
        self.name = name

    def __repr__(self) -> str:
        title = f"model {self.name!r}" if self.name else "transient model"
        return f"<nbsql {title}: {self.target!r} of {len(self._classes)} classes from {len(self._spec.features)} features>"

    @property
    def _title(self) -> str:
        return f"model {self.name!r}" if self.name else "the model"

    def __enter__(self) -> Model:  # noqa: PYI034 - Self needs Python 3.11
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the database, if it was opened by path."""
        self._engine.close()

    @property
    def target(self) -> str:
        """The column that is predicted."""
        return self._spec.target

    @property
    def classes(self) -> list[Any]:
        """The labels in their own type, the most probable first."""
        return [row[0] for row in self._engine.ask("class_values", self._relations["priors"])]

    @property
    def families(self) -> dict[str, Family]:
        """The family of every feature, with all its options."""
        return {feature.name: feature.family for feature in self._spec.features}

    @property
    def priors(self) -> Query:
        """A row a class: class, n, prior, log_prior."""
        return self._read("priors", "class")

    @property
    def likelihoods(self) -> Query:
        """A row a class, feature and value: class, feature, value, likelihood, log_likelihood, mean, variance, rate."""
        return self._read("likelihoods", "feature", "value", "class")

    @property
    def statistics(self) -> Query:
        """The additive cells: slice, class, feature, value, n, mean, m2."""
        return self._read("statistics", "feature", "value", "class")

    def predict(
        self, source: Any, *, costs: Any = None, thresholds: Any = None, top_k: int | None = None, calibrated: bool = False
    ) -> Query:
        """The rows of `source`, with `prediction` and `probability`, the posterior of the prediction.

        The most probable class wins; a tie goes to the larger prior, then to the smaller label. A row that no class can
        explain has a NULL prediction. Rows of a frame come back in its order. At most one of costs, thresholds and top_k:

        Args:
            source: what to score.
            costs: what a prediction costs: {(actual, predicted): cost}, {actual: {predicted: cost}}, or a pandas DataFrame of
                actual (index) by predicted (columns). A pair left out costs 0 if it is right and 1 if it is wrong. The class
                that costs least, on average over the posteriors, is predicted, and the column `expected_cost` says how much.
            thresholds: {class: probability}. Such a class is predicted where its posterior reaches its threshold, low or high,
                the most probable one of several; where none does, the most probable class without a threshold, or NULL if
                there is none. So a threshold does to one class what the table `thresholds` of an evaluation says of it.
            top_k: this many classes, the most probable first: a row a source row and `rank`, from 1. Not a list in one row,
                so that they can be filtered, joined and counted like any rows. All classes, if there are fewer; a row that
                no class can explain comes once.
            calibrated: take the posteriors as `calibrate` has fitted them.

        Raises:
            InputError: the source lacks a feature, or has a column that is to be added already; or an option is of no use.
            ModelError: the model is not calibrated.

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
        """

        def decided() -> Decision | None:
            return decision(self.classes, costs=costs, thresholds=thresholds, top_k=top_k)

        chosen = decided()  # refused before the source is looked at
        if chosen is None:
            return self._query("predict", source, calibrated=calibrated)
        verb, macro, found = chosen.verb, chosen.macro, self._engine.source(source)

        def render() -> str:
            argument = getattr(decided(), "argument", None)  # the classes may be others by now
            method = self._calibration(calibrated)
            return self._plan.decide(macro, argument, found.relation, self._classes, ordered=found.is_frame, calibration=method)

        return self._scored(verb, found, render)

    def predict_proba(self, source: Any, *, calibrated: bool = False) -> Query:
        """As `predict`, and `probability_<label>` a class, which sum to 1."""
        return self._query("predict_proba", source, calibrated=calibrated)

    def joint_log_likelihood(self, source: Any) -> Query:
        """The rows of `source`, with `joint_log_likelihood_<label>` a class: ln p(x, c), in nats."""
        return self._query("joint_log_likelihood", source)

    def log_evidence(self, source: Any) -> Query:
        """The rows of `source`, with `log_evidence`, ln p(x) in nats: low for a row that fits no class."""
        return self._query("log_evidence", source)

    def log_likelihood(self, source: Any, *, labelled: bool = False, mean: bool = False) -> float:
        """The log-likelihood of all rows of `source` together, in nats: the sum of their ln p(x).

        Args:
            source: what to score.
            labelled: the sum of ln p(x, c) instead, c the class that the row has; rows without a class are left out, and one of
                a class that the model does not know makes it -inf.
            mean: divided by the number of rows.

        Raises:
            InputError: the source lacks a feature, or the target if `labelled`, or has no row to take the mean of.
        """
        found = self._engine.source(source)
        if not labelled:
            query = self._engine.renderer.dialect.query(self._query("log_evidence", found).sql)
            return mean_or_total(self._engine.ask("total_log_evidence", query), found.label, mean=mean)
        self._check("evaluate", found)
        check_source(self._spec, found.columns, found.label, self._title, training=True)
        return mean_or_total(self._engine.rows(self._plan.log_joint(found.relation, self._classes)), found.label, mean=mean)

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
        refuse_segments(self._spec, self._title, "a sample")
        return sample(self._engine, self._plan, self._title, n, seed)

    def explain(self, source: Any) -> Query:
        """A row a source row, class and feature: row_id, the id columns, class, feature, value, contribution.

        The contributions of one row and class sum to its joint log-likelihood; the prior is the row without a feature.
        """
        return self._query("explain", source)

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
        found = self._engine.source(source)
        self._check("evaluate", found)
        method = self._calibration(calibrated)
        matrix = None if costs is None else cost_matrix(costs, self.classes)
        return evaluate(
            self._engine, self._plan, self._classes, found, weight=weight, bins=bins, calibration=method, costs=matrix
        )

    def evaluate_sql(
        self, source: Any, *, table: str = "metrics", weight: str | None = None, bins: int = 10, calibrated: bool = False
    ) -> str:
        """The query that `evaluate` would run, or that of one of its tables, such as "roc", without running it."""
        found = self._engine.source(source)
        self._check("evaluate", found)
        method = self._calibration(calibrated)
        queries = evaluation_queries(
            self._engine, self._plan, self._classes, found, weight=weight, bins=bins, calibration=method
        )
        if table not in queries:
            raise InputError(f"no table {table!r}{suggestion(str(table), queries) or f'; there are {listed(queries)}'}")
        return queries[table].sql

    def calibrate(
        self, source: Any, *, method: str = "temperature", folds: int | None = 10, weight: str | None = None, test: Any = None
    ) -> Calibration:
        """Fit what turns the posteriors into probabilities that are as often right as they say, and keep it with the model.

        Naive Bayes counts dependent features as if each told something new, so that its posteriors are too near 0 and 1.
        Afterwards `predict`, `predict_proba` and `evaluate` take `calibrated=True`, and SQL has
        `FROM name.predict_calibrated('table')` and `predict_proba_calibrated`. A calibration belongs to the model as it is:
        `update`, `forget` and `rollback` drop it, with a warning; files of models and models derived from this one have none.

        Args:
            source: rows whose class is known: with folds, the rows that the model has learnt, all of them; with `folds=None`,
                rows that it has not learnt.
            method: "temperature": all posteriors to the power of 1/T, and made to sum to 1 (Guo et al. 2017). "platt": a
                sigmoid of the log-odds of each class against the rest (Platt 1999; Lin, Lin and Weng 2007). "isotonic": a
                rising function of them (Zadrozny and Elkan 2002), which takes some thousand rows. Both are made to sum to 1.
            folds: every row is scored by a model of the other folds, as in `nbsql.cross_validate`.
            weight: column of row weights of `source`, with `folds=None`, and of `test`. With folds, rows count by the weight of
                the fit.
            test: rows that neither the model nor the calibration has met, on which to judge both.

        Raises:
            InputError: the rows are not those that the model has learnt, or an argument cannot be used. Nothing has changed.
        """
        engine = self._engine
        refuse_segments(self._spec, self._title, "a calibration")
        with engine.transaction():
            found, tested = engine.source(source), None if test is None else engine.source(test)
            for rows in filter(None, (found, tested)):
                self._check("evaluate", rows)
            calibration = calibrate(
                engine, self._plan, self._classes, self._title, found, method=method, folds=folds, weight=weight, test=tested
            )
        self._stamp = engine.ask("updated_at", self._relations["spec"])
        return calibration

    def _calibration(self, wanted: bool) -> str | None:
        """The method by which the model is calibrated, if calibrated posteriors are wanted."""
        return method_of(self._engine, self._plan, self._title) if wanted else None

    def relevance(self, *, values: bool = False) -> Query:
        """How much each feature tells of the class, from the counts alone, the most telling first.

        A row a feature: feature, mutual_information (or information gain, in nats), symmetrical_uncertainty, chi_square, and of
        numbers f_statistic, of the analysis of variance. sql/macros/relevance.sql has the formulas.

        Args:
            values: a row a value or token: feature, value, n, mutual_information, chi_square.
        """
        self._spec.need_counts(self._title)
        statistics, features = self._relations["statistics"], self._spec.features
        renderer = self._engine.renderer
        if values:
            return Query(
                self._engine, renderer.statement("relevance_of_values", statistics, self._relations["priors"], features)
            )
        return Query(self._engine, renderer.statement("relevance", statistics, features))

    def linear(self) -> Query:
        """The model as weights, a row a weight: class, feature, value, times, weight. The row without a feature is the bias.

        The score of a row is the sum of each weight times what `times` says: 'x', the number; 'is', whether the feature has
        that value; 'count', how often the token occurs. Of two classes there is one score, positive where the larger label is
        predicted, and its probability is 1 / (1 + exp(-score)). Of more, each class has one, and the largest wins.

        Raises:
            ModelError: a feature has no linear form; the message names it.

        >>> import duckdb, nbsql
        >>> data = "SELECT * FROM (VALUES (1.0, 'a'), (3.0, 'a'), (5.0, 'b'), (7.0, 'b')) AS t(x, y)"
        >>> family = nbsql.Gaussian(shared_variance=True)
        >>> nbsql.fit(duckdb.connect(), data, target="y", families={"x": family}).linear().fetchall()
        [('b', None, None, '1', -16.0), ('b', 'x', None, 'x', 4.0)]
        """
        return self._weights(1)

    def quadratic(self) -> Query:
        """As `linear`, of a model with squares too: class, feature, value, other, times, weight.

        `times` is 'x^2' for the weight of a square, and 'x y' for that of a product of the columns `value` and `other`.

        Raises:
            ModelError: a feature is no polynomial of its number; the message names it.
        """
        return self._weights(2)

    def _weights(self, degree: Literal[1, 2]) -> Query:
        refuse_segments(self._spec, self._title, "its linear form")

        def sql() -> str:
            self._refresh()
            return weights(self._plan, self._classes, self._title, degree)

        sql()
        return Query(self._engine, sql)

    def sql(self, verb: str, source: Any, *, inline: bool = False) -> str:
        """The query of a verb ("predict", "explain", ...) over a source, without running it.

        Args:
            verb: "predict", "predict_proba", "joint_log_likelihood", "log_evidence" or "explain".
            source: what to score.
            inline: write the numbers of the model into the query, so that it reads the source alone: a frozen scorer, which
                runs where there is no model. It has a line a value, and so a vocabulary makes it long.

        Raises:
            InputError: there is no such verb, or the source cannot be scored.

        >>> import duckdb, nbsql
        >>> data = "SELECT * FROM (VALUES ('sun', 'dry'), ('sun', 'dry'), ('rain', 'wet')) AS t(sky, day)"
        >>> query = nbsql.fit(duckdb.connect(), data, target="day").sql("predict", "SELECT 'sun' AS sky", inline=True)
        >>> duckdb.connect().execute(query).fetchall()
        [('sun', 'dry', 0.8181818181818181)]
        """
        if verb not in VERBS:
            raise InputError(f"no verb {verb!r}{suggestion(str(verb), VERBS) or f'; the verbs are {listed(VERBS)}'}")
        found = self._engine.source(source)
        query = self._query(verb, found).sql
        if not inline:
            return query
        refuse_segments(self._spec, self._title, "a query with its numbers")
        return inlined(self._engine, self._plan, self._classes, verb, found)

    # Over time. ----------------------------------------------------------------------------------------------------

    @property
    def batches(self) -> Query:
        """The ledger, a row a change: batch, operation, source, rows, at (UTC), number."""
        return self._read("batches", "number")

    def update(self, source: Any, *, batch: str | None = None) -> None:
        """Learn the rows of `source` too: the model is then that of all its rows at once, whatever their order.

        Args:
            source: has the columns that the model was fitted on, of the same types.
            batch: a name for the ledger; None takes the next number.

        Raises:
            InputError: the source, or its rows, cannot be learnt, or the ledger has that name already. Nothing has changed.
            ModelError: what the model has learnt cannot be added to.
        """
        with self._change() as change:
            self._with_source(source, lambda found: change.update(found, batch))

    def forget(self, source: Any = None, *, batch: str | None = None) -> None:
        """Unlearn the rows of `source`, or what came with `batch`: the model is then as if it had never met them.

        Raises:
            InputError: the model has not learnt these rows; the message names the first of them. Nothing has changed.
        """
        if (source is None) == (batch is None):
            raise InputError("forget takes a source or a batch, one of them")
        with self._change() as change:
            if batch is not None:
                change.forget_batch(batch)
            else:
                self._with_source(source, change.forget)

    def rollback(self, batch: str) -> None:
        """Undo every change after `batch`, a line of the ledger."""
        with self._change() as change:
            change.rollback(batch)

    def compact(self, through: str | None = None) -> None:
        """Fold the cells of all batches up to `through`, or of all, into one; what was forgotten is then gone for good.

        The model stays the same; its earlier states are no more.
        """
        with self._change() as change:
            change.compact(through)

    def as_of(self, batch: str) -> Model:
        """The model as it stood after `batch`, a line of the ledger: a transient model."""
        number = Ledger.of(self._engine, self._plan, self._title).find(batch).number
        return self._derived(f"as of batch {batch!r}", "cells_through", self._relations["batches"], number)

    @property
    def slice_names(self) -> list[str]:
        """The slices, by the expression `slice_by` of the fit, oldest first."""
        return slice_names(self._engine, self._plan, self._title)

    @property
    def segments(self) -> Query:
        """The segments, by the expression `segment_by` of the fit, and their rows: segment, n; NULL for the rows of none."""
        check_segmented(self._spec, self._title)
        return Query(self._engine, self._engine.renderer.statement("segments_of", self._relations["statistics"]))

    def slices(self, names: Sequence[Any]) -> Model:
        """The model of some slices only: a transient model. Slices are named as text, or as what is written so."""
        texts = known_slices(self._engine, self._plan, self._title, names)
        return self._derived(f"slices {listed(texts)}", "cells_of_slices", texts)

    def window(self, *, last: int | None = None, decay: float = 1.0) -> Model:
        """The model of the `last` slices (None: of all): a transient model.

        Args:
            last: how many slices, the newest first.
            decay: a slice of age k, the newest having 0, counts decay ** k times; more than 0 and at most 1.
        """
        slice_names(self._engine, self._plan, self._title)
        if last is not None and (isinstance(last, bool) or not isinstance(last, int) or last < 1):
            raise InputError(f"last must be a whole number of at least 1, not {last!r}")
        if isinstance(decay, bool) or not isinstance(decay, (int, float)) or not 0 < decay <= 1:
            raise InputError(f"decay must be more than 0 and at most 1, not {decay!r}")
        return self._derived(f"the last {last} slices" if last else "all slices", "windowed", last, float(decay))

    def drift(self, a: Any, b: Any) -> Query:
        """How far slices `b` have moved from slices `a`, the farthest feature first; batches, if the model has no slices.

        A row a feature, and one for the class, without a feature: feature, psi, kl, value, a, b. psi is the population
        stability index, kl the Kullback-Leibler divergence of b from a in nats; value is the value that moved most, a and b
        its shares, or the means of a number.

        Args:
            a: a slice, or a list of them.
            b: what to compare with it.
        """
        self._spec.need_counts(self._title)
        sides = []
        for side in (a, b):
            names = [side] if isinstance(side, str) or not isinstance(side, Sequence) else side
            if self._spec.slice_by is not None:
                texts = known_slices(self._engine, self._plan, self._title, names)
                query = self._fragment("cells_of_slices", self._relations["statistics"], texts)
            else:
                ledger = Ledger.of(self._engine, self._plan, self._title)
                batches = [ledger.find(name).batch for name in names]
                query = self._fragment("cells_of_batches", self._relations["statistics"], batches)
            sides.append(self._fragment("subquery", query))
        return Query(self._engine, self._engine.renderer.statement("drift", *sides, self._spec.features))

    def export(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model to one Parquet file, which `nbsql.import_` reads. It holds counts and no rows, and no calibration.

        Raises:
            InputError: the file is there already.
        """
        write_file(self._engine, self._plan, os.fspath(path), overwrite=overwrite)

    def _fragment(self, macro: str, *arguments: Any) -> Markup:
        return self._engine.renderer.fragment(macro, *arguments)

    def _derived(self, source: str, macro: str, *arguments: Any) -> Model:
        engine = self._engine
        cells = self._fragment(macro, self._relations["statistics"], *arguments)
        cells = self._fragment("folded", self._fragment("subquery", cells), "1")
        with engine.transaction():
            rows = round(engine.ask("rows_learnt", self._fragment("subquery", cells))[0][0] or 0)
            if rows <= 0:
                raise InputError(f"nothing is left of {self._title} in {source}")
            plan, classes = derive(engine, self._spec, cells, [Entry(1, "1", "derive", f"{source} of {self._title}", rows)])
        return Model(engine, plan, classes, None)

    @contextmanager
    def _change(self) -> Iterator[Change]:
        with self._engine.transaction():
            self._refresh()
            self._spec.need_counts(self._title)
            change = Change(self._engine, self._plan, self._classes, self._title)
            yield change
        self._plan, self._classes = change.plan, change.classes
        self._stamp = self._engine.ask("updated_at", self._relations["spec"])

    def _with_source(self, source: Any, act: Callable[[Source], None]) -> None:
        found = self._engine.source(source)
        try:
            act(found)
        finally:
            found.release()

    def _refresh(self) -> None:
        """Take notice of changes that others have made to the model."""
        stamp = self._engine.ask("updated_at", self._relations["spec"])
        if stamp != self._stamp:
            self._spec = Spec.from_json(self._engine.ask("spec_text", self._relations["spec"])[0][0], str(self.name))
            self._plan = planned(self._engine, self._spec, self._relations)
            self._classes = class_columns(self._engine.rows(self._plan.class_order()))
            self._stamp = stamp

    def drop(self) -> None:
        """Remove the model from the database."""
        engine = self._engine
        with engine.transaction():
            if self.name is not None:
                database = self._relations.path[0] if len(self._relations.path) > 1 else engine.current()[0]
                schemas.drop_schema(engine, database, schemas.find(engine, database, self.name))
                return
            for name, kind in schemas.CONTENTS.items():
                if kind != "macro":
                    engine.run(
                        f"drop {name}", engine.renderer.statement("drop_relation", kind, self._relations[name], if_exists=True)
                    )

    def _read(self, name: str, *order: str) -> Query:
        return Query(self._engine, self._engine.renderer.statement("sorted_by", self._relations[name], order))

    def _query(self, verb: str, source: Any, *, calibrated: bool = False) -> Query:
        found = self._engine.source(source)

        def render() -> str:
            method = self._calibration(calibrated)
            return self._plan.score(verb, found.relation, self._classes, ordered=found.is_frame, calibration=method)

        return self._scored(verb, found, render)

    def _scored(self, verb: str, source: Source, render: Callable[[], str]) -> Query:
        """A query that is rendered anew if the model, whose classes stand in it, has changed when it runs."""
        rendered: tuple[Any, str] | None = None

        def sql() -> str:
            nonlocal rendered
            self._refresh()
            if rendered is None or rendered[0] != self._stamp:
                self._check(verb, source)
                rendered = self._stamp, render()
            return rendered[1]

        sql()
        return Query(self._engine, sql, source)

    def _check(self, verb: str, source: Source) -> None:
        """Raise InputError unless the source has the features and lacks the columns that the verb adds."""
        self._refresh()
        columns = check_source(self._spec, source.columns, source.label, self._title)
        if self._spec.segment_by is not None:
            self._engine.check_expression(self._spec.segment_by, source, f"segment_by of {self._title}")
        names = [column.name for column in source.columns]
        title = self._title
        if verb == "explain":
            for name in self._spec.id:
                if folded(name) not in columns:
                    raise InputError(f"no column {name!r} in {source.label}, the id of {title}{suggestion(name, names)}")
            return
        added = list(_ADDS.get(verb, ()))
        if verb == "predict_proba":
            added += [c.probability for c in self._classes]
        elif verb == "joint_log_likelihood":
            added += [c.joint for c in self._classes]
        for name in added:
            if folded(name) in columns:
                raise InputError(f"{source.label} has a column {name!r} already, which {verb} adds; rename it or leave it out")
