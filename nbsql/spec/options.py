"""The options of a fit, and the ways to choose its features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypedDict

from nbsql.errors import InputError, listed, suggestion
from nbsql.family import Estimate, Family, Nulls, Unseen
from nbsql.family.checks import checked, choice, non_negative, whole_number
from nbsql.spec.half_life import HalfLife
from nbsql.spec.join import Join
from nbsql.spec.method import Classifier, Method, method_named
from nbsql.spec.spec import Feature

Infer = Literal["values", "types"]
By = Literal["mutual_information", "chi_square", "symmetrical_uncertainty", "f_statistic"]


@dataclass(frozen=True)
class Target:
    """The column of the class, with all its labels: `nbsql.fit(..., target=nbsql.Target("day", classes=["dry", "wet"]))`.

    Args:
        column: the column that holds the class.
        classes: all possible labels, including those that no row has yet; rows of other classes are refused, by `update` as
            well. A class without rows has the prior that `prior` gives a count of 0, and for every feature the limit of
            smoothing. None is the labels of the rows.

    >>> Target("day")
    Target(column='day', classes=None)
    """

    column: str
    classes: Sequence[Any] | None = None


@dataclass(frozen=True)
class Best:
    """The most informative features, each ranked by itself: `nbsql.fit(..., features=nbsql.Best(20))`.

    The fit counts all candidates in one scan, ranks them by their counts, keeps the best and drops the counts of the others.
    The model contains and reads the best features only. Of tied features the first is kept.

    Args:
        count: the number of features to keep; if there are fewer candidates, all are kept.
        by: the measure that ranks them, as in `Model.relevance`. "mutual_information" ranks features of all families
            together, by the information about the class in an average row, in nats. "chi_square" does not rank Poisson,
            exponential and geometric features; "symmetrical_uncertainty" does not rank numbers; "f_statistic" ranks only
            numbers, and no covariance matrix.
        among: the candidates, as `features` of a fit; None takes every column that has no other role.

    >>> import duckdb, nbsql
    >>> con = duckdb.connect()
    >>> _ = con.execute("CREATE TABLE t AS SELECT i % 2 AS y, 'v' || i % 2 AS told, i % 3 AS noise FROM range(60) AS r(i)")
    >>> model = nbsql.fit(con, "t", target="y", features=nbsql.Best(1))
    >>> list(model.families)
    ['told']
    """

    count: int
    by: By = "mutual_information"
    among: Sequence[str] | None = None

    def __post_init__(self) -> None:
        whole_number(self.count, "the number of features to keep")
        choice(self.by, By, "by")

    def accept(self, features: Sequence[Feature]) -> None:
        """Raise InputError unless all of these features can be ranked together."""
        for feature in features:
            centred, density = feature.family.centred, feature.family.kind == "density"
            rate = density and not centred
            ranks = {
                "mutual_information": True,
                "chi_square": not rate,
                "symmetrical_uncertainty": not (rate or centred),
                "f_statistic": density and centred,
            }
            if not ranks[self.by]:
                raise InputError(
                    f"{self.by!r} does not rank {feature.name!r}, which is {feature.family.name}; "
                    "rank by 'mutual_information', or leave it out"
                )


@dataclass(frozen=True)
class Smoothed:
    """The smoothed prior of the classes, (n_c + a) / (N + a C): `nbsql.fit(..., prior=nbsql.Smoothed(2))`.

    Args:
        alpha: the a of the formula, a pseudo-count for each class; None, as well as `prior="smoothed"`, takes the fit's alpha.

    >>> Smoothed(2)
    Smoothed(alpha=2.0)
    """

    alpha: float | None = None

    def __post_init__(self) -> None:
        checked(self, non_negative, "alpha")


@dataclass(frozen=True)
class Segments:
    """One model for each segment of the rows: `nbsql.fit(..., segment_by=nbsql.Segments("region", shrinkage=3))`.

    Args:
        by: a SQL expression over the columns, whose value is the segment of a row.
        shrinkage: the number of pseudo-counts by which the estimates of the whole enter those of a segment. With 0 each
            segment is estimated from its own rows alone, apart from the list of values of a category, which all segments
            share.

    >>> Segments("region")
    Segments(by='region', shrinkage=10.0)
    """

    by: str
    shrinkage: float = 10.0

    def __post_init__(self) -> None:
        if not isinstance(self.by, str):
            raise InputError(f"⟨segment_by⟩ must be one SQL expression over the columns, not {self.by!r}")
        checked(self, non_negative, "shrinkage")


PriorKind = Literal["empirical", "uniform", "smoothed"]
PriorArgument = PriorKind | Smoothed | Mapping[Any, float]


def candidate_options(options: Options) -> tuple[Options, Best | None]:
    """The options of a fit with all candidates as features, and the way to choose among them; None keeps all."""
    choosing = options.features
    if isinstance(choosing, Best):
        return replace(options, features=choosing.among), choosing
    return options, None


class BaseFitOptions(TypedDict, total=False):
    """The options of `nbsql.fit` that describe the model, except its target, alpha, prior and families; all optional."""

    derive: Mapping[str, str] | None
    missing: Sequence[str]
    joins: Sequence[Join] | Join
    features: Sequence[str] | Best | None
    exclude: Sequence[str]
    id: str | Sequence[str]
    weight: str | HalfLife | None
    nulls: Nulls
    unseen: Unseen
    slice_by: str | None
    segment_by: str | Segments | None
    method: Method
    estimate: Estimate | Literal["map"] | None
    infer: Infer


class ModelOptions(BaseFitOptions, total=False):
    """The options of `nbsql.fit` that describe the model, other than its target."""

    alpha: float | None
    prior: PriorArgument
    families: Mapping[str, str | Family] | None


class UnnamedFitOptions(ModelOptions, total=False):
    """The options of `nbsql.fit` other than the target and the name."""

    replace: bool
    database: str | None


class FitOptions(UnnamedFitOptions, total=False):
    """The options of `nbsql.fit` other than the target."""

    name: str | None


@dataclass(frozen=True)
class Options:
    """The keyword arguments of `nbsql.fit` that describe the model; that function's docstring explains them."""

    target: str
    joins: Sequence[Join] | Join = ()
    features: Sequence[str] | Best | None = None
    exclude: Sequence[str] = ()
    families: Mapping[str, str | Family] = field(default_factory=dict)
    id: str | Sequence[str] = ()
    weight: str | HalfLife | None = None
    alpha: float | None = None
    prior: PriorArgument = "empirical"
    nulls: Nulls = "skip"
    unseen: Unseen = "skip"
    slice_by: str | None = None
    segment_by: str | Segments | None = None
    method: Method = "naive"
    estimate: Estimate | None = None
    classes: Sequence[Any] | None = None
    derive: Mapping[str, str] = field(default_factory=dict)
    missing: Sequence[str] = ()
    infer: Infer = "values"

    @classmethod
    def of(
        cls, target: str | Target, options: Mapping[str, Any], *, beside: Iterable[str] = (), among: Sequence[str] = ()
    ) -> Options:
        """The options from keyword arguments by name; None stands for an empty list.

        The arguments that `beside` names are accepted, too, and are no options of the model; `among` names the only ones that
        are, if not all. Raises InputError for any other name.
        """
        names = among or [each.name for each in fields(cls) if each.name not in {"target", "classes"}]
        for name in options:
            if name not in names and name not in beside:
                raise InputError(f"no option {name!r}{suggestion(name, names) or f'; the options are {listed(names, 30)}'}")
        several = ("joins", "exclude", "families", "id", "derive", "missing")
        column, classes = (target.column, target.classes) if isinstance(target, Target) else (target, None)
        given = {k: v for k, v in options.items() if k in names and not (v is None and k in several)} | {"classes": classes}
        read_once: dict[str, Any] = {k: [*v] for k, v in given.items() if isinstance(v, Iterator)}
        return cls(column, **given | read_once)

    @property
    def excluded(self) -> list[str]:
        """The columns of `exclude`, which may be a single one."""
        return [self.exclude] if isinstance(self.exclude, str) else list(self.exclude)

    def excluding(self, *names: str) -> Options:
        """The options without these columns as features."""
        return replace(self, exclude=[*self.excluded, *(name for name in names if name not in self.excluded)])

    @property
    def pseudo_count(self) -> float:
        """The alpha of families that have none of their own."""
        if self.alpha is None:
            return 0.0 if self.estimate == "mle" else 1.0
        return self.alpha

    @property
    def classifier(self) -> Classifier:
        """The classifier that `method` names, or the instance itself. Raises InputError if there is no such method."""
        return method_named(self.method)

    @property
    def segments(self) -> Segments | None:
        """The segments with their shrinkage; None without segments."""
        if self.segment_by is None or isinstance(self.segment_by, Segments):
            return self.segment_by
        return Segments(self.segment_by)
