"""The rows of folds with numbers in the place of categories, for a sweep: a setting is then scored without a join."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from nbsql.judging.folds import CELLS_AT_ONCE, Folds
from nbsql.judging.leave_one_out import LeaveOneOut
from nbsql.rendering.layout import Layout
from nbsql.spec.spec import Feature, Spec

# Coding takes about as long as scoring a setting; so few settings are scored without.
LEAST_SETTINGS = 3

Rows = list[tuple[Any, ...]]


def judge(dealt: Folds, specs: Sequence[Spec]) -> list[Rows]:
    """How well each of some settings predicts the folds: a row a fold, as `Folds.score`."""
    if not _is_worth_it(dealt, specs):
        return [dealt.score(dealt.models(spec)) for spec in specs]
    coded = iter(Coded(dealt).judge([spec for spec in specs if _levels(spec)]))
    return [next(coded) if _levels(spec) else dealt.score(dealt.models(spec)) for spec in specs]


def _levels(spec: Spec) -> list[Feature]:
    return [feature for feature in spec.features if feature.family.level]


def _is_worth_it(dealt: Folds, specs: Sequence[Spec]) -> bool:
    """Whether categories are coded: not where there are none, or too many, or where something else takes the time."""
    known = dealt.known
    return (
        dealt.engine.renderer.dialect.traits.structs
        and not isinstance(dealt, LeaveOneOut)
        and sum(1 for spec in specs if _levels(spec)) >= LEAST_SETTINGS
        and len(_levels(known)) <= Layout.star_joins
        and not any(feature.family.bag or feature.family.backs_off for feature in known.features)
        and all(dealt.context(spec).form.class_numbers for spec in specs)
        and dealt.engine.ask("row_count", dealt.cells)[0][0] * len(dealt.names) <= CELLS_AT_ONCE
    )


class Coded:
    """The rows of folds, each category of a row as a number (sql/macros/judging/coded.sql).

    Args:
        dealt: the folds, counted.
    """

    def __init__(self, dealt: Folds) -> None:
        self.dealt = dealt
        self.engine = dealt.engine
        known, folds = dealt.known, dealt.names
        self.levels = _levels(known)  # by their names among the cells
        read = [column for feature in known.features if not feature.family.level for column in feature.columns]
        self.columns = list(dict.fromkeys([known.target, *([known.weight] if known.weight else []), *read]))
        context = dealt.context(known)
        self.codes = self._create("level_codes", dealt.cells, self.levels, folds)
        self.rows = self._create("coded_rows", context, dealt.dealt, self.columns, self.levels, folds, self.codes)
        self.others = self._create("cells_without_each_fold", context, dealt.cells, self.levels, folds)
        self.room = max(1, CELLS_AT_ONCE // self.engine.ask("row_count", self.others)[0][0])

    def judge(self, specs: Sequence[Spec]) -> list[Rows]:
        """The rows of `Folds.score` for each of some settings with categories."""
        found: dict[int, Rows] = {}
        for batch in self._batches(specs):
            scores = self._scores([specs[number] for number in batch])
            found |= {number: self._score(specs[number], scores, setting) for setting, number in enumerate(batch, start=1)}
        return [found[number] for number in range(len(specs))]

    def _batches(self, specs: Sequence[Spec]) -> Iterator[list[int]]:
        """The numbers of settings of one prior, which orders the classes: as many as one statement is to hold."""
        for prior in dict.fromkeys(spec.prior for spec in specs):
            numbers = [number for number, spec in enumerate(specs) if spec.prior == prior]
            yield from (numbers[start : start + self.room] for start in range(0, len(numbers), self.room))

    def _scores(self, specs: Sequence[Spec]) -> Markup:
        """The lists of some settings, made as if their features were those of one, each by a name of its own."""
        names: list[tuple[int, str, Feature]] = []
        for setting, spec in enumerate(specs, start=1):
            for counted, feature in zip(self.dealt.counted_as(spec), spec.features, strict=True):
                if feature.family.level:
                    number = len(names) + 1
                    names.append((setting, counted, replace(feature, name=f"{number} {feature.name}", index=number)))
        context = self.dealt.context(replace(specs[0], features=tuple(feature for *_, feature in names)))
        pairs = [(counted, feature.name) for _, counted, feature in names]
        cells = self._query("cells_of_setting", self.others, pairs, self._fragment("fold_of_row"), True)
        priors = self._query("priors", context, cells)
        models = self._fragment("models_of_folds", "coded_lookups", context, cells, priors, self.dealt.names)
        lookups = self.dealt.renew("coded lookups", models)
        arguments = (context, len(specs), names, self.dealt.names, self.codes, lookups)
        return self.dealt.renew("scores of settings", self._fragment("coded_scores", *arguments))

    def _score(self, spec: Spec, scores: Markup, setting: int) -> Rows:
        rest = replace(spec, features=tuple(feature for feature in spec.features if not feature.family.level))
        context = self.dealt.context(rest, coded=True)
        parametrised = [feature for feature in rest.features if feature.family.parameters]
        parameters = self.dealt.make("parameters", context, rest, parametrised, self.dealt.names)
        rows = self._query("with_levels", context, self.rows, self.columns, self.levels, scores, setting)
        scored = self._query("scored", context, rows, parameters, scores)
        return self.engine.ask("fold_scores", context, scored, parameters)

    def _create(self, macro: str, *arguments: Any) -> Markup:
        return self.dealt.create(macro.replace("_", " "), self._fragment(macro, *arguments))

    def _query(self, macro: str, *arguments: Any) -> Markup:
        return self._fragment("subquery", self._fragment(macro, *arguments))

    def _fragment(self, macro: str, *arguments: Any) -> Markup:
        return self.engine.renderer.fragment(macro, *arguments)
