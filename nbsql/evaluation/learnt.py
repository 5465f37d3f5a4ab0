"""Whether rows are those that a model has learnt, whatever the name by which they come."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from math import isclose

from nbsql.engines.source import Source
from nbsql.errors import DatabaseError, InputError, ModelError, NotSupportedError
from nbsql.evaluation.evaluation import ALL
from nbsql.evaluation.remembered import share_learnt
from nbsql.learning.factorised import make_count
from nbsql.plan import Plan
from nbsql.plan.context import Context
from nbsql.rendering.relations import Relations
from nbsql.spec.rules import spec_for_recount
from nbsql.spec.spec import Spec
from nbsql.storage.state import ModelState

_ROUNDING = 1e-9

Weights = Mapping[str, float]  # the weight of the rows of each class, by its label


def learnt_rows(state: ModelState, source: Source, weight: str | None = None) -> tuple[str | None, float]:
    """The part of a model's rows that a source has, and the share of the rows of the source that the model has learnt.

    `weight` is the column of row weights, if the rows are weighted.
    """
    part = learnt_part(state, source)
    return part, 1.0 if part else share_learnt(state, source, weight)


def learnt_part(state: ModelState, source: Source) -> str | None:
    """The part of a model's rows that a source has: ALL, or the name of a batch; None for other rows, or if it cannot be told.

    Rows are told by their counts, which are those of the model or of a batch if the rows are: the number of rows of each class
    and value, and the sums and squares of the numbers. So nothing is stored for it, and updates, forgetting and merging are
    followed. Rows that the model has learnt only in part are other rows (see remembered.py). The number of rows of each class
    is compared first, so that rows that the model has not learnt are hardly ever counted.
    """
    engine, spec = state.engine, state.spec
    if spec.given or spec.is_soft or spec.half_life is not None or spec.shared:
        return None
    try:
        spec = spec_for_recount(spec, source.columns, source.label, "the model", exact=engine.exact)
        spec = replace(spec, slice_by=None, segment_by=None, components=None)
        counted = engine.renderer.fragment("counted_classes", Context.of(spec), source.relation)
        weights = {row[0]: float(row[3]) for row in engine.query_macro("class_labels", counted)}
        parts = [part for part, of_part in _weights_of_parts(state).items() if _are_same(weights, of_part)]
        return _part_with_cells_of(state, spec, source, parts) if parts else None
    except (DatabaseError, InputError, ModelError, NotSupportedError):
        return None  # the rows lack the column of weights, say, or break a rule; a role may have no temporary tables


def _weights_of_parts(state: ModelState) -> dict[str, Weights]:
    """The weight of each class in all rows that the model has learnt, and in each batch that it has not forgotten."""
    total: dict[str, float] = defaultdict(float)
    by_batch: dict[str, dict[str, float]] = defaultdict(dict)
    for batch, label, weight in state.engine.query_macro("class_weights_of_batches", state.relations["statistics"]):
        by_batch[batch][label] = float(weight)
        total[label] += float(weight)
    parts: dict[str, Weights] = {ALL: {label: weight for label, weight in total.items() if weight}}
    forgotten = [{label: -n for label, n in weights.items()} for weights in by_batch.values() if min(weights.values()) < 0]
    live = {batch: weights for batch, weights in by_batch.items() if min(weights.values()) > 0 and len(by_batch) > 1}
    return {**parts, **{batch: own for batch, own in live.items() if not any(_are_same(own, other) for other in forgotten)}}


def _are_same(weights: Weights, others: Weights) -> bool:
    return weights.keys() == others.keys() and all(isclose(n, others[label], rel_tol=_ROUNDING) for label, n in weights.items())


def _part_with_cells_of(state: ModelState, spec: Spec, source: Source, parts: list[str]) -> str | None:
    """The first of some parts of a model whose cells are those of a source."""
    engine = state.engine
    counting = Plan(engine.renderer, spec, Relations(engine.renderer, transient=engine.transient_name()))
    with engine.temporaries() as temporary:
        count = make_count(engine, source, counting, temporary)
        count.scan(quiet=True)
        cells = count.create_cells(temporary("cells"))
        for part in parts:
            of_part = state.relations["statistics"]
            if part != ALL:
                of_part = engine.renderer.fragment("subquery", engine.renderer.fragment("cells_of_batch", of_part, part))
            if not engine.query_macro("differing_cells", of_part, cells, _ROUNDING)[0][0]:
                return part
    return None
