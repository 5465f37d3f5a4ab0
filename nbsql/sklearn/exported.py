"""Exports models as fitted scikit-learn estimators."""

from typing import Any

from nbsql.errors import InputError, NotSupportedError
from nbsql.learning.follow import learn_changes
from nbsql.model import Model
from nbsql.sklearn.fitted import (
    FittedArrays,
    bernoulli,
    categories,
    columns_of_counts,
    gaussian,
    linear,
    quadratic_discriminant,
    text_pipeline,
    weighed_words,
)
from nbsql.spec.spec import Feature


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
    kinds = {_kind(feature) for feature in spec.features}
    only = kinds.pop() if len(kinds) == 1 and spec.logistic is None and not spec.given else ""
    if only == "gaussian":
        return gaussian(arrays)
    if only.startswith("bernoulli"):
        return bernoulli(arrays)
    if only == "categorical":
        return categories(arrays)
    if only == "multinomial" and len(spec.features) == 1:
        return columns_of_counts(arrays)
    if only == "words" and len(spec.features) == 1:
        return text_pipeline(arrays)
    if len(spec.features) == 1 and spec.features[0].family.accepts == ("text",) and spec.features[0].family.reweights_tokens:
        return weighed_words(arrays)
    if len(spec.features) == 1 and spec.logistic is None and _kind(spec.features[0]) == "covariance":
        return quadratic_discriminant(arrays)
    return linear(arrays)


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
