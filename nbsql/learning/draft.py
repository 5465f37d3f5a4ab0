"""A model on its way from a source to its relations, which the steps of a fit complete (fit.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.learning.count import Count
from nbsql.plan import Entry, Plan, Statement
from nbsql.plan.classes import ClassColumn, class_columns
from nbsql.rendering.relations import Relations
from nbsql.spec.options import Best, Options
from nbsql.spec.spec import Spec

Labels = Sequence[tuple[Any, ...]]  # of classes: the label as text, the label, and what is known of it


@dataclass(frozen=True)
class Draft:
    """What is known of a new model. A step returns its successor, and changes nothing in it."""

    engine: Engine
    source: Source
    options: Options
    relations: Relations
    spec: Spec
    write: Callable[[Iterable[Statement]], None]  # runs statements or, for a script, adds them to it
    temporary: Callable[[str], Markup]  # names a temporary table
    is_script: bool = False  # whether statements are printed, so that no table which they create can be read
    best: Best | None = None  # the way to choose among the features
    replaces: tuple[str, str] | None = None  # the database and schema of the model that this one replaces
    asked: Options | None = None  # the options of the user, who is warned of those that change nothing
    declared: Labels = ()  # the classes that the user named
    counting: Count | None = None  # of the source, from the scan on
    labels: Labels = ()  # the classes of the rows, each with its rows and their weight
    entries: tuple[Entry, ...] = ()  # of the ledger
    learnt: Mapping[str, Markup] = field(default_factory=dict)  # relations that were found by a search, by the part they become
    folds: Any = None  # EvidenceFolds of the source, if they have chosen the number of parents
    summary: Labels = ()  # the rows of `feature_summary` (model.sql)
    built: tuple[Plan, list[ClassColumn]] | None = None  # the plan and the classes of the model, once it is there

    @property
    def plan(self) -> Plan:
        return Plan(self.engine.renderer, self.spec, self.relations)

    @property
    def statistics(self) -> Markup:
        """The relation of the cells."""
        return self.relations["statistics"]

    @property
    def count(self) -> Count:
        """The count of the source, for the steps after the scan."""
        if self.counting is None:
            raise RuntimeError("the source is scanned first")
        return self.counting

    @property
    def has_unique_cells(self) -> bool:
        """Whether each class, feature and value has one cell: the counts have no slices and are not counted in parts."""
        return not (self.spec.is_sliced or self.spec.joins or self.learnt)

    @property
    def classes(self) -> list[ClassColumn] | None:
        """The classes by number, if they are those of the scan, in its order; None if they follow from the priors alone."""
        spec = self.spec
        others = (self.declared, spec.classes, spec.is_soft, spec.segment_by, spec.prior.kind == "given")
        if any(others) or not self.has_unique_cells:
            return None
        return class_columns((number, row[0]) for number, row in enumerate(self.labels, start=1))

    def with_spec(self, **changes: Any) -> Draft:
        return replace(self, spec=replace(self.spec, **changes))
