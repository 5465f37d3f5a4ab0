"""The rows that a user hands to a model, with the columns that the model reads."""

from __future__ import annotations

from typing import Any

from nbsql.engines.source import Source
from nbsql.learning.derived_columns import derive_again
from nbsql.learning.half_life import weigh_by_age
from nbsql.learning.joins import join_dimensions
from nbsql.learning.learnt_types import read_as_learnt
from nbsql.spec.column import Column
from nbsql.spec.rules import check_source
from nbsql.spec.spec import Spec
from nbsql.storage.state import ModelState


def read_source(
    state: ModelState, source: Any, *, reads_target: bool = False, weighted: bool = False, known: ModelState | None = None
) -> tuple[ModelState, Source]:
    """The model as it is now, and the source that the user means, joined with the dimensions that the model needs.

    `reads_target` says whether the class is read, `weighted` whether rows are weighted by their age, and `known` is a newer
    state of the model, if another thread has read one.
    """
    engine = state.engine
    data, version = engine.source_and_version(source, state.relations["spec"])
    state = state.refreshed(version, known)
    spec, title = state.spec, state.title
    read_as_learnt(engine, spec, state.relations["statistics"], data, title, learns=weighted)
    if spec.segment_by is not None:  # it may call functions of the user
        data.anywhere = False
    data = derive_again(engine, spec, data, title, judged=reads_target)
    if weighted:
        data = weigh_by_age(engine, data, spec.target, spec.half_life)
    if spec.joins:
        data = join_dimensions(engine, spec, state.relations, data, title, reads_target=reads_target)
    return state, data


def check_columns(state: ModelState, source: Source, spec: Spec | None = None) -> dict[str, Column]:
    """The columns of a source, by their folded names. It has the features of the model or, if given, those of a spec.

    Raises InputError if it lacks one, or the segment of a row cannot be computed.
    """
    columns = check_source(spec or state.spec, source.columns, source.label, state.title, exact=state.engine.exact)
    if state.spec.segment_by is not None:
        state.engine.check_expression(state.spec.segment_by, source, f"⟨segment_by⟩ of {state.title}")
    return columns
