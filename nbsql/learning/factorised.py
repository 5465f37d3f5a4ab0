"""Counts a joined source without joining its rows: keys are counted by class, and a dimension row counts with that weight.

A row of weight w counts as w copies of it. So the features of a dimension have the same cells whether they are counted from
one row for each fact, or from one row for each class and key whose weight is the number of facts with both. Kumar, Naughton
and Patel, "Learning generalized linear models over normalized data", SIGMOD 2015, call this factorised learning.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.learning.count import Count, total_rows
from nbsql.plan import Plan, Statement
from nbsql.plan.joins import joins_of_columns
from nbsql.spec.spec import Feature

WEIGHT = "nbsql_weight"


def make_count(engine: Engine, source: Source, plan: Plan, temporary: Callable[[str], Markup]) -> Count:
    """The count of a source: in parts, if the source is joined and the result is the same."""
    spec = plan.spec
    facts = {column.name for column in source.facts.columns}
    roles = {spec.target, spec.weight} - {None}
    is_additive = not spec.has_weights and not spec.is_soft and spec.components is None and not spec.non_additive_parts
    if not source.joins or not roles <= facts or not is_additive:
        return Count(engine, source, plan, temporary)
    if spec.slice_expression is not None:
        try:
            engine.check_expression(spec.slice_expression, source.facts, "the slices")
        except InputError:  # the expression reads a dimension
            return Count(engine, source, plan, temporary)
    return Factorised(engine, source, plan, temporary)


class Factorised(Count):
    """The count of a joined source in parts: the facts' own features, and the features reached by each key."""

    def __init__(self, engine: Engine, source: Source, plan: Plan, temporary: Callable[[str], Markup]) -> None:
        super().__init__(engine, source, plan, temporary)
        self._facts = {column.name for column in source.facts.columns}
        self._parts: list[Count] = []

    def scan(self, *, quiet: bool = False) -> list[tuple[Any, ...]]:
        own, joined_features, by_key = self._group_features()
        facts = self._staged_facts(by_key)
        first = Count(self.engine, self.source.facts, self._plan(own), self._with_prefix("facts"), sliced=facts)
        labels = first.scan(quiet=quiet)
        self._parts = [first]
        for number, (key, features) in enumerate(by_key.items(), start=1):
            counted = self._temporary(f"keys {number}")
            self.engine.run_all([self.plan.count_keys(facts, key, counted)])
            rows = self.engine.query_value("row_count", counted)
            if rows * self.engine.renderer.layout.facts_per_key > total_rows(labels):
                joined_features += features
            else:
                names = {column: f"nbsql_key_{place}" for place, column in enumerate(key, start=1)}
                self._scan_part(f"part {number}", features, counted, names, weight=WEIGHT)
        if joined_features:
            self._scan_part("rest", joined_features, facts, {}, weight=self.plan.spec.weight)
        return labels

    def check_magnitudes(self) -> None:
        for part in self._parts:
            part.check_magnitudes()

    def cells(self, relation: Markup, batch: str, *, temporary: bool = False, is_new: bool = True) -> Iterator[Statement]:
        for number, part in enumerate(self._parts):
            # The first statement has the cells of the classes; only the first part needs it.
            yield from islice(part.cells(relation, batch, temporary=temporary, is_new=is_new), 1 if number else 0, None)

    def checked_rows(self, scan: Markup | None = None) -> Markup:
        first, *others = (part.checked_rows(scan) for part in self._parts)
        return self.engine.renderer.fragment("rows_of_parts", first, others)

    def moments(self, relation: Markup, features: Sequence[Feature]) -> Iterator[Statement]:
        for number, part in enumerate(self._parts):
            own = [feature for feature in features if feature in part.plan.spec.features]
            yield from islice(part.moments(relation, own), 1 if number else 0, None)

    def _group_features(self) -> tuple[list[Feature], list[Feature], dict[tuple[str, ...], list[Feature]]]:
        """The features of the facts, the features of facts and dimensions, and the other features by their key in the facts."""
        own: list[Feature] = []
        mixed: list[Feature] = []
        by_key: dict[tuple[str, ...], list[Feature]] = {}
        for feature in self.plan.spec.features:
            columns = set(feature.columns)
            if columns & self._facts:
                (own if columns <= self._facts else mixed).append(feature)
                continue
            for dimension in (joining.dimension for joining in reversed(self.source.joins)):
                if columns & set(dimension.names):
                    columns = columns - set(dimension.names) | {key for key, _ in dimension.on}
            key = tuple(column.name for column in self.source.facts.columns if column.name in columns)
            by_key.setdefault(key, []).append(feature)
        return own, mixed, by_key

    def _staged_facts(self, keys: Iterable[tuple[str, ...]]) -> Markup:
        """The facts with their slices, in a form that is quick to read again."""
        spec, facts = self.plan.spec, self.plan.with_slices(self.source.facts.relation)
        if self.source.facts.allows_rereads(spec.separate_reads):
            return facts
        read = {*spec.columns, *(column for key in keys for column in key)}
        for joining in self.source.joins:
            read |= {key for key, _ in joining.dimension.on}
        staged = self._temporary("facts")
        columns = [column.name for column in self.source.facts.columns if column.name in read]
        self.engine.run_all([self.plan.stage(facts, staged, columns)])
        return staged

    def _scan_part(
        self, name: str, features: Sequence[Feature], rows: Markup, keys: Mapping[str, str], weight: str | None
    ) -> None:
        """Scan a part: rows of classes and keys, joined with the dimensions that the keys lead to."""
        columns = {column for feature in features for column in feature.columns}
        joins = joins_of_columns(self.engine.renderer, self.source.joins, columns, keys)
        relation = self.engine.renderer.fragment("joined_source", rows, joins)
        plan = self._plan(features, weight=weight, half_life=None)  # the facts have been weighted, and their times checked
        source = Source(relation, self.source.label, self.source.columns)
        part = _Part(self.engine, source, plan, self._with_prefix(name), sliced=relation, is_scan=False)
        try:
            part.scan()
        except _BrokenRuleError:
            super().scan()  # its message gives the number of rows that break the rule
            raise
        self._parts.append(part)

    def _plan(self, features: Sequence[Feature], **changes: Any) -> Plan:
        spec = replace(self.plan.spec, features=tuple(features), **changes)
        return Plan(self.engine.renderer, spec, self.plan.relations)

    def _with_prefix(self, part: str) -> Callable[[str], Markup]:
        return lambda name: self._temporary(f"{part} {name}")


class _BrokenRuleError(InputError):
    """Some value breaks a rule. A part does not give the number of rows."""


class _Part(Count):
    """The count of some features by rows of classes and keys. The facts have been checked already."""

    def _check_scan(self, *, quiet: bool) -> list[tuple[Any, ...]]:  # noqa: ARG002
        if self.rules and any(
            any(row[4:]) for row in self.engine.query_macro("classes_of_scan", self._scan, len(self.rules)) if row[0]
        ):
            raise _BrokenRuleError("a rule is broken")
        return []
