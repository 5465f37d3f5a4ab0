"""Models as fitted estimators of scikit-learn."""

from __future__ import annotations

from typing import Any

from nbsql.errors import NotSupportedError
from nbsql.family import Text
from nbsql.model import Model
from nbsql.sklearn.fitted import (
    FittedArrays,
    bernoulli,
    categories,
    columns_of_counts,
    gaussian,
    linear,
    quadratic_discriminant,
    weighed_words,
    words,
)
from nbsql.spec.spec import Feature


def to_sklearn(model: Model) -> Any:
    """The fitted estimator, or pipeline, of scikit-learn that is the model: its `predict_proba` gives the model's posteriors.

    It is as if scikit-learn had been fitted on the rows, so that `partial_fit` goes on with what has a naive Bayes class there,
    and other libraries take it along, such as skl2onnx.

    Args:
        model: a naive Bayes model of one kind of feature, which becomes the class of that name; one that is a
            `nbsql.MultivariateGaussian` with a matrix a class, which becomes QuadraticDiscriminantAnalysis; one of a text whose
            words are weighed (tfidf, norm), which becomes LogisticRegression behind a TfidfVectorizer; or any that has a linear
            form (`Model.linear`), which becomes LogisticRegression behind a ColumnTransformer.

    Returns:
        GaussianNB, BernoulliNB, MultinomialNB, ComplementNB, QuadraticDiscriminantAnalysis, which read the columns of the
        features in their order; a Pipeline of an OrdinalEncoder and CategoricalNB; one of a CountVectorizer and a naive Bayes
        class, which reads a list of texts; or one of a ColumnTransformer and LogisticRegression, which reads a frame.
        Calibration is not taken along.

    Raises:
        NotSupportedError: there is no such estimator, or pandas is missing, of which a ColumnTransformer is fitted.

    >>> import duckdb, nbsql
    >>> rows = "SELECT * FROM (VALUES (1.0, 'a'), (2.0, 'a'), (4.0, 'b'), (6.0, 'b')) AS t(x, y)"
    >>> to_sklearn(nbsql.fit(duckdb.connect(), rows, target="y")).theta_.tolist()
    [[1.5], [5.0]]
    """
    model._refresh()
    spec = model._spec
    for name, has in {
        "segments": spec.segment_by, "components": spec.components, "joins": spec.joins, "slices": spec.slice_by,
    }.items():  # fmt: skip
        if has:
            raise NotSupportedError(f"scikit-learn has no estimator with {name}; fit {model._title} without them")
    if len(model.classes) < 2:
        raise NotSupportedError(f"{model._title} has one class only; an estimator tells two or more apart")
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
        return words(arrays)
    if len(spec.features) == 1 and isinstance(family := spec.features[0].family, Text) and family.reweights_tokens:
        return weighed_words(arrays)
    if len(spec.features) == 1 and spec.logistic is None and _kind(spec.features[0]) == "covariance":
        return quadratic_discriminant(arrays)
    return linear(arrays)


def _kind(feature: Feature) -> str:
    """What naive Bayes class would count it, where its options are those that the class has."""
    family = feature.family
    if family.nulls == "category" or family.unseen == "smooth" or family.value_limit is not None:
        return "other"
    alpha = getattr(family, "alpha", None)
    if family.name == "gaussian":
        return "gaussian"
    if family.name == "bernoulli":
        return f"bernoulli {alpha}" if getattr(family, "beta", None) in (None, alpha) and family.estimate == "mean" else "other"
    if family.name == "categorical":
        return "categorical" if isinstance(alpha, float) and family.estimate == "mean" else "other"
    if family.name in ("multinomial", "complement"):
        return "multinomial" if family.estimate == "mean" else "other"
    if family.name == "text":
        return "words" if not family.reweights_tokens and family.estimate == "mean" else "other"
    return "covariance" if family.name == "multivariate_gaussian" and family.degree == 2 else "other"
