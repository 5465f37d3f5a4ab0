"""Exports models as fitted scikit-learn estimators, which are built from their counts, without a fit."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OrdinalEncoder

from nbsql.errors import InputError, ModelError, NotSupportedError
from nbsql.family.checks import label
from nbsql.learning.follow import learn_changes
from nbsql.model import Model
from nbsql.sklearn.transformers import frame_of, linear_columns, values_of, vectorizer
from nbsql.spec.spec import Feature
from nbsql.storage.type_conversion import with_types_of_engine


class FittedArrays:
    """The fitted state of a model as arrays: the classes in scikit-learn's order, and their counts and likelihoods."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.features: Sequence[Feature] = with_types_of_engine(model.state.spec.features, model.state.engine.title, "DuckDB")
        labels = sorted(model.classes)
        self.classes = np.array(labels)
        if self.classes.dtype.kind == "f" and not any(isinstance(each, float) for each in labels):
            self.classes = np.array(labels, dtype=object)  # whole numbers that no type of numpy holds together
        self.places = {label(each): place for place, each in enumerate(self.classes.tolist())}
        rows = {label(name): (n, prior) for name, n, prior, _ in model.priors.fetchall()}
        self.counts = np.array([float(rows[each][0] or 0) for each in self.places])
        self.priors = np.array([float(rows[each][1]) for each in self.places])

    @property
    def columns(self) -> list[str]:
        """The columns of the features, in their order."""
        return [column for feature in self.features for column in feature.columns]

    @property
    def given_priors(self) -> Any:
        """The priors as an argument of an estimator; None if they are those of the counts."""
        return None if self.model.state.spec.prior.kind == "empirical" else self.priors

    @cached_property
    def likelihoods(self) -> list[tuple[int, str, Any, float, float, float]]:
        """For each likelihood: the position of the class, feature, value, log-likelihood, mean and variance."""
        return [
            (self.places[label(row[0])], row[1], row[2], row[4], row[5], row[6]) for row in self.model.likelihoods.fetchall()
        ]

    @cached_property
    def cells(self) -> list[tuple[int, str, Any, float, float, float]]:
        """For each cell of a feature: the position of the class, feature, value, n, mean and m2."""
        return [
            (self.places[label(row[1])], row[2], row[3], row[4], row[5], row[6])
            for row in self.model.counts.fetchall()
            if row[2] is not None
        ]

    def values(self, feature: Feature) -> list[Any]:
        """The values of a feature that have a likelihood, in order."""
        return sorted({value for _, name, value, *_ in self.likelihoods if name == feature.name and value is not None})

    def table(self, feature: Feature, values: Sequence[Any]) -> tuple[Any, Any]:
        """The log-likelihoods and the counts of values of a feature, one row for each class."""
        at = {value: place for place, value in enumerate(values)}
        logs, counts = np.full((len(self.classes), len(at)), -np.inf), np.zeros((len(self.classes), len(at)))
        for c, name, value, log, _, _ in self.likelihoods:
            if name == feature.name and value in at:
                logs[c, at[value]] = -np.inf if log is None else log
        for c, name, value, n, _, _ in self.cells:
            if name == feature.name and value in at:
                counts[c, at[value]] = n
        return logs, counts

    def build(self, estimator: Any, **attributes: Any) -> Any:
        """The estimator with fitted attributes."""
        known = {"classes_": self.classes, **attributes}
        if hasattr(estimator, "partial_fit"):
            known["class_count_"] = self.counts
            known |= (
                {"class_prior_": self.priors}
                if isinstance(estimator, GaussianNB)
                else {"class_log_prior_": np.log(self.priors)}
            )
        for name, value in known.items():
            setattr(estimator, name, value)
        return estimator

    def column_names(self) -> dict[str, Any]:
        """The attributes of an estimator that reads the columns directly."""
        return {"n_features_in_": len(self.columns), "feature_names_in_": np.array(self.columns, dtype=object)}


def gaussian(arrays: FittedArrays) -> Any:
    """GaussianNB with the means and variances of the classes, smoothed as in the model."""
    at = {feature.name: place for place, feature in enumerate(arrays.features)}
    theta, var = np.zeros((2, len(arrays.classes), len(at)))
    for c, name, _, _, mean, variance in arrays.likelihoods:
        theta[c, at[name]], var[c, at[name]] = mean, variance
    shares = {feature.family.smoothing for feature in arrays.features}
    share = shares.pop() if len(shares) == 1 else 0.0
    n, means, m2 = np.zeros((3, len(arrays.classes), len(at)))
    for c, name, _, *moments in arrays.cells:
        n[c, at[name]], means[c, at[name]], m2[c, at[name]] = moments
    apart = means - (n * means).sum(axis=0) / n.sum(axis=0)
    epsilon = share * float(((m2 + n * apart**2).sum(axis=0) / n.sum(axis=0)).max())
    estimator = GaussianNB(priors=arrays.given_priors, var_smoothing=share)
    return arrays.build(estimator, theta_=theta, var_=var, epsilon_=epsilon, **arrays.column_names())


def bernoulli(arrays: FittedArrays) -> Any:
    """BernoulliNB with the counts of true."""
    tables = [arrays.table(feature, ["true"]) for feature in arrays.features]
    estimator = BernoulliNB(alpha=arrays.features[0].family.alpha, force_alpha=True, binarize=None, **_prior(arrays))
    return arrays.build(
        estimator,
        feature_log_prob_=np.hstack([logs for logs, _ in tables]),
        feature_count_=np.hstack([counts for _, counts in tables]),
        **arrays.column_names(),
    )


def categories(arrays: FittedArrays) -> Any:
    """A pipeline of an OrdinalEncoder and CategoricalNB; a value that is unknown to the model has no code."""
    alphas = {feature.family.alpha for feature in arrays.features}
    if len(alphas) > 1:
        return linear(arrays)
    kinds = [values_of(feature, arrays.values(feature)) for feature in arrays.features]
    tables = [arrays.table(feature, texts) for feature, (texts, _) in zip(arrays.features, kinds, strict=True)]
    encoder = OrdinalEncoder(categories=[values for _, values in kinds])
    encoder.fit(frame_of({feature.column: values[:1] for feature, (_, values) in zip(arrays.features, kinds, strict=True)}))
    estimator = CategoricalNB(alpha=alphas.pop(), force_alpha=True, **_prior(arrays))
    arrays.build(
        estimator,
        feature_log_prob_=[logs for logs, _ in tables],
        category_count_=[counts for _, counts in tables],
        n_categories_=np.array([len(texts) for texts, _ in kinds]),
        n_features_in_=len(kinds),
    )
    return Pipeline([("codes", encoder), ("bayes", estimator)])


def columns_of_counts(arrays: FittedArrays) -> Any:
    """MultinomialNB or ComplementNB of count columns."""
    (feature,) = arrays.features
    logs, counts = arrays.table(feature, feature.columns)
    alpha = feature.family.alpha
    alphas = np.array([alpha[column] if isinstance(alpha, dict) else alpha for column in feature.columns], dtype=float)
    estimator = _multinomial(arrays, feature, float(alphas[0]) if len(set(alphas.tolist())) == 1 else alphas)
    return arrays.build(estimator, **_logs(feature, logs, counts), feature_count_=counts, **arrays.column_names())


def _multinomial(arrays: FittedArrays, feature: Feature, alpha: Any) -> Any:
    if feature.family.complement:
        return ComplementNB(alpha=alpha, force_alpha=True, norm=feature.family.normalised_weights, **_prior(arrays))
    return MultinomialNB(alpha=alpha, force_alpha=True, **_prior(arrays))


def _logs(feature: Feature, logs: Any, counts: Any) -> dict[str, Any]:
    """The log-likelihoods by which a multinomial class scores; a complement has those of all other classes."""
    if not feature.family.complement:
        return {"feature_log_prob_": logs}
    weights = -logs
    if feature.family.normalised_weights:
        weights = logs / logs.sum(axis=1, keepdims=True)
    return {"feature_log_prob_": weights, "feature_all_": counts.sum(axis=0)}


def text_pipeline(arrays: FittedArrays) -> Any:
    """A pipeline of a CountVectorizer and a naive Bayes class."""
    (feature,) = arrays.features
    values = arrays.values(feature)
    logs, counts = arrays.table(feature, values)
    if feature.family.presence:
        estimator: Any = BernoulliNB(alpha=feature.family.alpha, force_alpha=True, **_prior(arrays))
        arrays.build(estimator, feature_log_prob_=logs, feature_count_=counts, n_features_in_=len(values))
    else:
        estimator = _multinomial(arrays, feature, feature.family.alpha)
        arrays.build(estimator, **_logs(feature, logs, counts), feature_count_=counts, n_features_in_=len(values))
    return Pipeline([("words", vectorizer(feature.family, values)), ("bayes", estimator)])


def quadratic_discriminant(arrays: FittedArrays) -> Any:
    """QuadraticDiscriminantAnalysis with the means of the classes, and the axes of their covariance matrices."""
    (feature,) = arrays.features
    family: Any = feature.family
    if family.ledoit_wolf or family.variance == "sample":
        option = f"shrinkage={family.shrinkage!r}" if family.ledoit_wolf else "variance='sample'"
        raise NotSupportedError(f"QuadraticDiscriminantAnalysis has no {option}; fit {arrays.model.state.title} without it")
    p = len(feature.columns)
    estimator = QuadraticDiscriminantAnalysis(store_covariance=True, priors=arrays.given_priors)
    means, own, sizes, covariances, rotations, scalings = np.zeros((len(arrays.classes), p)), [], [], [], [], []
    for c in range(len(arrays.classes)):
        cells = {value: (n, mean, m2) for place, _, value, n, mean, m2 in arrays.cells if place == c}
        means[c] = [cells[column][1] for column in feature.columns]
        own.append(np.array(family.covariance_of({value: m2 / n for value, (n, _, m2) in cells.items()})))
        sizes.append(cells[feature.columns[0]][0])
    pooled, toward_pooled, shrunk = np.average(own, axis=0, weights=sizes), family.pooled_shrinkage, family.fixed_shrinkage
    for matrix in own:
        covariance = (1 - toward_pooled - shrunk) * matrix + toward_pooled * pooled + shrunk * np.trace(matrix) / p * np.eye(p)
        size, axes = np.linalg.eigh(covariance)
        covariances.append(covariance)
        rotations.append(axes)
        scalings.append(size)
    return arrays.build(
        estimator,
        means_=means, priors_=arrays.priors, covariance_=covariances, rotations_=rotations, scalings_=scalings,
        **arrays.column_names(),
    )  # fmt: skip


def weighed_words(arrays: FittedArrays) -> Any:
    """A pipeline of a TfidfVectorizer and LogisticRegression, whose weights are the model's contributions of words."""
    (feature,), model = arrays.features, arrays.model
    engine, lookups = model.state.engine, model.state.relations["lookups"]
    names = [column.name for column in engine.columns(lookups)]
    rows = [dict(zip(names, row, strict=True)) for row in engine.query_macro("sorted_by", lookups, ("feature", "value"))]
    idf = {row["value"]: row.get("idf") for row in rows}
    words = {word: place for place, word in enumerate(idf)}
    places = {column.number: arrays.places[column.label] for column in model.state.classes}
    coefficients = np.zeros((len(places), len(words)))
    for row in rows:
        scores = {row["class_no"]: row["score"]} if "class_no" in row else {k: row[f"class_{k}"] for k in places}
        for number, score in scores.items():
            coefficients[places[number], words[row["value"]]] = (score or 0.0) / (idf[row["value"]] or 1.0)
    empty = model.joint_log_likelihood({feature.column: [""]}, columns=[])  # the score of an empty text, which every text has
    biases = dict(zip(empty.columns, empty.fetchall()[0], strict=True))
    intercepts = np.zeros(len(places))
    for column in model.state.classes:
        intercepts[arrays.places[column.label]] = biases[column.joint]
    estimator = weights(arrays, coefficients, intercepts)
    return Pipeline([("words", vectorizer(feature.family, list(words), list(idf.values()))), ("weights", estimator)])


def linear(arrays: FittedArrays) -> Any:
    """A pipeline of a ColumnTransformer and LogisticRegression, for a model with a linear form."""
    try:
        rows = arrays.model.linear().fetchall()
    except ModelError as error:
        raise NotSupportedError(f"scikit-learn has no such estimator: {error}") from None
    transformer, places = linear_columns(arrays.features, rows)
    coefficients, intercepts = np.zeros((len(arrays.places), len(places))), np.zeros(len(arrays.places))
    for name, feature, value, times, weight in rows:
        if times == "1":
            intercepts[arrays.places[label(name)]] = weight
        else:
            coefficients[arrays.places[label(name)], places[feature, value]] = weight
    return Pipeline([("columns", transformer), ("weights", weights(arrays, coefficients, intercepts))])


def weights(arrays: FittedArrays, coefficients: Any, intercepts: Any) -> Any:
    """LogisticRegression with the weights of every class; for two classes, with the log-odds of the larger label."""
    if len(intercepts) == 2:
        coefficients, intercepts = coefficients[1:] - coefficients[:1], intercepts[1:] - intercepts[:1]
    estimator = LogisticRegression()
    size = coefficients.shape[1]
    return arrays.build(estimator, coef_=coefficients, intercept_=intercepts, n_iter_=np.array([0]), n_features_in_=size)


def _prior(arrays: FittedArrays) -> dict[str, Any]:
    """The arguments for the prior of a naive Bayes class."""
    kind = arrays.model.state.spec.prior.kind
    return {"fit_prior": kind != "uniform", "class_prior": None if kind in ("empirical", "uniform") else arrays.priors}


def to_sklearn(model: Model) -> Any:
    """A fitted scikit-learn estimator, or pipeline, that is equivalent to the model: `predict_proba` returns its posteriors.

    The estimator is the same as if scikit-learn had been fitted on the rows. `partial_fit` can therefore continue if it is a
    naive Bayes class, and other libraries such as skl2onnx can read it.

    Args:
        model: a naive Bayes model of one kind of feature, which becomes the class of that name; a `nbsql.MultivariateGaussian`
            with a matrix for each class, which becomes QuadraticDiscriminantAnalysis; a text with weighted words (tfidf, norm),
            which becomes a TfidfVectorizer and LogisticRegression; or any model with a linear form (`Model.linear`), which
            becomes a ColumnTransformer and LogisticRegression.

    Returns:
        GaussianNB, BernoulliNB, MultinomialNB, ComplementNB or QuadraticDiscriminantAnalysis, which read the columns of the
        features in their order; a Pipeline of an OrdinalEncoder and CategoricalNB; a Pipeline of a CountVectorizer and a naive
        Bayes class, which reads a list of texts; or a Pipeline of a ColumnTransformer and LogisticRegression, which reads a
        frame. Calibration is not included.

    Raises:
        NotSupportedError: there is no such estimator, or pandas, which a ColumnTransformer needs, is not installed.

    >>> import duckdb, nbsql
    >>> rows = "SELECT * FROM (VALUES (1.0, 'a'), (2.0, 'a'), (4.0, 'b'), (6.0, 'b')) AS t(x, y)"
    >>> to_sklearn(nbsql.fit(duckdb.connect(), rows, target="y")).theta_.tolist()
    [[1.5], [5.0]]
    """
    if not isinstance(model, Model):
        cure = "pass its model_" if hasattr(model, "model_") else "nbsql.load returns one"
        raise InputError(f"to_sklearn takes an nbsql.Model, not {type(model).__name__}; {cure}")
    state = learn_changes(model.state.refreshed())
    spec = state.spec
    for name, has in {
        "segments": spec.segment_by, "components": spec.components, "joins": spec.joins, "slices": spec.slice_by,
        "derived columns": spec.derived,
    }.items():  # fmt: skip
        if has:
            raise NotSupportedError(f"scikit-learn has no estimator with {name}; fit {state.title} without them")
    if len(model.classes) < 2:
        raise NotSupportedError(f"{state.title} has one class only; an estimator tells two or more apart")
    arrays = FittedArrays(model)
    kinds, of_one = {_kind(feature) for feature in spec.features}, len(spec.features) == 1
    only = kinds.pop().partition(" ")[0] if len(kinds) == 1 and spec.logistic is None and not spec.given else ""
    if only in _OF_FEATURES or (of_one and only in _OF_ONE_FEATURE):
        return (_OF_FEATURES | _OF_ONE_FEATURE)[only](arrays)
    if of_one and spec.features[0].family.accepts == ("text",) and spec.features[0].family.reweights_tokens:
        return weighed_words(arrays)
    if of_one and spec.logistic is None and _kind(spec.features[0]) == "covariance":
        return quadratic_discriminant(arrays)
    return linear(arrays)


# The estimators of naive Bayes, by the kind of all features.
_OF_FEATURES: dict[str, Callable[[FittedArrays], Any]] = {
    "gaussian": gaussian, "bernoulli": bernoulli, "categorical": categories
}  # fmt: skip
_OF_ONE_FEATURE: dict[str, Callable[[FittedArrays], Any]] = {"multinomial": columns_of_counts, "words": text_pipeline}


def _kind(feature: Feature) -> str:
    """The kind of naive Bayes class that is equivalent to the feature; "other" if its options have no equivalent."""
    family: Any = feature.family
    if family.nulls == "category" or family.unseen == "smooth" or family.best is not None:
        return "other"
    if family.level and family.least_count:
        return "other"
    if family.name == "gaussian":
        return "gaussian"
    if family.kind == "matrix":
        return "covariance" if family.degree == 2 else "other"
    if family.estimate != "mean":
        return "other"
    if family.cell == "boolean":
        return f"bernoulli {family.alpha}" if family.beta in (None, family.alpha) else "other"
    if family.cell == "level":
        return "categorical" if isinstance(family.alpha, float) else "other"
    if family.cell == "column":
        return "multinomial"
    return "words" if family.cell == "token" and family.accepts == ("text",) and not family.reweights_tokens else "other"
