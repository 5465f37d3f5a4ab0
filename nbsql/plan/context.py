"""What the macros know as `model`: what its spec says, the form that scoring takes, and what one query reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from nbsql.plan.classes import ClassColumn
from nbsql.plan.facts import Facts
from nbsql.plan.form import Form
from nbsql.rendering.layout import Layout
from nbsql.spec.spec import Spec

if TYPE_CHECKING:
    from nbsql.plan.rows import Joining


@dataclass(frozen=True)
class SegmentTables:
    """Tables for the pairs of segments and classes, where an engine would work them out again and again (segments.sql)."""

    table: Markup
    cells: Markup
    estimates: Markup


@dataclass(frozen=True, eq=False)
class QueryOptions:
    """What is one query's own.

    Args:
        batch: what the cells that it counts are of.
        ordered: whether the rows keep their order.
        by_slice: whether the tables that scoring reads have a model a slice, and a row meets its own.
        integer_slices: whether slices are whole numbers then, and no texts.
        columns: of the source, for an engine that has no word for all but some.
        passed: those of them that come back; None: all.
        estimates: the table of likelihoods, where there is one.
        without_tokens: whether that has none of tokens, whose vocabulary times the classes is long.
        members: the tables of the pairs of segments and classes, where there are some.
        joins: that the source is still to be joined with, before it is scored.
        bare: whether it is a part of a model, which is scored without the prior.
        coded: whether the rows come with what their categories add, which are no features then (coded.sql).
        single: whether no class has two cells of one value of a feature, as after a fit by one batch of rows in no slices.
        few_rows: whether those that are counted are so few that DuckDB would read them by one thread, or a few.
    """

    batch: str = "1"
    keeps_order: bool = False
    by_slice: bool = False
    integer_slices: bool = False
    columns: Sequence[str] = ()
    passed_columns: Sequence[str] | None = None
    estimates: Markup | None = None
    without_tokens: bool = False
    segment_tables: SegmentTables | None = None
    joins: Sequence[Joining] = ()
    without_prior: bool = False
    has_category_scores: bool = False
    has_unique_cells: bool = False
    few_rows: bool = False

    @property
    def joined_names(self) -> list[str]:
        """The columns of the joins that are not passed through."""
        return [name for joining in self.joins for _, name in joining.passed_columns]


@dataclass(frozen=True, eq=False)
class Context:
    """What the macros know as `model`, in which they find what each of its parts has.

    Args:
        facts: what the spec says.
        form: how the model is scored.
        reading: what is this query's own.
    """

    facts: Facts
    form: Form
    query_options: QueryOptions

    @classmethod
    def of(
        cls,
        spec: Spec,
        classes: Sequence[ClassColumn] = (),
        query_options: QueryOptions = QueryOptions(),
        *,
        wide: bool = True,
        vectorised: bool = False,
        layout: Layout = Layout(),  # noqa: B008 - it is frozen
        whole: Spec | None = None,
    ) -> Context:
        """The context of a query on the model of a spec; that of the tables is `whole`, where `spec` has fewer features."""
        facts = Facts(spec, scoring=bool(classes))
        table_features = facts if whole is None else Facts(whole, scoring=bool(classes))
        return cls(facts, Form(facts, classes, wide, vectorised, layout, table_features.features), query_options)

    def __getattr__(self, name: str) -> Any:
        for part in ("facts", "form", "reading"):
            if part in self.__dict__ and hasattr(self.__dict__[part], name):
                return getattr(self.__dict__[part], name)
        raise AttributeError(name)

    def with_options(self, **query_options: Any) -> Context:
        """The context of a query that differs in what it reads."""
        return replace(self, query_options=replace(self.query_options, **query_options))

    @property
    def part_column(self) -> str | None:
        """The column by which a row, the parameters and the lookups of its own model meet, where there are several."""
        return "nbsql_slice" if self.query_options.by_slice else "nbsql_segment" if self.facts.has_segments else None

    @property
    def has_prior(self) -> bool:
        spec = self.facts.spec
        return (
            self.query_options.has_category_scores
            or not spec.features
            or not all(feature.family.complement for feature in self.facts.features)
        )

    @cached_property
    def has_row_numbers(self) -> bool:
        """Whether rows have a number, by which what is scored apart finds them, and by which they are sorted."""
        bags = any(feature.family.bag for feature in self.facts.features)
        return self.query_options.keeps_order or not self.form.wide or self.form.has_blocks or bool(self.facts.backoffs) or bags

    @cached_property
    def component_model(self) -> Context:
        """Where classes have components: the context of the members, which are scored as classes."""
        return replace(self, form=self.form.by_component()) if self.facts.has_components else self
