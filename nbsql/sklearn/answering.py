"""The predictions of an estimator, from the model that it stores."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

import nbsql
from nbsql.engines.duckdb.sources import Sources
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.sklearn.columns import label_keys
from nbsql.sklearn.store import Store

_EXCLUDE = re.compile(r"leave it out with exclude=\[.*?\]")


class Answering(ClassifierMixin, ABC):  # type: ignore[misc]
    """Predictions and explanations of an estimator that keeps its model in a store."""

    classes_: Any
    _store: Store
    _names: dict[str, Any]
    _kinds: list[str] | None = None  # of the columns of the array that it was fitted to
    _declared: Any = None  # the sorted labels that `partial_fit` was told to expect

    @abstractmethod
    def _features(self, X: Any, y: Any = "no_validation", *, reset: bool) -> tuple[Any, list[str]]:  # noqa: N803
        """The features of rows, as a frame or as a dictionary of columns, and their names."""

    @property
    def model_(self) -> nbsql.Model:
        """The model itself, on a connection of this thread's."""
        check_is_fitted(self, "classes_")
        return self._store.model

    def _joint(self, X: Any, connection: Any = None) -> tuple[Any, list[int]]:  # noqa: N803
        """Ln p(x, c) of every row and class, by class number, and the positions of the classes in `classes_`."""
        check_is_fitted(self, "classes_")
        if connection is not None:
            with self._store.on(connection) as there:
                query = there.joint_log_likelihood(X, columns=[])
                places = [query.columns.index(name) for name in _columns_of_classes(there)]
                rows = [[row[place] for place in places] for row in query.fetchall()]
                scores = np.array(rows, dtype=np.float64).reshape(-1, len(places))
                return np.where(np.isnan(scores), -np.inf, scores), self._class_positions(there.state.labels())
        model = self._store.model
        with source_of(model.state.engine, self._features(X, reset=False)[0]) as source:
            found = model.joint_log_likelihood(source, columns=[]).relation.fetchnumpy()
        columns = [np.ma.filled(found[name].astype(np.float64), -np.inf) for name in _columns_of_classes(model)]
        return np.column_stack(columns), self._class_positions(model.state.labels())

    def predict_joint_log_proba(self, X: Any, *, connection: Any = None) -> Any:  # noqa: N803
        """Ln p(x, c), one column for each class of `classes_`; -inf if it is impossible. The arguments are as in `predict`."""
        return self._by_class(*self._joint(X, connection))

    def predict_log_proba(self, X: Any, *, connection: Any = None) -> Any:  # noqa: N803
        """The logarithm of `predict_proba`, exact where that is too small for a double."""
        scores, positions = self._joint(X, connection)
        highest = scores.max(axis=1, keepdims=True)
        unexplained = ~np.isfinite(highest[:, 0])
        if unexplained.any():  # the priors, as no class explains the row
            labels, _, _, log_priors = zip(*self._store.model.priors, strict=True)
            prior_at = dict(zip(self._class_positions(labels), log_priors, strict=True))
            scores[unexplained] = [prior_at[position] for position in positions]
            highest = scores.max(axis=1, keepdims=True)
        scores = scores - highest
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return self._by_class(scores, positions)

    def predict_proba(self, X: Any, *, connection: Any = None) -> Any:  # noqa: N803
        """The posteriors, one column for each class in the order of `classes_`. The arguments are those of `predict`.

        A row that no class explains, which is possible with alpha 0, has the priors.
        """
        return np.exp(self.predict_log_proba(X, connection=connection))

    def predict(self, X: Any, *, connection: Any = None) -> Any:  # noqa: N803
        """The most probable class of every row. A tie goes to the smaller label.

        Parameters
        ----------
        X : frame, array-like of shape (n_samples, n_features), or str
            The rows; with `connection`, a table or a SELECT in its database.
        connection : DuckDB or psycopg connection, path or address, default=None
            The database of `X`.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        scores, positions = self._joint(X, connection)
        return self.classes_[np.array(positions)[scores.argmax(axis=1)]]

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, connection: Any = None) -> float:  # noqa: N803
        """The accuracy: the share of rows that are predicted right.

        With `connection`, `y` is the column of the labels, and `sample_weight` that of the weights.
        """
        if connection is not None:
            check_is_fitted(self, "classes_")
            if y != self._names["target"]:
                raise InputError(f"the labels are in {self._names['target']!r}, as they were where it was fitted, not in {y!r}")
            with self._store.on(connection) as model:
                return float(model.evaluate(X, weight=sample_weight).accuracy)
        return float(super().score(X, y, sample_weight))

    def explain(self, X: Any) -> nbsql.Query:  # noqa: N803
        """The contributions of each value of a row to the joint log-likelihood of each class, which is their sum.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        nbsql.Query
            One row for each row, class and value: row_id, from 1, class, feature (None for the prior), value, contribution.
            ``.df()``, ``.pl()``, ``.arrow()`` or ``.fetchall()`` runs the query.
        """
        check_is_fitted(self, "classes_")
        model = self._store.model
        return model.explain(source_of(model.state.engine, self._features(X, reset=False)[0]))

    def _class_positions(self, labels: Sequence[Any]) -> list[int]:
        """The positions in `classes_` of labels of the model."""
        places = {key: place for place, key in enumerate(label_keys(self.classes_))}
        return [places[label if label in places else str(label)] for label in labels]

    def _by_class(self, scores: Any, positions: Sequence[int]) -> Any:
        """The scores with one column for each class of `classes_`; -inf for those that the model does not have."""
        found = np.full((len(scores), len(self.classes_)), -np.inf)
        found[:, positions] = scores
        return found


def _columns_of_classes(model: nbsql.Model) -> list[str]:
    """The names of the columns of joint log-likelihoods, by class number."""
    return [column.joint for column in model.state.classes]


def source_of(engine: Engine, rows: Any) -> Source:
    """Columns or a frame as a source that keeps the order of its rows."""
    return Sources(engine).find(rows)  # type: ignore[arg-type]


@contextmanager
def cures_of_estimators() -> Iterator[None]:
    """Errors whose cure is an option of `nbsql.fit` that estimators lack give one of theirs."""
    try:
        yield
    except InputError as error:
        raise InputError(_EXCLUDE.sub("leave it out of X", str(error))) from None
