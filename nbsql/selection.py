"""Which features a model keeps: those that tell most of the class, by the counts of all candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.errors import InputError
from nbsql.family import choice
from nbsql.family.rate import Rate
from nbsql.spec import Feature, Options, Spec

By = Literal["mutual_information", "chi_square", "symmetrical_uncertainty", "f_statistic"]


@dataclass(frozen=True)
class Best:
    """The features of a fit that tell most of the class, each by itself: `nbsql.fit(..., features=nbsql.Best(20))`.

    All candidates are counted in the scan of the fit, ranked by their counts, and all but the best dropped, with their counts.
    The model holds, and reads, the best ones only. Ties go to the feature that comes first.

    Args:
        count: how many; with fewer candidates all are kept.
        by: what they are ranked by, as `Model.relevance` has it. "mutual_information" ranks features of all families together,
            by what they tell of an average row, in nats; "chi_square" leaves out Poisson, exponential and geometric ones,
            "symmetrical_uncertainty" takes no numbers, "f_statistic" nothing else, and no covariance matrix.
        among: the candidates, as `features` of a fit; None takes every column that has no other role.
    """

    count: int
    by: By = "mutual_information"
    among: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.count, bool) or not isinstance(self.count, int) or self.count < 1:
            raise InputError(f"the number of features to keep must be a whole number of at least 1, not {self.count!r}")
        choice(self.by, By, "by")

    def accept(self, features: Sequence[Feature]) -> None:
        """Raise InputError unless all of these can be ranked together."""
        for feature in features:
            rate, number = isinstance(feature.family, Rate), isinstance(feature.family, Rate) or feature.family.centred
            ranks = {
                "mutual_information": True,
                "chi_square": not rate,
                "symmetrical_uncertainty": not number,
                "f_statistic": number and not rate and feature.family.by_column,
            }
            if not ranks[self.by]:
                raise InputError(
                    f"by={self.by!r} does not rank {feature.name!r}, which is {feature.family.name}; "
                    "use by='mutual_information', or leave it out of among"
                )


@dataclass(frozen=True)
class Forward:
    """The features of a fit that tell most of the class together: `nbsql.fit(..., features=nbsql.Forward(20))`.

    Begins with the prior and takes, one a step, the feature that lowers the cross-validated log loss most, as long as one does;
    at least one is taken. The log loss is that of `nbsql.cross_validate` with these features and folds. No step fits anything:
    what a feature adds to a row does not depend on the others, so it is computed once a fold and summed in every step. Ties go
    to the feature that comes first.

    Args:
        count: how many at most.
        folds: of the cross-validation; rows are dealt so that every fold has its share of every class.
        fold: the column that says the fold of a row, instead; it is no feature. Rows where it is NULL are in no fold.
        among: the candidates, as `features` of a fit; None takes every column that has no other role.
    """

    count: int
    folds: int = 5
    fold: str | None = None
    among: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.count, bool) or not isinstance(self.count, int) or self.count < 1:
            raise InputError(f"the number of features to take must be a whole number of at least 1, not {self.count!r}")
        if isinstance(self.folds, bool) or not isinstance(self.folds, int) or self.folds < 2:
            raise InputError(f"folds must be a whole number of at least 2, not {self.folds!r}")


def candidates(options: Options) -> tuple[Options, Best | Forward | None]:
    """The options of a fit with all candidates as features, and how to choose among them, if it is to be chosen."""
    choosing = options.features
    if isinstance(choosing, Forward) and choosing.fold is not None:
        exclude = [options.exclude] if isinstance(options.exclude, str) else list(options.exclude)
        options = replace(options, exclude=[*exclude, choosing.fold])
    if isinstance(choosing, (Best, Forward)):
        return replace(options, features=choosing.among), choosing
    return options, None


def narrowed(engine: Engine, spec: Spec, best: Best, statistics: Markup) -> Spec:
    """The spec with the best features only, by the cells of them all."""
    scores = {name: (score, f or 0.0) for name, score, f in engine.ask("ranked", statistics, spec.features, best.by)}

    def rank(feature: Feature) -> tuple[float, float, int]:
        score, f = scores.get(feature.name, (-1.0, 0.0))  # nothing but NULL, or a number that never varies
        return -rounded(score), -rounded(f), feature.index

    return kept(spec, [feature.name for feature in sorted(spec.features, key=rank)[: best.count]])


def kept(spec: Spec, names: Sequence[str]) -> Spec:
    """The spec with these features only, in their order."""
    features = [feature for feature in spec.features if feature.name in names]
    return replace(spec, features=tuple(replace(feature, index=index) for index, feature in enumerate(features, start=1)))


def rounded(score: float) -> float:
    """Sums that run in parallel differ in their last digits, which shall decide nothing."""
    return float(f"{score:.12g}")
