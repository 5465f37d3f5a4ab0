"""Families chosen by cross-validated log loss: all candidates are counted at once, and none is fitted twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, cast

from markupsafe import Markup

from nbsql.answers.query import Query
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, no_column, written
from nbsql.family import Family
from nbsql.judging.folds import Folds, resolve_settings
from nbsql.judging.leave_one_out import check_folds
from nbsql.judging.refitted_folds import is_cut_by_class
from nbsql.learning.number_advice import warn_of_texts
from nbsql.spec.method import Classifier, Method
from nbsql.spec.options import Best, Forward, Options
from nbsql.spec.spec import Feature
from nbsql.tuning.candidate_terms import OUT, CandidateTerms, Score
from nbsql.tuning.candidates import candidates
from nbsql.tuning.choice import LEFT_OUT, RANKING, TRIED, Auto
from nbsql.tuning.methods import METHODS, Setting, bag_families, other_methods, row_scores_by_method
from nbsql.tuning.sweep import family_text
from nbsql.warn import warn_user

AUTO = "auto"
FOLDS = 5
BUDGET = 50_000  # rows
EVERY = "*"
Families = str | Mapping[str, str | Family]
MIN_STANDARD_ERRORS = 2.0  # a gain must exceed so many standard errors, so that ties go to the default
_MAX_ROUNDS = 8
_MIN_IMPROVEMENT = 1e-4  # decrease of the log loss below which a round is the last
_MAX_CLASSES = 40
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
) -> Auto:
    """Choose families inside the caller's transaction; see `nbsql.auto`.

    The families of `columns` are chosen, None for all; those that have a family in the options keep it.
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
        sampled = _sampled_source(engine, source, options, fold, budget, temporary)
        return _FamilySearch(engine, sampled, options, columns, leave_out, folds, fold, temporary).run(
            others, lenient=methods is METHODS, calibrate=calibrate
        )


def _sampled_source(
    engine: Engine, source: Source, options: Options, fold: str | None, budget: int | None, temporary: Callable[[str], Markup]
) -> Source:
    """The source, or a table of about `budget` of its rows, which are always the same."""
    if budget is None:
        return source
    if isinstance(budget, bool) or not isinstance(budget, Integral) or budget < 1:
        raise InputError(f"budget must be a whole number of rows of at least 1, or None for all, not {written(budget)}")
    rows = engine.ask("row_count", source.relation)[0][0]
    if rows <= budget:
        return source
    spec = resolve_settings(engine, source, [options], fold)[0]
    share = round(_MILLION * budget / rows)
    query = engine.renderer.fragment("sampled_share", source.relation, spec.columns, source.kinds, share)
    relation = engine.create(f"sampling {budget:,} of {rows:,} rows", temporary("part"), query)
    return Source(relation, source.label, source.columns, is_table=True)


class _FamilySearch:
    """One search for families, in temporary tables."""

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
        default = resolve_settings(engine, source, [options], fold)[0]
        self.leave_out = leave_out
        self._fold_options: dict[str, Any] = {"folds": folds, "fold": fold}
        self._place = (engine, source, options, temporary)
        given = {name.lower() for name in options.families} if columns is None else set()
        selected = None if columns is None else {name.lower() for name in columns}
        selectable = [
            feature
            for feature in default.features
            if feature.is_inferred
            and feature.name.lower() not in given
            and (selected is None or feature.name.lower() in selected)
        ]
        for feature in default.features:
            if feature.family.complement:
                raise InputError(
                    f"auto does not take {feature.name!r}, which is a complement: "
                    "whether the prior counts depends on the other features"
                )
        self.selectable = {feature.name for feature in selectable}
        warn_of_texts(engine, source, selectable)
        families = candidates(engine, source, default, selectable)
        n_settings = max([0, *map(len, families.values())])
        settings = [options]
        for layer in range(n_settings):
            chosen = {name: found[layer] for name, found in families.items() if layer < len(found)}
            settings.append(replace(options, families={**options.families, **chosen}))
        specs = resolve_settings(engine, source, settings, fold)
        # Bins that are cut by the class differ between folds.
        counted = [replace(spec, features=tuple(each for each in spec.features if not is_cut_by_class(each))) for spec in specs]
        cv = Folds(engine, source, counted, temporary, folds=folds, fold=fold, columns=default.columns)
        classes = len(default.classes or cv.labels)
        if classes > _MAX_CLASSES:
            raise InputError(f"auto takes at most {_MAX_CLASSES} classes, and {source.label} has {classes}")
        self.families: dict[str, list[Family]] = {}
        features: dict[str, list[Feature]] = {}
        for feature in specs[0].features:
            families_of_column = [feature.family, *families.get(feature.name, [])]
            self.families[feature.name] = families_of_column
            found = [_same_feature(spec.features, feature) for spec in specs[: len(families_of_column)]]
            features[feature.name] = [
                each if is_cut_by_class(each) else _same_feature(answered.features, feature)
                for each, answered in zip(found, cv.specs, strict=False)
            ]
        self.terms = CandidateTerms(cv, cv.specs[0], features, temporary)
        self.default = {name: numbers[0] for name, numbers in self.terms.numbers.items()}
        self.scores_alone = {name: self.terms.scores_alone(name) for name in features}

    def _candidates_of(self, column: str) -> list[int]:
        numbers = self.terms.numbers[column]
        return [*numbers, OUT] if self.leave_out and column in self.selectable else numbers

    def run(self, methods: Sequence[tuple[str, Classifier]], *, lenient: bool, calibrate: bool) -> Auto:
        """Search, compare the result and other methods (by name) with the default, and rank what was tried.

        With `lenient` a method that the rows do not allow is skipped with a warning; with `calibrate` a temperature is tried.
        """
        terms = self.terms
        chosen = self._search(calibrated=False)
        settings = [Setting("default", self.default, False), Setting("families chosen", chosen, False)]
        if calibrate:
            settings.insert(1, Setting("default, calibrated", self.default, True))
            settings.append(Setting("families chosen, calibrated", self._search(calibrated=True), True))
        losses, temperatures = [], []
        scores_by_key: dict[str, Markup] = {}
        for name, other in methods if len(self.default) > 1 else []:
            setting = Setting(name, chosen, False, other)
            try:
                scores_by_key[setting.key] = self._row_scores(setting)
            except InputError as error:
                if not lenient:
                    raise
                warn_user(f"{name} is not tried: {error}")
                continue
            settings += [setting, *([Setting(f"{name}, calibrated", chosen, True, other)] if calibrate else [])]
        for setting in settings:
            if setting.key not in scores_by_key:
                scores_by_key[setting.key] = self._row_scores(setting)
            row_scores = scores_by_key[setting.key]
            best, by_fold = terms.temperatures(row_scores) if setting.calibrated else (1.0, None)
            losses.append(terms.losses(row_scores, by_fold))
            temperatures.append(best)
        scores = [terms.compare(each, losses[0]) for each in losses]
        winner = 0
        for number in range(1, len(settings)):
            if terms.compare(losses[number], losses[winner]).is_sure(MIN_STANDARD_ERRORS):
                winner = number
        order = sorted(range(len(settings)), key=lambda number: (float(f"{scores[number].loss:.9g}"), number))
        ranking = [
            (rank, settings[number].name, *_figures(scores[number]), number == winner)
            for rank, number in enumerate(order, start=1)
        ]
        ranking.sort(key=lambda row: not row[-1])  # the chosen one comes first, whatever its rank
        winning = settings[winner]
        families = self._non_default_families(winning.chosen)
        method = winning.method
        tried = self._settings(winning.chosen, temperatures[winner] if method is None else 1.0)
        engine, render = terms.engine, terms.engine.renderer.statement
        return Auto(
            engine.ask("row_count", losses[0])[0][0],
            families if method is None else bag_families(families),
            [name for name, number in winning.chosen.items() if number == OUT] if method is None else [],
            winning.calibrated,
            cast("Method", method or "naive"),
            Query(engine, render("ranked_rows", ranking, RANKING, [1])),
            Query(engine, render("ranked_rows", list(tried), TRIED, [0, 1])),
        )

    def _row_scores(self, setting: Setting) -> Markup:
        """A table of the joint log-likelihoods of the rows by a setting."""
        if setting.method is None:
            return self.terms.row_scores(setting.chosen)
        engine, source, options, temporary = self._place
        families = {**options.families, **bag_families(self._non_default_families(setting.chosen))}
        options = replace(options, families=families, method=cast("Method", setting.method))
        return row_scores_by_method(engine, source, options, self.terms, temporary, **self._fold_options)

    def _non_default_families(self, chosen: Mapping[str, int]) -> dict[str, Family]:
        return {name: self._family(name, number) for name, number in chosen.items() if number not in (OUT, self.default[name])}

    def _family(self, column: str, number: int) -> Family:
        return self.families[column][number - self.default[column]]

    def _search(self, *, calibrated: bool) -> dict[str, int]:
        """The chosen candidate of each column: first for each column by itself, then in rounds until nothing gains."""
        terms = self.terms
        chosen = {name: self._pick(name, self.scores_alone[name], keep=True) for name in self.default}
        row_scores = terms.row_scores(chosen)
        temperature = terms.temperatures(row_scores)[0] if calibrated else 1.0
        loss = float("inf")
        for _ in range(_MAX_ROUNDS):
            before, start = loss, True
            for name in chosen:
                tried = self._candidates_of(name)
                if len(tried) < 2:
                    continue
                scores = terms.scores(row_scores, name, chosen[name], tried, temperature)
                if start and before == float("inf"):
                    before = scores[chosen[name]].loss
                start = False
                best = self._pick(name, scores)
                if best != chosen[name]:
                    row_scores = terms.exchange(row_scores, name, chosen[name], best)
                    chosen[name] = best
                loss = scores[best].loss
            if calibrated:
                temperature = terms.temperatures(row_scores)[0]
            if before - loss < _MIN_IMPROVEMENT:
                break
        terms.drop(row_scores)
        return chosen

    def _pick(self, column: str, scores: Mapping[int, Score], *, keep: bool = False) -> int:
        """The candidate of the lowest loss among those that gain significantly over the default; if none does, the default.

        With `keep` the column must not be left out yet.
        """
        sure = [
            number
            for number in self._candidates_of(column)
            if scores[number].is_sure(MIN_STANDARD_ERRORS) and not (keep and number == OUT)
        ]
        return min(sure, key=lambda number: (scores[number].loss, number), default=self.default[column])

    def _settings(self, chosen: Mapping[str, int], temperature: float) -> Iterator[tuple[Any, ...]]:
        row_scores = self.terms.row_scores(chosen)
        for name in self.default:
            tried = self._candidates_of(name)
            scores = self.terms.scores(row_scores, name, chosen[name], tried, temperature)
            for number in sorted(tried, key=lambda number: (number != chosen[name], scores[number].loss, number)):
                text = LEFT_OUT
                if number != OUT:
                    family, inferred = self._family(name, number), number == self.default[name] and name in self.selectable
                    text = family_text(type(family)() if inferred else family)
                yield name, text, self.scores_alone[name][number].loss, *_figures(scores[number]), number == chosen[name]


def _figures(score: Score) -> tuple[float, float, float]:
    return score.loss, score.gain, score.error


def _same_feature(features: Sequence[Feature], wanted: Feature) -> Feature:
    return next(feature for feature in features if feature.name == wanted.name)


def columns_to_choose(families: Families) -> tuple[list[str] | None, Mapping[str, str | Family]]:
    """The columns whose families are to be chosen, None for all that have none, and the families of the others.

    The argument of a fit is "auto", or a dictionary with "auto" for some columns; the key "*" is all columns without a family.
    """
    if _is_auto(families):
        return None, {}
    if not isinstance(families, Mapping):
        return [], cast("Mapping[str, str | Family]", families)  # the fit refuses it
    given = {name: family for name, family in families.items() if not _is_auto(family)}
    columns = [name for name in families if name not in given]
    return None if EVERY in columns else columns, given


def with_auto(families: Mapping[str, str | Family]) -> Families:
    """The families of a fit that chooses those of all other columns."""
    return {EVERY: AUTO, **families}


def _is_auto(family: Any) -> bool:
    return isinstance(family, str) and family == AUTO


def with_families(engine: Engine, source: Source, options: Options, columns: Sequence[str] | None) -> Options:
    """The options of a fit, with families chosen for some columns (None: all) by cross-validation on a sample of the rows."""
    names = [column.name for column in source.columns]
    for name in columns or []:
        if name.lower() not in map(str.lower, names):
            raise no_column(name, names, source.label)
    choice = choose(
        engine, source, options, columns=columns, leave_out=False, calibrate=False, folds=FOLDS, fold=None, budget=BUDGET
    )  # fmt: skip
    return choice._options(options)
