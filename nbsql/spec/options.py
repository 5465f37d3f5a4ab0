"""The options of a fit, and the ways to choose its features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, Literal

from nbsql.errors import InputError, listed, suggestion
from nbsql.family import Estimate, Family, Nulls, Unseen
from nbsql.family.checks import checked, choice, estimate_named, non_negative, set_attributes, texts, whole_number
from nbsql.spec.classifier import Classifier
from nbsql.spec.dependence import OneDependence
from nbsql.spec.half_life import HalfLife
from nbsql.spec.join import Join
from nbsql.spec.method import OF_NO_CLASS, Clusters, Method, method_named
from nbsql.spec.option_hints import option_hint
from nbsql.spec.spec import CLUSTER, NO_TARGET, Feature

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
        shrinkage: how many rows of the whole are added to each segment, as pseudo-counts; the fewer rows a segment has, the
            nearer its estimates are to those of the whole. With 0 each segment is estimated from its own rows alone, apart
            from the list of values of a category, which all segments share.

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


@dataclass(frozen=True, kw_only=True)
class Estimating:
    """The options of a fit that say how counts become probabilities. No count depends on them.

    Args:
        alpha: the pseudo-count of additive smoothing; 0 is the maximum-likelihood estimate. None is 1, or 0 for the joint
            method and for "mle".
        estimate: the estimate of every parameter whose family does not set its own: the "mean" of its posterior distribution
            (also None), the "mode" (or "map"), its most probable value, or "mle", the maximum-likelihood estimate. It applies
            to the smoothed prior, too.
        prior: "empirical" n_c / N, "uniform" 1 / C, "smoothed" (n_c + a) / (N + a C) with a = alpha, or with another a by
            `nbsql.Smoothed(a)`, or {label: probability}.
        unseen: a value that was never seen in training is skipped ("skip"), or has the likelihood of a count of 0 ("smooth").
    """

    alpha: float | None = None
    estimate: Estimate | Literal["map"] | None = None
    prior: PriorArgument = "empirical"
    unseen: Unseen = "skip"

    def __post_init__(self) -> None:
        set_attributes(self, estimate=estimate_named(self.estimate))

    @property
    def pseudo_count(self) -> float:
        """The alpha of families that have none of their own."""
        if self.alpha is None:
            return 0.0 if self.estimate == "mle" else 1.0
        return non_negative(self.alpha, "alpha")


@dataclass(frozen=True, kw_only=True)
class Counting:
    """The options of a fit that say what is counted. They and the rows determine the counts.

    Args:
        id: the key column or columns; they are not features, and `explain` returns them.
        features: the feature columns. None is every column without another role; `nbsql.Best(20)` selects those of them that
            tell most about the class, each by itself.
        exclude: columns that are not features.
        derive: columns that the model computes from those of whatever it learns, scores or judges: SQL expressions by name,
            {"per_page": "price / pages"}. A column of the same name is replaced, and each expression sees those before it.
        missing: words that stand for a missing value, such as ["NA", "?"], without the blanks around them. They are NULL in
            every column of texts but the id, in whatever the model reads later, too. A column of texts in which only these
            words are not numbers becomes a column of numbers, unless its family in `families` takes texts.
        joins: dimension tables that contain some of the features (`nbsql.Join`). The columns of their keys are not features,
            unless `features` names them. The model stores the joins, and joins what it scores or learns later by itself.
        families: families that override the inferred ones, by column: a name ("poisson") or an instance (`nbsql.Gaussian()`).
            A family over several columns is named by its key: {"words": nbsql.Multinomial(["w1", "w2"])}.
        infer: "values" infers the families of naive Bayes from the types of the columns and from a look at the values of at
            most 100,000 rows, and leaves out keys, with a warning; "types" infers them from the types alone. `update` never
            infers again.
        weight: the column of row weights, at least 0; a weight w counts as w copies of the row.
            `nbsql.HalfLife("30 days", at="day")` halves the weight of a row with every 30 days of its age.
        method: "naive"; "joint", which counts equal rows (`nbsql.JointBayes`); "lda" or "qda", linear or quadratic
            discriminant analysis (`nbsql.LDA`, `nbsql.QDA`); "tan", a tree of categories that depend on each other
            (`nbsql.TAN`); "kdb", in which each may depend on several (`nbsql.KDB`); "aode", which lets each category depend on
            every other in turn (`nbsql.AODE`); "logistic", logistic regression (`nbsql.Logistic`); "weighted", whose features
            have learnt weights (`nbsql.Weighted`); "em", which also learns from rows without a class (`nbsql.EM`); "clusters",
            which finds groups of rows where there is no target (`nbsql.Clusters`). A name stands for the default options; an
            instance sets them, as in `nbsql.Logistic(penalty=2)`. `nbsql.Mixture(2)` splits every class into two components.
        nulls: "skip" leaves a missing value out of counts and scores, "category" makes it a value of its own, "error" refuses
            it.
        slice_by: a SQL expression over the columns, such as "date_trunc('month', sent_at)"; statistics are kept by its value.
        segment_by: a SQL expression over the columns, such as "region". Each segment has its own model, by which its rows are
            scored. Rows of an unseen segment, or of none, are scored by the model of all rows. A column that is given here is
            not a feature. `nbsql.Segments("region", shrinkage=3)` sets how strongly a segment is shrunk towards the whole.
            With 0 each is estimated from its own rows, except that the values of a category are those of all segments.
    """

    id: str | Sequence[str] = ()
    features: Sequence[str] | Best | None = None
    exclude: Sequence[str] = ()
    derive: Mapping[str, str] = field(default_factory=dict)
    missing: Sequence[str] = ()
    joins: Sequence[Join] | Join = ()
    families: Mapping[str, str | Family] = field(default_factory=dict)
    infer: Infer = "values"
    weight: str | HalfLife | None = None
    method: Method = "naive"
    nulls: Nulls = "skip"
    slice_by: str | None = None
    segment_by: str | Segments | None = None

    @property
    def excluded(self) -> list[str]:
        """The columns of `exclude`, which may be a single one."""
        names: Any = [self.exclude] if isinstance(self.exclude, str) else self.exclude
        return [] if names is None else [*texts(names, "⟨exclude⟩ must be a column or a list of columns")]

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


@dataclass(frozen=True)
class Options(Estimating, Counting):
    """The keyword arguments of `nbsql.fit` that describe the model.

    An option stands here once: its type, its default and its text. `python -m nbsql.spec` makes the keywords of type checkers
    from it (keywords.py), and the signature and docstring of the functions that take it follow (signature.py).
    """

    target: str
    classes: Sequence[Any] | None = None

    @classmethod
    def of(
        cls, target: str | Target | None, options: Mapping[str, Any], *, beside: Iterable[str] = (), among: Sequence[str] = ()
    ) -> Options:
        """The options from keyword arguments by name; None stands for an empty list.

        Without a target all rows are of one class, which is an expression that the model keeps, as those of `derive` are.

        The arguments that `beside` names are accepted, too, and are no options of the model; `among` names the only ones that
        are, if not all. Raises InputError for any other name.
        """
        names = among or [each.name for each in model_fields()]
        for name in options:
            if name in ("name", "replace", "database") and name not in beside:
                raise InputError(f"⟨{name}⟩ is of a model that is stored, and nothing is stored here; fit a model with it")
            if name not in names and name not in beside:
                hint = option_hint(name, options) or suggestion(name, [*names, *beside])
                raise InputError(f"no option {name!r}{hint or f'; the options are {listed(names, 30)}'}")
        several = ("joins", "exclude", "families", "id", "derive", "missing")  # of which None is none
        column, classes = (target.column, target.classes) if isinstance(target, Target) else (target, None)
        given = {k: v for k, v in options.items() if k in names and not (v is None and k in several)} | {"classes": classes}
        read_once: dict[str, Any] = {k: [*v] for k, v in given.items() if isinstance(v, Iterator)}
        method = method_named(given.get("method", "naive"))
        has_clusters = isinstance(method, Clusters)
        if has_clusters and column is not None:
            raise InputError(OF_NO_CLASS)
        if column is None:
            column = CLUSTER if has_clusters else NO_TARGET
            if not has_clusters:
                given = {"unseen": "smooth", **given}  # what was never seen is unusual, too
            if isinstance(method, OneDependence) and method.bins == "mdl":  # which cuts where classes differ
                given["method"] = replace(method, bins=10)
            given["derive"] = {**given.get("derive", {}), column: "'all'"}
        return cls(column, **given | read_once)

    def excluding(self, *names: str) -> Options:
        """The options without these columns as features."""
        return replace(self, exclude=[*self.excluded, *(name for name in names if name not in self.excluded)])


def model_fields() -> list[Field[Any]]:
    """The options of a fit that describe the model, other than its target, in the order of its signature."""
    return [each for each in fields(Options) if each.name not in {"target", "classes"}]
