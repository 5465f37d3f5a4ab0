"""Classifiers: how the columns that have no family of their own become features."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from nbsql.errors import InputError, suggestion
from nbsql.family import Joint, MultivariateGaussian, Nulls, OverColumns, non_negative, weighted
from nbsql.spec import Column, Feature, Logistic, Options

# From the columns that are to be features and that `families` does not name, to families over several of them, by key; what
# stays out of them has the family of its type.
Method = Callable[[Sequence[Column], Options], Mapping[str, OverColumns]]


def naive(columns: Sequence[Column], options: Options) -> Mapping[str, OverColumns]:  # noqa: ARG001
    """Naive Bayes: the features are independent given the class."""
    _refuse_backoff(options)
    return {}


def joint(columns: Sequence[Column], options: Options) -> Mapping[str, OverColumns]:
    """The plug-in Bayes classifier: P(x, y) is the share of the rows that are x and y, and 0 where there is none.

    A missing value is a value like others, as in GROUP BY. With a backoff, a row that was never seen is scored by naive Bayes.
    """
    if not columns:
        return {}
    alpha = options.alpha
    if alpha is None:  # the share as it is, which the mode has with pseudo-counts of 1
        alpha = 1.0 if options.estimate == "mode" else 0.0
    nulls: Nulls = "error" if options.nulls == "error" else "category"
    names = [column.name for column in columns]
    if options.backoff is not None:
        return {"joint": Joint(names, alpha=alpha, nulls=nulls, backoff=options.backoff)}
    return {"joint": Joint(names, alpha=alpha, nulls=nulls, unseen="smooth")}


def lda(columns: Sequence[Column], options: Options) -> Mapping[str, OverColumns]:
    """Linear discriminant analysis of the numbers: one covariance matrix for all classes."""
    return _discriminant("lda", columns, options)


def qda(columns: Sequence[Column], options: Options) -> Mapping[str, OverColumns]:
    """Quadratic discriminant analysis of the numbers: a covariance matrix a class."""
    return _discriminant("qda", columns, options)


def _discriminant(name: str, columns: Sequence[Column], options: Options) -> Mapping[str, OverColumns]:
    _refuse_backoff(options)
    numbers = [column.name for column in columns if column.kind in MultivariateGaussian.accepts]
    if not numbers:
        raise InputError(f"method={name!r} needs a number among the features")
    return {name: MultivariateGaussian(numbers, shared=name == "lda", shrinkage=options.shrinkage)}


def logistic(columns: Sequence[Column], options: Options) -> Mapping[str, OverColumns]:  # noqa: ARG001
    """Logistic regression: the features are counted as for naive Bayes, and have weights that are learnt from the rows."""
    _refuse_backoff(options)
    return {}


def learning(options: Options, features: Sequence[Feature]) -> Logistic | None:
    """How the weights of the features are learnt; None where the method has none.

    Raises:
        InputError: an option is wrong, or goes with another method, or a feature can have no weights.
    """
    given = {name: getattr(options, name) for name in ("penalty", "iterations", "tolerance")}
    if options.method != "logistic":
        for name, value in given.items():
            if value is not None:
                raise InputError(f"{name} is of method='logistic', not of {options.method!r}")
        return None
    for name in ("segment_by", "prior"):
        if getattr(options, name) != getattr(Options, name):
            why = "has one set of weights" if name == "segment_by" else "learns the bias of every class"
            raise InputError(f"method='logistic' {why}; leave out {name}")
    for feature in features:
        if feature.family.unseen == "smooth":
            raise InputError(
                f"unseen='smooth' of {feature.name!r} is of likelihoods, and method='logistic' has weights; leave it out"
            )
        if weighted(feature.family) is None:
            takes = "numbers, categories, booleans and count columns"
            raise InputError(
                f"method='logistic' takes {takes}, and {feature.name!r} is {feature.family.name}; "
                f"leave it out with exclude=[{feature.column!r}]"
            )
    iterations = 100 if options.iterations is None else options.iterations
    if isinstance(iterations, bool) or not isinstance(iterations, int) or iterations < 1:
        raise InputError(f"iterations must be a whole number of at least 1, not {iterations!r}")
    tolerance = non_negative(1e-8 if options.tolerance is None else options.tolerance, "tolerance")
    if tolerance == 0:
        raise InputError("tolerance must be above 0, not 0")
    return Logistic(non_negative(0.5 if options.penalty is None else options.penalty, "penalty"), iterations, tolerance)


def _refuse_backoff(options: Options) -> None:
    if options.backoff is not None:
        raise InputError(f"backoff={options.backoff!r} goes with method='joint', which may not have seen a row")


METHODS: dict[str, Method] = {"naive": naive, "joint": joint, "lda": lda, "qda": qda, "logistic": logistic}


def method(name: str) -> Method:
    """The classifier of that name.

    Raises:
        InputError: there is none.
    """
    if not isinstance(name, str) or name not in METHODS:
        known = ", ".join(map(repr, METHODS))
        raise InputError(f"no method {name!r}{suggestion(str(name), METHODS) or f'; the methods are {known}'}")
    return METHODS[name]
