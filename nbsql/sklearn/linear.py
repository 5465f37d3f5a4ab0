"""Converts estimators whose score is a sum over columns into weights."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from nbsql.family import Categorical
from nbsql.sklearn.forms import Weights, column_type, labels_of, text_of
from nbsql.sklearn.inputs import Code, Input, Level, Number, Word
from nbsql.sklearn.words import no_counterpart


def read_weights(estimator: Any, inputs: Sequence[Input]) -> Weights:
    """The weights of an estimator. Raises NotSupportedError if its score is not such a sum."""
    name, labels = type(estimator).__name__, labels_of(estimator)
    if any(isinstance(each, Code) for each in inputs):
        raise no_counterpart(f"{name} of an OrdinalEncoder", "use a OneHotEncoder")
    found = Weights(labels)
    for column in {each.column for each in inputs if isinstance(each, Level)}:
        found.types[column] = column_type(each.value for each in inputs if isinstance(each, Level) and each.column == column)
    if name == "GaussianNB":
        _gaussian(estimator, inputs, found)
        return found
    if name not in _LINEAR:
        raise no_counterpart(name, f"{', '.join(KNOWN)} do")
    if name == "BernoulliNB" and estimator.binarize is not None:  # its score is a sum over inputs that are 0 or 1
        if not 0 <= estimator.binarize < 1:
            raise no_counterpart(f"BernoulliNB(binarize={estimator.binarize}) of indicators", "fit it with binarize=0.0")
        if any(isinstance(each, Number) and not each.is_plain for each in inputs):
            raise no_counterpart("BernoulliNB of scaled numbers beside indicators", "leave out the scaler, or the indicators")
    slopes, constants = _LINEAR[name](estimator)
    if len(slopes) == 1 and len(labels) == 2:
        labels = labels[1:]  # the weights are those of the larger label's log-odds
    for c, label in enumerate(labels):
        found.add(label, None, "1", float(constants[c]))
        for each, weight in zip(inputs, slopes[c].tolist(), strict=True):
            _add(found, label, each, weight)
    return found


def _add(found: Weights, label: Any, each: Input, weight: float, square: float = 0.0) -> None:
    """Add the term of an input z to the score: weight z + square z^2 for a number, weight z for an indicator or a count."""
    if not math.isfinite(weight):
        raise no_counterpart("a likelihood of 0", "fit it with alpha above 0")
    if isinstance(each, Level):
        value = text_of(each.value)
        found.families.setdefault(each.column, Categorical(nulls="category" if value is None else None))
        found.add(label, each.column, "is", weight + square, value=value)
    elif isinstance(each, Word):
        found.families[each.column] = each.family
        found.add(label, each.column, "has" if each.family.presence else "count", weight, value=each.token, mean=each.idf)
    elif isinstance(each, Number):
        _add_number(found, label, each, weight, square)


def _add_number(found: Weights, label: Any, each: Number, weight: float, square: float) -> None:
    known = found.rows.get((label, each.column, None, "x"))
    # One centre for each column, however often it is used.
    centre = each.centre if known is None or known[1] is None else known[1]
    offset = each.offset + each.scale * (centre - each.centre)  # z = scale (x - centre) + offset
    found.add(label, None, "1", weight * offset + square * offset * offset)
    slope = each.scale * (weight + 2 * square * offset)
    found.add(label, each.column, "x", slope, mean=centre)
    if square:
        found.add(label, each.column, "x^2", square * each.scale * each.scale, mean=centre)


def _gaussian(estimator: Any, inputs: Sequence[Input], found: Weights) -> None:
    """Expand -(z - mean)^2 / 2 v in powers of z; a column of words is refused, as it would need the square of a count."""
    if any(isinstance(each, Word) for each in inputs):
        raise no_counterpart("GaussianNB of words", "use MultinomialNB, ComplementNB or BernoulliNB")
    for c, label in enumerate(found.classes):
        found.add(label, None, "1", math.log(float(estimator.class_prior_[c])))
        for j, each in enumerate(inputs):
            mean, variance = float(estimator.theta_[c, j]), float(estimator.var_[c, j])
            constant = -0.5 * math.log(2 * math.pi * variance)
            if isinstance(each, Number):  # about its centre, so that no digits cancel
                middle = float(estimator.theta_[:, j].mean())
                moved = Number(each.column, each.scale, each.centre, each.offset - middle)
                found.add(label, None, "1", constant - (middle - mean) ** 2 / (2 * variance))
                _add_number(found, label, moved, (mean - middle) / variance, -0.5 / variance)
            else:
                found.add(label, None, "1", constant - mean * mean / (2 * variance))
                _add(found, label, each, mean / variance, -0.5 / variance)


def _logistic(estimator: Any) -> tuple[Any, Any]:
    if getattr(estimator, "multi_class", "deprecated") == "ovr" and len(estimator.classes_) > 2:
        raise no_counterpart("LogisticRegression(multi_class='ovr')", "fit it without")
    return estimator.coef_, estimator.intercept_


def _bernoulli(estimator: Any) -> tuple[Any, Any]:
    import numpy as np

    absent = np.log(-np.expm1(estimator.feature_log_prob_))
    return estimator.feature_log_prob_ - absent, estimator.class_log_prior_ + absent.sum(axis=1)


_LINEAR: dict[str, Callable[[Any], tuple[Any, Any]]] = {  # the slopes and the constants
    "LinearDiscriminantAnalysis": lambda estimator: (estimator.coef_, estimator.intercept_),
    "LogisticRegression": _logistic,
    "LogisticRegressionCV": _logistic,
    "MultinomialNB": lambda estimator: (estimator.feature_log_prob_, estimator.class_log_prior_),
    "ComplementNB": lambda estimator: (estimator.feature_log_prob_, [0.0] * len(estimator.classes_)),
    "BernoulliNB": _bernoulli,
}

KNOWN = (
    "GaussianNB", "MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB", "LinearDiscriminantAnalysis",
    "QuadraticDiscriminantAnalysis", "LogisticRegression", "LogisticRegressionCV",
)  # fmt: skip
