"""Classifiers: how the columns that have no family of their own become features."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from nbsql.errors import InputError, suggestion
from nbsql.family import Joint, MultivariateGaussian, OverColumns
from nbsql.spec import Column, Options

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
    nulls = options.nulls if options.nulls == "error" else "category"
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


def _refuse_backoff(options: Options) -> None:
    if options.backoff is not None:
        raise InputError(f"backoff={options.backoff!r} goes with method='joint', which may not have seen a row")


METHODS: dict[str, Method] = {"naive": naive, "joint": joint, "lda": lda, "qda": qda}


def method(name: str) -> Method:
    """The classifier of that name.

    Raises:
        InputError: there is none.
    """
    if not isinstance(name, str) or name not in METHODS:
        known = ", ".join(map(repr, METHODS))
        raise InputError(f"no method {name!r}{suggestion(str(name), METHODS) or f'; the methods are {known}'}")
    return METHODS[name]
