"""Converts estimators that store counts into the cells of a model that can continue to learn."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from nbsql.family import Bernoulli, Binned, Categorical, Complement, Gaussian, Multinomial, MultivariateGaussian
from nbsql.family.multivariate_gaussian import powers_of_two
from nbsql.sklearn.columns import free_name
from nbsql.sklearn.forms import Cells, EstimatorCounts, by_feature, column_type, feature_of, labels_of, prior_of, text_of
from nbsql.sklearn.inputs import Code, Input, Number, Word
from nbsql.sklearn.words import no_counterpart
from nbsql.spec.spec import Feature, Prior


def read_counts(estimator: Any, inputs: Sequence[Input]) -> EstimatorCounts | None:
    """The counts of an estimator; None if it stores none, or if SQL cannot count its inputs."""
    name, labels, cells = type(estimator).__name__, labels_of(estimator), Cells()
    if name == "QuadraticDiscriminantAnalysis":
        features = _quadratic_discriminant(estimator, inputs, labels, cells)
        return EstimatorCounts(features, Prior("given"), cells, labels, given=True)
    if name not in _COUNTS:
        return None
    for label, size in zip(labels, estimator.class_count_, strict=True):
        if size > 0:  # a class that `partial_fit` was told of but has not seen has no cell
            cells.add(label, None, size)
    found = _COUNTS[name](estimator, inputs, labels, cells)
    return None if found is None else EstimatorCounts(found, prior_of(estimator, labels), cells, labels)


def _alphas(estimator: Any, count: int) -> list[float]:
    """The pseudo-counts of the columns, as scikit-learn interprets them."""
    least = 0.0 if estimator.force_alpha else 1e-10
    alpha = estimator.alpha
    given = [float(each) for each in alpha] if hasattr(alpha, "__len__") else [float(alpha)] * count
    return [max(each, least) for each in given]


def _columns(inputs: Sequence[Input]) -> list[str] | None:
    """The columns of the inputs; None if an input is not simply a column, or if a column occurs twice."""
    numbers = _numbers(inputs)
    return None if numbers is None or not all(each.is_plain for each in numbers) else [each.column for each in numbers]


def _numbers(inputs: Sequence[Input]) -> list[Number] | None:
    """The inputs, if they are numbers of different columns and none is constant; None otherwise."""
    numbers = [each for each in inputs if isinstance(each, Number) and each.scale != 0]
    return numbers if len(numbers) == len(inputs) == len({each.column for each in numbers}) else None


def _words(inputs: Sequence[Input], alphas: Sequence[float]) -> list[Word]:
    """The inputs, if they are the words of one text with one pseudo-count; none otherwise."""
    words = [each for each in inputs if isinstance(each, Word)]
    return words if len(words) == len(inputs) and len({each.column for each in words}) == len(set(alphas)) == 1 else []


def _gaussian(estimator: Any, inputs: Sequence[Input], labels: Sequence[Any], cells: Cells) -> list[Feature] | None:
    """The moments. For plain columns var_smoothing is added when they are read; for scaled ones it is part of the variances."""
    numbers = _numbers(inputs)
    if numbers is None:
        return None
    sizes = [float(n) for n in estimator.class_count_]
    for name, size in zip(labels, sizes, strict=True):
        if not size > 0:
            raise no_counterpart(f"GaussianNB of class {name!r} without a row", "fit or partial_fit it on rows of every class")
    smoothing = _smoothing(estimator) if all(each.is_plain for each in numbers) else 0.0
    added = float(estimator.epsilon_) if smoothing else 0.0
    for c, (name, n) in enumerate(zip(labels, sizes, strict=True)):
        for j, each in enumerate(numbers):
            variance = max(float(estimator.var_[c, j]) - added, 0.0) / (each.scale * each.scale)
            cells.add(name, each.column, n, mean=each.column_value(estimator.theta_[c, j]), m2=variance * n)
    family = Gaussian(smoothing=smoothing, floor=0.0)
    return [feature_of(each.column, family, index) for index, each in enumerate(numbers, start=1)]


def _smoothing(estimator: Any) -> float:
    """epsilon_ as a share of the largest variance over all classes: var_smoothing, if one fit has seen all rows."""
    n = estimator.class_count_[:, None]
    mean = (n * estimator.theta_).sum(axis=0) / n.sum()
    within = (n * (estimator.var_ - estimator.epsilon_)).sum(axis=0)
    largest = float(((within + (n * (estimator.theta_ - mean) ** 2).sum(axis=0)) / n.sum()).max())
    if largest <= 0:
        return 0.0
    share = float(estimator.epsilon_) / largest
    return float(estimator.var_smoothing) if abs(share - estimator.var_smoothing) <= 1e-6 * share else share


def _multinomial(estimator: Any, inputs: Sequence[Input], labels: Sequence[Any], cells: Cells) -> list[Feature] | None:
    complement = type(estimator).__name__ == "ComplementNB"
    norm = complement and bool(estimator.norm)
    alphas = _alphas(estimator, len(inputs))
    if words := _words(inputs, alphas):
        family = words[0].family
        if family.reweights_tokens or family.presence:  # weighted counts of words are sums over rows
            return None
        feature = _bag(words, alphas[0], event="complement" if complement else "multinomial", weight_norm=norm)
        values = [each.token for each in words]
    else:
        names = _columns(inputs)
        if names is None:
            return None
        alpha, values = by_feature(names, alphas), names
        kind = Complement(names, alpha=alpha, norm=norm) if complement else Multinomial(names, alpha=alpha)
        feature = feature_of(free_name(kind.name, names), kind, 1, names)
    _add(cells, labels, estimator.feature_count_, feature.name, values)
    return [feature]


def _bag(words: Sequence[Word], alpha: float, **options: Any) -> Feature:
    family = replace(words[0].family, alpha=alpha, vocabulary=[each.token for each in words], tfidf=False, norm=None, **options)
    return feature_of(words[0].column, family, 1, types="VARCHAR")


def _add(cells: Cells, labels: Sequence[Any], counts: Any, feature: str, values: Sequence[str]) -> None:
    for name, row in zip(labels, counts, strict=True):
        for value, n in zip(values, row.tolist(), strict=True):
            if n > 0:
                cells.add(name, feature, n, value=value)


def _bernoulli(estimator: Any, inputs: Sequence[Input], labels: Sequence[Any], cells: Cells) -> list[Feature] | None:
    alphas, sizes, threshold = _alphas(estimator, len(inputs)), estimator.class_count_.tolist(), estimator.binarize
    if words := _words(inputs, alphas):
        text = words[0].family
        limit = 0 if text.reweights_tokens else 1  # weighted counts may be anything above 0
        if not (text.presence if threshold is None else threshold == 0 or 0 < threshold < limit):
            raise no_counterpart(f"BernoulliNB(binarize={threshold}) of words", "fit it with binarize=0.0")
        feature = _bag(words, alphas[0], event="bernoulli")
        for name, n in zip(labels, sizes, strict=True):
            if n > 0:
                cells.add(name, feature.name, n)
        _add(cells, labels, estimator.feature_count_, feature.name, [each.token for each in words])
        return [feature]
    numbers = _numbers(inputs)
    is_binary = not threshold and _columns(inputs) is not None  # columns of 0 and 1, or Booleans
    if numbers is None or not (is_binary or (threshold is not None and all(each.scale > 0 for each in numbers))):
        return None
    features = []
    for j, (each, alpha) in enumerate(zip(numbers, alphas, strict=True)):
        # A number above a threshold is in the upper of two bins, which includes its lower edge.
        edge = 0.0 if is_binary else math.nextafter(each.column_value(threshold), math.inf)
        bins = Binned(alpha=alpha, by=[edge])
        for name, n, count in zip(labels, sizes, estimator.feature_count_[:, j].tolist(), strict=True):
            for value, m in zip(["false", "true"] if is_binary else bins.labels, [n - count, count], strict=True):
                cells.add(name, each.column, m, value=value)
        features.append(feature_of(each.column, Bernoulli(alpha=alpha, beta=alpha) if is_binary else bins, j + 1))
    return features


def _categorical(estimator: Any, inputs: Sequence[Input], labels: Sequence[Any], cells: Cells) -> list[Feature]:
    features, alpha = [], _alphas(estimator, 1)[0]
    for j, each in enumerate(inputs):
        counts = estimator.category_count_[j]
        if isinstance(each, Code):
            values = list(each.values)
        elif isinstance(each, Number) and each.is_plain:
            values = list(range(counts.shape[1]))
        else:
            raise no_counterpart(
                "CategoricalNB of anything but whole numbers or an OrdinalEncoder", "put an OrdinalEncoder before it"
            )
        if len(values) < counts.shape[1]:
            raise no_counterpart("CategoricalNB with more categories than its OrdinalEncoder", "leave out min_categories")
        texts = [str(text_of(value)) for value in values[: counts.shape[1]]]
        family = Categorical(alpha=alpha, levels=texts)
        features.append(feature_of(each.column, family, j + 1, types=column_type(values)))
        _add(cells, labels, counts, each.column, texts)
    return features


def _quadratic_discriminant(estimator: Any, inputs: Sequence[Input], labels: Sequence[Any], cells: Cells) -> list[Feature]:
    """The means and covariance matrices of the classes, without counts."""
    numbers = _numbers(inputs)
    if numbers is None:
        raise no_counterpart("QuadraticDiscriminantAnalysis of anything but numbers", "leave out the other columns")
    names = [each.column for each in numbers]
    if any(rotation.shape[1] < len(names) for rotation in estimator.rotations_):
        raise no_counterpart("QuadraticDiscriminantAnalysis of collinear columns", "fit it with reg_param, or leave one out")
    pairs = zip(estimator.rotations_, estimator.scalings_, strict=True)
    matrices = [(rotation * scaling) @ rotation.T for rotation, scaling in pairs]
    spreads = sum(matrix.diagonal() for matrix in matrices) / len(matrices)
    variances = [float(v) / (each.scale * each.scale) for v, each in zip(spreads, numbers, strict=True)]
    family = MultivariateGaussian(names, shared=False, scales=powers_of_two(variances))
    feature = feature_of(free_name("qda", names), family, 1, names)
    for c, (name, matrix) in enumerate(zip(labels, matrices, strict=True)):
        cells.add(name, None, float(estimator.priors_[c]))
        means = [each.column_value(mean) for mean, each in zip(estimator.means_[c], numbers, strict=True)]
        covariance = [
            [float(matrix[i, j]) / (one.scale * other.scale) for j, other in enumerate(numbers)]
            for i, one in enumerate(numbers)
        ]
        for value, mean, m2 in family.moments_of(means, covariance):
            cells.add(name, feature.name, 1, value=value, mean=mean, m2=m2)
    return [feature]


_COUNTS: dict[str, Callable[[Any, Sequence[Input], Sequence[Any], Cells], list[Feature] | None]] = {
    "GaussianNB": _gaussian,
    "MultinomialNB": _multinomial,
    "ComplementNB": _multinomial,
    "BernoulliNB": _bernoulli,
    "CategoricalNB": _categorical,
}
