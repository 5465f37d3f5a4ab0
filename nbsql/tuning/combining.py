"""What each of some candidates adds to rows that it has not met, and how they do together (sql/macros/judging/auto.sql)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from nbsql.errors import InputError, listed
from nbsql.judging.folds import Folds
from nbsql.judging.refitted import Refitted, cut_anew
from nbsql.spec.spec import Feature, Spec

OUT = 0  # the number of the candidate that leaves a column out
_AT_ONCE = 20  # candidates whose terms one statement makes
_TERMS = 250  # candidates times classes of it: a row holds their parameters, on PostgreSQL a thousand
TEMPERATURES = tuple(2 ** (step / 4) for step in range(-8, 29))


@dataclass(frozen=True)
class Score:
    """A log loss, what it gains over another, and the standard error of that, by the rows."""

    loss: float
    gain: float
    error: float

    @classmethod
    def of(cls, weight: float, rows: int, sums: Sequence[float]) -> Score:
        """Of the sums of losses, gains and squared gains."""
        loss, gain, square = (value / weight for value in sums)
        return cls(loss, gain, math.sqrt(max(square - gain * gain, 0.0) / rows))

    def is_sure(self, least: float) -> bool:
        """Whether it gains, by more than so many standard errors."""
        return self.gain > 1e-9 and self.gain > least * self.error


class Combining:
    """The terms of candidates, and the rows as they stand by any choice of them.

    Args:
        dealt: the folds, counted for specs with every candidate, but for those whose bins the classes cut.
        spec: any of these.
        columns: by column the candidates, features of the specs; each has a number from 1, in order. At most one of a column is
            cut by the classes, in each fold by those of the others.
        temporary: names temporary tables, which are the caller's to drop.
    """

    def __init__(
        self, dealt: Folds, spec: Spec, columns: Mapping[str, Sequence[Feature]], temporary: Callable[[str], Markup]
    ) -> None:
        self.engine = dealt.engine
        self.classes = len(spec.classes or dealt.labels)
        self._dealt = dealt
        self._spec = spec
        self._temporary = temporary
        self._made = 0
        self.rows = self._create("keyed", "rows_with_keys", dealt.dealt)
        models = dealt.models(replace(spec, features=()))
        self._priors = self._create("priors of rows", "scores_of_priors", models.context, self.rows, models.parameters)
        self.numbers: dict[str, list[int]] = {}
        self._terms: dict[str, Markup] = {}
        cut = tuple(feature for features in columns.values() for feature in features if cut_anew(feature))
        self._cut = None
        if cut:
            options: dict[str, Any] = {"folds": len(dealt.names), "fold": dealt.fold, "dealt": self.rows}
            settings = [replace(spec, features=cut)]
            self._cut = Refitted(self.engine, dealt.source, settings, lambda name: temporary(f"cut: {name}"), **options)
        for block in self._blocks(columns):
            self._add(block)

    def _blocks(self, columns: Mapping[str, Sequence[Feature]]) -> Iterator[dict[str, Sequence[Feature]]]:
        most = max(1, min(_AT_ONCE, _TERMS // self.classes))
        block: dict[str, Sequence[Feature]] = {}
        for name, features in columns.items():
            if block and sum(map(len, block.values())) + len(features) > most:
                yield block
                block = {}
            block[name] = features
        if block:
            yield block

    def _add(self, block: Mapping[str, Sequence[Feature]]) -> None:
        """Make the terms of the candidates of some columns."""
        counted, cut = [], []
        for name, candidates in block.items():
            first = sum(map(len, self.numbers.values())) + 1
            self.numbers[name] = [*range(first, first + len(candidates))]
            for number, feature in zip(self.numbers[name], candidates, strict=True):
                numbered = replace(feature, index=number, is_complete=False, has_near_means=False, has_few_values=False)
                if cut_anew(feature):
                    cut.append(numbered)
                else:
                    counted.append(replace(numbered, name=f"{number} {feature.name}"))
        told = f"score {', '.join(block)}"
        made = [self._create(told, *query) for query in self._terms_of(self._dealt, [(self._spec, self._dealt.names)], counted)]
        if cut and self._cut is not None:
            queries = self._terms_of(self._cut, self._cut.parts(self._cut.specs[0]), cut)
            made.append(self._cut.gather(f"{told}, cut anew", (self.engine.renderer.fragment(*query) for query in queries)))
        terms = made[0] if len(made) == 1 else self._create(told, "joined_terms", *made)
        self._terms |= dict.fromkeys(block, terms)

    def _terms_of(
        self, dealt: Folds, parts: Sequence[tuple[Spec, list[str]]], features: Sequence[Feature]
    ) -> Iterator[tuple[Any, ...]]:
        """The macro of the terms of some candidates and its arguments, a part of the folds at a time.

        Args:
            dealt: the folds.
            parts: as `Folds.parts` has them.
            features: the candidates, with their numbers as indexes; what the classes of a part have cut, its spec knows.
        """
        for spec, names in parts if features else []:
            known = {feature.name: feature.family for feature in spec.features} if dealt is self._cut else {}
            wanted = tuple(replace(feature, family=known.get(feature.name, feature.family)) for feature in features)
            models = dealt.models(replace(spec, features=wanted), names)
            if not models.context.class_numbers:
                columns = listed(feature.column for feature in features)
                raise InputError(f"auto scores with a column a class, and {columns} takes too many; leave it out with exclude")
            yield "terms_of_candidates", models.context, self.rows, models.parameters, models.lookups

    def standing(self, chosen: Mapping[str, int]) -> Markup:
        """A table of the rows as they stand by a candidate a column."""
        standing = self._priors
        for terms in dict.fromkeys(self._terms.values()):
            added = [number for name, number in chosen.items() if number != OUT and self._terms[name] == terms]
            if added:
                following = self._create("stand", "scores_with_candidates", standing, terms, added, [], self.classes)
                self.drop(standing)
                standing = following
        return standing

    def move(self, standing: Markup, column: str, chosen: int, wanted: int) -> Markup:
        """The rows with another candidate of a column; the table before is gone."""
        added, removed = ([number] if number != OUT else [] for number in (wanted, chosen))
        following = self._create(
            f"move {column}", "scores_with_candidates", standing, self._terms[column], added, removed, self.classes
        )
        self.drop(standing)
        return following

    def alone(self, column: str) -> dict[int, Score]:
        """How each candidate of a column does by itself, with the prior, beside its first one."""
        return self.scores(self._priors, column, OUT, [*self.numbers[column], OUT])

    def scores(
        self, standing: Markup, column: str, chosen: int, tried: Sequence[int], temperature: float = 1.0
    ) -> dict[int, Score]:
        """How the whole does with each of some candidates in the place of that which is chosen, beside the first of them."""
        arguments = standing, self._terms[column], chosen, tried, self.classes, self.engine.renderer.dialect.number(temperature)
        weight, rows, *sums = self.engine.ask("losses_of_candidates", *arguments)[0]
        return {number: Score.of(weight, rows, sums[3 * i : 3 * i + 3]) for i, number in enumerate(tried)}

    def temperatures(self, standing: Markup) -> tuple[float, list[tuple[str, float]]]:
        """The best temperature of all rows, and for each fold that of the others."""
        found = self.engine.ask("losses_of_temperatures", standing, TEMPERATURES, self.classes)

        def best(rows: Sequence[Sequence[Any]]) -> float:
            sums = [sum(row[2 + i] for row in rows) for i in range(len(TEMPERATURES))]
            return min(zip(sums, TEMPERATURES, strict=True))[1]

        return best(found), [(row[0], best([other for other in found if other is not row])) for row in found]

    def losses(self, standing: Markup, temperatures: Sequence[tuple[str, float]] | None) -> Markup:
        """A table of the loss of each row, at the temperature of its fold, or at 1."""
        temperatures = [(name, 1.0) for name in self._dealt.names] if temperatures is None else temperatures
        return self._create("judge the rows", "losses_of_rows", standing, temperatures, self.classes)

    def compared(self, losses: Markup, others: Markup) -> Score:
        """What one setting gains over another."""
        weight, rows, *sums = self.engine.ask("compared_losses", losses, others)[0]
        return Score.of(weight, rows, sums)

    def _create(self, name: str, macro: str, *arguments: Any) -> Markup:
        self._made += 1
        relation = self._temporary(f"{macro} {self._made}")
        self.engine.create(name, relation, self.engine.renderer.fragment(macro, *arguments))
        return relation

    def drop(self, relation: Markup) -> None:
        """Drop a table of rows as they stand."""
        if relation != self._priors:
            self.engine.ask("drop_if_exists", relation)
