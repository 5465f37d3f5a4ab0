"""The exact sweep over settings as a scikit-learn estimator."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from sklearn.model_selection import check_cv

import nbsql
from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.family import Family
from nbsql.family.checks import choice
from nbsql.sklearn.classifier import NaiveBayesClassifier
from nbsql.sklearn.columns import free_name
from nbsql.sklearn.store import NAME
from nbsql.spec.options import PriorArgument
from nbsql.tuning.sweep import as_list

Scoring = Literal["neg_log_loss", "accuracy"]
FOLD = "fold"


@dataclass(kw_only=True, eq=False, repr=False)
class NaiveBayesCV(NaiveBayesClassifier):
    """Naive Bayes of mixed columns whose smoothing, prior and families are chosen by cross-validation.

    Every combination is evaluated on the same folds as in ``GridSearchCV``, but the rows are counted only once: the model of
    the other folds is the sum of their counts, so that no setting and no fold needs a fit. The model of the best setting is
    made from the same counts. Scores are over all rows together, whereas ``GridSearchCV`` averages over folds, whatever their
    sizes.

    Parameters
    ----------
    alphas : sequence of float, default=(0.01, 0.1, 0.5, 1.0, 2.0, 10.0)
        Pseudo-counts to try.
    priors : sequence, default=("empirical",)
        Priors to try, each as `prior` of `NaiveBayesClassifier`.
    families : dict, sequence of dicts or None, default=None
        Families by column, or several such dicts to try; None is the families of the types.
    cv : int, "loo", splitter or iterable, default=5
        The folds, as in ``GridSearchCV``: every row must be held out exactly once. "loo" leaves out one row at a time, and
        still reads the rows only once.
    scoring : {"neg_log_loss", "accuracy"}, default="neg_log_loss"
        The metric that ranks the settings; the other one breaks ties.
    estimate, nulls, unseen, derive, missing, method
        As in `NaiveBayesClassifier`.

    Attributes
    ----------
    cv_results_ : dict of ndarrays
        One entry for each setting: params, param_alpha, param_prior, param_families, mean_test_accuracy,
        mean_test_neg_log_loss, mean_test_score and rank_test_score.
    best_params_ : dict
        The best setting: alpha, prior, families.
    best_score_ : float
        The score of the best setting, which is too good, as it is the best of several; see `optimism_`.
    optimism_ : float or None
        About how much too good `best_score_` is, as `optimism` of `nbsql.sweep`; None with cv="loo", which has no folds.
    best_index_ : int
        The index of the best setting in `cv_results_`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[word] for word in ["a", "a", "a", "b", "b", "c"] * 5], dtype=object)
    >>> y = np.array([0, 0, 1, 1, 1, 0] * 5)
    >>> NaiveBayesCV(alphas=[0.1, 100.0]).fit(X, y).best_params_["alpha"]
    0.1
    """

    alpha: float = field(default=1.0, init=False)  # of which there are several
    prior: PriorArgument = field(default="empirical", init=False)
    alphas: Sequence[float] = (0.01, 0.1, 0.5, 1.0, 2.0, 10.0)
    priors: Sequence[PriorArgument] = ("empirical",)
    families: Mapping[str, str | Family] | Sequence[Mapping[str, str | Family] | None] | None = None  # type: ignore[assignment]
    cv: Any = 5
    scoring: Scoring = "neg_log_loss"

    def _lists(self) -> dict[str, Any]:
        return {"alpha": self.alphas, "prior": self.priors, "families": self.families}

    def _options(self) -> dict[str, Any]:
        return {**super()._options(), **self._lists()}

    def fit(
        self,
        X: Any,  # noqa: N803
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        connection: Any = None,
    ) -> "NaiveBayesCV":
        """Choose the settings, and fit the model of the best.

        Parameters
        ----------
        X, y, sample_weight
            As in `NaiveBayesClassifier`.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, for a `cv` that keeps groups together, such as ``GroupKFold(5)``.
        connection : None
            Not here: of a table nbsql.sweep is the same.

        Returns
        -------
        self : NaiveBayesCV
            The fitted estimator.
        """
        if groups is not None and self.cv == "loo":
            raise InputError("cv='loo' leaves out single rows of a group; keep groups together by cv=GroupKFold(5)")
        self._groups = groups
        try:
            super().fit(X, y, sample_weight, connection=connection)
        finally:
            del self._groups  # which no pickle should have
        return self

    def _fit_table(self, *_: Any) -> None:
        raise InputError("NaiveBayesCV takes rows; of a table nbsql.sweep is the same")

    def _extra_columns(self, X: Any, labels: Any, names: Sequence[str]) -> dict[str, Any]:  # noqa: N803
        """The fold of every row, under a name that no column has."""
        if self.cv == "loo":
            return {}
        folds = np.full(len(labels), -1)
        for number, (_, held_out) in enumerate(check_cv(self.cv, labels, classifier=True).split(X, labels, self._groups)):
            if (folds[held_out] >= 0).any():
                raise ValueError("cv holds out a row twice; such folds are for GridSearchCV(NaiveBayesClassifier(), ...)")
            folds[held_out] = number
        if (folds < 0).any():
            raise ValueError("cv never holds out some rows; such folds are for GridSearchCV(NaiveBayesClassifier(), ...)")
        return {free_name(FOLD, names): folds}

    def _make(self, engine: Engine, source: Source, options: Mapping[str, Any]) -> None:
        fold = None if self.cv == "loo" else max((name for name in source.names if name.rstrip("_") == FOLD), key=len)
        choice(self.scoring, Scoring, "scoring")
        by: Any = self.scoring.removeprefix("neg_")
        folds: Any = "loo" if fold is None else 2
        tried = nbsql.sweep(engine, source, fold=fold, folds=folds, by=by, **options, **self._options())
        found = tried.ranking.fetchall()
        lists = {name: as_list(value, name) for name, value in self._lists().items()}
        params = [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
        places = [tried.settings.index({**each, "families": each["families"] or {}}) for each in params]
        accuracy = np.array([found[place][4] for place in places])
        log_loss = np.array([found[place][5] for place in places])
        self.cv_results_ = {
            "params": params,
            **{f"param_{name}": _objects([each[name] for each in params]) for name in lists},
            "mean_test_accuracy": accuracy,
            "mean_test_neg_log_loss": -log_loss,
            "mean_test_score": accuracy if by == "accuracy" else -log_loss,
            "rank_test_score": np.array([found[place][0] for place in places]),
        }
        self.best_index_ = int(self.cv_results_["rank_test_score"].argmin())
        self.best_params_ = params[self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.optimism_ = tried.optimism
        tried.best(name=NAME)


def _objects(values: Sequence[Any]) -> Any:
    """An array of arbitrary objects, including dictionaries."""
    found = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        found[place] = value
    return found
