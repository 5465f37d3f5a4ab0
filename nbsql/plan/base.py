"""The base class of a plan: the model and the forms of statements."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from markupsafe import Markup

from nbsql.plan.classes import ClassColumn, scored_class_count
from nbsql.plan.context import Context, QueryOptions
from nbsql.plan.form import is_vectorised, is_wide
from nbsql.plan.joins import split_dimension_scores
from nbsql.plan.parts import PARTS
from nbsql.plan.rows import Rows
from nbsql.rendering.relations import Relations
from nbsql.rendering.renderer import Renderer
from nbsql.spec.half_life import NEGLIGIBLE_AGE
from nbsql.spec.spec import Feature, Spec

BINS = 10  # the default number of bins of the calibration error and of tables of bins


@dataclass(frozen=True)
class Statement:
    """A statement of a plan, with a name. A `small` one reads no statistics, and is run together with other small ones."""

    name: str
    sql: str
    small: bool = False


@dataclass(frozen=True)
class Solved(Statement):
    """A table of the likelihoods of features with a covariance matrix, solved from the cells that `sql` returns."""

    _: KW_ONLY
    relation: Markup
    features: Sequence[Feature]


def query_of_estimates(
    renderer: Renderer, context: Context, cells: Markup, priors: Markup, features: Sequence[Feature], solved: Markup
) -> tuple[list[Statement], Markup]:
    """The query of the likelihoods of features, and the statements before it.

    An engine that computes a query wherever it is named would take too long for matrices, and has the table `solved` made.
    """
    matrices = [each for each in features if each.family.kind == "matrix" and renderer.traits.materializes_estimates]
    others = [feature for feature in features if feature not in matrices]
    queries = [renderer.fragment("smoothed_likelihoods", context, cells, priors, others)] if others else []
    if not matrices:
        return [], queries[0]
    sql = renderer.statement("cells_to_solve", cells, matrices, priors)
    queries.append(renderer.fragment("solved_likelihoods", solved, priors))
    statement = Solved("matrices", sql, relation=solved, features=matrices)
    return [statement], renderer.fragment("union_of_rows", queries)


@dataclass(frozen=True)
class Entry:
    """A line of the ledger: its number, from 1, its name, the operation, the source, and the number of rows."""

    number: int
    batch: str
    operation: str
    source: str
    rows: int
    at: Any = None  # when it was written, UTC


@dataclass(eq=False, repr=False)
class Base:
    """The model that a plan is of."""

    renderer: Renderer
    spec: Spec
    relations: Relations
    _: KW_ONLY
    wide: bool | None = None  # the form of the tables that scoring reads; None chooses it by their size
    full_spec: Spec | None = None  # the spec of the tables, if `spec` has only some of its features
    calibration: str | None = None  # the method by which the posteriors of the model are calibrated
    certain: bool = False  # whether it has a calibration of certain predictions, for the macros that are created

    def __post_init__(self) -> None:
        self._rendered: dict[tuple[Any, ...], Markup] = {}

    @property
    def labels_as_text(self) -> bool:
        """Whether labels of a still unknown relation are compared as text, so that an ENUM equals a VARCHAR."""
        return self.spec.target_type.startswith(("VARCHAR", "ENUM", "text", "char"))

    def is_wide(self, class_count: int) -> bool:
        """Whether a model with this number of classes has the wide form, with one column for each class."""
        return is_wide(self.spec, class_count, self.renderer.traits, self.renderer.layout)

    def context(self, classes: Sequence[ClassColumn], rows: Rows | None = None, *, by_feature: bool = False) -> Context:
        """The context of a query, which macros receive as `model`; the rows are those that are scored, if any.

        `by_feature` says that each feature is needed by itself: dimensions are not scored together, and rows keep their order.
        """
        wide = self.is_wide(scored_class_count(classes)) if self.wide is None else self.wide
        rows = rows or Rows(Markup(""))
        spec, joins = self.spec, rows.joins
        if joins and wide and not by_feature:
            spec, joins = split_dimension_scores(spec, classes, joins, self.renderer.layout)
        has_estimates = self.renderer.traits.materializes_estimates and spec.features
        options = QueryOptions(
            keeps_order=rows.keeps_order or by_feature,
            columns=[name for name in rows.columns if name not in rows.added],
            derived=rows.added,
            passed_columns=rows.passed_columns,
            joins=joins,
            estimates=self.relations["estimates"] if has_estimates else None,
        )
        return Context.of(
            spec,
            classes,
            options,
            wide=wide,
            layout=self.renderer.layout,
            vectorised=is_vectorised(self.spec, self.renderer.traits),
            full_spec=self.full_spec,
        )

    def prepare_source(self, context: Context, source: Markup, parameters: Markup, lookups: Markup) -> Markup:
        """The source in the form that is scored: with its joins, and with the segment of each row if the model has segments."""
        if context.options.joins:
            source = self.renderer.fragment(
                "joined_source", source, context.options.joins, context.has_row_numbers, parameters, lookups
            )
        return self.with_segments(source)

    def with_slices(self, source: Markup) -> Markup:
        """The source with the slice, segment or component of every row, if the model has any."""
        if self.spec.components is not None:
            return self.renderer.fragment("with_components", source, self.spec.components, self.spec.target)
        if not self.spec.slice_expression:
            return source
        return self.renderer.fragment("with_slices", source, self.renderer.dialect.query(self.spec.slice_expression))

    def with_segments(self, source: Markup) -> Markup:
        """The source with the segment of every row, if the model has segments."""
        return self.with_slices(source) if self.spec.segment_by else source

    def priors(self, statistics: Markup | None = None) -> Markup:
        return self.renderer.fragment("priors", Context.of(self.spec), self.current_cells(statistics))

    def current_cells(self, statistics: Markup | None = None) -> Markup:
        """The cells of the statistics; with a half-life, in their decayed form."""
        cells = statistics or self.relations["statistics"]
        if self.spec.half_life is None:
            return cells
        return self.renderer.subquery("decayed_cells", cells, self.spec.half_life, NEGLIGIBLE_AGE)

    def _table(self, name: str, relation: Markup, query: Markup, *, temporary: bool = False) -> Statement:
        temporary = temporary or self.relations.temporary
        statement = self.renderer.statement("create_table_as", relation, query, temporary=temporary)
        return Statement(name, statement, small=name in ("spec", "batches"))

    def _view(self, name: str, query: Markup) -> Statement:
        options: dict[str, Any] = {"temporary": True} if self.relations.temporary else {"comment": PARTS[name].comment}
        return Statement(name, self.renderer.statement("create_view_as", self.relations[name], query, **options), small=True)

    def query_likelihood_ratios(self, likelihoods: Markup) -> Markup:
        """The query of likelihood ratios of each value between two classes, which are parameters."""
        classes = (self.renderer.fragment("parameter_of_classes", number) for number in (1, 2))
        return self.renderer.fragment("likelihood_ratios", likelihoods, *classes, checks_classes=True)

    def _insert(self, name: str, relation: Markup, query: Markup) -> Statement:
        return Statement(name, self.renderer.statement("insert_into", relation, query))
