"""Folds: a source is split and counted once, and the models of the other folds follow for any number of settings."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, listed
from nbsql.learning.collinear import check_covariances, features_with_covariance
from nbsql.learning.count import Count, counting_plan, total_rows
from nbsql.learning.declared import with_declared, with_given_priors
from nbsql.learning.prepare import prepare_families
from nbsql.learning.selection import best_features
from nbsql.learning.shared_features import SharedFeatures
from nbsql.plan import query_of_estimates
from nbsql.plan.classes import ClassColumn
from nbsql.plan.context import Context, QueryOptions
from nbsql.plan.derived import with_derived_columns
from nbsql.plan.form import complete_features, is_wide, mark_complete
from nbsql.spec.capabilities import check
from nbsql.spec.dependence import KDB
from nbsql.spec.estimating import estimation_key
from nbsql.spec.options import Best, Options
from nbsql.spec.resolve import resolve
from nbsql.spec.spec import Feature, Spec
from nbsql.warn import warn_user

# The numbers up to which rows are scored by lists of parameters. The join of each row with those of its fold copies the lists,
# which for so few numbers takes less time than planning a column for each.
COPIED_NUMBERS = 5_000_000
USUAL_FOLDS = 10  # the default, by which a source of fewer rows has a fold for each

# The model of the other folds as tables: its context, its cells and its priors.
FoldEstimates = tuple[Context, Markup, Markup]


@dataclass(frozen=True)
class Models:
    """The models of the other folds: their context, the tables that scoring reads, and the one fold that they score, if any."""

    context: Context
    parameters: Markup
    lookups: Markup
    fold: str | None = field(default=None, kw_only=True)


def resolve_settings(engine: Engine, source: Source, settings: Sequence[Options], fold: str | None) -> list[Spec]:
    """The specs of several settings, without the column of the folds."""
    if fold is not None:
        settings = [options.excluding(fold) for options in settings]
    joins = tuple(joining.dimension for joining in source.joins)
    resolved = (replace(resolve(source.columns, each, source.label), joins=joins) for each in settings)
    specs = [with_derived_columns(spec, source.derived) for spec in resolved]
    return [with_declared(engine, spec, options.classes)[0] for spec, options in zip(specs, settings, strict=True)]


class Folds:
    """The folds of a source, counted for some settings inside the caller's transaction.

    The specs are of the same target and weight, and none reads the column `fold`, which holds the fold of each row instead of
    a number of folds. `table` names temporary tables, which the caller drops. `rows_with_folds` are the rows, if they have been
    split already; they keep `columns`, by which they are split, None for those of the specs.
    """

    def __init__(
        self,
        engine: Engine,
        source: Source,
        specs: Sequence[Spec],
        table: Callable[[str], Markup],
        *,
        folds: int,
        fold: str | None = None,
        rows_with_folds: Markup | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        self.engine = engine
        self.source = source
        self.fold = fold
        self._prepared_rows = rows_with_folds
        self._columns = columns
        self._table = table
        for spec in specs:
            check(spec, "cross_validate")
        self._tables_by_kind: dict[str, tuple[str, Markup]] = {}
        of_fold = source.column(fold)
        self.cells = table("cells")
        self._hashes_rows = of_fold is None
        self._prepare([_with_joins(spec) for spec in specs], folds, None if of_fold is None else of_fold.name)

    def _prepare(self, specs: Sequence[Spec], folds: int, column: str | None) -> None:
        """Prepare the families, split the rows and count them."""
        engine, source = self.engine, self.source
        for spec in specs:
            check(spec, "search")
            if isinstance(spec.dependence, KDB) and spec.dependence.k is None:
                cure = f"⟨method={replace(spec.dependence, k=2).code}⟩"
                raise InputError(f"a search over settings does not choose the number of parents, too; name it: {cure}")
        specs = [prepare_families(engine, spec, source) if spec.dependence is not None else spec for spec in specs]
        self._shared = SharedFeatures(specs)
        prepared = prepare_families(engine, self._shared.spec, source)
        for feature in prepared.features:
            if (option := feature.family.non_additive_option) is not None:
                name = repr(feature.name)
                raise InputError(
                    f"{name} is estimated from all rows at once, so that no fold can be left out; leave out {option}"
                )
        supervised = [feature for feature in prepared.features if feature.family.supervised]
        parents = [feature.name for feature in supervised if feature.family.parent]
        bins = [feature.name for feature in supervised if feature.name not in parents]
        choices = [f"the bins of {listed(bins)} were cut"] if bins else []
        choices += [f"the parents of {listed(parents)} were chosen"] if parents else []
        if choices:
            warn_user(
                f"{' and '.join(choices)} by the classes of all rows, so that the results are too good; evaluate on other rows"
            )
        self._count(replace(prepared, slice_by="nbsql_slice"), folds, column)
        self.warn_of_one_class()
        self._vectorised = engine.renderer.traits.vectorised and not source.joins
        complete = complete_features(engine.query_macro("feature_summary", self.cells)) if self._vectorised else {}
        answered = [self._with_given_priors(self._shared.with_fitted(spec, prepared)) for spec in specs]
        if self.rows * len(self.labels) * len(complete) > COPIED_NUMBERS:
            complete = dict.fromkeys(complete, False)
        self.specs = [mark_complete(spec, self.counted_names(spec), complete) for spec in answered]
        self.names = self._fold_names()
        for spec in self.specs:  # a fold whose matrix alone has no inverse says nothing
            check_covariances(engine, spec, self.cells_of_all_rows(spec))

    def warn_of_one_class(self) -> None:
        spec = self._shared.spec
        if len(self.labels) == 1 and not spec.classes:
            only = f"{spec.target!r} has one class only in the folds, {self.labels[0][0]!r}"
            warn_user(f"{only}; each predicts it, so that the results mean nothing")

    def parts(self, spec: Spec) -> Iterable[tuple[Spec, list[str]]]:
        """The specs of the models of a setting, each with its folds; here one spec for all folds."""
        return [(spec, self.names)]

    def models(self, spec: Spec, names: Sequence[str] | None = None) -> Models:
        """The models of the other folds for a setting, or for one with fewer features; they score the folds `names`, or all.

        They replace the models of the setting before, except for tables that both share.
        """
        names = self.names if names is None else names
        return self._models(self._context_of_folds(spec, names), spec, names)

    def context_in_rows(self, spec: Spec, names: Sequence[str]) -> Context:
        """The context of models with one row for each class, however few there are."""
        return replace(context := self._context_of_folds(spec, names), form=replace(context.form, wide=False))

    def models_in_rows(self, spec: Spec, names: Sequence[str], met: Markup | None = None) -> Models:
        """Such models, whose lookups may lack values that are not in a table of those of the rows (`values_of_rows`)."""
        return self._models(self.context_in_rows(spec, names).with_options(met=met), spec, names)

    def _models(self, context: Context, spec: Spec, names: Sequence[str]) -> Models:
        with self.engine.temporaries() as temporary:
            estimates_of = cache(lambda fold: self._estimate(context, spec, fold, temporary))
            tables = (self.make_table(kind, context, spec, names, estimates_of) for kind in ("parameters", "lookups"))
            return Models(context.with_options(met=None), *tables, fold=names[0] if len(names) == 1 else None)

    def context(self, spec: Spec) -> Context:
        labels = spec.classes or [label for label, *_ in self.labels]
        classes = [ClassColumn(number, label, "", "") for number, label in enumerate(labels, start=1)]
        layout = self.engine.renderer.layout
        wide = is_wide(spec, len(classes), self.engine.renderer.traits, layout)
        has_integer_slices, vectorised = self._hashes_rows, self._vectorised
        reading = QueryOptions(by_slice=True, integer_slices=has_integer_slices)
        return Context.of(spec, classes, reading, wide=wide, vectorised=vectorised, layout=layout)

    def _context_of_folds(self, spec: Spec, names: Sequence[str]) -> Context:  # noqa: ARG002 - all are alike here
        return self.context(spec)

    def _priors(self, context: Context, cells: Markup) -> Markup:
        """The relation of the priors by some cells, with the offsets of the classes if there are weights."""
        fragment, weights = self.engine.renderer.fragment, context.options.weights
        priors = self.engine.renderer.subquery("priors", context, cells)
        return priors if weights is None else fragment("priors_with_offsets", priors, weights)

    def counted_names(self, spec: Spec) -> list[str]:
        """The names of the features of a setting in the cells, in order."""
        return [counted for counted, _ in self._shared.names(spec)]

    def scored(self, models: Models) -> Markup:
        """The rows, scored by the models of the other folds."""
        rows = self.rows_of(models, self.rows_with_folds)
        return self.engine.renderer.subquery("scored", models.context, rows, models.parameters, models.lookups)

    def rows_of(self, models: Models, rows: Markup) -> Markup:
        """Those of the rows of all folds that the models score, so that no others are read."""
        return rows if models.fold is None else self.engine.renderer.fragment("rows_of_fold", rows, models.fold)

    def scores(self, models: Models) -> Markup:
        """The query of one row for each fold: fold, rows, weight, accuracy, log_loss."""
        return self.engine.renderer.fragment(*self._scores_macro(models))

    def score(self, models: Models) -> list[tuple[Any, ...]]:
        """The rows of `scores`, unordered."""
        return self.engine.query_macro(*self._scores_macro(models))

    def _scores_macro(self, models: Models) -> tuple[Any, ...]:
        """The macro of `scores` and its arguments."""
        return "fold_scores", models.context, self.scored(models), models.parameters

    def outcomes(self, models: Models, classes: Markup, *, has_known: bool = False) -> Markup:
        """The query of the predicted rows, for an evaluation. `classes` is the relation of all classes and their numbers.

        With `has_known` they have the column nbsql_known (sql/macros/scoring/certain.sql), as those of leave-one-out always do.
        """
        fragment, scored, extra_columns = self.engine.renderer.fragment, self.scored(models), []
        if has_known:
            scored, extra_columns = fragment("with_knowledge", models.context, scored, models.parameters), ["nbsql_known"]
        return fragment("out_of_fold", models.context, scored, models.parameters, classes, extra_columns)

    def cells_of_others(self, spec: Spec, fold: str) -> Markup:
        """The query of the cells of the other folds for one of the settings."""
        return self._cells_of_others(spec, self.engine.renderer.dialect.text(fold))

    def _cells_of_others(self, spec: Spec, fold: Markup) -> Markup:
        return self.engine.renderer.fragment("cells_of_setting", self.cells, self._shared.names(spec), fold)

    def with_best_features(self, spec: Spec, best: Best, fold: str) -> Spec:
        """A setting with only its best features, by the cells of the other folds."""
        return best_features(
            self.engine, spec, best, self.engine.renderer.fragment("subquery", self.cells_of_others(spec, fold))
        )

    def cells_of_all_rows(self, spec: Spec) -> Markup:
        """The query of the cells of all rows for one of the settings, as a fit would count them."""
        cells = self.engine.renderer.subquery("cells_of_setting", self.cells, self._shared.names(spec))
        return self.engine.renderer.fragment("folded_cells", cells, "1")

    def create(self, name: str, query: Markup) -> Markup:
        """A temporary table with the rows of a query."""
        return self.engine.create(name, self._table(name), query)

    def replace_table(self, name: str, query: Markup) -> Markup:
        """A temporary table that replaces the one of the setting before."""
        relation = self._table(name)
        self.engine.query_macro("drop_if_exists", relation)
        return self.engine.create(name, relation, query)

    def create_from_queries(self, name: str, queries: Iterable[Markup]) -> Markup:
        """A temporary table with the rows of several queries, each of which runs before the next is made."""
        return self.engine.create_from_queries(name, self._table(name), queries)

    @property
    def rows(self) -> int:
        """The number of rows that count."""
        return total_rows(self.labels)

    def _fold_names(self) -> list[str]:
        names = [row[0] for row in self.engine.query_macro("folds_of", self.cells)]
        if len(names) < 2:
            raise InputError(f"cross-validation needs at least two folds, and {self.source.label} has {len(names)}")
        return names

    def _count(self, spec: Spec, folds: int, column: str | None) -> None:
        self._assign_folds(spec, folds, column)
        self._count_rows(spec)

    def _assign_folds(self, spec: Spec, folds: int, column: str | None) -> None:
        engine, source = self.engine, self.source
        renderer = engine.renderer
        if self._prepared_rows is not None:
            self.rows_with_folds = self._prepared_rows
            return
        by = "number" if engine.numbers_rows(source) else "hash"
        rows = engine.query_value("row_count", source.relation)
        if column is None and folds > max(rows, USUAL_FOLDS):
            raise InputError(
                f"{folds:,} folds are more than the {rows:,} rows of {source.label}; use ⟨folds={USUAL_FOLDS}⟩, say"
            )
        if rows <= renderer.layout.sorted_rows:
            by = "class"
        columns = self._columns or spec.columns
        arguments = (columns, spec.target, spec.target_type, folds, column, by, source.kinds)
        query = renderer.fragment("rows_with_folds", source.relation, *arguments)
        is_quick = column is not None or by == "number"  # without a sort or a hash of the rows
        if is_quick and source.allows_rereads(spec.separate_reads):  # texts are quicker to read from the source
            self.rows_with_folds = renderer.fragment("subquery", query)
        else:
            self.rows_with_folds = self.create("folds of the rows", query)

    def _count_rows(self, spec: Spec) -> None:
        self.labels: list[tuple[Any, ...]] = self._count_cells(spec, self.rows_with_folds, self.cells)

    def _count_cells(self, spec: Spec, rows: Markup, cells: Markup) -> list[tuple[Any, ...]]:
        """Create a temporary table of the cells of some rows; return their classes, as `Count.scan` does."""
        plan = counting_plan(self.engine, spec)
        with self.engine.temporaries() as temporary:
            count = Count(self.engine, self.source, plan, temporary, sliced=rows)
            labels = count.scan(quiet=spec.em is not None)
            count.check_magnitudes()
            count.create_cells(cells)
        # Without statistics, the planner would search all cells for each word of a class.
        if self.engine.renderer.traits.analyzes:
            self.engine.run("analyze cells", self.engine.renderer.statement("analyze", cells))
        return labels

    def _with_given_priors(self, spec: Spec) -> Spec:
        if spec.prior.kind != "given":
            return spec
        return with_given_priors(self.engine, spec, with_declared(self.engine, spec, spec.classes or None)[1] or self.labels)

    def _estimate(self, context: Context, spec: Spec, fold: str, temporary: Callable[[str], Markup]) -> FoldEstimates:
        """The estimates of a fold, for engines that would otherwise compute them wherever they are named."""
        fragment = self.engine.renderer.fragment

        def table(name: str, query: Markup) -> Markup:
            return self.engine.create(f"{name} of a fold", temporary(f"{name} of {fold}"), query)

        cells = table("cells", self.cells_of_others(spec, fold))
        priors = table("priors", fragment("priors", context, cells))
        if spec.features:
            solved = temporary(f"matrices of {fold}")
            before, query = query_of_estimates(self.engine.renderer, context, cells, priors, spec.features, solved)
            self.engine.run_all(before)
            context = context.with_options(estimates=table("estimates", query))
        return context, cells, priors

    def _limited(self, context: Context, spec: Spec, fold: Markup) -> Context:  # noqa: ARG002 - the cells are of its features
        """The context with only those values to look up that the rows of a fold have, where they are known."""
        met, fragment = context.options.met, self.engine.renderer.fragment
        return context if met is None else context.with_options(met=fragment("values_in_fold", met, fold))

    def make_table(
        self, kind: str, context: Context, spec: Spec, folds: Sequence[str], estimates_of: Callable[[str], FoldEstimates]
    ) -> Markup:
        """The table "parameters" or "lookups" of the models of folds. A table that the same options made is reused.

        Engines that store the estimates of a fold as tables take them from `estimates_of`.
        """
        is_lookup = kind == "lookups"
        features = [f for f in spec.features if (f.family.has_lookups if is_lookup else f.family.parameters)]
        if kind == "lookups" and not features:
            return self._table("no lookups")
        reading = context.options
        layout_key = (context.has_prior, bool(context.form.class_numbers), folds, reading.met, reading.centred)
        key = estimation_key(spec, features) + repr(layout_key)
        cached = self._tables_by_kind.get(kind)
        if cached is not None and cached[0] == key:
            return cached[1]
        relation = self._table(kind)
        self.engine.query_macro("drop_if_exists", relation)
        self.engine.create_from_queries(
            f"{kind} of the folds", relation, self._queries(kind, context, spec, features, folds, estimates_of)
        )
        self._tables_by_kind[kind] = (key, relation)
        return relation

    def _queries(
        self,
        kind: str,
        context: Context,
        spec: Spec,
        features: Sequence[Feature],
        folds: Sequence[str],
        estimates_of: Callable[[str], FoldEstimates],
    ) -> Iterator[Markup]:
        """The queries of the models of folds: one for all folds or, where that would be too large, one for some at a time."""
        fragment, text = self.engine.renderer.fragment, self.engine.renderer.dialect.text

        def of(fold: Markup) -> FoldEstimates:
            cells = fragment("subquery", self._cells_of_others(spec, fold))
            return self._limited(context, spec, fold), cells, self._priors(context, cells)

        if self.engine.renderer.traits.materializes_estimates:
            parts = [(fold, estimates_of(fold)) for fold in folds]
            yield fragment("union_of_rows", [fragment("model_of_fold", kind, *estimates, fold) for fold, estimates in parts])
            return
        if features_with_covariance(replace(spec, features=tuple(features))) or len(folds) == 1:
            yield from (fragment("model_of_fold", kind, *of(text(fold)), fold) for fold in folds)
            return
        size = max(1, self.engine.renderer.layout.fold_cells // self.engine.query_value("row_count", self.cells))
        estimates = of(fragment("word", "folds.nbsql_slice"))
        for start in range(0, len(folds), size):
            yield fragment("models_of_folds", kind, *estimates, folds[start : start + size])


def _with_joins(spec: Spec) -> Spec:
    """The spec whose categories are looked up by joins: a list would have the scores of one model only, not of each fold."""
    return replace(spec, features=tuple(replace(feature, has_few_values=False) for feature in spec.features))


def summarise_folds(folds: Sequence[Sequence[Any]]) -> tuple[int, float, float]:
    """The rows, accuracy and log loss of all folds together, from the rows of `Folds.score`."""
    weight = sum(row[2] for row in folds)
    accuracy, log_loss = (sum(row[2] * row[index] for row in folds) / weight for index in (3, 4))
    return sum(row[1] for row in folds), accuracy, log_loss
