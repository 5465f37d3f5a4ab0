"""Misclassification costs: from the forms that a user may write to a matrix by class number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from nbsql.errors import InputError, label_suggestion

_FORMS = "costs are {(actual, predicted): cost}, {actual: {predicted: cost}}, or a pandas DataFrame of actual by predicted"


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
        matrix[numbers[predicted]][numbers[actual]] = _number(cost, actual, predicted)
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


def _number(cost: Any, actual: Any, predicted: Any) -> float:
    try:
        number = float(cost)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(
            f"the cost of predicting {predicted!r} where {actual!r} is right must be a finite number, not {cost!r}"
        )
    return number
