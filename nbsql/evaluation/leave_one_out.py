"""Leave-one-out: every row is predicted by the model of all others.

A row is subtracted from the counts of numbers and categories as it is scored. What a row adds to the counts of words, or of
several columns, differs too much from row to row: where there are such features, each of some few rows is a fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, listed, written
from nbsql.learning.folds import USUAL_FOLDS, Folds, Models
from nbsql.learning.prepare import prepare_families
from nbsql.plan.context import Context
from nbsql.spec.spec import Feature, Spec

LOO = "loo"
FEW_CLASSES = 20
FEW_ROWS = 500  # up to which each row may be a fold
_FEW_ROWS_BY_STATEMENTS = 150  # the same for engines that make the model of a fold by statements of its own
_DISTRIBUTIONS = ("dirichlet", "complement", "presence")


@dataclass(frozen=True)
class Parts:
    """The features, grouped by how a row is left out of them."""

    numbers: Sequence[Feature]  # numbers with moments
    levels: Sequence[Feature]  # categories and booleans
    class_numbers: Sequence[int] = ()  # the numbers of the classes, if there are few

    @classmethod
    def of(cls, spec: Spec, classes: int) -> Parts:
        """The parts of a spec, given the number of classes."""
        levels = [feature for feature in spec.features if feature.family.kind == "level"]
        numbers = [feature for feature in spec.features if feature.family.kind != "level"]
        return cls(numbers, levels, range(1, classes + 1) if classes <= FEW_CLASSES else ())


@dataclass(frozen=True)
class LeftOut(Models):
    """What rows are scored by: `parameters` and `lookups` are the relations `classes` and `lookups` of left_out.sql."""

    parts: Parts


def _is_subtracted(feature: Feature) -> bool:
    """Whether a row is subtracted from the counts of a feature as it is scored, which else take a model for each row."""
    family = feature.family
    return not (family.bag or family.backoff) and (family.kind == "level" or not family.over_columns)


def _can_leave_out(feature: Feature) -> bool:
    """Whether the counts of a feature without a row follow from those of all rows."""
    family = feature.family
    chosen = family.reweights_tokens or family.supervised or family.normalised_weights or family.best is not None
    # The vocabulary is not that of the counts, or the words of the other rows would have to be counted.
    chosen = chosen or (family.bag and (bool(family.declared) or family.min_known > 0))
    # The target of the shrinkage changes with every row, too.
    shrunk = family.shrinkage or family.smoothing
    return (family.kind == "density" or family.distribution in _DISTRIBUTIONS) and not (chosen or shrunk)


def _check_rows(rows: int, label: str) -> None:
    if rows < 2:
        raise InputError(f"leave-one-out needs at least two rows, and {label} has {rows}")


class LeaveOneOut(Folds):
    """The rows of a source, counted once for some settings; each row is its own fold. The arguments are those of `Folds`.

    Raises InputError if there is only one row.
    """

    def __init__(self, engine: Engine, source: Source, specs: Sequence[Spec], table: Callable[[str], Markup]) -> None:
        self._cached_ends: tuple[str, Markup] | None = None
        super().__init__(engine, source, specs, table, folds=1)
        _check_rows(self.rows, source.label)

    def models(self, spec: Spec, names: Sequence[str] | None = None) -> LeftOut:  # noqa: ARG002 - all rows are one fold here
        """The tables by which every row is scored: the counts of all rows, from which it is subtracted."""
        spec = replace(spec, slice_by=None)  # slices add up to the whole model
        context, parts = Context.of(spec, wide=False), Parts.of(spec, len(self.labels))
        cells = self.replace_table("cells of setting", self.cells_of_all_rows(spec))
        lookups = self._relation("lookups", "left_out_lookups", context, cells, parts.levels) if parts.levels else None
        ends = self._ends(context, parts.numbers) if parts.numbers else None
        classes = self._relation("left out", "left_out_classes", context, cells, parts, lookups, ends)
        return LeftOut(context, classes, lookups or self._table("no lookups"), parts)

    def scored(self, models: Models) -> Markup:
        """The rows, scored by the models of all others, by class number (sql/macros/evaluation/left_out/left_out.sql)."""
        assert isinstance(models, LeftOut)  # noqa: S101 - `models` returns it
        tables = (models.parameters, models.lookups)
        return self.engine.renderer.subquery("left_out", models.context, self.rows_with_folds, models.parts, *tables)

    def _scores_macro(self, models: Models) -> tuple[Any, ...]:
        return "left_out_scores", self.scored(models)  # of one fold, "loo"

    def outcomes(self, models: Models, classes: Markup, *, has_known: bool = False) -> Markup:  # noqa: ARG002
        return self.engine.renderer.fragment(
            "left_out_outcomes", models.context, self.scored(models), models.parameters, classes
        )

    def _count(self, spec: Spec, folds: int, column: str | None) -> None:  # noqa: ARG002
        source, spec = self.source, replace(spec, slice_by=None)
        query = self.engine.renderer.fragment("selected_columns", source.relation, spec.columns)
        self.rows_with_folds = source.relation if source.allows_rereads(spec.separate_reads) else self.create("rows", query)
        self._count_rows(spec)

    def _fold_names(self) -> list[str]:
        return [LOO]

    def _ends(self, context: Context, numbers: Sequence[Feature]) -> Markup:
        """The extremes and inner moments of the numbers, from a scan that settings which differ only in estimates share."""
        key = repr([(feature.index, feature.columns, feature.family.name, feature.family.formula) for feature in numbers])
        if self._cached_ends is None or self._cached_ends[0] != key:
            self._cached_ends = key, self._relation("ends", "outermost_values", context, self.rows_with_folds, numbers)
        return self._cached_ends[1]

    def _relation(self, name: str, macro: str, *arguments: Any) -> Markup:
        return self.replace_table(name, self.engine.renderer.fragment(macro, *arguments))


class RowFolds(Folds):
    """The same with a model for each row, which takes every family and few rows. The arguments are those of `Folds`."""

    def _scores_macro(self, models: Models) -> tuple[Any, ...]:
        return *super()._scores_macro(models), LOO  # as of one fold

    def _fold_names(self) -> list[str]:
        _check_rows(self.rows, self.source.label)
        return super()._fold_names()


def make_folds(
    engine: Engine, source: Source, specs: Sequence[Spec], table: Callable[[str], Markup], *, folds: int | str, fold: str | None
) -> Folds:
    """The counted folds of a source: a number of folds, those of a column, or each row by itself (`folds="loo"`).

    Raises InputError if no row can be left out of a feature, or of too many rows.
    """
    if not isinstance(folds, str):
        return Folds(engine, source, specs, table, folds=folds, fold=fold)
    specs = [prepare_families(engine, spec, source) if spec.dependence is not None else spec for spec in specs]
    for spec in specs:
        if spec.classes:
            raise InputError(
                "⟨folds='loo'⟩ takes a class that loses its only row for gone, and classes keeps it; use ⟨folds=10⟩"
            )
        refused = [feature for feature in spec.features if not _can_leave_out(feature)]
        if refused:
            names = listed(feature.name for feature in refused)
            families = ", ".join(dict.fromkeys(_describe_family(feature) for feature in refused))
            raise InputError(
                f"⟨folds='loo'⟩ takes a row out of the counts as it is scored, which {names} ({families}) does not allow; "
                "use ⟨folds=10⟩"
            )
    apart = dict.fromkeys(feature.name for spec in specs for feature in spec.features if not _is_subtracted(feature))
    if not apart:
        return LeaveOneOut(engine, source, specs, table)
    (rows,) = engine.query_macro("row_count", source.relation)[0]
    most = _FEW_ROWS_BY_STATEMENTS if engine.renderer.traits.materializes_estimates else FEW_ROWS
    if rows > most:
        raise InputError(
            f"⟨folds='loo'⟩ takes a model for each row, with {listed(apart)} among the features, and {source.label} has "
            f"{rows:,} rows, more than {most}; use ⟨folds=50⟩"
        )
    return RowFolds(engine, source, specs, table, folds=max(rows, USUAL_FOLDS))


def check_folds(folds: Any, fold: str | None = None) -> None:
    """Raise InputError unless `folds` is a number of folds or "loo"."""
    if isinstance(folds, str) and folds == LOO:
        if fold is not None:
            raise InputError(
                f"⟨folds='loo'⟩ makes a fold of every row, and ⟨fold={fold!r}⟩ says the folds; leave one of them out"
            )
        return
    if isinstance(folds, bool) or not isinstance(folds, Integral) or not 2 <= int(folds) < 2**62:
        raise InputError(f"⟨folds⟩ must be a whole number of at least 2, or 'loo', not {written(folds)}")


def _describe_family(feature: Feature) -> str:
    """The family of a feature from which no row can be left out, with the option that prevents it."""
    name, options = feature.family.name, feature.family.options
    for option in ("tfidf", "norm", "weight_norm", "best", "shrinkage", "monotone"):
        if options.get(option) and feature.family.kind != "matrix":  # refused with any option
            return f"{name} with {option}={options[option]!r}"
    return f"{name} with by={by!r}" if (by := options.get("by")) in ("mdl", "mdl and quantile") else name
