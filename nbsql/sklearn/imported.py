"""Imports scikit-learn estimators as models in the database."""

import copy
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from nbsql.engines.connect import Connection, opened
from nbsql.errors import InputError
from nbsql.family.checks import label
from nbsql.family.checks import label as label_text
from nbsql.library.from_tables import GIVEN_DEFAULTS
from nbsql.library.from_weights import derive_from_weights
from nbsql.library.sharing import import_file
from nbsql.model import Model
from nbsql.model.destination import Destination, key_columns, open_place
from nbsql.plan import Entry
from nbsql.sklearn.counts import read_counts
from nbsql.sklearn.forms import EstimatorCounts, Form, labels_of
from nbsql.sklearn.inputs import Level, Number, name_of, read_through, steps_of
from nbsql.sklearn.linear import KNOWN, read_weights
from nbsql.sklearn.words import is_vectorizer, no_counterpart
from nbsql.spec.spec import Spec
from nbsql.storage.calibration import restore_calibration


def from_sklearn(
    con: Connection,
    estimator: Any,
    *,
    columns: Sequence[str] | str | None = None,
    target: str = "class",
    id: str | Sequence[str] = (),
    name: str | None = None,
    replace: bool = False,
    database: str | None = None,
) -> Model:
    """A model that is equivalent to a fitted scikit-learn estimator or pipeline: its posteriors are those of `predict_proba`.

    A naive Bayes class that reads its columns directly is imported as counts, so that the model can continue to learn and
    forget. Everything else is imported as weights, which do not change. Only the attributes of the object are read; none of
    its code is run, and nothing is unpickled.

    Args:
        con: a connection, session, path or address, as in `nbsql.fit`.
        estimator: GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB, LinearDiscriminantAnalysis,
            QuadraticDiscriminantAnalysis or LogisticRegression; after StandardScaler, MinMaxScaler, OneHotEncoder,
            OrdinalEncoder, ColumnTransformer, CountVectorizer or TfidfVectorizer, in a Pipeline; or CalibratedClassifierCV.
        columns: the columns of the table that it reads, in its order. None takes those of the frame on which it was fitted, or
            x0, x1, ... or "text" if that had no names.
        target: the name of the predicted column, in rows whose class is known.
        id: the key column or columns, which `explain` returns.
        name: the name of the model; None makes a transient one.
        replace: whether to replace the model of that name.
        database: the attached database in which the model is stored; None for the current one.

    Raises:
        NotSupportedError: a part of it has no equivalent in SQL; the message names the part.
        InputError: it is not fitted, or `columns` do not match its input.
        ModelError: the name is taken.
    """
    calibration = labels = None
    label = f"scikit-learn's {name_of(estimator)}"
    if name_of(estimator) == "CalibratedClassifierCV":
        _check_fitted(estimator, "calibrated_classifiers_")
        labels = estimator.classes_
        estimator, calibration = without_calibration(estimator)
    if isinstance(estimator, type):
        raise InputError(f"{estimator.__name__} is a class; pass a fitted estimator")
    *transformers, last = steps_of(estimator)
    if hasattr(last, "model_"):
        raise InputError(
            f"{name_of(last)} has a model of nbsql; estimator.model_.export(path) and nbsql.import_(con, path) copy it"
        )
    if name_of(last) not in KNOWN:
        raise no_counterpart(name_of(last), f"{', '.join(KNOWN)} do, and CalibratedClassifierCV of one of them")
    _check_fitted(last, "classes_")
    if labels is not None:  # the inner estimator may number its labels
        last = copy.copy(last)
        last.classes_ = labels
    if len(last.classes_) < 2:
        raise no_counterpart(f"{name_of(last)} of one class", "fit it on rows of two classes or more")
    names = _columns(estimator, [*transformers, last], columns)
    if target in names:
        raise InputError(f"column {target!r} is a feature of {name_of(last)}; name another column as target")
    form = _form(last, transformers, names)
    ids = key_columns(id)

    def fit_form(to: Connection, name: str | None, database: str | None, replace: bool) -> Model:
        with open_place(to, name, database, replace=replace) as place:
            engine = place.engine
            with engine.source(form.cells.columns() if isinstance(form, EstimatorCounts) else form.columns()) as source:
                if isinstance(form, EstimatorCounts):
                    plan, classes = _counts_of(place, form, source, target, ids, label)
                else:
                    plan, classes = derive_from_weights(
                        place, source, form.classes, form.families, target, ids, label, form.types
                    )
            if calibration is not None:
                plan = restore_calibration(engine, plan, classes, calibration)
            return place.publish(plan, classes)

    with opened(con, create=True) as engine:
        if engine.title == "DuckDB":
            return fit_form(engine, name, database, replace)
    with (
        tempfile.TemporaryDirectory() as folder,
        duckdb.connect() as near,
    ):  # other engines cannot read frames, but the file of a model
        path = str(Path(folder, "model.parquet"))
        fit_form(near, None, None, False).export(path)
        return import_file(con, path, label, name=name, replace=replace, database=database)


def _check_fitted(estimator: Any, attribute: str) -> None:
    if not hasattr(estimator, attribute):
        raise InputError(f"{name_of(estimator)} is not fitted; fit it first")


def _form(last: Any, transformers: Sequence[Any], columns: Sequence[str]) -> Form:
    inputs = read_through(transformers, columns)
    width = getattr(last, "n_features_in_", len(inputs))
    if width != len(inputs):
        raise InputError(f"{name_of(last)} reads {width} columns, and columns has {len(inputs)}; name those that it reads")
    numbers = {each.column for each in inputs if isinstance(each, Number)}
    for each in inputs:
        if isinstance(each, Level) and each.column in numbers:
            raise no_counterpart(f"column {each.column!r} as a number and by a OneHotEncoder", "leave one of them out")
    form = read_counts(last, inputs)
    return read_weights(last, inputs) if form is None else form


def _columns(whole: Any, steps: Sequence[Any], columns: Sequence[str] | str | None) -> list[str]:
    """The columns of the table that the first step reads."""
    first = steps[0]
    if columns is not None:
        found = [columns] if isinstance(columns, str) else list(columns)
        if not all(isinstance(each, str) for each in found):
            raise InputError(f"columns must be a list of names, not {columns!r}")
        return found
    for step in (whole, first):
        names = getattr(step, "feature_names_in_", None)
        if names is not None:
            return [str(each) for each in names]
    if is_vectorizer(first):
        return ["text"]
    return [f"x{j}" for j in range(getattr(first, "n_features_in_", 1))]


def _counts_of(place: Destination, form: EstimatorCounts, source: Any, target: str, ids: tuple[str, ...], label: str) -> Any:
    """The plan and the classes of the model from counts, which is built but not yet published."""
    engine = place.engine
    kind = next(column.type for column in source.columns if column.name == "class")
    counted = {name for name, feature, *_ in form.cells.rows if feature is None}
    # All labels, if the estimator was told of one that it has not seen.
    labels = tuple(map(label_text, form.classes)) if set(form.classes) > counted else ()
    spec = Spec(
        target, tuple(form.features), form.prior, ids,
        target_type=kind, given=form.given, classes=labels, defaults=GIVEN_DEFAULTS if form.given else {},
    )  # fmt: skip
    cells = engine.renderer.fragment("cells_counted_elsewhere", source.relation, engine.renderer.dialect.query(kind))
    if form.given:
        return place.derive(spec, cells, [Entry(1, "1", "given", label, 0)])
    rows = round(engine.query_value("rows_learnt", engine.renderer.fragment("subquery", cells)))
    return place.derive(spec, cells, [Entry(1, "1", "import", label, rows)])


_SCORED = ("LogisticRegression", "LogisticRegressionCV", "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis")


def without_calibration(calibrated: Any) -> tuple[Any, str]:
    """The inner estimator, and the text of its calibration for `nbsql.storage.calibration.restore_calibration`.

    Raises NotSupportedError if it is a mean of several estimators, or does not calibrate log-odds.
    """
    fitted = calibrated.calibrated_classifiers_
    if len(fitted) != 1:
        raise no_counterpart(
            f"CalibratedClassifierCV of {len(fitted)} estimators", "fit it with ensemble=False, or a FrozenEstimator"
        )
    estimator, method = fitted[0].estimator, fitted[0].method
    while name_of(estimator) == "FrozenEstimator":
        estimator = estimator.estimator
    last, labels = name_of(steps_of(estimator)[-1]), labels_of(calibrated)
    if last not in _SCORED:
        raise no_counterpart(
            f"CalibratedClassifierCV of {last}, whose probabilities it calibrates,", f"those of {', '.join(_SCORED)} do"
        )
    if method == "temperature":
        beta = float(fitted[0].calibrators[0].beta_)
        return estimator, _calibration_text(method, [{"temperature": 1 / (2 * beta if len(labels) == 2 else beta)}])
    if len(labels) > 2:
        raise no_counterpart(f"CalibratedClassifierCV(method={method!r}) of more than two classes", "use method='temperature'")
    if method == "sigmoid":
        slope, intercept = -float(fitted[0].calibrators[0].a_), -float(fitted[0].calibrators[0].b_)
        lines = [(labels[1], slope, intercept), (labels[0], slope, -intercept)]
        return estimator, _calibration_text(
            "platt", [{"class": label(name), "slope": a, "intercept": b} for name, a, b in lines]
        )
    knots = list(zip(fitted[0].calibrators[0].X_thresholds_, fitted[0].calibrators[0].y_thresholds_, strict=True))
    rows = [{"class": label(labels[1]), "score": float(x), "probability": float(y)} for x, y in knots]
    rows += [{"class": label(labels[0]), "score": -float(x), "probability": 1 - float(y)} for x, y in reversed(knots)]
    return estimator, _calibration_text(method, rows)


def _calibration_text(method: str, rows: list[dict[str, Any]]) -> str:
    names = ("class", "temperature", "slope", "intercept", "score", "probability")
    return json.dumps([{"method": method, **{name: row.get(name) for name in names}} for row in rows])
