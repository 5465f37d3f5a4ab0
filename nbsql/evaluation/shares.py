"""The shares of the classes among rows whose class is not known."""

import math
from collections.abc import Callable, Sequence

from nbsql.errors import InputError
from nbsql.plan import Rows
from nbsql.queries.query import Query
from nbsql.storage.state import ModelState
from nbsql.warn import warn_user

_STEPS = 1000  # the most
_TOLERANCE = 1e-9  # the change of a share at which the search ends


def class_shares(state: ModelState, rows: Rows, label: str, calibration: str | None) -> Query:
    """The query of the result of `Model.class_shares` (sql/macros/evaluation/shares.sql).

    Raises InputError if there is no row that the model can explain.
    """
    engine, plan, render = state.engine, state.plan, state.engine.renderer.fragment
    parameters = plan.relations["parameters"]
    with engine.temporaries() as temporary:
        context, scored = plan.scored(rows, state.classes, calibration=calibration)
        posteriors = engine.create("score", temporary("posteriors"), render("posteriors_of_rows", context, scored))
        found = engine.query_macro("priors_by_number", context, parameters, plan.relations["priors"])
        numbers, priors = [number for number, _ in found], [float(prior) for _, prior in found]

        def step(shares: Sequence[float]) -> list[float]:
            ratios = [share / prior if prior and share > 1e-100 else 0.0 for share, prior in zip(shares, priors, strict=True)]
            return [float(share) for _, share in engine.query_macro("shares_step", posteriors, ratios)]

        means = step(priors)
        if not means:
            raise InputError(f"no row of {label} that {state.title} can explain; there is nothing to estimate shares from")
        shares, changes = fixed_point(step, means)
    if changes:
        why = "its rows hardly tell the classes apart"
        warn_user(f"the shares of {label} still change after {_STEPS} steps, because {why}; estimate them from more rows")
    values = list(zip(numbers, priors, means, shares, strict=True))
    return Query(engine, engine.renderer.statement("class_shares", plan.context(state.classes), parameters, values))


def fixed_point(step: Callable[[Sequence[float]], list[float]], shares: list[float]) -> tuple[list[float], bool]:
    """The shares that a step leaves as they are, and whether they still change after the most steps.

    Two steps say how the next would go on, and the search leaps there (Varadhan and Roland, Simple and globally convergent
    methods for accelerating the convergence of any EM algorithm, 2008); without leaps it may take thousands of steps.

    >>> fixed_point(lambda s: [0.99 * x + 0.01 * t for x, t in zip(s, (0.7, 0.3))], [0.5, 0.5])[1]
    False
    """
    for _ in range(_STEPS // 3):
        first = step(shares)
        moved = [b - a for a, b in zip(shares, first, strict=True)]
        if max(map(abs, moved)) < _TOLERANCE:
            return first, False
        second = step(first)
        turned = [c - b - m for b, c, m in zip(first, second, moved, strict=True)]
        norm = math.hypot(*turned)
        length = max(1.0, math.hypot(*moved) / norm) if norm else 1.0
        leapt = [a + 2 * length * m + length**2 * v for a, m, v in zip(shares, moved, turned, strict=True)]
        shares = step(leapt) if min(leapt) > 0 else second  # a leap out of the simplex is not taken
    return shares, True
