"""Decision rules other than the highest posterior: least cost, thresholds, the k most probable classes, sets, certain rows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbsql.errors import InputError, ModelError, label_suggestion, written
from nbsql.family.checks import share, whole_number
from nbsql.storage.calibration import calibration_methods
from nbsql.storage.state import ModelState

_FORMS = "costs are {(actual, predicted): cost}, {actual: {predicted: cost}}, or a pandas DataFrame of actual by predicted"


@dataclass(frozen=True)
class Decision:
    """A rule that turns posteriors into predictions."""

    verb: str  # its name in messages
    macro: str  # the macro that renders its query
    arguments: tuple[Any, ...]  # the arguments of the macro
    # The calibration method that the macro needs; it then reads the calibration table before these arguments, and after them
    # takes whether the posteriors are calibrated.
    calibration: str | None = None


def decision_of(
    labels: Sequence[Any], *, costs: Any, thresholds: Any, top_k: Any, coverage: Any, certain: Any, by_class: bool
) -> Decision | None:
    """The decision rule that the arguments of `Model.predict` describe; None for the most probable class.

    The labels are the classes, by number. Raises InputError if an argument is invalid, or several rules are given.
    """
    options = {"costs": costs, "thresholds": thresholds, "top_k": top_k, "coverage": coverage, "certain": certain}
    arguments = [f"⟨{name}⟩" for name, value in options.items() if value is not None]
    if len(arguments) > 1:
        names = "⟨costs⟩, ⟨thresholds⟩, ⟨top_k⟩, ⟨coverage⟩ and ⟨certain⟩"
        raise InputError(f"predict takes one of {names}, not {' and '.join(arguments)}")
    if by_class and coverage is None and certain is None:
        raise InputError("⟨by_class⟩ goes with ⟨coverage⟩ or ⟨certain⟩")
    if costs is not None:
        return Decision("predict with costs", "predict_at_cost", (cost_matrix(costs, labels),))
    if thresholds is not None:
        return Decision("predict with thresholds", "predict_at_thresholds", (threshold_list(thresholds, labels),))
    if coverage is not None:
        return Decision("predict with coverage", "predict_sets", (missed_share(coverage), by_class), calibration="conformal")
    if certain is not None:
        return Decision("predict with certain", "predict_certain", (share(certain, "certain"), by_class), calibration="certain")
    if top_k is not None:
        return Decision("predict with top_k", "predict_top_k", (min(whole_number(top_k, "top_k"), len(labels)),))
    return None


def check_calibrated(state: ModelState, decision: Decision) -> None:
    """Raise ModelError unless the model has the calibration that a decision needs."""
    if decision.calibration is None or decision.calibration in calibration_methods(state.engine, state.relations):
        return
    cure = f"calibrate it by {decision.calibration!r}"
    if state.plan.calibration is None:
        raise ModelError(f"{state.title} is not calibrated; {cure} first")
    promise = "coverage" if decision.calibration == "conformal" else "certainty"
    raise ModelError(f"{state.title} is calibrated by {state.plan.calibration!r}, which promises no {promise}; {cure}")


def missed_share(coverage: Any) -> int:
    """How many thousandths of the rows a prediction set may miss, rounded down so that the coverage holds.

    Raises InputError unless the coverage is a number between 0 and 1.

    >>> missed_share(0.9), missed_share(0.9995)
    (100, 0)
    """
    return 1000 - math.ceil(1000 * share(coverage, "coverage") - 1e-9)  # in floating point, 1000 * 0.9 may exceed 900


def threshold_list(thresholds: Any, labels: Sequence[Any]) -> list[float | None]:
    """The threshold of each class, in the order of `labels`; None for a class without one.

    Raises InputError if the thresholds have another form, name an unknown class, or are not probabilities.

    >>> threshold_list({"spam": 0.9}, ["ham", "spam"])
    [None, 0.9]
    """
    if not isinstance(thresholds, Mapping) or not thresholds:
        raise InputError(f"thresholds are {{class: probability}}, with at least one class, not {thresholds!r}")
    threshold_by_label: dict[Any, float] = {}
    for label, value in thresholds.items():
        if label not in labels:
            hint = label_suggestion(label, labels)
            raise InputError(f"the thresholds name a class {label!r}, which the model does not know{hint}")
        threshold = _number(value)
        if not 0 <= threshold <= 1:
            raise InputError(f"the threshold of class {label!r} must be a probability, from 0 to 1, not {written(value)}")
        threshold_by_label[label] = threshold
    return [threshold_by_label.get(label) for label in labels]


def cost_matrix(costs: Any, labels: Sequence[Any]) -> list[list[float]]:
    """The costs as a matrix: a list for each predicted class, with a cost for each actual class, in the order of `labels`.

    A pair that is not given costs 0 if the prediction is right and 1 if it is wrong. Raises InputError if the costs have
    another form, name an unknown class, or are not finite numbers.

    >>> cost_matrix({("spam", "ham"): 5}, ["ham", "spam"])
    [[0.0, 5.0], [1.0, 0.0]]
    """
    numbers = {label: number for number, label in enumerate(labels)}
    matrix = [[float(actual != predicted) for actual in numbers.values()] for predicted in numbers.values()]
    for (actual, predicted), cost in _pairs(costs).items():
        for label in (actual, predicted):
            if label not in numbers:
                hint = label_suggestion(label, labels)
                raise InputError(f"the costs name a class {label!r}, which the model does not know{hint}")
        matrix[numbers[predicted]][numbers[actual]] = _number(cost)
        if not math.isfinite(_number(cost)):
            raise InputError(
                f"the cost of predicting {predicted!r} where {actual!r} is right must be a finite number, not {written(cost)}"
            )
    return matrix


def _pairs(costs: Any) -> dict[tuple[Any, Any], Any]:
    if type(costs).__name__ == "DataFrame" and hasattr(costs, "index"):
        costs = costs.to_dict(orient="index")
    if not isinstance(costs, Mapping):
        raise InputError(f"{_FORMS}, not {type(costs).__name__}")
    pairs: dict[tuple[Any, Any], Any] = {}
    for key, value in costs.items():
        if isinstance(value, Mapping):
            pairs |= {(key, predicted): cost for predicted, cost in value.items()}
        elif isinstance(key, tuple) and len(key) == 2:
            pairs[key] = value
        else:
            raise InputError(f"{_FORMS}, and {key!r} is no pair of classes")
    return pairs


def _number(value: Any) -> float:
    """A value as a float; NaN if it is none."""
    try:
        return float(value)
    except (OverflowError, TypeError, ValueError):
        return math.nan
