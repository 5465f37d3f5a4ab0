"""The families of the columns by cross-validated log loss: all candidates are counted at once, and none is fitted twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, no_column
from nbsql.family import Family
from nbsql.judging.folds import Folds, resolved
from nbsql.judging.leave_one_out import check_folds
from nbsql.judging.refitted import cut_anew
from nbsql.spec.method import Classifier, Method
from nbsql.spec.options import Best, Forward, Options
from nbsql.spec.spec import Feature, Spec
from nbsql.tuning.candidates import candidates
from nbsql.tuning.choice import LEFT_OUT, Choice
from nbsql.tuning.combining import OUT, Combining, Score
from nbsql.tuning.methods import METHODS, Setting, other_methods, standing_by, words
from nbsql.tuning.sweep import family_text
from nbsql.warn import say

AUTO = "auto"
FOLDS = 5
BUDGET = 50_000  # rows
EVERY = "*"
Families = str | Mapping[str, str | Family]
LEAST = 2.0  # standard errors that a gain must be above, so that ties go to the default
_ROUNDS = 8
_ENOUGH = 1e-4  # of the log loss: a round that gains less is the last
_CLASSES = 40
_MILLION = 1_000_000


def choose(
    engine: Engine,
    source: Source,
    options: Options,
    *,
    columns: Sequence[str] | None = None,
    leave_out: bool,
    calibrate: bool,
    folds: int | str,
    fold: str | None,
    budget: int | None,
    methods: Sequence[Method] = (),
) -> Choice:
    """Choose families within a transaction of the caller's; see `nbsql.auto`.

    Args:
        engine: where.
        source: what to learn from and to predict.
        options: what to model; the columns that have a family there keep it.
        columns: whose families are to be chosen; None for all that have none.
        leave_out: whether a column may be left out.
        calibrate: whether a temperature is tried.
        folds: how many.
        fold: the column that says the fold of a row, instead.
        budget: rows to judge on, at most; None for all.
        methods: that are tried, too.
    """
    others = other_methods(methods)
    engine.require(AUTO)
    check_folds(folds, fold)
    if isinstance(folds, str):
        raise InputError("auto takes folds, a whole number of at least 2, and no 'loo'")
    if isinstance(options.features, (Best, Forward)):
        raise InputError(
            f"auto does not take features=nbsql.{type(options.features).__name__}(...); name the features, or none"
        )
    if options.classifier.name != "naive":
        raise InputError(f"auto chooses families of method='naive', not of {options.classifier.name!r}")
    options = replace(options, slice_by=None)
    with engine.temporaries() as temporary:
        part = _part(engine, source, options, fold, budget, temporary)
        return _Choosing(engine, part, options, columns, leave_out, folds, fold, temporary).run(
            others, lenient=methods is METHODS, calibrate=calibrate
        )


def _part(
    engine: Engine, source: Source, options: Options, fold: str | None, budget: int | None, temporary: Callable[[str], Markup]
) -> Source:
    """The source, or so many of its rows as a table, always the same ones."""
    if budget is None:
        return source
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise InputError(f"budget must be a whole number of rows of at least 1, or None for all, not {budget!r}")
    rows = engine.ask("row_count", source.relation)[0][0]
    if rows <= budget:
        return source
    spec = resolved(engine, source, [options], fold)[0]
    relation = temporary("part")
    share = round(_MILLION * budget / rows)
    query = engine.renderer.fragment("sampled_share", source.relation, spec.columns, source.kinds, share)
    engine.create(f"take {budget:,} of {rows:,} rows", relation, query)
    return Source(relation, source.label, source.columns, is_table=True)


class _Choosing:
    """One choice of families, in temporary tables."""

    def __init__(
        self,
        engine: Engine,
        source: Source,
        options: Options,
        columns: Sequence[str] | None,
        leave_out: bool,
        folds: int,
        fold: str | None,
        temporary: Callable[[str], Markup],
    ) -> None:
        default = resolved(engine, source, [options], fold)[0]
        self.leave_out = leave_out
        self._judged: dict[str, Any] = {"folds": folds, "fold": fold}
        self._place = (engine, source, options, temporary)
        given = {name.lower() for name in options.families} if columns is None else set()
        wanted = None if columns is None else {name.lower() for name in columns}
        free = [
            feature
            for feature in default.features
            if feature.is_inferred and feature.name.lower() not in given and (wanted is None or feature.name.lower() in wanted)
        ]
        for feature in default.features:
            if feature.family.complement:
                raise InputError(
                    f"auto does not take {feature.name!r}, which is a complement: "
                    "whether the prior counts depends on the other features"
                )
        self.free = {feature.name for feature in free}
        families = candidates(engine, source, default, free)
        layers = max([0, *map(len, families.values())])
        settings = [options]
        for layer in range(layers):
            chosen = {name: found[layer] for name, found in families.items() if layer < len(found)}
            settings.append(replace(options, families={**options.families, **chosen}))
        specs = resolved(engine, source, settings, fold)
        counted = [_counted(spec) for spec in specs]
        dealt = Folds(engine, source, counted, temporary, folds=folds, fold=fold, columns=default.columns)
        classes = len(default.classes or dealt.labels)
        if classes > _CLASSES:
            raise InputError(f"auto takes at most {_CLASSES} classes, and {source.label} has {classes}")
        self.families: dict[str, list[Family]] = {}
        features: dict[str, list[Feature]] = {}
        for feature in specs[0].features:
            known = [feature.family, *families.get(feature.name, [])]
            self.families[feature.name] = known
            found = [_named(spec.features, feature) for spec in specs[: len(known)]]
            features[feature.name] = [
                each if cut_anew(each) else _named(answered.features, feature)
                for each, answered in zip(found, dealt.specs, strict=False)
            ]
        self.rows = dealt.rows
        self.combining = Combining(dealt, dealt.specs[0], features, temporary)
        self.default = {name: numbers[0] for name, numbers in self.combining.numbers.items()}
        self.alone = {name: self.combining.alone(name) for name in features}

    def _tried(self, column: str) -> list[int]:
        numbers = self.combining.numbers[column]
        return [*numbers, OUT] if self.leave_out and column in self.free else numbers

    def run(self, methods: Sequence[tuple[str, Classifier]], *, lenient: bool, calibrate: bool) -> Choice:
        """Search, compare what was found and other methods with the default, and say what was tried.

        Args:
            methods: by name.
            lenient: whether a method that the rows do not allow is left out, with a warning.
            calibrate: whether a temperature is tried.
        """
        combining = self.combining
        found = self._search(heated=False)
        settings = [Setting("default", self.default, False), Setting("families chosen", found, False)]
        if calibrate:
            settings.insert(1, Setting("default, calibrated", self.default, True))
            settings.append(Setting("families chosen, calibrated", self._search(heated=True), True))
        losses, heats = [], []
        made: dict[str, Markup] = {}
        for name, other in methods if len(self.default) > 1 else []:
            setting = Setting(name, found, False, other)
            try:
                made[setting.key] = self._standing(setting)
            except InputError as error:
                if not lenient:
                    raise
                say(f"{name} is not tried: {error}")
                continue
            settings += [setting, *([Setting(f"{name}, calibrated", found, True, other)] if calibrate else [])]
        for setting in settings:
            standing = made[setting.key] if setting.key in made else made.setdefault(setting.key, self._standing(setting))
            best, by_fold = combining.temperatures(standing) if setting.heated else (1.0, None)
            losses.append(combining.losses(standing, by_fold))
            heats.append(best)
        scores = [combining.compared(each, losses[0]) for each in losses]
        winner = 0
        for number in range(1, len(settings)):
            if combining.compared(losses[number], losses[winner]).is_sure(LEAST):
                winner = number
        order = sorted(range(len(settings)), key=lambda number: (number != winner, float(f"{scores[number].loss:.9g}"), number))
        ranking = [
            (rank, settings[number].name, *_figures(scores[number]), number == winner)
            for rank, number in enumerate(order, start=1)
        ]
        wanted = settings[winner]
        families = self._chosen(wanted.chosen)
        method = wanted.method
        return Choice(
            self.rows,
            families if method is None else words(families),
            [name for name, number in wanted.chosen.items() if number == OUT] if method is None else [],
            wanted.heated,
            method,
            ranking,
            list(self._settings(wanted.chosen, heats[winner] if method is None else 1.0)),
        )

    def _standing(self, setting: Setting) -> Markup:
        """A table of the rows as they stand by a setting."""
        if setting.method is None:
            return self.combining.standing(setting.chosen)
        engine, source, options, temporary = self._place
        families = {**options.families, **words(self._chosen(setting.chosen))}
        options = replace(options, families=families, method=cast("Method", setting.method))
        return standing_by(engine, source, options, self.combining, temporary, **self._judged)

    def _chosen(self, chosen: Mapping[str, int]) -> dict[str, Family]:
        """The families that are not the default's."""
        return {name: self._family(name, number) for name, number in chosen.items() if number not in (OUT, self.default[name])}

    def _family(self, column: str, number: int) -> Family:
        return self.families[column][number - self.default[column]]

    def _text(self, column: str, number: int) -> str:
        family = self._family(column, number)
        inferred = number == self.default[column] and column in self.free
        return family_text(type(family)() if inferred else family)

    def _search(self, *, heated: bool) -> dict[str, int]:
        """A candidate a column: first each by itself, then round the columns until nothing gains."""
        combining = self.combining
        chosen = {name: self._pick(name, self.alone[name], keep=True) for name in self.default}
        standing = combining.standing(chosen)
        temperature = combining.temperatures(standing)[0] if heated else 1.0
        loss = float("inf")
        for _ in range(_ROUNDS):
            before, start = loss, True
            for name in chosen:
                tried = self._tried(name)
                if len(tried) < 2:
                    continue
                scores = combining.scores(standing, name, chosen[name], tried, temperature)
                if start and before == float("inf"):
                    before = scores[chosen[name]].loss
                start = False
                wanted = self._pick(name, scores)
                if wanted != chosen[name]:
                    standing = combining.move(standing, name, chosen[name], wanted)
                    chosen[name] = wanted
                loss = scores[wanted].loss
            if heated:
                temperature = combining.temperatures(standing)[0]
            if before - loss < _ENOUGH:
                break
        combining.drop(standing)
        return chosen

    def _pick(self, column: str, scores: Mapping[int, Score], *, keep: bool = False) -> int:
        """The candidate of the lowest loss among those that gain for sure over the default; without one, the default.

        Args:
            column: whose.
            scores: of its candidates, the default first.
            keep: whether the column is not to be left out yet.
        """
        sure = [number for number in self._tried(column) if scores[number].is_sure(LEAST) and not (keep and number == OUT)]
        return min(sure, key=lambda number: (scores[number].loss, number), default=self.default[column])

    def _settings(self, chosen: Mapping[str, int], temperature: float) -> Iterator[tuple[Any, ...]]:
        standing = self.combining.standing(chosen)
        for name in self.default:
            tried = self._tried(name)
            scores = self.combining.scores(standing, name, chosen[name], tried, temperature)
            for number in sorted(tried, key=lambda number: (number != chosen[name], scores[number].loss, number)):
                text = LEFT_OUT if number == OUT else self._text(name, number)
                yield name, text, self.alone[name][number].loss, *_figures(scores[number]), number == chosen[name]


def _figures(score: Score) -> tuple[float, float, float]:
    return score.loss, score.gain, score.error


def _counted(spec: Spec) -> Spec:
    """A spec without the features that the classes cut, of which each fold has its own."""
    return replace(spec, features=tuple(feature for feature in spec.features if not cut_anew(feature)))


def _named(features: Sequence[Feature], wanted: Feature) -> Feature:
    return next(feature for feature in features if feature.name == wanted.name)


def columns_to_choose(families: Families) -> tuple[list[str] | None, Mapping[str, str | Family]]:
    """The columns whose families are to be chosen, None for all that have none, and the families of the others.

    Args:
        families: of a fit: "auto", or a dictionary in which some are "auto"; that of "*" is of all that have none.
    """
    if _is_auto(families):
        return None, {}
    if not isinstance(families, Mapping):
        return [], cast("Mapping[str, str | Family]", families)  # which the fit refuses
    found = {name: family for name, family in families.items() if not _is_auto(family)}
    columns = [name for name in families if name not in found]
    return None if EVERY in columns else columns, found


def with_auto(families: Mapping[str, str | Family]) -> Families:
    """The families of a fit that chooses all others."""
    return {EVERY: AUTO, **families}


def _is_auto(family: Any) -> bool:
    return isinstance(family, str) and family == AUTO


def with_families(engine: Engine, source: Source, options: Options, columns: Sequence[str] | None) -> Options:
    """The options of a fit with the families that were chosen of some columns, None for all, by folds of a part of the rows."""
    known = [column.name for column in source.columns]
    for name in columns or []:
        if name.lower() not in map(str.lower, known):
            raise no_column(name, known, source.label)
    choice = choose(
        engine, source, options, columns=columns, leave_out=False, calibrate=False, folds=FOLDS, fold=None, budget=BUDGET
    )  # fmt: skip
    return choice.options(options)
