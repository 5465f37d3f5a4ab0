"""Families chosen by cross-validated log loss: all candidates are counted at once, and none is fitted twice."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, cast

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError, NotSupportedError, listed
from nbsql.evaluation.leave_one_out import check_folds
from nbsql.evaluation.refitted_folds import is_cut_by_class
from nbsql.family import Bernoulli, Binned, Family
from nbsql.learning.copies import warn_of_copies
from nbsql.learning.folds import Folds, resolve_settings
from nbsql.learning.text_advice import warn_of_texts
from nbsql.queries.query import Query
from nbsql.spec.classifier import Classifier
from nbsql.spec.method import Discriminant, Method, Weighted
from nbsql.spec.options import Best, Options
from nbsql.spec.spec import Feature, Spec
from nbsql.tuning.budget import Budget
from nbsql.tuning.candidate_terms import CANDIDATES_SHARE, DEFAULT, OUT, CandidateTerms, Score
from nbsql.tuning.candidates import candidates
from nbsql.tuning.choice import LEFT_OUT, RANKING, TRIED, Auto
from nbsql.tuning.comparison import Comparison, FarBehindError
from nbsql.tuning.held_out import rows_to_compare
from nbsql.tuning.method_scores import MethodScores, OutOfTimeError
from nbsql.tuning.methods import (
    METHODS,
    Setting,
    adds_features,
    can_differ,
    kept_families,
    other_methods,
    place_of_weights,
    reason_not_tried,
    settings_to_try,
    settings_with_matrix,
)
from nbsql.tuning.sweep import family_text
from nbsql.warn import quietly

FOLDS = 5
COLUMNS_AT_A_TIME = 32  # if seconds count; else all columns are counted together
MIN_STANDARD_ERRORS = 2.0  # a gain of a family must exceed so many standard errors, so that ties go to the default
_MAX_ROUNDS = 8
_MIN_IMPROVEMENT = 1e-4  # decrease of the log loss below which a round is the last
_MAX_CLASSES = 40
_SEARCH_SHARE = 0.8  # of the seconds of a budget, after which no further round of the search begins


def check_settings(options: Options) -> None:
    """Raise InputError for options of a fit that `auto` chooses by itself."""
    if isinstance(options.features, Best):
        raise InputError("auto does not take ⟨features=nbsql.Best(...)⟩; name the features, or none")
    if options.classifier.name != "naive":
        raise InputError(f"auto chooses families of ⟨method='naive'⟩, not of {options.classifier.name!r}")


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
    budget: Budget,
    methods: Sequence[Method] = (),
    whole: Source | None = None,
) -> Auto:
    """Choose families on all rows of a source, inside the caller's transaction; see `nbsql.auto`.

    The families of `columns` are chosen, None for all; those that have a family in the options keep it. Warnings have the
    numbers of rows of `whole`, if the source is a part of it.
    """
    others = other_methods(methods)
    engine.require("auto")
    check_folds(folds, fold)
    if isinstance(folds, str):
        raise InputError("auto takes folds, a whole number of at least 2, and no 'loo'")
    check_settings(options)
    options = replace(options, slice_by=None)
    with engine.temporaries() as temporary:
        whole = whole or source
        source = rows_to_compare(engine, source, options, fold, temporary) if others else source
        search = _FamilySearch(engine, source, options, columns, leave_out, folds, fold, budget, temporary, whole)
        with quietly():  # of what matters, the fit of the best warns
            return search.run(others, lenient=methods is METHODS, calibrate=calibrate)


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
        budget: Budget,
        temporary: Callable[[str], Markup],
        whole: Source,
    ) -> None:
        default = resolve_settings(engine, source, [options], fold)[0]
        self.leave_out = leave_out
        self._budget = budget
        self._looks = {column.name: column.look.family for column in source.columns if column.look and column.look.family}
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
                rest = "which is a complement: whether the prior counts depends on the other features"
                raise InputError(f"auto does not take {feature.name!r}, {rest}")
        self.features = {feature.name: feature for feature in default.features}
        inferred = {each.name for each in default.features if each.is_inferred}
        numbers = [c.name for c in source.columns if c.name in inferred and c.inferred_kind in Binned.accepts]
        self._flags = sum(self._looks.get(name) == Bernoulli() for name in numbers)
        self._numbers = len(numbers) - self._flags
        self.selectable = {feature.name for feature in selectable}
        self.families: dict[str, list[Family]] = {}
        self.reasons: dict[str, str] = {}
        self._late: set[str] = set()  # the columns whose further families are not tried, because the budget is spent
        warn_of_texts(engine, whole, selectable)
        warn_of_copies(engine, source, default.columns, fold)
        with quietly():
            self.terms = self._count_candidates(default)
        self.scores = MethodScores(
            engine, source, temporary, budget, self._fold_options, self.terms, self._options_of, self._features_of,
            numbers=self._numbers, flags=self._flags,
        )  # fmt: skip
        self.terms.cv.warn_of_one_class()
        self.default = dict.fromkeys(self.families, DEFAULT)
        self.scores_alone = self.terms.scores_of_candidates(self.terms.priors, dict.fromkeys(self.families, OUT))

    def _count_candidates(self, default: Spec) -> CandidateTerms:
        """Count the candidates of all columns: together or, if seconds count, some at a time while seconds are left."""
        terms: CandidateTerms | None = None
        size = len(default.features) if self._budget.seconds is None else COLUMNS_AT_A_TIME
        start = 0
        while terms is None or start < len(default.features):
            is_late = self._budget.is_spent(CANDIDATES_SHARE)
            chunk = default.features[start:] if is_late else default.features[start : start + size]
            start += len(chunk)
            self._late |= {feature.name for feature in chunk if is_late} & self.selectable
            cv, features = self._counted(default, chunk, None if terms is None else terms.rows, only_default=is_late)
            if terms is None:
                classes = len(default.classes or cv.labels)
                if classes > _MAX_CLASSES:
                    raise InputError(f"auto takes at most {_MAX_CLASSES} classes, and {cv.source.label} has more")
                terms = CandidateTerms(cv, self._place[3])
            if features:
                terms.add(cv, features, self._budget)
        return terms

    def _counted(
        self, default: Spec, chunk: Sequence[Feature], rows: Markup | None, *, only_default: bool
    ) -> tuple[Folds, dict[str, list[Feature]]]:
        """The folds in which the candidates of some columns are counted, and the candidates as features of their specs."""
        engine, source, options, temporary = self._place
        fold = self._fold_options["fold"]
        names = {feature.name for feature in chunk}
        found = [feature for feature in chunk if feature.name in self.selectable and not only_default]
        families = candidates(engine, source, default, found)
        settings = [options]
        for layer in range(max([0, *map(len, families.values())])):
            chosen = {name: group[layer] for name, group in families.items() if layer < len(group)}
            settings.append(replace(options, families={**options.families, **chosen}))
        specs = [
            replace(spec, features=tuple(feature for feature in spec.features if feature.name in names))
            for spec in resolve_settings(engine, source, settings, fold)
        ]
        # Bins that are cut by the class differ between folds.
        counted = [replace(spec, features=tuple(each for each in spec.features if not is_cut_by_class(each))) for spec in specs]
        prefix = f"folds {len(self.families)}"
        table = lambda name: temporary(f"{prefix} {name}")  # noqa: E731 - the same name is the same table
        cv = Folds(engine, source, counted, table, columns=default.columns, rows_with_folds=rows, **self._fold_options)
        features: dict[str, list[Feature]] = {}
        for feature in specs[0].features:
            families_of_column = [feature.family, *families.get(feature.name, [])]
            self.families[feature.name] = families_of_column
            alike = [_same_feature(spec.features, feature) for spec in specs[: len(families_of_column)]]
            features[feature.name] = [
                each if is_cut_by_class(each) else _same_feature(answered.features, feature)
                for each, answered in zip(alike, cv.specs, strict=False)
            ]
        return cv, features

    def _candidates_of(self, column: str) -> list[int]:
        places = self.terms.places[column]
        return [*places, OUT] if self.leave_out and column in self.selectable else places

    def run(self, methods: Sequence[tuple[str, Classifier]], *, lenient: bool, calibrate: bool) -> Auto:
        """Search, compare the result and other methods (by name) with the default, and rank what was tried.

        With `lenient` a method that the rows do not allow is skipped, with its reason; with `calibrate` a temperature is tried.
        """
        engine, classes, not_tried = self.terms.engine, self.terms.classes, self._columns_not_tried()
        compared, refused = Comparison(self.terms), dict[str, str]()
        chosen = [self._search({name: self._pick(name, scores, keep=True) for name, scores in self.scores_alone.items()})]
        chosen += [self._search(chosen[0], calibrated=True)] if calibrate else []
        beside = settings_with_matrix(engine, self._place[1], self._options_of, self._fold_options["fold"], compared.by_loss)
        own = self._own_candidates(chosen[-1])
        for setting in chain(settings_to_try(methods, self.default, own, chosen), beside if lenient else ()):
            columns, method = len(self._features_of(setting)), setting.method
            is_alone = not self.default or (len(self.default) == 1 and not self._adds_features(setting))
            if method is not None and (is_alone or (lenient and not can_differ(method, columns, self._numbers, self._flags))):
                continue  # there is nothing that it could depend on, or by which it could differ
            if lenient and method is not None:
                reason = reason_not_tried(method, columns, classes, compared.rows, self._numbers)
                if reason is not None:
                    refused[setting.name] = reason
                    continue
            try:
                if method is None:
                    row_scores = self.terms.row_scores(setting.chosen)
                else:
                    setting, row_scores = self.scores.of(setting, compared.check_first_fold if lenient else None)
            except OutOfTimeError:
                not_tried.append(f"method {setting.name}")
                continue
            except (FarBehindError, InputError, NotSupportedError) as error:
                if not lenient:
                    raise
                refused[setting.name] = str(error)
                continue
            warm = replace(setting, name=f"{setting.name}, calibrated", calibrated=True)
            compared.add([setting, warm] if calibrate and method is not None else [setting], row_scores)
        may_lack_all = self.leave_out and self.selectable == {*self.default}
        winner = compared.winner(dict.fromkeys(self.default, OUT) if may_lack_all else None)
        winning, temperature = compared.settings[winner], compared.temperatures[winner]
        method, render = winning.method, engine.renderer.statement
        left_out = {*self._left_out(winning)} if isinstance(method, Discriminant) else {}
        dependent = {name: why for name, why in self.scores.dependent.items() if name in left_out}
        tried = list(self._settings(winning.chosen, temperature if method is None else 1.0))
        return Auto(
            compared.rows,
            self._families_of(winning),
            self._left_out(winning),
            winning.calibrated,
            cast("Method", method or "naive"),
            not_tried,
            refused,
            {**(self.reasons if method is None or winning.chosen in chosen else {}), **dependent},
            Query(engine, render("ranked_rows", compared.ranking(winner), RANKING, [1])),
            Query(engine, render("ranked_rows", tried, TRIED, [0, 1])),
            # The families have been chosen by these folds, for which that of the families would be too low.
            temperature=temperature if winning.calibrated and method is not None else None,
            shrinkage=compared.shrinkage(winner) if calibrate and self._features_of(winning) else 0.0,
        )

    def _own_candidates(self, chosen: Mapping[str, int]) -> dict[str, int]:
        """The candidates that weights have unless families are chosen; see `place_of_weights`."""
        tried = {name: {place: self._family(name, place) for place in self.terms.places[name]} for name in self.selectable}
        is_number = {name: self.features[name].is_number for name in tried}
        return self.default | {name: place_of_weights(tried[name], chosen[name], is_number=is_number[name]) for name in tried}

    def _options_of(self, setting: Setting) -> Options:
        """The options of a fit with a setting."""
        options = self._place[2].excluding(*self._left_out(setting))
        families = {**options.families, **self._families_of(setting)}
        return replace(options, families=families, method=cast("Method", setting.method))

    def _families_of(self, setting: Setting) -> dict[str, Family]:
        """The families that a fit with a setting would not infer: of another method than weights, those of texts as words."""
        chosen = {name: self._family(name, place) for name, place in setting.chosen.items() if place not in (OUT, DEFAULT)}
        if setting.method is None:
            return chosen
        if not isinstance(setting.method, Weighted):
            return kept_families(setting.method, chosen)
        inferred = setting.method.families(self._place[1].columns, nulls="skip")
        differing = {*inferred, *self._looks, *chosen} & self.selectable
        families = {name: self._as_given(name, place) for name, place in setting.chosen.items() if place != OUT}
        kept = [name for name, each in families.items() if name in differing and each != inferred.get(name)]
        return {**{name: families[name] for name in kept}, **setting.matrix}

    def _adds_features(self, setting: Setting) -> bool:
        families = [self._family(name, place) for name, place in setting.chosen.items() if place != OUT]
        return setting.method is not None and adds_features(setting.method, families)

    def _left_out(self, setting: Setting) -> list[str]:
        """The columns that a fit with a setting leaves out: those without which naive Bayes is better, with weights, too."""
        has_families = setting.method is None or isinstance(setting.method, (Discriminant, Weighted))
        return [name for name, place in setting.chosen.items() if place == OUT and has_families]

    def _features_of(self, setting: Setting) -> list[tuple[Feature, int]]:
        return [(self.features[name], place) for name, place in setting.chosen.items() if place != OUT]

    def _columns_not_tried(self) -> list[str]:
        """A text that names the columns of which the budget has left families untried, in a list; nothing if there are none."""
        shortened = [name for name, families in self.families.items() if len(self.terms.places[name]) < len(families)]
        names = [name for name in self.families if name in shortened or name in self._late]
        return [f"further families of {listed(names)}"] if names else []

    def _reason(self, column: str, score: Score, place: int) -> str:
        """Why a column has another family than the default, or is left out."""
        default = family_text(type(self._family(column, DEFAULT))())
        measured = f"gains {score.gain:.4f} ± {score.error:.4f} over {default}"
        if place != OUT:
            return measured
        alone = self.scores_alone[column]
        best = min((alone[place] for place in self.terms.places[column]), key=lambda each: each.loss)
        is_informative = alone[OUT].loss - best.loss > MIN_STANDARD_ERRORS * max(alone[OUT].error, best.error)
        return f"{'tells what other columns tell' if is_informative else 'tells nothing of the class'}: {measured}"

    def _family(self, column: str, place: int) -> Family:
        return self.families[column][place - 1]

    def _as_given(self, column: str, place: int) -> Family:
        """A candidate as a user would name it: one that a fit infers is without the options of the fit."""
        family, is_inferred = self._family(column, place), place == DEFAULT and column in self.selectable
        return self._looks.get(column, type(family)()) if is_inferred else family

    def _search(self, start: Mapping[str, int], *, calibrated: bool = False) -> dict[str, int]:
        """The place of the chosen candidate of each column, from a start in rounds until nothing gains.

        A round judges all candidates of all columns at once, and then, one after the other, those columns that would change.
        """
        terms, chosen = self.terms, {**start}
        row_scores = terms.row_scores(chosen)
        before, temperature = float("inf"), terms.temperatures(row_scores)[0] if calibrated else 1.0
        for _ in range(_MAX_ROUNDS):
            open_columns = {name: place for name, place in chosen.items() if len(self._candidates_of(name)) > 1}
            scores = terms.scores_of_candidates(row_scores, open_columns, temperature)
            wanted = [name for name in open_columns if self._pick(name, scores[name]) != chosen[name]]
            loss = next((scores[name][place].loss for name, place in open_columns.items()), 0.0)
            if not wanted or before - loss < _MIN_IMPROVEMENT or self._budget.is_spent(_SEARCH_SHARE):
                break
            before = loss
            for number, name in enumerate(wanted):
                now = scores if number == 0 else terms.scores_of_candidates(row_scores, {name: chosen[name]}, temperature)
                best = self._pick(name, now[name])
                if best != chosen[name]:
                    changes = {name: (chosen[name], best)}
                    row_scores = terms.exchange(row_scores, changes, f"trying families of {name}")
                    chosen[name] = best
            temperature = terms.temperatures(row_scores)[0] if calibrated else 1.0
        terms.drop(row_scores)
        return chosen

    def _pick(self, column: str, scores: Mapping[int, Score], *, keep: bool = False) -> int:
        """The candidate of the lowest loss among those that gain significantly over the default; if none does, the default.

        With `keep` the column must not be left out yet.
        """
        sure = [
            place
            for place in self._candidates_of(column)
            if scores[place].is_sure(MIN_STANDARD_ERRORS) and not (keep and place == OUT)
        ]
        return min(sure, key=lambda place: (round(scores[place].loss, 10), place), default=DEFAULT)

    def _settings(self, chosen: Mapping[str, int], temperature: float) -> Iterator[tuple[Any, ...]]:
        row_scores = self.terms.row_scores(chosen)
        for name, scores in self.terms.scores_of_candidates(row_scores, chosen, temperature).items():
            tried = self._candidates_of(name)
            for place in sorted(tried, key=lambda place: (place != chosen[name], round(scores[place].loss, 10), place)):
                text = LEFT_OUT
                if place == chosen[name] != DEFAULT:
                    self.reasons[name] = self._reason(name, scores[place], place)
                if place != OUT:
                    text = family_text(self._as_given(name, place))
                yield name, text, self.scores_alone[name][place].loss, *scores[place].figures, place == chosen[name]


def _same_feature(features: Sequence[Feature], wanted: Feature) -> Feature:
    return next(feature for feature in features if feature.name == wanted.name)
