"""Fits a model: counts a source and builds the model's relations, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, listed
from nbsql.learning.collinear import check_covariances, features_with_covariance
from nbsql.learning.count import Count, total_rows
from nbsql.learning.declared import with_declared, with_given_priors
from nbsql.learning.em import run_em
from nbsql.learning.factorised import make_count
from nbsql.learning.family_warnings import advice, advice_on_classes, inferred_features
from nbsql.learning.half_life import check_reference_time
from nbsql.learning.joins import dimensions_of_model
from nbsql.learning.kmeans import split_classes, stage_source
from nbsql.learning.logistic import WeightSearch
from nbsql.learning.number_advice import MOST_VALUES, advice_on_texts
from nbsql.learning.prepare import prepare_families
from nbsql.learning.selection import best_features
from nbsql.learning.spelling_advice import advice_on_missing_classes, advice_on_spellings
from nbsql.plan import Entry, Plan, Statement
from nbsql.plan.classes import ClassColumn, class_columns
from nbsql.plan.context import Context
from nbsql.plan.derived import with_derived_columns
from nbsql.plan.layout import complete_features, many_levels
from nbsql.rendering.relations import Relations
from nbsql.spec.capabilities import check
from nbsql.spec.half_life import WEIGHT_NOW
from nbsql.spec.method import Logistic
from nbsql.spec.options import Options, candidate_options
from nbsql.spec.resolve import resolve
from nbsql.spec.spec import Feature
from nbsql.storage.build import build
from nbsql.storage.schema import drop_replaced
from nbsql.version import __version__
from nbsql.warn import warn_user


class Fit:
    """One fit of one source to the relations of the new model."""

    def __init__(self, engine: Engine, source: Source, options: Options, relations: Relations) -> None:
        self.engine = engine
        self.source = source
        self.relations = relations
        options, self.selection = candidate_options(options)
        self.spec = with_derived_columns(resolve(source.columns, options, source.label), source.derived)
        if source.joins:
            self.spec = replace(
                self.spec, joins=dimensions_of_model(engine, (joining.dimension for joining in source.joins), relations)
            )
        if self.selection is not None:
            self.selection.accept(self.spec.features)
        if self.spec.slice_by is not None:
            self.spec = replace(self.spec, slice_by=engine.resolve_expression(self.spec.slice_by, source, "slice_by"))
        if self.selection is not None:
            check(self.spec, "choosing", "Best")
        if self.spec.segment_by is not None:
            self.spec = replace(self.spec, segment_by=engine.resolve_expression(self.spec.segment_by, source, "segment_by"))
        self.spec, self.declared = with_declared(engine, self.spec, options.classes)
        if self.spec.half_life is None:
            self.spec = prepare_families(engine, self.spec, source)
        else:
            now = prepare_families(engine, replace(self.spec, weight=WEIGHT_NOW), source)
            self.spec = replace(now, weight=self.spec.weight)

    @property
    def plan(self) -> Plan:
        return Plan(self.engine.renderer, self.spec, self.relations)

    def run(self, *, replaces: tuple[str, str] | None = None) -> tuple[Plan, list[ClassColumn]]:
        """The plan and the classes of the fitted model. Nothing is written before all rows have been checked against the rules.

        `replaces` is the database and schema of the model that this one replaces.
        """
        with self.engine.temporaries() as temporary:
            if self.spec.components is not None:
                self.source = stage_source(self.engine, self.spec, self.source, temporary("rows"))
                self.spec = split_classes(self.engine, self.spec, self.spec.components, self.source)
            count = make_count(self.engine, self.source, self.plan, temporary)
            labels = count.scan(quiet=self.spec.em is not None)
            count.check_magnitudes()
            self._warn_of_classes(labels)
            if len(labels) == 1 and not self.declared:
                warn_user(f"{self.spec.target!r} has one class only, {labels[0][0]!r}; every prediction will be that class")
            elif (advice_line := advice_on_classes(self.engine, self.spec.target, labels)) is not None:
                warn_user(advice_line)
            self.spec = with_given_priors(self.engine, self.spec, self.declared or labels)
            if features_with_covariance(self.spec):
                self.engine.run_all(count.moments(temporary("moments"), features_with_covariance(self.spec)))
                check_covariances(self.engine, self.spec, self.engine.renderer.fragment("cells_of", temporary("moments")))
            entries = [Entry(1, "1", "fit", self.source.label, total_rows(labels))]
            counted: dict[str, Markup] = {}
            if self.spec.logistic is not None:
                counted = self._learn_weights(self.spec.logistic, count, temporary)
            elif self.spec.em is not None:
                cells, soft = run_em(self.engine, self.spec, self.spec.em, count, temporary)
                counted = {"statistics": self.engine.renderer.fragment("subquery", cells)}
                entries += [soft] if soft is not None else []
            if replaces is not None:
                drop_replaced(self.engine, *replaces)
            plan = self.plan
            temporary_model = self.relations.temporary
            if not temporary_model:
                self.engine.run_all([plan.create_schema()])
            if counted:
                self.engine.run_all(plan.create_from_temporary(name, relation) for name, relation in counted.items())
            else:
                self.engine.run_all(count.cells(self.relations["statistics"], "1", temporary=temporary_model))
            check_reference_time(self.engine, self.spec, self.relations["statistics"], "the model")
            if self.selection is not None:
                self.spec = best_features(self.engine, self.spec, self.selection, self.relations["statistics"])
                self.engine.run_all([self.plan.keep_features()])
            summary = self._summarise_features()
            result = build(self.engine, self.plan, entries, single=self._is_single and not counted)
            self._warn_of_features(summary)
        return result

    @property
    def _is_single(self) -> bool:
        """Whether each class, feature and value has one cell: the counts have no slices and are not counted in parts."""
        return not (self.spec.is_sliced or self.spec.joins)

    def _learn_weights(self, options: Logistic, count: Count, temporary: Callable[[str], Markup]) -> dict[str, Markup]:
        """The temporary tables of the cells and of the weights of a model that learns weights."""
        cells, plan = count.create_cells(temporary("cells")), self.plan
        if self.selection is not None:
            plan = Plan(self.engine.renderer, best_features(self.engine, self.spec, self.selection, cells), self.relations)
        weights = WeightSearch(self.engine, plan, options, count.relation, cells, temporary).run()
        return {"statistics": cells, "weights": weights}

    def statements(self) -> list[Statement]:
        """The statements that `run` would execute, as if any number might be missing. Reads the rows and writes nothing."""
        check(self.spec, "fit_sql")
        if self.selection is not None:
            chosen = f"⟨features=nbsql.{type(self.selection).__name__}(...)⟩"
            raise InputError(f"the statements of {chosen} follow from the counts; fit, or name the features")
        renderer = self.engine.renderer
        temporary = renderer.dialect.traits.temporary
        scan, rescan = (renderer.dialect.ident(*temporary, f"nbsql {name}") for name in ("scan", "rescan"))
        count = Count(self.engine, self.source, self.plan, renderer.dialect.ident)
        source = self.plan.with_slices(self.source.relation)
        centres = count.centres()
        scanned = self.plan.scanned_features
        statements = [self.plan.scan(source, (scan, scanned), count.rules, centres)]
        query = renderer.fragment("subquery", self.plan.scan_query(source, count.rules, centres, scanned))
        found = [row for each in self.plan.find_imprecise_features([(query, scanned)]) for row in self.engine.rows(each)]
        indices = {index for index, is_imprecise, _ in found if is_imprecise}
        careful = [feature for feature in self.plan.centred_features if feature.index in indices]
        if careful:
            statements.append(self.plan.rescan(source, rescan, careful))
        if not self.relations.temporary:
            statements.append(self.plan.create_schema())
        now = self.spec if self.spec.half_life is None else replace(self.spec, weight=WEIGHT_NOW, half_life=None)
        cells = renderer.fragment("counted_classes", Context.of(now), source)
        if self.spec.prior.kind == "given":
            counts = self.engine.query_macro("class_labels", cells)
            self.spec = with_given_priors(
                self.engine, self.spec, self.declared or [row for row in counts if row[0] is not None]
            )
        plan, now = self.plan, replace(now, prior=self.spec.prior)
        order = plan.class_order(renderer.fragment("subquery", renderer.fragment("priors", Context.of(now), cells)))
        classes = class_columns(self.engine.rows(order))
        trusted = [feature for feature in scanned if feature not in careful]
        scans_of_cells = [(scan, trusted), *([(rescan, careful)] if careful else [])]
        statements.extend(plan.create_cells(self.relations["statistics"], "1", source, scans_of_cells, temporary=False))
        entry, rows = Entry(1, "1", "fit", self.source.label, 0), count.checked_rows(scan)
        statements.extend(plan.describe_model(__version__, entry, rows, has_unique_cells=self._is_single))
        statements.extend(plan.create_scoring_tables(classes, has_unique_cells=self._is_single, in_script=True))
        statements.extend([*plan.create_macros(classes), *plan.create_user_views()])
        statements.extend(plan.add_comments(statements))
        scans = (scan, rescan) if careful else (scan,)
        statements.extend(Statement("drop the scan", renderer.statement("drop_if_exists", table)) for table in scans)
        return statements

    def _warn_of_classes(self, labels: Sequence[tuple[Any, ...]]) -> None:
        """Warn about labels that are written in several ways, or say that there is none, and about classes without rows."""
        counts = {row[1]: row[2] for row in labels if isinstance(row[1], str)}
        for line in (
            advice_on_spellings(self.engine, self.spec.target, [*counts], of_class=True),
            advice_on_missing_classes(self.spec.target, counts),
        ):
            if line is not None:
                warn_user(line)
        absent = [label for label, *_ in self.declared if label not in {row[0] for row in labels}]
        if absent and self.spec.prior.kind == "empirical":
            warn_user(
                f"no row is {listed(absent)}, whose empirical prior is 0; with ⟨prior='smoothed'⟩ or 'uniform' it is above"
            )

    def _summarise_features(self) -> list[tuple[Any, ...]]:
        """The rows of `feature_summary` (model.sql). The features of the spec are marked with what they show."""
        rows = self.engine.query_macro(
            "feature_summary", self.relations["statistics"], for_advice=any(inferred_features(self.spec))
        )
        complete = complete_features(rows)
        few, layout = set(), self.engine.renderer.layout
        if self.engine.renderer.dialect.traits.vectorised and many_levels(self.spec.features, layout):
            sizes = self.engine.query_macro("value_counts", self.relations["statistics"])
            few = {name for name, values in sizes if values <= layout.few_values}

        def marked(feature: Feature) -> Feature:
            near, in_list = complete.get(feature.name, False), feature.family.level and feature.name in few
            empty = feature.is_inferred and all(row[0] != feature.name for row in rows)
            complete_ = feature.name in complete
            return replace(feature, is_complete=complete_, has_near_means=near, has_few_values=in_list, is_empty=empty)

        self.spec = replace(self.spec, features=tuple(map(marked, self.spec.features)))
        return rows

    def _warn_of_features(self, summary: Sequence[tuple[Any, ...]]) -> None:
        """Warn about features that tell nothing about the class."""
        varies = {row[0]: row[1] for row in summary}
        empty, constant, uncut = list[str](), list[str](), list[str]()
        for feature in self.spec.features:
            if feature.name not in varies:
                empty.append(feature.name)
            elif (feature.family.centred or feature.family.level) and not varies[feature.name]:
                (uncut if feature.family.edges == () else constant).append(feature.name)
        for feature in features_with_covariance(self.spec):
            without = self.engine.query_macro("rows_missing_a_number", self.relations["statistics"], feature)[0][0]
            if without > 0 and feature.name not in empty:
                rows = f"rows of weight {without:g}" if self.spec.weight else f"{without:g} row{'' if without == 1 else 's'}"
                warn_user(f"{rows} without one of the numbers of {feature.name!r}, and so left out of its estimates")
        if empty:
            warn_user(f"nothing but NULL in {listed(empty)}; left out of the score")
        if constant:
            warn_user(f"one value only in {listed(constant)}; such a column tells no class from another")
        if uncut:
            warn_user(
                f"one bin only in {listed(uncut)}, which tells no class from another; "
                "cut it elsewhere: ⟨nbsql.Binned(by=[...])⟩"
            )
        if not self.spec.features:
            warn_user("the model has no features; it predicts the most frequent class")
        numbers = self._advise_on_texts()
        for advice_line in [*numbers.values(), *advice(self.spec, summary, besides=numbers)]:
            warn_user(advice_line)

    def _advise_on_texts(self) -> Mapping[str, str]:
        """The advice on the categories that would be numbers, or have values that differ only by case or blanks."""
        texts = [f for f in self.spec.features if f.family.cell == "level" and f.types and f.types[0] and not f.whole]
        if not texts:
            return {}
        names = [feature.name for feature in texts]
        values = self.engine.query_macro("most_frequent_values", self.relations["statistics"], names, MOST_VALUES)
        inferred = [feature for feature in texts if feature.is_inferred]
        found = dict(advice_on_texts(self.engine, values, inferred))
        for feature in texts:
            of_feature = [value for name, value, _ in values if name == feature.name]
            line = advice_on_spellings(self.engine, feature.column, of_feature) if feature.name not in found else None
            if line is not None:
                found[feature.name] = line
        return found
