"""Counts a source: reads it, checks its rows against the rules, and writes its cells. Fitting and updating share this."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import repeat
from math import isnan
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, listed, suggestion
from nbsql.family import Family
from nbsql.family.checks import MOST_NUMBER
from nbsql.learning.family_warnings import check_classes
from nbsql.plan import Plan, Statement
from nbsql.plan.context import TINY, Context
from nbsql.plan.counting import FEATURES_A_SCAN, LEAST_UNNESTED, MOST_UNNESTED_ROWS, Scan
from nbsql.rendering.dialect import plain_name
from nbsql.rendering.relations import Relations
from nbsql.spec.derived import derive_argument
from nbsql.spec.half_life import WEIGHT_NOW
from nbsql.spec.rules import training_checks
from nbsql.spec.spec import Feature, Spec
from nbsql.warn import warn_user

LEAST_NUMBERED = 4  # categories, for whose pairs it is worth numbering the values
MOST_WEIGHT = 1e150  # of a class, times whose inverse and squares of numbers stay within the range of a double


class Count:
    """The count of one source for the model of a plan, in temporary tables that `temporary` names.

    If the caller has computed the rows with their slices, they are `sliced`, and `is_scan` says whether reading those again
    costs no more than a scan.
    """

    def __init__(
        self,
        engine: Engine,
        source: Source,
        plan: Plan,
        temporary: Callable[[str], Markup],
        sliced: Markup | None = None,
        *,
        is_scan: bool = True,
    ) -> None:
        self.engine = engine
        self.source = source
        self.plan = plan
        self.rules = training_checks(plan.spec, source.columns)
        self._relation = sliced or plan.with_slices(source.relation)
        more_reads = plan.spec.separate_reads  # a sample has other rows each time
        if sliced is not None:
            self._is_staged = more_reads > 1 and not is_scan
        else:
            self._is_staged = more_reads > 0 and (plan.spec.components is not None or not source.allows_rereads(more_reads))
        self._temporary = temporary
        self._scan = temporary("scan")
        self._scans: Sequence[Scan] = []  # known after the scan
        self._row_count: int | None = None  # known after the scan
        self._near_zero: set[int] = set()  # the indices of features, known after the scan
        self._violations_unlabelled: Sequence[Any] = ()
        for feature in plan.spec.features:
            if feature.family.checked_pattern is not None:
                engine.check_pattern(feature.family.checked_pattern)

    def scan(self, *, quiet: bool = False) -> list[tuple[Any, ...]]:
        """The classes that count (label as text, label, rows, n), from one wide scan of the source that checks the rules.

        With `quiet` there is no warning of rows without a class: another count of the same rows gives it. Raises InputError if
        the source has no rows that count, or one that breaks a rule.
        """
        if self._is_staged:
            staged = self._temporary("source")
            self.engine.run_all([self.plan.stage(self._relation, staged)])
            self._relation = staged
        self._scan_features(self.plan.scanned_features)
        labels = self._check_scan(quiet=quiet)
        self._row_count = total_rows(labels)
        found = [row for query in self.plan.find_imprecise_features(self._scans) for row in self.engine.rows(query)]
        imprecise = {index for index, is_imprecise, _ in found if is_imprecise}
        rescanned = [feature for feature in self.plan.centred_features if feature.index in imprecise]
        self._near_zero = {index for index, _, is_near_zero in found if is_near_zero}
        if rescanned:
            rescan = self._temporary("rescan")
            self.engine.run_all([self.plan.rescan(self._relation, rescan, rescanned)])
            kept = [scan._replace(features=[each for each in scan.features if each not in rescanned]) for scan in self._scans]
            self._scans = [*kept, Scan(rescan, rescanned)]
        return labels

    def _scan_features(self, features: Sequence[Feature]) -> None:
        """Scan the features in one statement or, if they are many and the source takes more reads, some in each."""
        is_wide = len(features) > FEATURES_A_SCAN
        is_cut = is_wide and (self._is_staged or self.source.allows_rereads(len(features) // FEATURES_A_SCAN))
        unnested = self._unnested(features)
        indices = {feature.index for feature in unnested}
        others = [feature for feature in features if feature.index not in indices]
        size = FEATURES_A_SCAN if is_cut else max(len(features), 1)
        centres = self.centres()
        parts = [others[start : start + size] for start in range(0, max(len(others), 1), size)]
        tables = [self._scan, *(self._temporary(f"scan {number}") for number in range(2, len(parts) + 1))]
        self._scans = [Scan(table, part) for table, part in zip(tables, parts, strict=True)]
        if unnested:
            self._scans.append(Scan(self._temporary("long scan"), unnested, is_long=True))
        for number, scan in enumerate(self._scans):
            rules = [] if number else self.rules
            self.engine.run_all([self.plan.scan(self._relation, scan, rules, centres, further=number > 0)])

    def _unnested(self, features: Sequence[Feature]) -> list[Feature]:
        """The numbers that are counted with one row for each: if they are many, and the rows few and quick to read again."""
        numbers = [feature for feature in features if feature.family.macros["aggregates"] == "gaussian_aggregates"]
        if len(numbers) < LEAST_UNNESTED or not self.engine.renderer.traits.vectorised:
            return []
        if not (self._is_staged or self.source.allows_rereads(1)):
            return []
        return numbers if self.engine.query_value("row_count", self._relation) <= MOST_UNNESTED_ROWS else []

    def check_magnitudes(self) -> None:
        """Raise InputError if all numbers of a column that was scanned are so near 0 that their squares vanish."""
        features = [feature for feature in self.plan.scanned_features if feature.index in self._near_zero]
        columns = {name: feature.family for feature in features for name in feature.columns}
        if columns:
            check_near_zero(self.engine, self._relation, columns)

    def check_unlabelled(self) -> None:
        """Raise InputError if a row without a class, which is not counted, breaks a rule."""
        for rule, count in zip(self.rules, self._violations_unlabelled, strict=False):
            if count:
                raise InputError(rule.violation_message(count))

    @property
    def relation(self) -> Markup:
        """The relation that is counted; after the scan, a copy that is quick to read again."""
        return self._relation

    @property
    def scans(self) -> list[Markup]:
        return [scan.table for scan in self._scans]

    def create_cells(self, relation: Markup, batch: str = "1") -> Markup:
        """The temporary table of the cells at `relation`, which this creates."""
        self.engine.run_all(self.cells(relation, batch, temporary=True))
        return relation

    def cells(self, relation: Markup, batch: str, *, temporary: bool = False, is_new: bool = True) -> Iterator[Statement]:
        """The statements that create the table of cells, or insert them into one that is not new."""
        numbered = {each.name: self._number_pairs(each) for each in self.plan.spec.features if each.family.kind == "pairs"}
        return self.plan.create_cells(
            relation, batch, self._relation, self._scans, temporary=temporary, is_new=is_new,
            row_count=self._row_count, numbered=numbered,
        )  # fmt: skip

    def _number_pairs(self, feature: Feature) -> tuple[Markup, Markup, list[int]] | None:
        """Tables of the values of a feature of pairs and of their numbers, and the places of the columns that have numbers.

        None if its pairs are to be counted without them.
        """
        engine, spec, places = self.engine, self.plan.spec, list(range(len(feature.columns)))
        is_long = self._row_count is not None and self._row_count > TINY
        if not (is_long and len(places) >= LEAST_NUMBERED and engine.renderer.traits.vectorised):
            return None
        render, others = engine.renderer.fragment, [*(["slice"] if spec.slice_by else []), *(["weight"] if spec.weight else [])]
        coded = render("coded_pairs", Context.of(spec), self._relation, feature)
        family: Any = feature.family
        if not family.bins and (self._is_staged or self.source.is_table):  # as quick to read again
            coded = render("subquery", coded)
        else:
            coded = engine.create("code the pairs", self._temporary("coded pairs"), coded)
        sizes = dict(engine.query_macro("sizes_of_categories", coded, places, []))
        few = [place for place in places if sizes[place + 1] <= engine.renderer.layout.few_values]
        query = render("numbered_categories", coded, places, few, others)
        return coded, engine.create("number the pairs", self._temporary("numbered pairs"), query), few

    def moments(self, relation: Markup, features: Sequence[Feature]) -> Iterator[Statement]:
        """The statements that create a temporary table of the cells of the classes and of some scanned features."""
        plan = Plan(self.engine.renderer, replace(self.plan.spec, features=tuple(features)), self.plan.relations)
        scans = [scan._replace(features=[each for each in scan.features if each in features]) for scan in self._scans]
        return plan.create_cells(relation, "1", self._relation, scans, temporary=True)

    def cells_of(self, features: Sequence[Feature], temporary: Callable[[str], Markup]) -> Markup:
        """A temporary table of the cells of the classes and of further features of the rows that were scanned."""
        plan = Plan(self.engine.renderer, replace(self.plan.spec, features=tuple(features)), self.plan.relations)
        count = Count(self.engine, self.source, plan, temporary, sliced=self._relation)
        count.scan(quiet=True)
        return count.create_cells(temporary("further cells"))

    def centres(self) -> dict[int, float | list[float]]:
        """A typical value of each feature whose squares are summed: the median of its column in the first rows.

        It is one of the values, so that a constant stays exact.
        """
        if not (centred := self.plan.centred_features):
            return {}
        rows = self.engine.rows(self.plan.first_numbers(self._relation), "centres")
        found: Iterator[Any] = map(_median, zip(*rows, strict=True) if rows else repeat(()))
        return {
            feature.index: [next(found) for _ in feature.columns] if feature.family.over_columns else next(found)
            for feature in centred
        }

    def checked_rows(self, scan: Markup | None = None) -> Markup:
        """The number of rows of a scan, by default its own, for a script, which checks them against the rules when it runs."""
        spec, name = self.plan.spec, self.source.label
        undeclared = (
            f"{spec.target!r} of {name} has a class that was not declared; name every class there may be, or leave it out"
        )
        empty = f"no row of {name} has a {spec.target!r} and counts; a model needs at least one"
        broken = [self.engine.in_words(rule.violation_message()) for rule in self.rules]
        return self.engine.renderer.fragment(
            "checked_row_count", Context.of(spec), scan or self._scan, broken, undeclared, empty
        )

    def _check_scan(self, *, quiet: bool) -> list[tuple[Any, ...]]:
        """Check the scan against the rules, and return the classes that count."""
        rows = self.engine.query_macro("classes_of_scan", self._scan, len(self.rules))
        name = self.source.label
        if not rows:
            raise InputError(f"{name} is empty; a model needs at least one row")
        target = self.plan.spec.target
        unlabelled = sum(row[2] for row in rows if row[0] is None)
        self._violations_unlabelled = next((row[4:] for row in rows if row[0] is None), ())
        rows = [row for row in rows if row[0] is not None]
        if not rows:
            raise InputError(f"every row of {name} has a NULL {target!r}; a model needs rows with a class")
        if any(isinstance(row[1], (float, Decimal)) and isnan(row[1]) for row in rows):
            raise InputError(f"{target!r} of {name} is NaN in some rows, which is no class; make it NULL there")
        if alike := [value for value, n in Counter(row[1] for row in rows).items() if n > 1]:
            cure = derive_argument(target, f"CAST({plain_name(self.engine.renderer.dialect, target)} AS VARCHAR)")
            raise InputError(
                f"classes of {target!r} in {name} differ only by nanoseconds, or the zone of a time, which Python does not "
                f"tell apart, {listed(alike)}; make texts of them: {cure}"
            )
        for rule, *counts in zip(self.rules, *(row[4:] for row in rows), strict=True):
            if any(counts):
                raise InputError(rule.violation_message(sum(filter(None, counts))))
        spec = self.plan.spec
        weight = spec.weight if spec.half_life is None else spec.half_life.weight
        if weight is not None and weight != WEIGHT_NOW:
            check_weight_sums(weight, [row[3] for row in rows])
        rows = [row[:4] for row in rows if row[3] > 0]
        if not rows:
            raise InputError(f"every row of {name} has a weight of 0; a model needs rows that count")
        declared = self.plan.spec.classes
        for label in (str(row[0]) for row in rows if declared and row[0] not in declared):
            cure = suggestion(label, declared) or "; name every class there may be, or leave the rows out"
            raise InputError(f"{target!r} of {name} is {label!r} in some rows, which ⟨classes⟩ does not name{cure}")
        check_classes(self.engine, target, rows)
        if unlabelled and not quiet:
            rows_of, have, are = ("row", "has", "is") if unlabelled == 1 else ("rows", "have", "are")
            warn_user(f"{unlabelled} {rows_of} of {name} {have} no {target!r} and {are} left out")
        return rows


def _median(numbers: Iterable[float | None]) -> float:
    """The middle one of some numbers, without those that count as missing; 0 if there is none."""
    found = sorted(number for number in numbers if number is not None and abs(number) <= MOST_NUMBER)
    return float(found[(len(found) - 1) // 2]) if found else 0.0


def total_rows(labels: Sequence[tuple[Any, ...]]) -> int:
    """The number of rows of the classes that count."""
    return int(sum(row[2] for row in labels))


def check_near_zero(engine: Engine, relation: Markup, columns: Mapping[str, Family]) -> None:
    """Raise InputError if the largest magnitude of a column's numbers is nearer to 0 than its family takes, and not 0."""
    magnitudes = engine.query_macro("largest_magnitudes", relation, list(columns))[0]
    for (name, family), magnitude in zip(columns.items(), magnitudes, strict=True):
        if magnitude is not None and 0 < magnitude < family.near_zero:
            why = family.near_zero_cure.replace("'x'", repr(name))
            raise InputError(f"every number of column {name!r} is within {family.near_zero:g} of 0, and {why}")


def check_weight_sums(name: str, sums: Iterable[float], of: str = "of a class ") -> None:
    """Raise InputError if weights sum to what sums of products with them cannot hold; those of 0 do not count."""
    for weight in sums:
        if weight != 0 and not 1 / MOST_WEIGHT <= weight <= MOST_WEIGHT:
            raise InputError(
                f"the weights {name!r} {of}sum to {weight:.6g}, and must sum to {1 / MOST_WEIGHT:g} to {MOST_WEIGHT:g}; "
                "multiply all weights by one number"
            )


def counting_plan(engine: Engine, spec: Spec) -> Plan:
    """The plan by which rows are counted for a model that is never made."""
    return Plan(engine.renderer, spec, Relations(engine.renderer, transient=engine.transient_name()))


def stage_source(engine: Engine, spec: Spec, source: Source, relation: Markup) -> Source:
    """The source, in a temporary table unless it is quick to read again, since a search reads it many times.

    What a search counts has slices of its own, if any: folds, or components.
    """
    if source.allows_rereads(1):
        return source
    engine.run_all([counting_plan(engine, replace(spec, components=None, slice_by=None)).stage(source.relation, relation)])
    return Source(relation, source.label, source.columns, rereads=True, is_frame=source.is_frame)
