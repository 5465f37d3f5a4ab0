"""CalibratedClassifierCV: its inner estimator, and its calibration in the form that a model stores."""

from __future__ import annotations

import json
from typing import Any

from nbsql.family.checks import label
from nbsql.sklearn.forms import labels_of
from nbsql.sklearn.inputs import name_of, steps_of
from nbsql.sklearn.words import no_counterpart

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
        return estimator, _text(method, [{"temperature": 1 / (2 * beta if len(labels) == 2 else beta)}])
    if len(labels) > 2:
        raise no_counterpart(f"CalibratedClassifierCV(method={method!r}) of more than two classes", "use method='temperature'")
    if method == "sigmoid":
        slope, intercept = -float(fitted[0].calibrators[0].a_), -float(fitted[0].calibrators[0].b_)
        lines = [(labels[1], slope, intercept), (labels[0], slope, -intercept)]
        return estimator, _text("platt", [{"class": label(name), "slope": a, "intercept": b} for name, a, b in lines])
    knots = list(zip(fitted[0].calibrators[0].X_thresholds_, fitted[0].calibrators[0].y_thresholds_, strict=True))
    rows = [{"class": label(labels[1]), "score": float(x), "probability": float(y)} for x, y in knots]
    rows += [{"class": label(labels[0]), "score": -float(x), "probability": 1 - float(y)} for x, y in reversed(knots)]
    return estimator, _text(method, rows)


def _text(method: str, rows: list[dict[str, Any]]) -> str:
    names = ("class", "temperature", "slope", "intercept", "score", "probability")
    return json.dumps([{"method": method, **{name: row.get(name) for name in names}} for row in rows])
