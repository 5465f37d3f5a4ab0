"""The scores of the rows by methods other than naive Bayes, of which each part is counted once for all settings."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.evaluation.refitted_folds import make_folds_for_spec
from nbsql.learning.collinear import CollinearError
from nbsql.learning.folds import Folds, resolve_settings
from nbsql.learning.interactions import triples
from nbsql.learning.prepare import with_useful_views
from nbsql.spec.dependence import FoundParents
from nbsql.spec.method import CUTS, VIEWS, Discriminant, Weighted
from nbsql.spec.options import Options
from nbsql.spec.spec import Feature
from nbsql.tuning.budget import Budget
from nbsql.tuning.candidate_terms import CandidateTerms, TreeTerms
from nbsql.tuning.methods import Setting, can_differ, without_columns

# What may raise an error of the scores of the first fold; None if no method is left before all folds are scored.
Check = Callable[[Markup], object] | None


class OutOfTimeError(Exception):
    """The budget is spent, so that a method is not tried."""


@dataclass
class MethodScores:
    """Tables of the joint log-likelihoods of the rows by settings with a method (sql/macros/evaluation/auto.sql).

    `terms` has the rows of the folds with their keys. `options_of` are the options of a fit with a setting, and `features_of`
    its features with the places of their candidates. `numbers` and `flags` are how many columns are numbers, and 0 or 1.
    """

    engine: Engine
    source: Source
    temporary: Callable[[str], Markup]
    budget: Budget
    fold_options: dict[str, Any]
    terms: CandidateTerms
    options_of: Callable[[Setting], Options]
    features_of: Callable[[Setting], list[tuple[Feature, int]]]
    numbers: int
    flags: int
    dependent: dict[str, str] = field(default_factory=dict)  # the columns without which matrices have an inverse, and why
    _trees: dict[str, TreeTerms] = field(default_factory=dict)
    _added: dict[str, list[TreeTerms]] = field(default_factory=dict)

    def of(self, setting: Setting, check: Check) -> tuple[Setting, Markup]:
        """A setting and its table, unless `check` raises an error of the first fold.

        With `check`, a setting with covariance matrices leaves out columns that do not vary, or that follow from others.
        """
        if isinstance(setting.method, Discriminant) and check is not None:
            setting = without_columns(setting, self.dependent)
        try:
            return setting, self._scores(setting, check)
        except CollinearError as error:
            left = len(self.features_of(setting)), self.numbers - len({*self.dependent, *error.columns}), self.flags
            if check is None or setting.method is None or not can_differ(setting.method, *left):
                raise
            self.dependent |= error.columns
            return self.of(setting, check)

    def _scores(self, setting: Setting, check: Check) -> Markup:
        method = setting.method
        if isinstance(method, FoundParents) and (found := self._scores_of_tree(setting, method, check)) is not None:
            return found
        if isinstance(method, Weighted) and method.per == "feature" and not method.pairs and not self.budget.is_spent():
            cuts = [each for each in method.trees.values() if self.numbers or each.bins == "mdl"]
            trees = [self._tree(setting, each, lambda *_: None).beside(each) for each in cuts]
            trees += self._terms_added(replace(setting, matrix={}), method)
            trees += self._terms_added(setting, method) if setting.matrix else []
            with self.engine.part(f"cross-validating method {str(method)!r}"):
                if (found := self.terms.weighted_scores(self.features_of(setting), method, trees)) is not None:
                    return found
        return self._scores_of_models(self.options_of(setting), check)

    def _scores_of_tree(self, setting: Setting, method: FoundParents, check: Check) -> Markup | None:
        """A table of the joint log-likelihoods by a tree, and by the weights of its features, if they can be learnt."""

        def check_first(tree: TreeTerms, fold: str) -> None:
            if check and (found := self.terms.scores_of_tree(tree, weighted=method.has_weights(), fold=fold)) is not None:
                check(found)

        tree = self._tree(setting, replace(method, weighted=False), check_first)
        with self.engine.part(f"cross-validating method {setting.name!r}"):
            return self.terms.scores_of_tree(tree, weighted=method.has_weights())

    def _tree(self, setting: Setting, method: FoundParents, check: Callable[[TreeTerms, str], object]) -> TreeTerms:
        """What each feature of a tree says of the rows; its bins, its parents and its counts are those of the other folds.

        `check` may raise an error of the first fold.
        """
        if (key := str(method)) not in self._trees:
            with self._folds(self.options_of(replace(setting, method=method))) as cv:
                self._trees[key] = self.terms.of_tree(cv, check)
        return self._trees[key]

    def _terms_added(self, setting: Setting, method: Weighted) -> list[TreeTerms]:
        """What the features that weights add say of the rows, by the counts of the other folds.

        They are the matrix of a setting or, if it has none, other views of a column and triples, which are those of all rows.
        """
        if (key := repr((method, setting.chosen, setting.matrix))) not in self._added:
            with self.engine.part("counting what weights add"), self.engine.temporaries() as name:
                spec = resolve_settings(self.engine, self.source, [self.options_of(setting)], self.fold_options["fold"])[0]
                spec = with_useful_views(self.engine, spec, method, self.source, {})
                views = {f"{each.name} {words}" for each in spec.features for words in VIEWS if words not in CUTS}
                found = [each for each in spec.features if each.name in (setting.matrix or views)]
                if not setting.matrix:
                    found += triples(self.engine, spec, self.source, method.triples, self.terms.classes)
                together = replace(spec, features=tuple(found), weighted=None)
                options = {**self.fold_options, "rows_with_folds": self.terms.rows}
                added = [Folds(self.engine, self.source, [together], name, **options)] if found else []
                self._added[key] = [self.terms.of_features(cv) for cv in added]
        return self._added[key]

    @contextmanager
    def _folds(self, options: Options) -> Iterator[Any]:
        """The folds of a fit with some options. Raises OutOfTimeError if the budget is spent before one is scored."""
        engine, rows, known = self.engine, self.terms.rows, self.terms.edges_by_fold
        if self.budget.is_spent():
            raise OutOfTimeError
        with engine.part(f"cross-validating method {options.classifier.name!r}"), engine.temporaries() as name:
            spec = resolve_settings(engine, self.source, [options], self.fold_options["fold"])[0]
            given = {**self.fold_options, "rows_with_folds": rows, "edges_by_fold": known}
            cv = make_folds_for_spec(engine, self.source, spec, name, **given)
            if self.budget.is_spent():
                raise OutOfTimeError
            yield cv

    def _scores_of_models(self, options: Options, check: Check) -> Markup:
        """Joint log-likelihoods of the rows by the models of the other folds."""
        told_apart = crc32(repr(options).encode())  # which are longer than a name may be
        relation = self.temporary(f"scores by {options.classifier.name} {told_apart}")

        def queries(cv: Folds) -> Iterator[Markup]:
            parts = ((part, group) for part, names in cv.parts(cv.specs[0]) for group in _with_first_apart(names, check))
            for number, (part, names) in enumerate(parts):
                models = cv.models(part, names)
                arguments = models.context, cv.scored(models), models.parameters, self.terms.classes
                yield self.engine.renderer.fragment("scores_of_models", *arguments)
                if number == 0 and check is not None:
                    check(relation)

        with self._folds(options) as cv:
            return self.engine.create_from_queries(f"scores by {options.classifier.name}", relation, queries(cv))


def _with_first_apart(names: list[str], check: object) -> list[list[str]]:
    """Folds that are scored together, of which the first is apart if it is to be checked."""
    return [names] if check is None else [part for part in (names[:1], names[1:]) if part]
