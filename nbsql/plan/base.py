"""What all parts of a plan share: the model that it is of, and the forms of statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from nbsql.plan.classes import ClassColumn, scored_class_count
from nbsql.plan.context import Context, QueryOptions
from nbsql.plan.dimension_scores import split_dimension_scores
from nbsql.plan.layout import is_vectorised, is_wide
from nbsql.plan.parts import PARTS
from nbsql.plan.rows import Rows
from nbsql.rendering.dialect import restore
from nbsql.rendering.relations import Relations
from nbsql.rendering.renderer import Renderer
from nbsql.spec.half_life import NEGLIGIBLE_AGE
from nbsql.spec.spec import Spec

BINS = 10  # of the calibration error and of tables of bins, unless asked for otherwise


@dataclass(frozen=True)
class Statement:
    """One statement of a plan and what it is for; `small`: it reads no statistics, and so is run at once with its like."""

    name: str
    sql: str
    small: bool = False


@dataclass(frozen=True)
class Entry:
    """A line of the ledger: its number, from 1; its name; what was done, with what, and how many rows that was."""

    number: int
    batch: str
    operation: str
    source: str
    rows: int


class Base:
    """The model that a plan is of.

    Args:
        renderer: of the engine.
        spec: what to model.
        relations: where the model's relations are.
        wide: the form of the tables that scoring reads; None chooses it by their size.
        whole: the spec that the tables are of, where `spec` has fewer features.
    """

    def __init__(
        self, renderer: Renderer, spec: Spec, relations: Relations, *, wide: bool | None = None, whole: Spec | None = None
    ) -> None:
        self._wide = wide
        self._whole = whole
        self.renderer = renderer
        self.spec = spec
        self.relations = relations
        self._rendered: dict[tuple[Any, ...], Markup] = {}

    @property
    def labels_as_text(self) -> bool:
        """Whether labels of a relation yet unknown are compared as text, so that an ENUM and a VARCHAR agree."""
        return self.spec.target_type.startswith(("VARCHAR", "ENUM", "text", "char"))

    @property
    def wide(self) -> bool | None:
        return self._wide

    def is_wide(self, class_count: int) -> bool:
        """Whether a model of so many classes takes the wide form, a column a class."""
        return is_wide(self.spec, class_count, self.renderer.dialect.traits, self.renderer.layout)

    def context(self, classes: Sequence[ClassColumn], rows: Rows | None = None, *, whole: bool = False) -> Context:
        """What the macros know as `model`.

        Args:
            classes: of the model.
            rows: that it meets, if it does.
            whole: whether each feature is asked for by itself: no dimension is scored as one, and rows keep their order.
        """
        wide = self.is_wide(scored_class_count(classes)) if self._wide is None else self._wide
        spec, joins = self.spec, () if rows is None else rows.joins
        if joins and wide and not whole:
            spec, joins = split_dimension_scores(spec, classes, joins, self.renderer.layout)
        estimates = (
            self.relations["estimates"] if self.renderer.dialect.traits.materializes_estimates and spec.features else None
        )
        columns, passed_columns, keeps_order = (
            ((), None, False) if rows is None else (rows.columns, rows.passed_columns, rows.keeps_order)
        )
        return Context.of(
            spec,
            classes,
            QueryOptions(
                keeps_order=keeps_order or whole,
                columns=columns,
                passed_columns=passed_columns,
                joins=joins,
                estimates=estimates,
            ),
            wide=wide,
            layout=self.renderer.layout,
            vectorised=is_vectorised(self.spec, self.renderer.dialect.traits),
            whole=self._whole,
        )

    def prepare_source(self, context: Context, source: Markup, parameters: Markup, lookups: Markup) -> Markup:
        """What is scored of a source: joined, if it is still to be, and with the segment of each row, if the model has some."""
        if context.query_options.joins:
            source = self.renderer.fragment(
                "joined_source", source, context.query_options.joins, context.has_row_numbers, parameters, lookups
            )
        return self.with_segments(source)

    def with_slices(self, source: Markup) -> Markup:
        """The source with the slice, segment or component of every row, if the model has some."""
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
        """The cells as they count: those of the statistics, or, where rows age, what they weigh now."""
        cells = statistics or self.relations["statistics"]
        if self.spec.half_life is None:
            return cells
        query = self.renderer.fragment("decayed_cells", cells, self.spec.half_life, NEGLIGIBLE_AGE)
        return self.renderer.fragment("subquery", query)

    def _table(self, name: str, relation: Markup, query: Markup, *, temporary: bool = False) -> Statement:
        temporary = temporary or self.relations.temporary
        statement = self.renderer.statement("create_table_as", relation, query, temporary=temporary)
        return Statement(name, statement, small=name in ("spec", "batches"))

    def _view(self, name: str, query: Markup) -> Statement:
        options: dict[str, Any] = {"temporary": True} if self.relations.temporary else {"comment": PARTS[name].comment}
        return Statement(name, self.renderer.statement("create_view_as", self.relations[name], query, **options), small=True)

    def _macro(self, name: str, query: Markup, reads: Sequence[str] = (), *, of_classes: bool = False) -> Statement:
        """A table macro, whose query names what it may read of the model as `_in_macros` does."""
        names = {} if self.relations.temporary else {self._name_in_macros(part): part for part in reads}
        schema = self.relations.path[-1]
        read = [(name, self.relation_in_macros(schema, part)) for name, part in names.items() if name in query]
        statement = self.renderer.statement("create_table_macro", self.relations[name], query, read, of_classes=of_classes)
        return Statement(f"macro {name}", statement, small=True)

    def _name_in_macros(self, name: str) -> Markup:
        """What a macro calls a relation of the model, which it names in its first lines."""
        return self.relations[name] if self.relations.temporary else self.renderer.fragment("word", f"nbsql_{name}")

    def relation_in_macros(self, *path: str) -> Markup:
        """A relation as macros read it: without its database, which has another name whenever its file is opened by another."""
        dialect = self.renderer.dialect
        relation = dialect.ident(*path)
        if not dialect.traits.table_macros or any('"' in name for name in path):  # which query_table of DuckDB 1.5 misreads
            return relation
        return self.renderer.fragment("relation_in_database", dialect.text(restore(relation)), self.relations.path[-1])

    def query_likelihood_ratios(self, likelihoods: Markup) -> Markup:
        """The query of how much likelier a value is in a class than in another, which are parameters."""
        classes = (self.renderer.fragment("parameter_of_classes", number) for number in (1, 2))
        return self.renderer.fragment("likelihood_ratios", likelihoods, *classes)

    def _insert(self, name: str, relation: Markup, query: Markup) -> Statement:
        return Statement(name, self.renderer.statement("insert_into", relation, query))
