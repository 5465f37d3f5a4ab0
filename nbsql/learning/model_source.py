"""The rows that a user hands to a model, with the columns that the model reads."""

from itertools import zip_longest
from typing import Any

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.family import INFERRED
from nbsql.learning.derived_columns import source_with_derived_columns
from nbsql.learning.half_life import weigh_by_age
from nbsql.learning.joins import join_dimensions
from nbsql.rendering.dialect import folded
from nbsql.spec.column import NO_TYPE, Column, value_kind
from nbsql.spec.rules import check_source, is_learnt, label_type
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
    data = source_with_derived_columns(engine, spec, data, title, judged=reads_target)
    if reads_target:
        _labels_as_learnt(engine, spec, data)
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


def read_as_learnt(engine: Engine, spec: Spec, statistics: Markup, source: Source, model: str, *, learns: bool) -> None:
    """Let a source be read in the types of a model, where no value can change.

    What the model knows as a text is read from a file as it is written there, whatever the reader takes it for. A feature's
    column without any value has no type of its own: its values are missing ones. Raises InputError if the first values of a
    column are of another kind than the fit took it for, and are to be learnt or cannot be read.
    """
    _check_first_values(engine, spec, statistics, source, model, learns=learns)
    if source.as_texts is not None:
        texts = spec.text_columns
        guessed = [column.name for column in source.columns if folded(column.name) in texts and column.kind != "text"]
        if guessed:
            source.relation = source.as_texts(source.columns, guessed)
            source.columns = engine.columns(source.relation)
    others = _columns_of_other_types(spec, source)
    if not others:
        return
    values = engine.query_macro("values_of_columns", source.relation, list(others))[0]
    if empty := {name: others[name] for name, n in zip(others, values, strict=True) if not n}:
        types = {name: None if kind in ("", *NO_TYPE) else engine.type_name(kind) for name, kind in empty.items()}
        source.relation = engine.renderer.fragment("without_values", source.relation, source.names, types)
        source.columns = engine.columns(source.relation)


def _labels_as_learnt(engine: Engine, spec: Spec, source: Source) -> None:
    """Let labels be of the type that a model has learnt: numbers or dates if none of them changes, or where none is known."""
    target = source.column(spec.target)
    if target is None or label_type(target.type, spec.target_type) is not None:
        return
    learnt = engine.type_name(spec.target_type)
    if target.value_kind in ("number", "date") and target.value_kind == value_kind(spec.target_type):
        is_other = engine.query_macro("value_beyond_type", source.relation, target.name, learnt, engine.type_name(target.type))
    else:
        is_other = engine.query_value("row_count", source.relation, target.name) > 0
    if not is_other:
        source.relation = engine.renderer.fragment("with_type", source.relation, source.names, target.name, learnt)
        source.columns = engine.columns(source.relation)


def _columns_of_other_types(spec: Spec, source: Source) -> dict[str, str]:
    """The names of the source's columns whose values are not those that a feature has learnt, with the types learnt."""
    made = {folded(each.name) for each in spec.derived}
    columns = {folded(column.name): column for column in source.columns if folded(column.name) not in made}
    return {
        columns[folded(name)].name: learnt
        for feature in spec.features
        for name, learnt in zip_longest(feature.columns, feature.types, fillvalue="")
        if folded(name) in columns and not is_learnt(feature, name, columns[folded(name)])
    }


def _check_first_values(engine: Engine, spec: Spec, statistics: Markup, source: Source, model: str, *, learns: bool) -> None:
    features = {folded(feature.column): feature for feature in spec.features if feature.is_empty}
    for column in source.columns:
        feature = features.get(folded(column.name))
        if feature is None or column.type in NO_TYPE or INFERRED.get(column.inferred_kind) is type(feature.family):
            continue
        learnt = {
            row[0] for row in engine.query_macro("feature_summary", statistics)
        }  # an update may have brought values since
        is_first = feature.name not in learnt and engine.query_value("values_of_columns", source.relation, [column.name]) > 0
        if is_first and (learns or column.kind not in feature.family.accepts):
            raise InputError(
                f"column {column.name!r} of {source.label} is {column.type}; it had no value when {model} was fitted, which "
                f"took it for {feature.family.name}; fit anew, with rows that have a value there"
            )
