"""Decision rules other than the highest posterior: least cost, thresholds, the k most probable classes, sets, certain rows."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nbsql.errors import InputError, ModelError, listed, suggestion, written
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
    state: ModelState, *, costs: Any, thresholds: Any, top_k: Any, coverage: Any, certain: Any, by_class: bool
) -> Decision | None:
    """The decision rule that the arguments of `Model.predict` describe; None for the most probable class.

    Raises InputError if an argument is invalid, or several rules are given.
    """
    options = {"costs": costs, "thresholds": thresholds, "top_k": top_k, "coverage": coverage, "certain": certain}
    arguments = [f"⟨{name}⟩" for name, value in options.items() if value is not None]
    if len(arguments) > 1:
        names = "⟨costs⟩, ⟨thresholds⟩, ⟨top_k⟩, ⟨coverage⟩ and ⟨certain⟩"
        raise InputError(f"predict takes one of {names}, not {' and '.join(arguments)}")
    if by_class and coverage is None and certain is None:
        raise InputError("⟨by_class⟩ goes with ⟨coverage⟩ or ⟨certain⟩")
    if costs is not None:
        return Decision("predict with costs", "predict_at_cost", (cost_matrix(costs, state),))
    if thresholds is not None:
        return Decision("predict with thresholds", "predict_at_thresholds", (threshold_list(thresholds, state),))
    if coverage is not None:
        return Decision("predict with coverage", "predict_sets", (missed_share(coverage), by_class), calibration="conformal")
    if certain is not None:
        return Decision("predict with certain", "predict_certain", (share(certain, "certain"), by_class), calibration="certain")
    if top_k is not None:
        return Decision("predict with top_k", "predict_top_k", (min(whole_number(top_k, "top_k"), len(state.classes)),))
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


def threshold_list(thresholds: Any, state: ModelState) -> list[float | None]:
    """The threshold of each class, by number; None for a class without one.

    Raises InputError if the thresholds have another form, name an unknown class, or are not probabilities.
    """
    if not isinstance(thresholds, Mapping) or not thresholds:
        raise InputError(f"thresholds are {{class: probability}}, with at least one class, not {thresholds!r}")
    found: list[float | None] = [None] * len(state.classes)
    for label, place in _places(state, thresholds, "thresholds").items():
        value = thresholds[label]
        found[place] = threshold = _number(value)
        if not 0 <= threshold <= 1:
            raise InputError(f"the threshold of class {label!r} must be a probability, from 0 to 1, not {written(value)}")
    return found


def cost_matrix(costs: Any, state: ModelState) -> list[list[float]]:
    """The costs as a matrix: a list for each predicted class, with a cost for each actual class, by number.

    A pair that is not given costs 0 if the prediction is right and 1 if it is wrong. Raises InputError if the costs have
    another form, name an unknown class, or are not finite numbers.
    """
    pairs, numbers = _pairs(costs), range(len(state.classes))
    matrix = [[float(actual != predicted) for actual in numbers] for predicted in numbers]
    places = _places(state, dict.fromkeys(label for pair in pairs for label in pair), "costs")
    for (actual, predicted), cost in pairs.items():
        matrix[places[predicted]][places[actual]] = _number(cost)
        if not math.isfinite(_number(cost)):
            raise InputError(
                f"the cost of predicting {predicted!r} where {actual!r} is right must be a finite number, not {written(cost)}"
            )
    return matrix


def _places(state: ModelState, labels: Iterable[Any], what: str) -> dict[Any, int]:
    """The places of the classes that an argument names. Raises InputError if one is unknown, or named twice."""
    given, found = [*labels], dict[Any, int]()
    for label, place in zip(given, state.places(given), strict=True):
        if place is None:
            texts = [column.label for column in state.classes]
            hint = suggestion(str(label), texts) or f"; the classes are {listed(state.labels())}"
            raise InputError(f"the {what} name a class {label!r}, which the model does not know{hint}")
        if place in found.values():
            raise InputError(f"the {what} name class {label!r} twice, in two types; name it in one")
        found[label] = place
    return found


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
    """A value as a float; NaN if it is no number, as the text of one is none."""
    try:
        return math.nan if isinstance(value, (str, bytes)) else float(value)
    except (OverflowError, TypeError, ValueError):
        return math.nan
