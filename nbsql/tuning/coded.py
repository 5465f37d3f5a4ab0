"""Folds with codes in place of categories, for a sweep: settings are then scored without joins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from nbsql.judging.folds import MAX_CELLS, Folds
from nbsql.judging.leave_one_out import LeaveOneOut
from nbsql.rendering.layout import Layout
from nbsql.spec.spec import Feature, Spec

# Coding takes about as long as scoring a setting, so it does not pay for fewer settings.
MIN_SETTINGS = 3

Rows = list[tuple[Any, ...]]


def score_settings(cv: Folds, specs: Sequence[Spec]) -> list[Rows]:
    """The scores of the folds by each of some settings: a row for each fold, as from `Folds.score`."""
    if not _should_code(cv, specs):
        return [cv.score(cv.models(spec)) for spec in specs]
    coded = iter(CodedFolds(cv).score([spec for spec in specs if _levels(spec)]))
    return [next(coded) if _levels(spec) else cv.score(cv.models(spec)) for spec in specs]


def _levels(spec: Spec) -> list[Feature]:
    return [feature for feature in spec.features if feature.family.level]


def _should_code(cv: Folds, specs: Sequence[Spec]) -> bool:
    """Whether coding categories pays: not if there are none or too many, or if something else takes most of the time."""
    features = cv.counted_spec.features
    return (
        cv.engine.renderer.dialect.traits.structs
        and not isinstance(cv, LeaveOneOut)
        and sum(1 for spec in specs if _levels(spec)) >= MIN_SETTINGS
        and len(_levels(cv.counted_spec)) <= Layout.star_joins
        and not any(feature.family.bag or feature.family.backs_off for feature in features)
        and all(cv.context(spec).form.class_numbers for spec in specs)
        and cv.engine.ask("row_count", cv.cells)[0][0] * len(cv.names) <= MAX_CELLS
    )


class CodedFolds:
    """The rows of counted folds with each category as a code (sql/macros/judging/coded.sql)."""

    def __init__(self, cv: Folds) -> None:
        self.cv = cv
        self.engine = cv.engine
        spec, folds = cv.counted_spec, cv.names
        self.levels = _levels(spec)  # by their names in the cells
        read = [column for feature in spec.features if not feature.family.level for column in feature.columns]
        self.columns = list(dict.fromkeys([spec.target, *([spec.weight] if spec.weight else []), *read]))
        context = cv.context(spec)
        self.codes = self._create("level_codes", cv.cells, self.levels, folds)
        self.rows = self._create("coded_rows", context, cv.rows_with_folds, self.columns, self.levels, folds, self.codes)
        self.others = self._create("cells_without_each_fold", context, cv.cells, self.levels, folds)
        self.batch_size = max(1, MAX_CELLS // self.engine.ask("row_count", self.others)[0][0])

    def score(self, specs: Sequence[Spec]) -> list[Rows]:
        """The rows of `Folds.score` for each of some settings with categories."""
        rows_by_setting: dict[int, Rows] = {}
        for batch in self._batches(specs):
            scores = self._scores([specs[number] for number in batch])
            rows_by_setting |= {
                number: self._score(specs[number], scores, setting) for setting, number in enumerate(batch, start=1)
            }
        return [rows_by_setting[number] for number in range(len(specs))]

    def _batches(self, specs: Sequence[Spec]) -> Iterator[list[int]]:
        """The numbers of settings in batches of one prior, which orders the classes; a batch is scored by one statement."""
        for prior in dict.fromkeys(spec.prior for spec in specs):
            numbers = [number for number, spec in enumerate(specs) if spec.prior == prior]
            yield from (numbers[start : start + self.batch_size] for start in range(0, len(numbers), self.batch_size))

    def _scores(self, specs: Sequence[Spec]) -> Markup:
        """The table of the scores of some settings, made as if their features belonged to one setting under distinct names."""
        names: list[tuple[int, str, Feature]] = []
        for setting, spec in enumerate(specs, start=1):
            for counted, feature in zip(self.cv.counted_names(spec), spec.features, strict=True):
                if feature.family.level:
                    number = len(names) + 1
                    names.append((setting, counted, replace(feature, name=f"{number} {feature.name}", index=number)))
        context = self.cv.context(replace(specs[0], features=tuple(feature for *_, feature in names)))
        pairs = [(counted, feature.name) for _, counted, feature in names]
        cells = self._query("cells_of_setting", self.others, pairs, self._fragment("word", "folds.nbsql_slice"), True)
        priors = self._query("priors", context, cells)
        models = self._fragment("models_of_folds", "coded_lookups", context, cells, priors, self.cv.names)
        lookups = self.cv.replace_table("coded lookups", models)
        arguments = (context, len(specs), names, self.cv.names, self.codes, lookups)
        return self.cv.replace_table("scores of settings", self._fragment("coded_scores", *arguments))

    def _score(self, spec: Spec, scores: Markup, setting: int) -> Rows:
        rest = replace(spec, features=tuple(feature for feature in spec.features if not feature.family.level))
        context = self.cv.context(rest, coded=True)
        parameters = self.cv.make_table("parameters", context, rest, self.cv.names)
        rows = self._query("with_levels", context, self.rows, self.columns, self.levels, scores, setting)
        scored = self._query("scored", context, rows, parameters, scores)
        return self.engine.ask("fold_scores", context, scored, parameters)

    def _create(self, macro: str, *arguments: Any) -> Markup:
        return self.cv.create(macro.replace("_", " "), self._fragment(macro, *arguments))

    def _query(self, macro: str, *arguments: Any) -> Markup:
        return self._fragment("subquery", self._fragment(macro, *arguments))

    def _fragment(self, macro: str, *arguments: Any) -> Markup:
        return self.engine.renderer.fragment(macro, *arguments)
