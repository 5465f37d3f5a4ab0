"""What all parts of a plan share: the model that it is of, and the forms of statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from nbsql.context import ClassColumn, Context, is_wide, scored
from nbsql.relations import Relations
from nbsql.render import Renderer
from nbsql.spec import Spec

if TYPE_CHECKING:
    from nbsql.joins.joining import Joining

VERBS = ("predict", "predict_proba", "joint_log_likelihood", "log_evidence", "explain")
MACROS = (*VERBS, "scored")  # what is in a model's schema; the verbs share the last
CALIBRATED = {"predict_calibrated": "predict", "predict_proba_calibrated": "predict_proba"}  # and when it is calibrated


@dataclass(frozen=True)
class Statement:
    """One statement of a plan and what it is for."""

    name: str
    sql: str


@dataclass(frozen=True)
class Entry:
    """A line of the ledger: its number, from 1; its name; what was done, with what, and how many rows that was."""

    number: int
    batch: str
    operation: str
    source: str
    rows: int


@dataclass(frozen=True)
class Rows:
    """Rows that a model meets.

    Attributes:
        relation: where they are.
        columns: theirs, for an engine that has no word for all but some.
        joins: that they are still to be joined with.
        ordered: whether they are to come back in their order.
    """

    relation: Markup
    columns: Sequence[str] = ()
    joins: Sequence[Joining] = ()
    ordered: bool = False


@dataclass(frozen=True)
class Judgeable(Rows):
    """Rows that a model is judged on: the name of their weight, and whether labels are compared as text."""

    weight: str | None = None
    as_text: bool = False


class Base:
    """The model that a plan is of.

    Args:
        renderer: of the engine.
        spec: what to model.
        relations: where the model's relations are.
        wide: the form of the tables that scoring reads; None chooses it by their size.
    """

    def __init__(self, renderer: Renderer, spec: Spec, relations: Relations, *, wide: bool | None = None) -> None:
        self._wide = wide
        self.renderer = renderer
        self.spec = spec
        self.relations = relations
        self._rendered: dict[tuple[Any, ...], Markup] = {}

    @property
    def wide(self) -> bool | None:
        return self._wide

    def is_wide(self, class_count: int) -> bool:
        """Whether a model of so many classes takes the wide form, a column a class."""
        return is_wide(self.spec, class_count, self.renderer.dialect.traits)

    def context(self, classes: Sequence[ClassColumn], rows: Rows | None = None, *, whole: bool = False) -> Context:
        """What the macros know as `model`.

        Args:
            classes: of the model.
            rows: that it meets, if it does.
            whole: whether each feature is asked for by itself: no dimension is scored as one, and rows keep their order.
        """
        wide = self.is_wide(scored(classes)) if self._wide is None else self._wide
        spec, joins = self.spec, () if rows is None else rows.joins
        if joins and wide and not whole:
            from nbsql.joins.partial import split

            spec, joins = split(spec, classes, joins)
        estimates = self.relations["estimates"] if self.renderer.dialect.traits.tabulates and spec.features else None
        columns, ordered = ((), False) if rows is None else (rows.columns, rows.ordered)
        return Context(
            spec,
            classes,
            wide=wide,
            ordered=ordered or whole,
            columns=columns,
            joins=joins,
            estimates=estimates,
            vectorised=self.renderer.dialect.traits.vectorised and not (spec.segment_by or spec.components or self.spec.joins),
        )

    def ready(self, context: Context, source: Markup, parameters: Markup, lookups: Markup) -> Markup:
        """What is scored of a source: joined, if it is still to be, and with the segment of each row, if the model has some."""
        if context.joins:
            source = self.renderer.fragment("joined", source, context.joins, context.numbered, parameters, lookups)
        return self.segmented(source)

    def sliced(self, source: Markup) -> Markup:
        """The source with the slice, segment or component of every row, if the model has some."""
        if self.spec.components is not None:
            return self.renderer.fragment("in_components", source, self.spec.components, self.spec.target)
        if not self.spec.cut_by:
            return source
        return self.renderer.fragment("sliced", source, self.renderer.dialect.query(self.spec.cut_by))

    def segmented(self, source: Markup) -> Markup:
        """The source with the segment of every row, if the model has segments."""
        return self.sliced(source) if self.spec.segment_by else source

    def priors(self, statistics: Markup | None = None) -> Markup:
        return self.renderer.fragment("priors", Context(self.spec), statistics or self.relations["statistics"])

    def _table(self, name: str, relation: Markup, query: Markup, *, temporary: bool = False) -> Statement:
        temporary = temporary or self.relations.temporary
        return Statement(name, self.renderer.statement("create_table_as", relation, query, temporary=temporary))

    def _view(self, name: str, query: Markup) -> Statement:
        temporary = self.relations.temporary
        return Statement(name, self.renderer.statement("create_view_as", self.relations[name], query, temporary=temporary))

    def _macro(self, name: str, query: Markup) -> Statement:
        return Statement(f"macro {name}", self.renderer.statement("create_table_macro", self.relations[name], query))

    def _insert(self, name: str, relation: Markup, query: Markup) -> Statement:
        return Statement(name, self.renderer.statement("insert_into", relation, query))
