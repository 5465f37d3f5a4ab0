"""The queries that read a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from nbsql.plan.base import Base
from nbsql.plan.classes import ClassColumn
from nbsql.plan.context import Context
from nbsql.plan.joins import needed_dimensions, number_joins
from nbsql.plan.rows import Joining, Judgeable, Rows
from nbsql.plan.verbs import REVIEW, VERBS, Verb
from nbsql.rendering.dialect import folded, restore


class Scoring(Base):
    """The queries that score rows and evaluate the scores."""

    def class_order(self, priors: Markup | None = None) -> str:
        if self.spec.components is not None:
            return self.renderer.statement("class_order_of_components", self.relations["statistics"], self.relations["priors"])
        return self.renderer.statement("class_order", priors or self.relations["priors"])

    def score(self, verb: str, rows: Rows, classes: Sequence[ClassColumn], *, calibration: str | None = None) -> str:
        """The query of a verb on some rows, calibrated by the method `calibration`, if there is one."""
        return restore(self.query(verb, rows, classes, calibration=calibration))

    def query(
        self,
        verb: str,
        rows: Rows,
        classes: Sequence[ClassColumn],
        *,
        calibration: str | None = None,
        tables: Sequence[Markup] = (),
    ) -> Markup:
        """The query of a verb on some rows as a fragment.

        `tables` replace the parameters and lookups of the model, and its calibration if there are three.
        """
        if verb == "explain":
            context = self.context(classes, rows, by_feature=True)
            tables = tables[:2] or self.current_tables(context)
            return self.renderer.fragment(verb, context, self.prepare_source(context, rows.relation, *tables), *tables)
        context, scored = self.scored(rows, classes, tables, calibration=calibration, verb=VERBS[verb])
        return self.renderer.fragment(verb, context, scored)

    def current_tables(self, context: Context, *, by_class: bool = False) -> tuple[Markup, Markup]:
        """The parameters and lookups of the model. A query that names columns by class checks that the classes are still these.

        In the long form this is so for the results that have a column for each class, `by_class`.
        """
        parameters, wide = self.relations["parameters"], bool(context.form.class_numbers)
        if wide or by_class:
            message = "the classes of the model have changed since this query was made; make it again"
            checked = "with_current_row" if wide else "with_current_classes"
            parameters = self.renderer.fragment(checked, context, parameters, message)
        return parameters, self.relations["lookups"]

    def decide(
        self,
        macro: str,
        arguments: Sequence[Any],
        rows: Rows,
        classes: Sequence[ClassColumn],
        *,
        calibration: str | None = None,
        reads: Sequence[str] = (),
    ) -> str:
        """The query of predictions that are not simply the highest posterior; see nbsql/queries/decisions.py.

        Posteriors are calibrated by the method `calibration`, if there is one. `arguments` are the last ones of the macro,
        after the parameters and the other relations of the model that it reads.
        """
        context, scored = self.scored(rows, classes, calibration=calibration)
        relations = [self.relations[name] for name in ("parameters", *reads)]
        return self.renderer.statement(macro, context, scored, *relations, *arguments)

    def review(
        self,
        by: str,
        rows: Rows,
        classes: Sequence[ClassColumn],
        count: int,
        kinds: Mapping[str, str],
        *,
        calibration: str | None = None,
        costs: Sequence[Sequence[float]] | None = None,
    ) -> str:
        """The query of the patterns of some rows that a person should label next; see sql/macros/scoring/review.sql.

        `by` is "margin", "evidence", "novelty" or "expected cost", with the costs of mistakes by the numbers of the predicted
        and the actual class. The rows are joined already; `kinds` has the kinds of their columns by name (see `Column`), and
        `passed_columns` are those of the result. Posteriors are calibrated by the method `calibration`, if there is one.
        """
        fragment, spec = self.renderer.fragment, self.spec
        same = {folded(name) for feature in spec.features for name in feature.columns}
        first = [name for name in kinds if name in spec.id]
        order = [(name, kinds[name]) for name in (*first, *(name for name in kinds if name not in first))]
        segment = self.renderer.dialect.query(spec.segment_by) if spec.segment_by is not None else None
        equal = [(name, kind) for name, kind in kinds.items() if folded(name) in same]
        patterns = self.renderer.subquery("patterns", rows.relation, equal, segment, order)
        found = replace(rows, relation=patterns, columns=[*kinds, "nbsql_rows"], keeps_order=False)
        context, scored = self.scored(found, classes, calibration=calibration)
        measured = fragment("patterns_with_measure", context, scored, self.relations["parameters"], list(kinds), by, costs)
        if by in ("margin", "expected cost"):
            falling = by == "expected cost"
            named = REVIEW.options[by][0]
            return self.renderer.statement("review", measured, order, falling, rows.passed_columns, named, count)
        queued = Rows(fragment("word", "nbsql_queue"), [*kinds, "nbsql_position"])
        if by == "evidence":
            alone = type(self)(self.renderer, replace(spec, id=("nbsql_position",)), self.relations, wide=self.wide)
            explained = alone.query("explain", replace(queued, relation=fragment("chosen_patterns", count)), classes)
            return self.renderer.statement(
                "review_by_evidence", measured, order, explained, rows.passed_columns, count, predicts=spec.has_target
            )
        tables = self.relations["parameters"], self.relations["lookups"]
        component_context = self.context(classes, queued, by_feature=True).component_model
        unseen = fragment(
            "unseen_values", component_context, self.prepare_source(component_context, queued.relation, *tables), *tables
        )
        return self.renderer.statement("review_by_novelty", measured, order, unseen, rows.passed_columns, count)

    def impute(
        self, macro: str, rows: Rows, classes: Sequence[ClassColumn], filled: Sequence[Any], labelled: bool, *arguments: Any
    ) -> str:
        """The query of columns that are predicted from the others; see sql/macros/scoring/impute.sql.

        The columns are those of nbsql/queries/impute.py. With `labelled` the class of a row is taken as certain.
        """
        context, scored = self.scored(replace(rows, keeps_order=True), classes)
        relations = (self.relations["parameters"], self.relations["likelihoods"])
        return self.renderer.statement(macro, context, scored, *relations, filled, labelled, *arguments)

    def query_log_joint(self, source: Markup, classes: Sequence[ClassColumn]) -> str:
        """The query of the total log-likelihood of rows and their classes."""
        context, scored = self.scored(Rows(source), classes)
        return self.renderer.statement("total_log_joint", context, scored, self.relations["parameters"])

    def expected_classes(self, rows: Markup, classes: Sequence[ClassColumn], share: float) -> Markup:
        """The query of the expected classes of numbered rows; a row without a class weighs `share` (em.sql)."""
        context, scored = self.scored(Rows(rows), classes)
        return self.renderer.fragment("expected_classes", context, scored, self.relations["parameters"], share)

    def judged_rows(
        self,
        rows: Judgeable,
        classes: Sequence[ClassColumn],
        *,
        calibration: str | None = None,
        costs: Sequence[Sequence[float]] | None = None,
    ) -> Markup:
        """The common table expressions of the queries that evaluate the model on some rows."""
        scored = self.scored(rows, classes, calibration=calibration, costs=costs)
        return self._judged("judged_rows", rows, *scored, by=[name for name, _ in rows.by])

    def monitored_rows(self, rows: Judgeable, classes: Sequence[ClassColumn], calibration: str | None) -> Markup:
        """The evaluated rows of several periods, with the period and the evidence of each row."""
        context, scored = self.scored(rows, classes, calibration=calibration)
        scored = self.renderer.fragment("with_evidence", context, scored)
        return self._judged("judged_rows", rows, context, scored, ["nbsql_period", "nbsql_evidence"])

    def comparison(
        self,
        rows: Judgeable,
        classes: Sequence[ClassColumn],
        other: Scoring,
        other_classes: Sequence[ClassColumn],
        calibrations: Sequence[str | None],
    ) -> str:
        """The query that compares this model with another one on the same rows, with the calibrations of both."""
        other_context, other_scored = other.scored(rows, other_classes, calibration=calibrations[1])
        # Rows are numbered once: Spark fails where rows that it has numbered twice meet others in a join.
        columns = [*rows.columns, *(["nbsql_row"] if other_context.has_row_numbers else [])]
        answered = self.renderer.subquery("with_other_answers", other_context, other_scored, columns)
        carried = ["nbsql_other_prediction", "nbsql_other_posteriors"]
        given = replace(rows, relation=answered, columns=[*columns, *carried])
        context, scored = self.scored(given, classes, calibration=calibrations[0])
        judged = self._judged("judged_rows", rows, context, scored, carried)
        return self.renderer.statement("model_comparison", judged, other_context, other.relations["parameters"], rows.as_text)

    def evaluation_costs(
        self, rows: Judgeable, classes: Sequence[ClassColumn], *, calibration: str | None, costs: Sequence[Sequence[float]]
    ) -> str:
        """The query of the actual costs of the predictions with the least expected cost."""
        scored = self.scored(rows, classes, calibration=calibration, costs=costs)
        return restore(self._judged("evaluation_costs", rows, *scored))

    def calibration_rows(self, rows: Judgeable, classes: Sequence[ClassColumn], *, has_known: bool = False) -> Markup:
        """The query of the data on which a calibration is fitted, with nbsql_known if `has_known`."""
        context, scored = self.scored(rows, classes)
        if has_known:
            scored = self.renderer.fragment("with_knowledge", context, scored, self.relations["parameters"])
        return self._judged("calibration_rows", rows, context, scored, has_known)

    def _judged(self, macro: str, rows: Judgeable, context: Context, scored: Markup, *more: Any, **options: Any) -> Markup:
        """The query of a macro on scored rows whose classes are known."""
        arguments = (context, scored, self.relations["parameters"], rows.weight, rows.as_text)
        return self.renderer.fragment(macro, *arguments, *more, **options)

    def joins(self) -> Sequence[Joining]:
        """The joins in the macros or functions of the model. Macros read a dimension by its number, from 1."""
        dialect, dimensions = self.renderer.dialect, needed_dimensions(self.spec)
        if dialect.traits.table_macros:
            relations = [dialect.word(f"nbsql_dimension_{number}") for number in range(1, len(dimensions) + 1)]
        else:
            relations = [dialect.ident(*dimension.path) for dimension in dimensions]
        found = number_joins(self.renderer, zip(dimensions, relations, strict=True))
        most = self.renderer.layout.dimension_rows
        return [replace(joining, is_scored_by_key=joining.dimension.rows <= most) for joining in found]

    def scored(
        self,
        rows: Rows,
        classes: Sequence[ClassColumn],
        tables: Sequence[Markup] = (),
        *,
        calibration: str | None = None,
        costs: Sequence[Sequence[float]] | None = None,
        verb: Verb | None = None,
    ) -> tuple[Context, Markup]:
        """The context of a query on some rows, and the scored rows (sql/macros/scoring/predict.sql) as a relation."""
        context = self.context(classes, rows)
        by_class = verb is not None and verb.column_per_class is not None
        parameters, lookups = tables[:2] or (self.relations["parameters"], self.relations["lookups"])
        checked = None if tables else self.current_tables(context, by_class=by_class)[0]
        source = self.prepare_source(context, rows.relation, parameters, lookups)

        subquery = self.renderer.subquery
        scored = subquery("scored", context, source, parameters, lookups, checked)
        if calibration is not None:
            fitted = tables[2] if len(tables) > 2 else self.relations["calibration"]
            scored = subquery("calibrated_scores", context, scored, parameters, fitted, calibration)
        if costs is not None:
            scored = subquery("scored_at_cost", context, scored, parameters, costs)
        return context, scored
