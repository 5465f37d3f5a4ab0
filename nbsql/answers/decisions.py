"""From posteriors to predictions otherwise than by the highest: at least cost, over thresholds, or several of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbsql.answers.costs import cost_matrix
from nbsql.errors import InputError, listed, suggestion


@dataclass(frozen=True)
class Decision:
    """How predictions are made.

    Args:
        verb: what messages call it.
        macro: that renders its query.
        arguments: of the macro.
        calibration: the method of a calibration whose table the macro reads before these arguments, if it does.
    """

    verb: str
    macro: str
    arguments: tuple[Any, ...]
    calibration: str | None = None


def decision_of(
    labels: Sequence[Any], *, costs: Any, thresholds: Any, top_k: Any, coverage: Any, by_class: bool
) -> Decision | None:
    """The decision that the arguments of `Model.predict` ask for; None for the most probable class.

    Args:
        labels: of the classes, by number.
        costs: see `Model.predict`.
        thresholds: see there.
        top_k: see there.
        coverage: see there.
        by_class: see there.

    Raises:
        InputError: one of them is of no use, or there are several.
    """
    given = {"costs": costs, "thresholds": thresholds, "top_k": top_k, "coverage": coverage}
    wanted = [name for name, value in given.items() if value is not None]
    if len(wanted) > 1:
        raise InputError(f"predict takes one of costs, thresholds, top_k and coverage, not {' and '.join(wanted)}")
    if by_class and coverage is None:
        raise InputError("by_class goes with coverage")
    if costs is not None:
        return Decision("predict with costs", "predict_at_cost", (cost_matrix(costs, labels),))
    if thresholds is not None:
        return Decision("predict with thresholds", "predict_at_thresholds", (threshold_list(thresholds, labels),))
    if coverage is not None:
        return Decision("predict with coverage", "predict_sets", (missed_share(coverage), by_class), calibration="conformal")
    if top_k is not None:
        return Decision("predict with top_k", "predict_top_k", (min(check_top_k(top_k), len(labels)),))
    return None


def check_top_k(top_k: Any) -> int:
    """How many predictions a row, or InputError unless it is a whole number of at least 1."""
    if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1:
        raise InputError(f"top_k must be a whole number of at least 1, not {top_k!r}")
    return int(top_k)


def missed_share(coverage: Any) -> int:
    """How many thousandths of the rows a set may miss, rounded down so that the promise holds.

    Raises:
        InputError: the coverage is no number above 0 and below 1.

    >>> missed_share(0.9), missed_share(0.9995)
    (100, 0)
    """
    if isinstance(coverage, bool) or not isinstance(coverage, float) or not 0 < coverage < 1:
        raise InputError(f"coverage must be a number between 0 and 1, such as 0.9, not {coverage!r}")
    return 1000 - math.ceil(1000 * float(coverage) - 1e-9)  # 1000 * 0.9 may lie a digit above 900


def threshold_list(thresholds: Any, labels: Sequence[Any]) -> list[float | None]:
    """The threshold of every class, in the order of `labels`; None where it has none.

    Raises:
        InputError: the thresholds have another form, name a class that is none, or are no probabilities.

    >>> threshold_list({"spam": 0.9}, ["ham", "spam"])
    [None, 0.9]
    """
    if not isinstance(thresholds, Mapping) or not thresholds:
        raise InputError(f"thresholds are {{class: probability}}, with at least one class, not {thresholds!r}")
    found: dict[Any, float] = {}
    for label, value in thresholds.items():
        if label not in labels:
            hint = suggestion(str(label), map(str, labels)) or f"; the classes are {listed(labels)}"
            raise InputError(f"the thresholds name a class {label!r}, which the model does not know{hint}")
        try:
            threshold = float(value)
        except (TypeError, ValueError):
            threshold = math.nan
        if not 0 <= threshold <= 1:
            raise InputError(f"the threshold of class {label!r} must be a probability, from 0 to 1, not {value!r}")
        found[label] = threshold
    return [found.get(label) for label in labels]
