"""How slices, and how classes, differ by the counts alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nbsql.errors import InputError, listed
from nbsql.learning.change import Ledger
from nbsql.learning.derive import check_slice_names
from nbsql.queries.query import Query, macro_query
from nbsql.storage.state import ModelState


def drift(state: ModelState, a: Any, b: Any) -> Query:
    """The query of how far slices `b` have moved from slices `a`; see `Model.drift`."""
    state.require("drift")
    render, statistics, sides = state.engine.renderer.fragment, state.relations["statistics"], []
    for side in (a, b):
        names = [*side] if isinstance(side, Iterable) and not isinstance(side, str) else [side]
        if state.spec.slice_by is not None:
            query = render("cells_of_slices", statistics, check_slice_names(state, names))
        else:
            ledger = Ledger.of(state)
            batches = [ledger.find(name).batch for name in names]
            if not batches:
                raise InputError(f"name at least one batch; {state.title} has {listed(e.batch for e in ledger.entries)}")
            query = render("cells_of_batches", statistics, batches)
        sides.append(render("subquery", query))
    return macro_query(state, "drift", *sides, state.spec.features)


def discrimination(state: ModelState, a: Any, b: Any) -> Query:
    """The query of what distinguishes class `a` from class `b`; see `Model.discrimination`."""
    state.require("discrimination")
    kind = state.engine.type_name(state.spec.target_type)
    classes = [state.engine.renderer.fragment("class_literal", state.label_text(label), kind) for label in (a, b)]
    relations = (state.relations["likelihoods"], state.plan.current_cells())
    return macro_query(state, "discrimination", *relations, state.spec.features, *classes)
