"""The naive Bayes classifier of mixed columns as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

import nbsql
from nbsql.engines.connect import engine_of
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source, check_distinct
from nbsql.errors import FrameLabel, InputError, listed
from nbsql.family import Family, Nulls, Unseen
from nbsql.plan.derived import columns_of_source
from nbsql.sklearn.answering import Answering, cures_of_estimators, source_of
from nbsql.sklearn.columns import (
    as_column,
    as_rows,
    columns_of,
    frame_names,
    free_name,
    is_frame,
    is_missing,
    kinds_of,
    plain_labels,
    with_columns,
)
from nbsql.sklearn.store import NAME, Store
from nbsql.spec.classifier import Classifier
from nbsql.spec.method import Clusters, method_named
from nbsql.spec.options import PriorArgument, model_fields


@dataclass(kw_only=True, eq=False, repr=False)  # whose __init__ only sets its arguments, as scikit-learn demands
class NaiveBayesClassifier(Answering, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes of mixed columns: categories, booleans, numbers and words in one model, with missing and unseen values.

    The rows are counted and scored in the estimator's own DuckDB database. A column of a frame has the family of its type: text
    is categorical, booleans are Bernoulli, and numbers are Gaussian. The columns of an array of numbers are Gaussian; the
    columns of an array of objects have the family of their values. By default a missing value, or a category never seen, is
    left out of the score.

    Parameters
    ----------
    families : dict or None, default=None
        Families by column, instead of those of the types: ``{"message": nbsql.Text(), "links": "poisson"}``. The columns of an
        array are ``"x0"``, ``"x1"`` and so on.
    alpha : float, default=1.0
        The pseudo-count of additive smoothing; the default is 0 for ``method="joint"``.
    prior : {"empirical", "uniform", "smoothed"}, dict or nbsql.Smoothed, default="empirical"
        The prior of the classes; a dict has the probability of every label.
    estimate : {"mean", "mode", "mle"} or None, default=None
        The estimate of every parameter; None is the mean of its posterior distribution.
    nulls : {"skip", "category", "error"}, default="skip"
        The treatment of a missing value: it is left out, a value of its own, or refused.
    unseen : {"skip", "smooth"}, default="skip"
        The score of a value never seen in training: it is left out, or has the likelihood of a count of 0.
    derive : dict or None, default=None
        Columns that the model computes from the others, SQL expressions by name: ``{"per_page": "price / pages"}``.
    missing : sequence of str, default=()
        Words that stand for a missing value in columns of texts; a column of numbers beside them is one of numbers.
    method : str or one of nbsql's methods, default="naive"
        A method beyond naive Bayes: ``"weighted"``, ``"kdb"``, ``"tan"``, ``"aode"``, ``"logistic"``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        The number of columns of the fit.
    feature_names_in_ : ndarray of shape (n_features,)
        The names of the columns, if they are all texts.
    model_ : nbsql.Model
        The model itself, with its statistics, priors, likelihoods and all verbs. Each thread has its own handle.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([["sun", 30.0], ["sun", 26.0], ["rain", 12.0], ["rain", None], ["rain", 9.5]], dtype=object)
    >>> estimator = NaiveBayesClassifier().fit(X, ["dry", "dry", "wet", "wet", "wet"])
    >>> estimator.predict(np.array([["fog", 29.0], ["rain", None]], dtype=object)).tolist()
    ['dry', 'wet']
    """

    families: Mapping[str, str | Family] | None = None
    alpha: float = 1.0
    prior: PriorArgument = "empirical"
    estimate: Literal["mean", "mode", "mle"] | None = None
    nulls: Nulls = "skip"
    unseen: Unseen = "skip"
    derive: Mapping[str, str] | None = None
    missing: Sequence[str] = ()
    method: str | Classifier = "naive"

    def __sklearn_tags__(self) -> Any:
        """The tags: missing values, categories and texts are allowed, sparse matrices are not."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    # Learning. -----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, connection: Any = None) -> NaiveBayesClassifier:  # noqa: N803
        """Fit the model.

        Parameters
        ----------
        X : pandas, Polars or Arrow frame, or array-like of shape (n_samples, n_features); or str
            The rows; with `connection`, the name of a table or a SELECT in its database, which the rows do not leave.
        y : array-like of shape (n_samples,); or str
            The labels; with `connection`, the column of the labels.
        sample_weight : array-like of shape (n_samples,); or str, default=None
            Row weights of at least 0: a weight w counts as w copies of the row; with `connection`, the column of the weights.
        connection : DuckDB or psycopg connection, path or address, default=None
            The database of `X`.

        Returns
        -------
        self : NaiveBayesClassifier
            The fitted estimator.
        """
        store, self._declared = Store(), None
        if connection is not None:
            with cures_of_estimators():
                self._fit_table(store, connection, X, y, sample_weight)
            return self
        engine = engine_of(store.connection)
        source, options, labels = self._rows(engine, X, y, sample_weight, reset=True)
        with source, cures_of_estimators():
            self._make(engine, source, options)
        self._store, self._names = store, options
        self.classes_ = np.unique(labels)
        return self

    def _make(self, engine: Engine, source: Source, options: Mapping[str, Any]) -> None:
        """Fit the model of a source in the database of the estimator."""
        nbsql.fit(engine, source, name=NAME, **options, **self._options())

    def _fit_table(self, store: Store, connection: Any, table: Any, target: Any, weight: Any) -> None:
        """Fit on the user's connection, and copy only the counts."""
        for name, value in {"X": table, "y": target}.items():
            if not isinstance(value, str):
                raise InputError(f"with a connection {name} is a name there, not {type(value).__name__}")
        model = nbsql.fit(connection, table, target=target, weight=weight, **self._options())
        store.copy_from(model)
        self._store, self._names, self._kinds = store, {"target": target, "weight": weight}, None
        self.classes_ = np.unique(np.array(model.classes))
        columns = columns_of_source(model.state.spec)
        self.feature_names_in_ = np.array(columns, dtype=object)
        self.n_features_in_ = len(columns)
        model.drop()

    def _options(self) -> dict[str, Any]:
        """The options of a fit; without those that have their defaults, as some methods take no alpha."""
        if isinstance(method_named(self.method), Clusters):
            rest = "nbsql.fit(con, rows, target=None, method=...) finds clusters"
            raise InputError(f"an estimator learns classes, and method='clusters' knows none; {rest}")
        options = {each.name for each in model_fields()}
        given = self.get_params(deep=False).items()
        return {"infer": "types", **{name: x for name, x in given if name in options and x != getattr(type(self), name)}}

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> NaiveBayesClassifier:  # noqa: N803
        """Learn more rows: the model is then the same as if it had been fitted on all rows at once.

        New classes, categories and words are allowed, so that `classes` need not be known in advance. Once they are declared,
        other labels are refused, as scikit-learn does.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The labels.
        classes : array-like, default=None
            All labels there may be, in this and in later calls; the probability of those that no row has is 0.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.

        Returns
        -------
        self : NaiveBayesClassifier
            The estimator.

        Raises
        ------
        nbsql.InputError
            A label of `classes` is missing, or they are numbers and those of `y` texts, or the other way round; or `y` has a
            label that is not among the declared classes, or they are not those of an earlier call.
        """
        fitted = hasattr(self, "classes_")
        declared = self._declared if fitted else None
        if classes is not None:
            _check_classes(classes, y)
            known, classes = declared, np.unique(np.asarray(classes))
            if known is None and fitted:
                _check_declared(classes, self.classes_, "an earlier call learnt")
            elif known is not None and not np.array_equal(known, classes):
                raise InputError(
                    f"classes are {listed(classes.tolist())}, and were {listed(known.tolist())}; give the same ones"
                )
            declared = classes
        if declared is not None:
            _check_declared(declared, y, "y has")
        if not fitted:
            self.fit(X, y, sample_weight)
        else:
            labels = self._change("update", X, y, sample_weight)
            self.classes_ = np.unique(np.concatenate([self.classes_, labels]))
        if declared is not None:
            self._declared, self.classes_ = declared, declared
        return self

    def unlearn(self, X: Any, y: Any, sample_weight: Any = None) -> NaiveBayesClassifier:  # noqa: N803
        """Forget rows that were learnt: the model is then the same as if it had never learnt them.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights with which the rows were learnt.

        Returns
        -------
        self : NaiveBayesClassifier
            The estimator.

        Raises
        ------
        nbsql.InputError
            The model has not learnt that many such rows, or nothing would be left.
        """
        check_is_fitted(self, "classes_")
        self._change("forget", X, y, sample_weight)
        return self

    def _change(self, verb: str, X: Any, y: Any, sample_weight: Any) -> Any:  # noqa: N803
        """Let the model learn or forget rows, and return their labels."""
        model = self.model_
        weights = sample_weight
        if weights is None and self._names.get("weight") is not None:
            weights = np.ones(len(y))
        elif weights is not None and self._names.get("weight") is None:
            raise InputError("the first rows had no sample_weight, so that later ones can have none; give those a weight of 1")
        source, _, labels = self._rows(model.state.engine, X, y, weights, reset=False)
        with source:
            getattr(model, verb)(source)
        return labels

    # Rows. ---------------------------------------------------------------------------------------------------------

    def _rows(
        self,
        engine: Engine,
        X: Any,  # noqa: N803
        y: Any,
        sample_weight: Any,
        *,
        reset: bool,
    ) -> tuple[Source, dict[str, Any], Any]:
        """Rows with labels and weights as a source, the options of a fit that name their columns, and the labels."""
        X = as_rows(X)  # noqa: N806
        rows, names = self._features(X, y, reset=reset)
        labels = column_or_1d(plain_labels(y), warn=True)
        if labels.dtype.kind in "OmM" and any(map(is_missing, labels)):  # these cannot be sorted beside text
            raise ValueError("Input y contains NaN.")
        check_classification_targets(labels)
        labels = check_array(labels, ensure_2d=False, dtype=None, input_name="y")
        check_consistent_length(X, labels)
        options: dict[str, Any] = {"target": free_name("class", names), "weight": None} if reset else dict(self._names)
        more: dict[str, Any] = {options["target"]: as_column(labels)}
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            if reset:
                options["weight"] = free_name("weight", names)
            more[options["weight"]] = weights
        if reset:
            more |= self._extra_columns(X, labels, [*names, *more])
        source = source_of(engine, with_columns(rows, more))
        if isinstance(source.label, FrameLabel):
            source.label.added_names = more
        return source, options, labels

    def _features(self, X: Any, y: Any = "no_validation", *, reset: bool) -> tuple[Any, list[str]]:  # noqa: N803
        X = as_rows(X)  # noqa: N806
        if is_frame(X) and (reset or hasattr(self, "feature_names_in_")):  # without names, columns go by their places
            check_distinct(frame_names(X), f"the {type(X).__name__}")
            # scikit-learn 1.7 finds no names in a frame of Polars 2.
            named = X.head(0).to_arrow() if type(X).__module__.startswith("polars") else X
            validate_data(self, named, y, reset=reset, skip_check_array=True)
            for count, what in zip(X.shape, ("sample(s)", "feature(s)"), strict=True):
                if count == 0:
                    raise ValueError(f"Found array with 0 {what} (shape={X.shape}) while a minimum of 1 is required.")
            if reset:
                self._kinds = None
            return X, frame_names(X)
        if y is None:
            validate_data(self, X, y, reset=reset, skip_check_array=True)  # its error says that y is needed
        array = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        names = [*getattr(self, "feature_names_in_", ())] or [f"x{number}" for number in range(array.shape[1])]
        if array.dtype.kind in "US" and not hasattr(X, "__array__"):  # NumPy makes texts of the numbers of a list
            array = np.array(X, dtype=object)
        if reset:
            self._kinds = kinds_of(array)
        return columns_of(array, names, self._kinds or kinds_of(array)), names

    def _extra_columns(self, X: Any, labels: Any, names: Sequence[str]) -> dict[str, Any]:  # noqa: ARG002, N803
        """Additional columns for the rows of a fit, under names that no other column has."""
        return {}


def _check_declared(declared: Any, labels: Any, who: str) -> None:
    """Raise InputError if a label is not among the declared classes."""
    other = [label for label in np.unique(np.asarray(labels)).tolist() if label not in declared.tolist()]
    if other:
        raise InputError(f"{who} the label {other[0]!r}, which classes does not name; name every class there may be")


def _check_classes(classes: Any, labels: Any) -> None:
    declared = np.asarray(classes)
    if declared.ndim != 1 or any(map(is_missing, declared)):
        raise InputError("classes must be a list of labels, none of them missing")
    kinds = {np.asarray(each).dtype.kind in "biuf" for each in (declared, labels) if each is not None}
    if len(kinds) > 1:  # NumPy would make texts of all
        raise InputError("classes and y must both be numbers, or both texts")
