"""Sources read in the types that a model has learnt."""

from __future__ import annotations

from itertools import zip_longest

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.family import INFERRED
from nbsql.rendering.dialect import folded
from nbsql.spec.column import NO_TYPE
from nbsql.spec.rules import is_learnt
from nbsql.spec.spec import Spec


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
        source.relation = engine.renderer.fragment(
            "without_values", source.relation, [each.name for each in source.columns], types
        )
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
        is_first = (
            feature.name not in learnt and engine.query_macro("values_of_columns", source.relation, [column.name])[0][0] > 0
        )
        if is_first and (learns or column.kind not in feature.family.accepts):
            raise InputError(
                f"column {column.name!r} of {source.label} is {column.type}; it had no value when {model} was fitted, which "
                f"took it for {feature.family.name}; fit anew, with rows that have a value there"
            )
