"""The object that macros receive as `model`: the facts of the spec, the form of scoring, and the options of a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from nbsql.plan.classes import ClassColumn
from nbsql.plan.facts import Facts
from nbsql.plan.form import Form, blocks
from nbsql.rendering.layout import Layout
from nbsql.spec.spec import Feature, Spec

if TYPE_CHECKING:
    from nbsql.plan.rows import Joining


@dataclass(frozen=True)
class SegmentTables:
    """Tables of the pairs of segments and classes, for engines that would compute them repeatedly (segments.sql)."""

    table: Markup
    cells: Markup
    estimates: Markup


TERMS = 50  # in one sum: an expression may not nest as deep as a model has features
TINY = 10_000  # rows up to which one GROUP BY of many columns, or pairs of them, is faster than one for each


@dataclass(frozen=True, eq=False)
class QueryOptions:
    batch: str = "1"  # the batch of the cells that the query counts
    keeps_order: bool = False  # whether the rows keep their order
    by_slice: bool = False  # whether the tables that scoring reads have a model for each slice, by which its rows are scored
    integer_slices: bool = False  # whether such slices are whole numbers instead of texts
    columns: Sequence[str] = ()  # the columns of the source, for engines without a keyword for all columns except some
    passed_columns: Sequence[str] | None = None  # the columns of the source that the result contains; None for all
    estimates: Markup | None = None  # the table of likelihoods, if there is one
    met: Markup | None = None  # the relation of the values of the rows to score, if no others are looked up
    weights: Markup | None = None  # the table of the weights of the features, if the method learns any
    centred: bool = False  # whether the score of a value is ln p(x | c) - ln p(x), as weights for each class need it
    without_tokens: bool = False  # whether this table leaves out tokens, because vocabulary times classes is large
    segment_tables: SegmentTables | None = None  # the tables of the pairs of segments and classes, if there are any
    joins: Sequence[Joining] = ()  # the joins that are made before the source is scored
    derived: Sequence[str] = ()  # the names of derived columns that the result does not contain
    without_prior: bool = False  # whether only a part of the model is scored, without the prior
    # Whether no class has two cells of the same value of a feature, as after a fit without slices.
    has_unique_cells: bool = False
    row_count: int | None = None  # the number of rows that are counted, if it is known

    @property
    def few_rows(self) -> bool:
        """Whether there are so few rows that DuckDB would read them with one or a few threads: up to some eight row groups."""
        return self.row_count is not None and self.row_count <= 1_000_000

    @property
    def is_tiny(self) -> bool:
        """Whether there are so few rows that many columns, or pairs of them, are counted together, not in a GROUP BY each."""
        return self.row_count is not None and self.row_count <= TINY

    @property
    def joined_names(self) -> list[str]:
        """The names of the columns that the joins and derived columns add."""
        return [*self.derived, *(name for joining in self.joins for _, name in joining.passed_columns)]


@dataclass(frozen=True, eq=False)
class Context:
    """The object that macros receive as `model`, in four parts: model.facts, model.form, model.options and model.spec."""

    facts: Facts
    form: Form
    options: QueryOptions

    @classmethod
    def of(
        cls,
        spec: Spec,
        classes: Sequence[ClassColumn] = (),
        options: QueryOptions = QueryOptions(),
        *,
        wide: bool = True,
        vectorised: bool = False,
        layout: Layout = Layout(),  # noqa: B008 - it is frozen
        full_spec: Spec | None = None,
    ) -> Context:
        """The context of a query on the model of a spec; `full_spec` is that of the tables, if `spec` has fewer features."""
        facts = Facts(spec, scoring=bool(classes))
        table_features = facts if full_spec is None else Facts(full_spec, scoring=bool(classes))
        return cls(facts, Form(facts, classes, wide, vectorised, layout, table_features.features), options)

    @property
    def spec(self) -> Spec:
        return self.facts.spec

    def with_options(self, **options: Any) -> Context:
        """The same context with other options of the query."""
        return replace(self, options=replace(self.options, **options))

    def with_features(self, features: Sequence[Feature]) -> Context:
        """The same context with some of its features; the tables that are read still have all."""
        facts = replace(self.facts, spec=replace(self.spec, features=tuple(features)))
        return replace(self, facts=facts, form=replace(self.form, facts=facts))

    def with_weights(self, weights: Markup) -> Context:
        """The same context with the table of the weights of its features."""
        method = self.spec.weighted
        return self.with_options(weights=weights, centred=method is not None and method.is_by_class)

    @property
    def part_column(self) -> str | None:
        """The column by which rows are joined with the parameters and lookups of their model, if there are several models."""
        return "nbsql_slice" if self.options.by_slice else "nbsql_segment" if self.facts.has_segments else None

    @cached_property
    def terms(self) -> list[tuple[str, Any]]:
        """The terms of a joint log-likelihood in the wide form, in order: a macro and its first argument each."""
        form = self.form
        whole = {
            "blocks_term": form.category_blocks,
            "list_lookup_terms": form.categories_in_lists,
            "expanded_terms": form.numbers_in_lists,
            "unguarded_terms": form.unguarded_numbers,
            "matrix_terms": form.matrices_in_lists,
        }
        return [
            ("prior_term", self),
            *(("dimension_term", joining) for joining in self.options.joins if joining.scored_model),
            *((name, self) for name, features in whole.items() if features),
            *(("sum_of_terms", block) for block in blocks(form.joint_features, TERMS)),
            *(("found_terms", block) for block in blocks(form.plain_bins, TERMS)),
            *(("placed_terms", block) for block in blocks(form.guarded_features_with_places, form.added_first)),
            *(("sum_of_level_terms", block) for block in blocks(form.star_categories, form.added_first)),
        ]

    @property
    def has_prior(self) -> bool:
        features = self.facts.features
        return not features or not all(each.family.complement for each in features)

    @cached_property
    def has_row_numbers(self) -> bool:
        """Whether rows have numbers, by which separately computed scores are joined and the result is sorted."""
        bags = any(feature.family.bag for feature in self.facts.features)
        return self.options.keeps_order or not self.form.wide or self.form.has_blocks or bool(self.facts.backoffs) or bags

    @cached_property
    def component_model(self) -> Context:
        """The context in which components are scored as classes; the context itself if classes have no components."""
        return replace(self, form=replace(self.form, scores_components=True)) if self.facts.has_components else self
