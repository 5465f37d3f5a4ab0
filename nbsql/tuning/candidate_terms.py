"""The contributions of candidates to rows that their models have not seen, and the losses of combinations of them.

See sql/macros/evaluation/auto.sql.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from nbsql.errors import InputError, listed
from nbsql.evaluation.refitted_folds import RefittedFolds, is_cut_by_class, is_one_bin
from nbsql.learning.count import counting_plan
from nbsql.learning.evidence import Evidence
from nbsql.learning.folds import Folds
from nbsql.learning.one_dependence import has_many_bins
from nbsql.learning.weighted import FeatureWeightSearch
from nbsql.spec.dependence import FoundParents
from nbsql.spec.method import Logistic, Weighted
from nbsql.spec.spec import Feature, Spec
from nbsql.tuning.budget import Budget

CANDIDATES_SHARE = 0.5  # of the seconds of a budget, after which no further candidate is scored
OUT = 0  # the place of the candidate that leaves a column out
DEFAULT = 1  # the place of the family that the column has by default
_MAX_CANDIDATES = 40  # candidates whose terms are computed in one statement
_MAX_ESTIMATED = 400  # candidates whose parameters are computed in one statement, where each class is a row
_ROWS_OF_WEIGHT = 100  # of a fold for each weight, so that halves of them tell what weights gain
_MAX_TERMS = 250  # candidates times classes, where a row holds their parameters in columns, on PostgreSQL at most a thousand
TEMPERATURES = tuple(2 ** (step / 4) for step in range(-8, 29))


@dataclass(frozen=True)
class Score:
    """A log loss, its gain over another, and the standard error of the gain."""

    loss: float
    gain: float
    error: float

    @classmethod
    def of(cls, weight: float, rows: int, sums: Sequence[float]) -> Score:
        """The score, from the sums of losses, gains and squared gains."""
        loss, gain, square = (value / weight for value in sums)
        return cls(loss, gain, math.sqrt(max(square - gain * gain, 0.0) / rows))

    @property
    def figures(self) -> tuple[float, float, float]:
        """Its numbers, as the results show them."""
        return self.loss, self.gain, self.error

    def is_sure(self, least: float) -> bool:
        """Whether there is a gain of more than `least` standard errors."""
        return self.gain > 1e-9 and self.gain > least * self.error


@dataclass(frozen=True)
class TreeTerms:
    """The terms of the features of a tree: their table, one candidate of each column, and these columns."""

    relation: Markup
    features: Sequence[Feature]

    def beside(self, method: FoundParents) -> TreeTerms:
        """Those that say more than what those of numbers cut by the class do, if numbers are cut at quantiles."""
        return self if method.bins == "mdl" else replace(self, features=[each for each in self.features if has_many_bins(each)])


class CandidateTerms:
    """The terms of candidates, and the joint log-likelihoods of the rows for any choice of them.

    `add` adds the candidates of some columns at a time, all by folds of the same rows, which `cv` has.
    """

    def __init__(self, cv: Folds, temporary: Callable[[str], Markup]) -> None:
        spec = cv.specs[0]
        self.engine = cv.engine
        self.classes = len(spec.classes or cv.labels)
        self.places: dict[str, list[int]] = {}
        self.edges_by_fold: dict[str, dict[str, Sequence[float]]] = {name: {} for name in cv.names}
        self.cv = cv
        self._temporary = temporary
        self._table_count = 0
        self.rows = self._create("numbering the rows", "rows_with_keys", cv.rows_with_folds)
        models = cv.models(replace(spec, features=()))
        scored = self.engine.renderer.subquery("scored", models.context, self.rows, models.parameters, models.lookups)
        arguments = (scored, models.parameters, self.classes)
        self.priors = self._create("priors of rows", "scores_of_models", models.context, *arguments)
        self._terms: Markup | None = None

    def add(self, cv: Folds, columns: Mapping[str, Sequence[Feature]], budget: Budget) -> None:
        """Add the candidates of some columns, as features of the specs of the folds.

        Their places are 1, 2, ..., and only the last of a column may be cut by the class; each fold then uses the classes of
        the other folds. When half of the budget is spent, only the first candidate of a column is added.
        """
        for name, features in columns.items():
            self.places[name] = [*range(1, len(features) + 1)]
        counted = _those(columns, lambda feature: not is_cut_by_class(feature))
        cut = _those(columns, is_cut_by_class)
        tables = [self._gather(self._queries(cv, cv.specs[0], cv.names, counted, budget))] if counted else []
        if budget.is_spent(CANDIDATES_SHARE):  # also while the others were added
            for name in counted.keys() & cut.keys():
                self.places[name] = [place for place in self.places[name] if place <= len(counted[name])]
                del cut[name]
        if cut:
            tables.append(self._gather(self._queries_of_cut(cv, cut)))
        terms = tables[0]
        if len(tables) == 2:
            terms = self._create("joining the candidates", "extended_terms", *tables, self.classes)
            for relation in tables:
                self.drop(relation)
        if self._terms is None:
            self._terms = terms
        else:
            self.engine.run(
                "adding candidates",
                self.engine.renderer.statement("insert_into", self._terms, self.engine.renderer.fragment("all_rows", terms)),
            )
            self.drop(terms)

    def _gather(self, queries: Iterable[Markup]) -> Markup:
        """A table of the terms of some candidates."""
        return self.engine.create_from_queries("contributions of the candidates", self._temporary_name("terms"), queries)

    def _queries(
        self, cv: Folds, spec: Spec, names: list[str], columns: Mapping[str, Sequence[Feature]], budget: Budget
    ) -> Iterator[Markup]:
        """The queries of the terms of the candidates that are counted once for all folds."""
        left = dict(columns)
        for block, query in self._term_queries(cv, spec, names, columns):
            if budget.is_spent(CANDIDATES_SHARE):
                break
            yield query
            left = {name: features for name, features in left.items() if name not in block}
        self.places |= {name: [DEFAULT] for name in left}
        defaults = {name: features[:DEFAULT] for name, features in left.items()}
        yield from (query for _, query in self._term_queries(cv, spec, names, defaults))

    def _queries_of_cut(self, cv: Folds, columns: Mapping[str, Sequence[Feature]]) -> Iterator[Markup]:
        """The queries of the terms of the bins that are cut by the class, anew in each fold."""
        options: dict[str, Any] = {"folds": len(cv.names), "fold": cv.fold, "rows_with_folds": self.rows}
        setting = replace(cv.specs[0], features=tuple(feature for features in columns.values() for feature in features))
        prefix = f"cut {len(self.places)}"
        refitted = RefittedFolds(self.engine, cv.source, [setting], lambda name: self._temporary(f"{prefix} {name}"), **options)
        for name, edges in refitted.edges_by_fold.items():
            self.edges_by_fold[name] |= edges
        yield from self._queries_of_refitted(refitted, [*columns])

    def _queries_of_refitted(self, refitted: RefittedFolds, columns: Sequence[str]) -> Iterator[Markup]:
        """The queries of the terms of the features of some columns, of which a fold may lack those of one bin."""
        for spec, names in refitted.parts(refitted.specs[0]):
            yield from self._queries_of_fold(refitted, spec, names, columns)

    def _queries_of_fold(
        self, refitted: RefittedFolds, spec: Spec, names: list[str], columns: Iterable[str]
    ) -> Iterator[Markup]:
        found = {each.name: [each] for each in spec.features if not is_one_bin(each)}
        yield from self._queries_of_uncut(names[0], [name for name in columns if name not in found])
        yield from (query for _, query in self._term_queries(refitted, spec, names, found))

    def _queries_of_uncut(self, fold: str, columns: Sequence[str]) -> Iterator[Markup]:
        if columns:
            arguments = (self.rows, fold, [self._number(name) for name in columns], self.classes)
            yield self.engine.renderer.fragment("terms_of_uncut_bins", *arguments)

    def of_tree(self, refitted: RefittedFolds, check: Callable[[TreeTerms, str], object]) -> TreeTerms:
        """The terms of the features of a tree that the other folds have found.

        `check` is called with those of the first fold and its name, before another fold is fitted, and may raise an error.
        """
        relation, features, folds = self._temporary_name("terms"), dict[str, Feature](), list[str]()

        def queries() -> Iterator[Markup]:
            for spec, names in refitted.parts(refitted.specs[0]):
                new = [each.name for each in spec.features if each.name not in features]
                for fold in folds:
                    yield from self._queries_of_uncut(fold, new)
                features.update({each.name: each for each in spec.features})
                folds.extend(names)
                yield from self._queries_of_fold(refitted, spec, names, features)
                if len(folds) == 1 and features:
                    check(TreeTerms(relation, [*features.values()]), folds[0])

        self.engine.create_from_queries("contributions of the candidates", relation, queries())
        return TreeTerms(relation if features else self.priors, [*features.values()])

    def of_features(self, cv: Folds) -> TreeTerms:
        """The terms of further features, each of its own, that are counted once for all folds."""
        features = cv.specs[0].features
        self.places |= {each.name: [DEFAULT] for each in features}
        queries = self._term_queries(cv, cv.specs[0], cv.names, {each.name: [each] for each in features})
        return TreeTerms(self._gather(query for _, query in queries), features)

    def _number(self, column: str) -> int:
        """The number of a column in the tables, from 1."""
        return [*self.places].index(column) + 1

    def _term_queries(
        self, cv: Folds, spec: Spec, names: list[str], columns: Mapping[str, Sequence[Feature]]
    ) -> Iterator[tuple[Collection[str], Markup]]:
        """Some columns at a time, and the query of the terms of their candidates."""
        by_row = self.engine.renderer.traits.vectorised
        most = _MAX_CANDIDATES if by_row else max(1, min(_MAX_CANDIDATES, _MAX_TERMS // self.classes))
        for estimated in _blocks(columns, _MAX_ESTIMATED if by_row else most):
            numbered = _numbered(estimated)
            together = replace(spec, features=tuple(itertools.chain(*numbered.values())))
            met = self._values_met(cv, together, names) if by_row else None
            models = cv.models_in_rows(together, names, met) if by_row else cv.models(together, names)
            if not by_row and not models.context.form.class_numbers:
                wide = listed(feature.column for features in numbered.values() for feature in features)
                raise InputError(f"auto scores with one column per class, and {wide} takes too many; leave it out with exclude")
            for block in _blocks(numbered, most):
                places = [(self._number(name), [feature.index for feature in group]) for name, group in block.items()]
                context = models.context.with_features([*itertools.chain(*block.values())])
                arguments = (context, cv.rows_of(models, self.rows), models.parameters, models.lookups, places, self.classes)
                yield block, self.engine.renderer.fragment("terms_of_candidates", *arguments, met)

    def _values_met(self, cv: Folds, spec: Spec, names: list[str]) -> Markup | None:
        """A table of the values that the rows of folds have in features with parents; None if there is none.

        All values of these together may be many times as many as the rows.
        """
        if not any(feature.family.parent for feature in spec.features):
            return None
        rows = self.rows if len(names) > 1 else self.engine.renderer.fragment("rows_of_fold", self.rows, names[0])
        query = self.engine.renderer.fragment("values_of_rows", cv.context_in_rows(spec, names), rows)
        return cv.replace_table("values of the rows", query)

    def row_scores(self, chosen: Mapping[str, int], tree: TreeTerms | None = None) -> Markup:
        """A table of the joint log-likelihoods of the rows for one candidate of each column, of the search or of a tree."""
        return self.exchange(self.priors, {name: (OUT, place) for name, place in chosen.items()}, "scoring the rows", tree)

    def exchange(
        self, row_scores: Markup, changes: Mapping[str, tuple[int, int]], title: str, tree: TreeTerms | None = None
    ) -> Markup:
        """The table after exchanging the candidates of some columns, the place before and after; the old one is dropped."""
        if not changes:
            return row_scores
        changed = [(self._number(name), *places) for name, places in changes.items()]
        terms = self._terms if tree is None else tree.relation
        new_scores = self._create(title, "scores_with_candidates", row_scores, terms, changed, self.classes)
        self.drop(row_scores)
        return new_scores

    def scores_of_candidates(
        self, row_scores: Markup, chosen: Mapping[str, int], temperature: float = 1.0
    ) -> dict[str, dict[int, Score]]:
        """For some columns, the scores of the whole with each candidate in place of the chosen one, beside the default's."""
        number = self.engine.renderer.dialect.number
        columns = [(self._number(name), place) for name, place in chosen.items()]
        if not columns:
            return {}
        rows = self.engine.query_macro(
            "losses_of_candidates", row_scores, self._terms, columns, self.classes, number(temperature)
        )
        names = [*self.places]
        scores: dict[str, dict[int, Score]] = {name: {} for name in chosen}
        for feature, place, weight, count, *sums in sorted(rows, key=lambda row: row[:2]):
            scores[names[feature - 1]][place] = Score.of(weight, count, sums)
        return scores

    def scores_of_tree(self, tree: TreeTerms, *, weighted: bool, fold: str | None = None) -> Markup | None:
        """A table of the joint log-likelihoods by a tree or, if `weighted`, by weights of its features (`weighted_scores`)."""
        if weighted and tree.features:
            return self.weighted_scores([], Weighted(), [tree], fold=fold)
        return self.row_scores({feature.name: DEFAULT for feature in tree.features}, tree)

    def weighted_scores(
        self,
        chosen: Sequence[tuple[Feature, int]],
        method: Weighted,
        trees: Sequence[TreeTerms] = (),
        *,
        fold: str | None = None,
    ) -> Markup | None:
        """A table of the joint log-likelihoods by weights of the candidates of some columns, by the rows of the other folds.

        The features of trees have weights, too. The candidates of a row are those by the counts of the folds beside its own,
        from which the weights of all folds are learnt (Wolpert, Stacked generalization, Neural Networks 5, 1992). None if there
        is no column, or if a class is in one fold only. With `fold`, only its rows are weighed, each half by the weights of the
        other; None if they are few.
        """
        parts = [(self._terms, [*chosen])] if chosen else []
        parts += [(tree.relation, [(feature, DEFAULT) for feature in tree.features]) for tree in trees if tree.features]
        if not parts:
            return None
        numbered = [
            (replace(feature, index=part * len(self.places) + self._number(feature.name)), place)
            for part, (_, features) in enumerate(parts)
            for feature, place in features
        ]
        priors = self.priors if fold is None else self._create("half folds", "halves_of_fold", self.priors, fold, self.classes)
        counts = dict(self.engine.query_macro("weights_of_classes", priors))
        if fold is not None and sum(counts.values()) < _ROWS_OF_WEIGHT * len(numbered) * self.classes:
            return None
        if None in counts or len(counts) < self.classes or len(counts) < 2:
            return None
        relations = [relation for relation, _ in parts]
        terms = self.engine.renderer.fragment("terms_of_parts", relations, len(self.places), self.classes)
        columns = [(feature.index, place) for feature, place in numbered]
        relation = self._create("evidence of the candidates", "evidence_of_candidates", priors, terms, columns, self.classes)
        spec = replace(self.cv.specs[0], features=())
        plan = counting_plan(self.engine, spec)
        search = FeatureWeightSearch(
            self.engine, plan, Logistic(), relation, relation, self._temporary_name,
            counts=[float(counts[k]) for k in range(1, self.classes + 1)],
        )  # fmt: skip
        points = search.find_by_fold(method, Evidence(relation, [feature for feature, _ in numbered], True))
        return self._create("scores by weights", "scores_of_weights", *search.listed(relation), points)

    def temperatures(self, row_scores: Markup) -> tuple[float, list[tuple[str, float]]]:
        """The best temperature for all rows, and for each fold that of the other folds."""
        rows = self.engine.query_macro("losses_of_temperatures", row_scores, TEMPERATURES, self.classes)
        losses: dict[str, dict[float, float]] = {}
        for fold, temperature, _, loss in rows:
            losses.setdefault(fold, {})[temperature] = loss

        def best(folds: Collection[str]) -> float:
            return min(TEMPERATURES, key=lambda temperature: (sum(losses[fold][temperature] for fold in folds), temperature))

        names = sorted(losses)  # sums in one order
        return best(names), [(fold, best([name for name in names if name != fold])) for fold in names]

    def least_losses(self, row_scores: Markup) -> Markup:
        """A table of the loss of each row, at the temperature that is best for these rows themselves."""
        best, by_fold = self.temperatures(row_scores)
        return self.losses(row_scores, [(name, best) for name, _ in by_fold])

    def losses(self, row_scores: Markup, temperatures: Sequence[tuple[str, float]] | None) -> Markup:
        """A table of the loss of each row, at the temperature of its fold, or at 1."""
        temperatures = [(name, 1.0) for name in self.cv.names] if temperatures is None else temperatures
        return self._create("log loss of the rows", "losses_of_rows", row_scores, temperatures, self.classes)

    def compare(self, losses: Markup, others: Markup) -> Score:
        """The gain of one setting over another."""
        weight, rows, *sums = self.engine.query_macro("compared_losses", losses, others)[0]
        return Score.of(weight, rows, sums)

    def _create(self, name: str, macro: str, *arguments: Any) -> Markup:
        return self.engine.create(name, self._temporary_name(macro), self.engine.renderer.fragment(macro, *arguments))

    def _temporary_name(self, name: str) -> Markup:
        self._table_count += 1
        return self._temporary(f"{name} {self._table_count}")

    def drop(self, relation: Markup) -> None:
        """Drop a table of joint log-likelihoods."""
        if relation != self.priors:
            self.engine.query_macro("drop_if_exists", relation)


def _blocks(columns: Mapping[str, Sequence[Feature]], most: int) -> Iterator[dict[str, Sequence[Feature]]]:
    """The columns in blocks of at most so many candidates, or of one column that has more."""
    block: dict[str, Sequence[Feature]] = {}
    for name, features in columns.items():
        if block and sum(map(len, block.values())) + len(features) > most:
            yield block
            block = {}
        block[name] = features
    if block:
        yield block


def _numbered(columns: Mapping[str, Sequence[Feature]]) -> dict[str, list[Feature]]:
    """The candidates with numbers of their own, and names if a column has several, in a form that suits them all."""
    numbers = itertools.count(1)

    def numbered(feature: Feature, *, alone: bool) -> Feature:
        number = next(numbers)
        name = feature.name if alone else f"{number} {feature.name}"
        return replace(feature, index=number, name=name, is_complete=False, has_near_means=False, has_few_values=False)

    return {name: [numbered(each, alone=len(features) == 1) for each in features] for name, features in columns.items()}


def _those(columns: Mapping[str, Sequence[Feature]], are_meant: Callable[[Feature], bool]) -> dict[str, list[Feature]]:
    """Some of the candidates of each column; columns that have none of them are left out."""
    found = {name: [feature for feature in features if are_meant(feature)] for name, features in columns.items()}
    return {name: features for name, features in found.items() if features}
