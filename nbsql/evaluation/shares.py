"""The shares of the classes among rows whose class is not known."""

from __future__ import annotations

from nbsql.engines.steps import Steps
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
        steps = Steps(engine, "class shares", temporary)
        last = steps.take(render("shares_start", context, parameters, plan.relations["priors"]))
        for _ in range(_STEPS):
            last = steps.take(render("shares_step", last, posteriors))
            found = engine.query_macro("shares_of_step", last)
            if not found:
                raise InputError(f"no row of {label} that {state.title} can explain; there is nothing to estimate shares from")
            if max(change for *_, change in found) < _TOLERANCE:
                break
        else:
            warn_user(f"the shares of {label} still change after {_STEPS} steps; so many rows tell the classes hardly apart")
    shares = [(number, prior, posterior, share) for number, prior, posterior, share, _ in found]
    return Query(engine, engine.renderer.statement("class_shares", plan.context(state.classes), parameters, shares))
