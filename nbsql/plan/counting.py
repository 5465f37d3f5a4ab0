"""The statements that count a source."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from markupsafe import Markup

from nbsql.family import Family
from nbsql.plan.base import Base, Statement
from nbsql.plan.context import Context, QueryOptions
from nbsql.plan.form import blocks
from nbsql.spec.spec import Check, Feature

# The number of categorical features that a statement reads: enough to keep every core busy, few enough to plan quickly.
LEVELS_A_STATEMENT = 50
FEATURES_A_STATEMENT = 100
# The features of one scan. DuckDB plans aggregates in a time that grows with their square, so that more are scanned apart.
FEATURES_A_SCAN = 500

# Numbers from so many on are counted with one row for each, up to so many rows: it takes longer for a row, and less to plan.
LEAST_UNNESTED = 50
MOST_UNNESTED_ROWS = 5_000


# The numbers, and the rows, that are read to find a typical value of each column.
FIRST_NUMBERS = 4_000
LEAST_FIRST_ROWS, MOST_FIRST_ROWS = 20, 500


class Scan(NamedTuple):
    """The table of a scan, the features whose sums it holds, and whether it has one row per class and number."""

    table: Markup
    features: Sequence[Feature]
    is_long: bool = False


def _statement_name(act: str, block: Sequence[Feature]) -> str:
    first, last = block[0].name, block[-1].name
    return f"{act} {first}" if len(block) == 1 else f"{act} {first} to {last}"


def _blocks(scans: Sequence[Scan]) -> Iterator[Scan]:
    """The scans, with the features that one statement reads; a long scan has those of all its features."""
    for scan in scans:
        size = max(len(scan.features), 1) if scan.is_long else FEATURES_A_STATEMENT
        yield from (scan._replace(features=block) for block in blocks(scan.features, size))


class Counting(Base):
    """The statements from a source to the table of cells."""

    @property
    def scanned_features(self) -> list[Feature]:
        return [feature for feature in self.spec.features if feature.family.in_wide_scan]

    @property
    def centred_features(self) -> list[Feature]:
        return [feature for feature in self.spec.features if feature.family.centred]

    def stage(self, source: Markup, staged: Markup, columns: Sequence[str] | None = None) -> Statement:
        wanted = [*(self.spec.columns if columns is None else columns), *(["nbsql_slice"] if self.spec.is_sliced else [])]
        query = self.renderer.fragment("selected_columns", source, wanted)
        return self._table("read the source once", staged, query, temporary=True)

    def count_keys(self, source: Markup, key: Sequence[str], counted: Markup) -> Statement:
        """A temporary table of the counts of each key and class (nbsql/learning/factorised.py)."""
        types = {name: kind for join in self.spec.joins for (name, _), kind in zip(join.on, join.types, strict=True)}
        keys = [(name, types[name]) for name in key]
        query = self.renderer.fragment("counted_keys", Context.of(self.spec), source, keys)
        return self._table(f"count {key[0]}", counted, query, temporary=True)

    def first_numbers(self, source: Markup) -> str:
        columns = sum(len(feature.columns) for feature in self.centred_features)
        rows = max(LEAST_FIRST_ROWS, min(MOST_FIRST_ROWS, FIRST_NUMBERS // columns))
        return self.renderer.statement("first_numbers", source, self.centred_features, rows)

    def scan(
        self, source: Markup, scan: Scan, checks: Sequence[Check], centres: Mapping[int, Any], *, further: bool = False
    ) -> Statement:
        """The table of a scan; a `further` one scans more features than one statement does."""
        query = self.scan_query(source, checks, centres, scan.features, is_long=scan.is_long)
        return self._table("scan further columns" if further else "scan", scan.table, query, temporary=True)

    def scan_query(
        self,
        source: Markup,
        checks: Sequence[Check],
        centres: Mapping[int, Any],
        features: Sequence[Feature],
        *,
        is_long: bool = False,
    ) -> Markup:
        """The query of the scan, by which features are found that need the careful one, where no table may be written."""
        number = self.renderer.dialect.number
        numbers = {
            index: [number(value) for value in centre] if isinstance(centre, list) else number(centre)
            for index, centre in centres.items()
        }
        if is_long:
            return self.renderer.fragment("long_scan", Context.of(self.spec), source, features, numbers)
        return self.renderer.fragment("scan", Context.of(self.spec), source, features, checks, numbers)

    def find_imprecise_features(self, scans: Sequence[Scan]) -> Iterator[str]:
        """Queries for the features of numbers that the scans may not hold (statistics.sql)."""
        if not all(feature.family.has_lookups for feature in self.scanned_features):
            for block in _blocks(scans):
                limits = [
                    (each.index, each.family.near_zero) for each in block.features if each.family.near_zero != Family.near_zero
                ]
                yield self.renderer.statement("imprecise_numbers", self._summed_cells(block), limits)

    def _summed_cells(self, scan: Scan) -> Markup:
        key = (scan.table, *(feature.index for feature in scan.features))
        if key not in self._rendered:  # used twice: to check precision, and to write the cells
            macro = "cells_of_long_scan" if scan.is_long else "summed_cells"
            self._rendered[key] = self.renderer.fragment(macro, Context.of(self.spec), scan.table, scan.features)
        return self._rendered[key]

    def rescan(self, source: Markup, rescan: Markup, features: Sequence[Feature]) -> Statement:
        query = self.renderer.fragment("scan", Context.of(self.spec), source, features, careful=True)
        return self._table("scan again, carefully", rescan, query, temporary=True)

    def create_cells(
        self,
        relation: Markup,
        batch: str,
        source: Markup,
        scans: Sequence[Scan],
        *,
        temporary: bool,
        is_new: bool = True,
        row_count: int | None = None,
        numbered: Mapping[str, Sequence[Any] | None] = MappingProxyType({}),
    ) -> Iterator[Statement]:
        """A table of cells, if it is new: those of scanned features from the scans, the others from the source.

        Each scan has the features whose cells it gives, `batch` is the line of the ledger of the cells, and `row_count` the
        number of rows, if it is known. `numbered` has tables of features by name, see `Count.cells`.
        """
        context = Context.of(self.spec, options=QueryOptions(batch=batch, row_count=row_count))
        queries = [
            (block.features, self.renderer.fragment("feature_cells", context, self._summed_cells(block)))
            for block in _blocks(scans)
        ]
        classes = self.renderer.fragment("class_cells", context, scans[0].table)
        # Parts of joined rows are counted separately, without the classes (factorised.py).
        with_classes = 0 if self.spec.joins else 1
        first = self.renderer.fragment("union_of_rows", [classes, *(query for _, query in queries[:with_classes])])
        if is_new:
            yield self._table("statistics", relation, first, temporary=temporary)
        else:
            yield self._insert("add the cells", relation, first)
        for block, query in queries[with_classes:]:
            yield self._insert(_statement_name("cells of", block), relation, query)
        levels = [feature for feature in self.spec.features if feature.family.level]
        is_long = self.renderer.traits.vectorised and row_count is not None and not context.options.is_tiny
        grouped = [feature for feature in levels if is_long and feature.family.parent is not None]
        others = [feature for feature in levels if feature not in grouped]
        for macro, features in (("cells_of_grouped_levels", grouped), ("level_cells", others)):
            for block in blocks(features, LEVELS_A_STATEMENT):
                query = self.renderer.fragment(macro, context, source, block)
                yield self._insert(_statement_name("count", block), relation, query)
        for feature in self.spec.features:
            if feature.family.bag:
                cells = self.renderer.fragment("token_cells", context, source, feature, numbered.get(feature.name))
                yield self._insert(f"count the tokens of {feature.name}", relation, cells)

    def create_from_temporary(self, name: str, relation: Markup) -> Statement:
        """A table of the model, created from the rows of a temporary table."""
        return self._table(name, self.relations[name], self.renderer.fragment("all_rows", relation))

    def keep_features(self) -> Statement:
        """Drop the cells of features that the spec does not have."""
        statement = self.renderer.statement("keep_features", self.relations["statistics"], self.spec.features)
        return Statement("keep the best features", statement)
