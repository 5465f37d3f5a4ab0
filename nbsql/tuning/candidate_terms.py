"""The contributions of candidates to rows that their models have not seen, and the losses of combinations of them.

See sql/macros/judging/auto.sql.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from nbsql.errors import InputError, listed
from nbsql.judging.folds import Folds
from nbsql.judging.refitted_folds import RefittedFolds, is_cut_by_class
from nbsql.spec.spec import Feature, Spec

OUT = 0  # the number of the candidate that leaves a column out
_MAX_CANDIDATES = 20  # candidates whose terms are computed in one statement
_MAX_TERMS = 250  # candidates times classes in one statement: a row holds their parameters, on PostgreSQL at most a thousand
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

    def is_sure(self, least: float) -> bool:
        """Whether there is a gain of more than `least` standard errors."""
        return self.gain > 1e-9 and self.gain > least * self.error


class CandidateTerms:
    """The terms of candidates, and the joint log-likelihoods of the rows for any choice of them.

    The folds are counted for specs, of which `spec` is any, with every candidate except bins that are cut by the class.
    `columns` has the candidates of each column, as features of the specs, numbered from 1 in order. At most one of a column is
    cut by the class; each fold uses the classes of the other folds.
    """

    def __init__(
        self, cv: Folds, spec: Spec, columns: Mapping[str, Sequence[Feature]], temporary: Callable[[str], Markup]
    ) -> None:
        self.engine = cv.engine
        self.classes = len(spec.classes or cv.labels)
        self._cv = cv
        self._spec = spec
        self._temporary = temporary
        self._table_count = 0
        self.rows = self._create("numbering the rows", "rows_with_keys", cv.rows_with_folds)
        models = cv.models(replace(spec, features=()))
        scored = self.engine.renderer.fragment("scored", models.context, self.rows, models.parameters, models.lookups)
        arguments = (self.engine.renderer.fragment("subquery", scored), models.parameters, self.classes)
        self._priors = self._create("priors of rows", "scores_of_models", models.context, *arguments)
        self.numbers: dict[str, list[int]] = {}
        self._terms: dict[str, Markup] = {}
        cut = tuple(feature for features in columns.values() for feature in features if is_cut_by_class(feature))
        self._cut = None
        if cut:
            options: dict[str, Any] = {"folds": len(cv.names), "fold": cv.fold, "rows_with_folds": self.rows}
            settings = [replace(spec, features=cut)]
            self._cut = RefittedFolds(self.engine, cv.source, settings, lambda name: temporary(f"cut: {name}"), **options)
        for block in self._blocks(columns):
            self._add(block)

    def _blocks(self, columns: Mapping[str, Sequence[Feature]]) -> Iterator[dict[str, Sequence[Feature]]]:
        most = max(1, min(_MAX_CANDIDATES, _MAX_TERMS // self.classes))
        block: dict[str, Sequence[Feature]] = {}
        for name, features in columns.items():
            if block and sum(map(len, block.values())) + len(features) > most:
                yield block
                block = {}
            block[name] = features
        if block:
            yield block

    def _add(self, block: Mapping[str, Sequence[Feature]]) -> None:
        """Compute the terms of the candidates of some columns."""
        counted, cut = [], []
        for name, candidates in block.items():
            first = sum(map(len, self.numbers.values())) + 1
            self.numbers[name] = [*range(first, first + len(candidates))]
            for number, feature in zip(self.numbers[name], candidates, strict=True):
                numbered = replace(feature, index=number, is_complete=False, has_near_means=False, has_few_values=False)
                if is_cut_by_class(feature):
                    cut.append(numbered)
                else:
                    counted.append(replace(numbered, name=f"{number} {feature.name}"))
        title = f"score {', '.join(block)}"
        tables = [
            self._create(title, *query) for query in self._term_queries(self._cv, [(self._spec, self._cv.names)], counted)
        ]
        if cut and self._cut is not None:
            queries = self._term_queries(self._cut, self._cut.parts(self._cut.specs[0]), cut)
            tables.append(self._cut.gather(f"{title}, cut anew", (self.engine.renderer.fragment(*query) for query in queries)))
        terms = tables[0] if len(tables) == 1 else self._create(title, "joined_terms", *tables)
        self._terms |= dict.fromkeys(block, terms)

    def _term_queries(
        self, cv: Folds, parts: Sequence[tuple[Spec, list[str]]], features: Sequence[Feature]
    ) -> Iterator[tuple[Any, ...]]:
        """The macro of the terms of some candidates and its arguments, for each part of the folds.

        Candidates have their numbers as indices. For bins cut by the class, the spec of a part has the family.
        """
        for spec, names in parts if features else []:
            families = {feature.name: feature.family for feature in spec.features} if cv is self._cut else {}
            candidates = tuple(replace(feature, family=families.get(feature.name, feature.family)) for feature in features)
            models = cv.models(replace(spec, features=candidates), names)
            if not models.context.class_numbers:
                columns = listed(feature.column for feature in features)
                raise InputError(f"auto scores with a column a class, and {columns} takes too many; leave it out with exclude")
            yield "terms_of_candidates", models.context, self.rows, models.parameters, models.lookups

    def row_scores(self, chosen: Mapping[str, int]) -> Markup:
        """A table of the joint log-likelihoods of the rows for one candidate of each column."""
        row_scores = self._priors
        for terms in dict.fromkeys(self._terms.values()):
            added = [number for name, number in chosen.items() if number != OUT and self._terms[name] == terms]
            if added:
                new_scores = self._create(
                    "scoring the rows", "scores_with_candidates", row_scores, terms, added, [], self.classes
                )
                self.drop(row_scores)
                row_scores = new_scores
        return row_scores

    def exchange(self, row_scores: Markup, column: str, chosen: int, replacement: int) -> Markup:
        """The table after exchanging the candidate of a column; the previous table is dropped."""
        added, removed = ([number] if number != OUT else [] for number in (replacement, chosen))
        new_scores = self._create(
            f"trying families of {column}",
            "scores_with_candidates",
            row_scores,
            self._terms[column],
            added,
            removed,
            self.classes,
        )
        self.drop(row_scores)
        return new_scores

    def scores_alone(self, column: str) -> dict[int, Score]:
        """The scores of each candidate of a column by itself, with the prior, compared with its first candidate."""
        return self.scores(self._priors, column, OUT, [*self.numbers[column], OUT])

    def scores(
        self, row_scores: Markup, column: str, chosen: int, tried: Sequence[int], temperature: float = 1.0
    ) -> dict[int, Score]:
        """The scores of the whole with each of some candidates in place of the chosen one, compared with the first of them."""
        number = self.engine.renderer.dialect.number
        arguments = (row_scores, self._terms[column], chosen, tried, self.classes, number(temperature))
        weight, rows, *sums = self.engine.ask("losses_of_candidates", *arguments)[0]
        return {number: Score.of(weight, rows, sums[3 * i : 3 * i + 3]) for i, number in enumerate(tried)}

    def temperatures(self, row_scores: Markup) -> tuple[float, list[tuple[str, float]]]:
        """The best temperature for all rows, and for each fold that of the other folds."""
        losses = self.engine.ask("losses_of_temperatures", row_scores, TEMPERATURES, self.classes)

        def best(rows: Sequence[Sequence[Any]]) -> float:
            sums = [sum(row[2 + i] for row in rows) for i in range(len(TEMPERATURES))]
            return min(zip(sums, TEMPERATURES, strict=True))[1]

        return best(losses), [(row[0], best([other for other in losses if other is not row])) for row in losses]

    def losses(self, row_scores: Markup, temperatures: Sequence[tuple[str, float]] | None) -> Markup:
        """A table of the loss of each row, at the temperature of its fold, or at 1."""
        temperatures = [(name, 1.0) for name in self._cv.names] if temperatures is None else temperatures
        return self._create("log loss of the rows", "losses_of_rows", row_scores, temperatures, self.classes)

    def compare(self, losses: Markup, others: Markup) -> Score:
        """The gain of one setting over another."""
        weight, rows, *sums = self.engine.ask("compared_losses", losses, others)[0]
        return Score.of(weight, rows, sums)

    def _create(self, name: str, macro: str, *arguments: Any) -> Markup:
        self._table_count += 1
        relation = self._temporary(f"{macro} {self._table_count}")
        return self.engine.create(name, relation, self.engine.renderer.fragment(macro, *arguments))

    def drop(self, relation: Markup) -> None:
        """Drop a table of joint log-likelihoods."""
        if relation != self._priors:
            self.engine.ask("drop_if_exists", relation)
