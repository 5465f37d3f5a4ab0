"""Fits a model: reads the source, holds its rows against the rules, and writes the model whole or not at all."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from nbsql.engines.duckdb import DuckDB, Source
from nbsql.errors import InputError, NbsqlError, NbsqlWarning, listed
from nbsql.family import Text
from nbsql.plan import ClassColumn, Plan, Relations, Statement, class_columns, is_wide
from nbsql.resolve import checks, resolve
from nbsql.schema import drop_schema
from nbsql.spec import Check, Feature, Options, Prior
from nbsql.version import __version__


class Fit:
    """One fit of one source.

    Args:
        engine: where.
        source: what to learn from.
        options: what to model.
        relations: where the model is to be.
    """

    def __init__(self, engine: DuckDB, source: Source, options: Options, relations: Relations) -> None:
        self.engine = engine
        self.source = source
        self.options = options
        self.relations = relations
        self.spec = resolve(source.columns, options, source.label)
        for feature in self.spec.features:
            if isinstance(feature.family, Text):
                engine.check_pattern(feature.family.pattern)
        self.plan = Plan(engine.renderer, self.spec, relations)
        self._work = engine.transient_name()
        self._classes: list[ClassColumn] = []

    def run(self, *, replaces: tuple[str, str] | None = None) -> tuple[Plan, list[ClassColumn]]:
        """Fit. Nothing is written before every row has been held against the rules.

        Args:
            replaces: the database and schema of the model that this one takes the place of.

        Returns:
            What scoring needs: the plan of the model as it was written, and its classes.
        """
        with self._temporary() as temporary:
            source = self.source.relation
            if not self.source.is_table and self.plan.reads > 2:
                self._run(self.plan.stage(source, temporary("source")))
                source = temporary("source")
            scan, rescan = temporary("scan"), temporary("rescan")
            rules = checks(self.spec, self.source.columns)
            self._run(self.plan.scan(source, scan, rules, self._centres(source)))
            labels = self._check(scan, rules)
            self._set_prior(labels)
            careful = self._untrusted(scan)
            if careful:
                self._run(self.plan.rescan(source, rescan, careful))
            if replaces is not None:
                drop_schema(self.engine, *replaces)
            if not self.relations.temporary:
                self._run(self.plan.create_schema())
            rows = sum(row[2] for row in labels)
            for statement in self._written(source, scan, rescan, careful, rows):
                self._run(statement)
            self._warn()
        wide = is_wide(self.spec, len(self._classes))
        return Plan(self.engine.renderer, self.spec, self.relations, wide=wide), self._classes

    def statements(self) -> list[Statement]:
        """What `run` would do, for reading. Asks the database for the classes and writes nothing."""
        name = self.engine.renderer.dialect.ident
        scan, rescan = name("scan"), name("rescan")
        source = self.source.relation
        rules = checks(self.spec, self.source.columns)
        statements = [self.plan.scan(source, scan, rules, self._centres(source))]
        if not self.relations.temporary:
            statements.append(self.plan.create_schema())
        cells = self.engine.renderer.fragment("counted_classes", self.spec, source)
        if self.spec.prior.kind == "given":
            counts = self.engine.ask("class_labels", cells)
            self._set_prior([row for row in counts if row[0] is not None])
        statistics = self.plan.priors(cells)
        order = self.plan.class_order(self.engine.renderer.fragment("subquery", statistics))
        self._classes = class_columns(self.engine.rows(order))
        statements.extend(self._written(source, scan, rescan, [], 0))
        return statements

    def _written(
        self, source: Markup, scan: Markup, rescan: Markup, careful: Sequence[Feature], rows: int
    ) -> Iterator[Statement]:
        yield from self.plan.statistics(scan, rescan, careful)
        yield from self.plan.counts(source)
        yield from self.plan.record(__version__, "1", "fit", self.source.label, rows)
        yield from self.plan.estimates()
        if not self._classes:
            self._classes = class_columns(self.engine.rows(self.plan.class_order()))
        yield from self.plan.compiled(self._classes)
        if not self.relations.temporary:
            yield from self.plan.macros(self._classes)

    def _run(self, statement: Statement) -> None:
        self.engine.run(statement.name, statement.sql)

    @contextmanager
    def _temporary(self) -> Iterator[Any]:
        """Names for temporary tables, which are dropped in the end, also when the caller's transaction goes on."""
        made: list[Markup] = []

        def name(part: str) -> Markup:
            made.append(self.engine.renderer.dialect.ident("temp", "main", f"{self._work} {part}"))
            return made[-1]

        try:
            yield name
        finally:
            for relation in made:
                with suppress(NbsqlError):  # an aborted transaction has dropped it already
                    self.engine.ask("drop_if_exists", relation)

    def _centres(self, source: Markup) -> dict[int, float]:
        """A typical value of every feature whose squares are summed."""
        centred = self.plan.centred
        if not centred:
            return {}
        found = dict(self.engine.rows(self.plan.centres(source)))
        return {feature.index: found.get(feature.index, 0.0) for feature in centred}

    def _untrusted(self, scan: Markup) -> list[Feature]:
        indices = {row[0] for statement in self.plan.untrusted(scan) for row in self.engine.rows(statement)}
        return [feature for feature in self.plan.centred if feature.index in indices]

    def _check(self, scan: Markup, rules: Sequence[Check]) -> list[tuple[Any, ...]]:
        """Hold the scan against the rules; the classes that count, as (label, class, rows, n)."""
        rows = self.engine.ask("class_labels", scan)
        name = self.source.label
        if not rows:
            raise InputError(f"{name} is empty; a model needs at least one row")
        target = self.spec.target
        without = sum(row[2] for row in rows if row[0] is None)
        rows = [row for row in rows if row[0] is not None]
        if not rows:
            raise InputError(f"every row of {name} has a NULL {target!r}; a model needs rows with a class")
        if rules:
            broken = self.engine.ask("broken_rules", scan, len(rules))[0]
            for rule, count in zip(rules, broken, strict=True):
                if count:
                    raise InputError(rule.broken(count))
        rows = [row for row in rows if row[3] > 0]
        if not rows:
            raise InputError(f"every row of {name} has a weight of 0; a model needs rows that count")
        if without:
            rows_of, have, are = ("row", "has", "is") if without == 1 else ("rows", "have", "are")
            self._say(f"{without} {rows_of} of {name} {have} no {target!r} and {are} left out of the training")
        if len(rows) == 1:
            self._say(f"{target!r} has one class only, {rows[0][0]!r}; every prediction will be that class")
        return rows

    def _set_prior(self, labels: Sequence[tuple[Any, ...]]) -> None:
        """Write given priors as the engine writes the labels, one a class."""
        if self.spec.prior.kind != "given":
            return
        given = dict(self.spec.prior.given)
        pairs = []
        for label, value, *_ in labels:
            if value in given:
                pairs.append((label, given.pop(value)))
            else:
                raise InputError(f"prior has no probability for class {label!r}; name every class")
        if given:
            raise InputError(f"prior names {listed(map(str, given))}, which is no class of {self.spec.target!r}")
        self.spec = replace(self.spec, prior=Prior("given", given=tuple(pairs)))
        self.plan = Plan(self.engine.renderer, self.spec, self.relations)

    def _warn(self) -> None:
        """Say which features tell nothing."""
        varies = dict(self.engine.ask("feature_summary", self.relations["statistics"]))
        empty, constant = [], []
        for feature in self.spec.features:
            if feature.name not in varies:
                empty.append(feature.name)
            elif (feature.family.centred or feature.family.level) and not varies[feature.name]:
                constant.append(feature.name)
        if empty:
            self._say(f"nothing but NULL in {listed(empty)}; left out of the score")
        if constant:
            self._say(f"one value only in {listed(constant)}; such a column tells no class from another")
        if not self.spec.features:
            self._say("the model has no features; it predicts the most frequent class")

    def _say(self, message: str) -> None:
        warnings.warn(message, NbsqlWarning, stacklevel=5)
