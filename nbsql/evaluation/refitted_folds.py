"""Rows judged by folds, and folds whose models are fitted one by one: of trees, bins by class, weights and EM."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.evaluation.leave_one_out import check_folds, make_folds
from nbsql.learning.copies import warn_of_copies
from nbsql.learning.count import Count, counting_plan
from nbsql.learning.depth import with_best_depth
from nbsql.learning.em import run_em
from nbsql.learning.feature_weights import find_weights
from nbsql.learning.fit_warnings import mark_few_values
from nbsql.learning.folds import Folds
from nbsql.learning.prepare import prepare_families
from nbsql.learning.selection import with_features
from nbsql.plan.context import Context
from nbsql.spec.capabilities import check
from nbsql.spec.dependence import KDB, TAN
from nbsql.spec.rules import spec_for_recount
from nbsql.spec.spec import Feature, Spec
from nbsql.storage.state import ModelState

Edges = Mapping[str, Sequence[float]]


class RefittedFolds(Folds):
    """The folds of a source, with a fit to the other folds for each. Its tree, bins and shares have not seen the fold.

    `edges_by_fold` are edges by column that other such folds of the same rows have found already.

    With `nbsql.EM`, rows without a class are in no fold: every fit has all of them. A row that is left out is left out
    entirely: it is not treated as a row without a class. The arguments are those of `Folds`, with one spec.
    """

    def __init__(self, *arguments: Any, edges_by_fold: Mapping[str, Edges] | None = None, **options: Any) -> None:
        self._known_edges = edges_by_fold or {}
        super().__init__(*arguments, **options)

    @property
    def edges_by_fold(self) -> dict[str, Edges]:
        """For each fold, the edges of the bins by column that the classes of the other folds have cut."""
        return {
            name: {
                feature.name: feature.family.edges
                for feature in spec.features
                if feature.family.options.get("by") == "mdl" and feature.family.edges is not None
            }
            for spec, (name,) in self.parts(self.specs[0])
        }

    def _prepare(self, specs: Sequence[Spec], folds: int, column: str | None) -> None:
        (setting,) = specs
        self._assign_folds(setting, folds, column)
        self._count_rows(replace(setting, features=(), dependence=None, slice_by="nbsql_slice"))
        self.names = self._fold_names()
        self._vectorised = self.engine.renderer.traits.vectorised and not self.source.joins
        self._by_fold: dict[str, Spec] = {}
        self._weights: dict[str, Markup] = {}
        self._setting = setting
        self._fitted_cells = self.create_from_queries("cells of others", self._fit_to_others(setting, self.names[0]))
        self.specs = [self._by_fold[self.names[0]]]

    def parts(self, spec: Spec) -> Iterator[tuple[Spec, list[str]]]:  # noqa: ARG002 - there is one
        """The specs of the models, each with its fold, which is fitted when it is first asked for."""
        for name in self.names:
            for cells in self._fit_to_others(self._setting, name) if name not in self._by_fold else ():
                self.engine.run("cells of others", self.engine.renderer.statement("insert_into", self._fitted_cells, cells))
            yield self._by_fold[name], [name]

    def _context_of_folds(self, spec: Spec, names: Sequence[str]) -> Context:
        context, weights = self.context(spec), self._weights.get(names[0])
        return context if spec.weighted is None or weights is None else context.with_weights(weights)

    def counted_names(self, spec: Spec) -> list[str]:
        return [feature.name for feature in spec.features]

    def _cells_of_others(self, spec: Spec, fold: Markup) -> Markup:
        names = [(name, name) for name in self.counted_names(spec)]
        return self.engine.renderer.fragment("cells_of_setting", self._fitted_cells, names, fold, True)

    def _fit_to_others(self, setting: Spec, name: str) -> Iterator[Markup]:
        """Fit the other folds and yield the query of their cells. The slice is the fold that is left out."""
        engine, fragment = self.engine, self.engine.renderer.fragment
        context, unlabelled = self.context(replace(setting, features=())), setting.em is not None
        query = fragment("training_rows_of_fold", context, self.rows_with_folds, setting.columns, name, unlabelled)
        place = f"cross-validating, fold {self.names.index(name) + 1} of {len(self.names)}"
        with engine.part(place), engine.temporaries() as temporary:
            rows = engine.create(f"rows beside fold {name}", temporary("others"), query)
            source = Source(rows, self.source.label, self.source.columns, is_table=True)
            spec = prepare_families(engine, self._with_known_edges(setting, name), source)
            spec = self._with_given_priors(with_best_depth(engine, spec, source))
            self._by_fold[name] = spec
            sliced = replace(spec, slice_by="nbsql_slice")
            plan = counting_plan(engine, sliced)
            count = Count(engine, source, plan, temporary, sliced=rows)
            count.scan(quiet=True)
            if spec.em is not None:
                cells, _ = run_em(engine, sliced, spec.em, count, temporary)
            else:
                counted = count.create_cells(temporary("cells"))
                spec = self._by_fold[name] = mark_few_values(engine, spec, counted)
                cells = fragment("cells_of", counted)
                if spec.weighted is not None:
                    named = partial(lambda fold, part: self._table(f"{part} of {fold}"), name)
                    found, counted, self._weights[name] = find_weights(engine, plan, source, count, counted, named)
                    self._by_fold[name], cells = replace(found, slice_by=spec.slice_by), fragment("cells_of", counted)
            yield cells

    def _with_known_edges(self, setting: Spec, name: str) -> Spec:
        """The setting with the edges of a fold that are known already, without the numbers that these leave in one bin.

        A bin that every number is in has the probability 1 in every class.
        """
        known = self._known_edges.get(name, {})

        def with_edges(feature: Feature) -> Feature:
            family: Any = feature.family
            if family.options.get("by") != "mdl" or family.edges is not None or feature.name not in known:
                return feature
            return replace(feature, family=replace(family, edges=known[feature.name]))

        features = (feature for feature in map(with_edges, setting.features) if not is_one_bin(feature))
        return replace(setting, features=tuple(features))


def is_cut_by_class(feature: Feature) -> bool:
    """Whether the bins of a feature are still to be cut by the classes of the rows."""
    return feature.family.supervised and feature.family.fit_query is not None


def is_one_bin(feature: Feature) -> bool:
    """Whether all values of a feature are in one bin, and missing ones in none."""
    family = feature.family
    return family.edges == () and family.nulls != "category"


def make_folds_for_spec(
    engine: Engine,
    source: Source,
    spec: Spec,
    table: Callable[[str], Markup],
    *,
    folds: int | str,
    fold: str | None,
    rows_with_folds: Markup | None = None,
    edges_by_fold: Mapping[str, Edges] | None = None,
) -> Folds:
    """The folds of a source for one spec: counted at once, or fitted one by one where sums of counts would differ."""
    if rows_with_folds is None:
        warn_of_copies(engine, source, spec.columns, fold)
    if isinstance(folds, str):
        check(spec, "leave_one_out")
        return make_folds(engine, source, [spec], table, folds=folds, fold=fold)
    is_sum = (
        spec.em is None
        and spec.weighted is None
        and not isinstance(spec.dependence, (TAN, KDB))
        and not any(map(is_cut_by_class, spec.features))
    )
    options: dict[str, Any] = {"folds": folds, "fold": fold, "rows_with_folds": rows_with_folds}
    if is_sum:
        return Folds(engine, source, [spec], table, **options)
    if spec.weighted is not None:  # each fold finds its own pairs
        spec = with_features(spec, [each.name for each in spec.features if not each.family.is_ratio])
    return RefittedFolds(engine, source, [spec], table, **options, edges_by_fold=edges_by_fold)


@contextmanager
def out_of_fold(
    state: ModelState, source: Source, folds: int | str, cure: str, *, has_known: bool = False
) -> Iterator[tuple[Context, Markup, Markup, str | None]]:
    """The context, the rows of `out_of_fold` (folds.sql), the relation that numbers their classes, and the weight column.

    The source has all rows that the model has learnt; `cure` is what the message advises for other rows. With `has_known`, the
    rows have nbsql_known (sql/macros/scoring/certain.sql). Raises InputError for other rows, or if no row can be left out of
    one of the families.
    """
    check_folds(folds)
    engine, plan, title = state.engine, state.plan, state.title
    if plan.spec.half_life is not None:
        raise InputError(f"{title} has counts that decrease with age, which folds of its rows do not support; {cure}")
    # Bins and parents must not depend on the fold that is judged.
    spec = plan.spec if isinstance(folds, str) else plan.spec.without_fitted()
    spec = replace(spec_for_recount(spec, source.columns, source.label, title, exact=engine.exact), slice_by=None)
    learnt_weight = engine.query_value("rows_learnt", plan.relations["statistics"])
    renderer = engine.renderer
    with engine.temporaries() as temporary:
        cv = make_folds_for_spec(engine, source, spec, temporary, folds=folds, fold=None)
        counted_weight = sum(float(label[3]) for label in cv.labels)
        if abs(counted_weight - learnt_weight) > 1e-9 * learnt_weight:
            raise InputError(
                f"{source.label} counts {counted_weight:,.15g} rows, and {title} has learnt {learnt_weight:,.15g}; "
                f"folds need all rows that it has learnt, and no others; {cure}"
            )
        known = {_key(column.label, value) for column, value in zip(state.classes, state.labels(), strict=True)}
        if {*spec.classes, *(_key(*label[:2]) for label in cv.labels)} != known | {*spec.classes}:
            raise InputError(f"the classes of {source.label} are not those that {title} has learnt; {cure}")
        query = renderer.fragment("numbered_classes", plan.context(state.classes), plan.relations["parameters"])
        numbered_classes = cv.create("classes", query)
        parts = (cv.models(part, names) for part, names in cv.parts(cv.specs[0]))
        scored = cv.create_from_queries(
            "out of fold", (cv.outcomes(models, numbered_classes, has_known=has_known) for models in parts)
        )
        yield Context.of(spec, wide=False), scored, numbered_classes, spec.weight


def _key(text: str, value: Any) -> Any:
    """What tells a class from others: its text, but that of a decimal depends on its digits, such as 1.00."""
    return value if isinstance(value, Decimal) else text


def judged_by_folds(
    state: ModelState, source: Source, folds: int | str, cure: str, temporary: Callable[[str], Markup], *, weighted: bool = True
) -> Markup:
    """The common table expressions of the evaluated rows (evaluate.sql), each scored by a model without it.

    The arguments are those of `out_of_fold`; `weighted` says whether rows weigh as in the fit. The two tables that they read
    are named by `temporary`.
    """
    engine = state.engine
    with out_of_fold(state, source, folds, cure) as (context, scored, known, weight):
        rows = engine.create("score", temporary("rows out of fold"), engine.renderer.fragment("all_rows", scored))
        known = engine.create("score", temporary("classes"), engine.renderer.fragment("all_rows", known))
    return engine.renderer.fragment("judged_rows", context, rows, known, weight if weighted else None, False)
