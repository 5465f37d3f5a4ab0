"""The columns that a source must have for a model, and the rules that training rows must obey."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from nbsql.errors import InputError, no_column
from nbsql.rendering.dialect import folded
from nbsql.spec.column import Column
from nbsql.spec.spec import Check, Spec

RULES = {
    "negative": "{n} of column {column} are negative; {family} {units} must be at least 0",
    "positive": "{n} of column {column} are 0 or negative; {family} {units} must be above 0",
    "inside": "{n} of column {column} are not between 0 and 1; {family} {units} must be above 0 and below 1",
    "whole": "{n} of column {column} are not whole; {family} {units} must be whole numbers",
    "binary": "{n} of column {column} are neither 0 nor 1; {family} takes a BOOLEAN or 0/1 column",
    "negative_counts": "{n} of column {column} hold a negative count; counts must be at least 0",
    "missing": "{n} of column {column} are NULL, and nulls='error'; fill them, or use nulls='skip'",
    "time": "{n} of column {column} are NULL or infinite, by which rows age; fill them, or leave such rows out",
    "weight": "{n} of the weight column {column} are negative, NULL or not finite; weights must be at least 0",
}


# Whole numbers are the same labels in every integer type; an engine refuses one that the type of the classes cannot hold.
_INTEGERS = {"TINYINT", "BYTE", "SMALLINT", "SHORT", "INTEGER", "INT", "BIGINT", "LONG", "HUGEINT"}

_TEXT = re.compile(r"(?:text|string|(?:varchar|character varying)(?:\(\d+\))?)", re.IGNORECASE)


def is_text_type(kind: str) -> bool:
    """Whether a type, as an engine writes it, is one of texts."""
    return _TEXT.fullmatch(kind) is not None


def _is_same_label(kind: str, spec_type: str) -> bool:
    """Whether a label of one type is the same label in the type of a model's classes, as in any two types of text."""
    are_texts = is_text_type(kind) and is_text_type(spec_type)
    return kind == spec_type or are_texts or {kind.upper(), spec_type.upper()} <= _INTEGERS


def check_source(
    spec: Spec, columns: Sequence[Column], label: str, model: str, *, exact: bool, training: bool = False
) -> dict[str, Column]:
    """The columns of a source by folded name, checked against those that a model reads; messages have `label` and `model`.

    With `exact` the case of names must match; for `training` the source must also have the target and the weight. Raises
    InputError if a column is missing, or of a type that its family does not take.
    """
    found = {folded(column.name): column for column in columns}

    def find(name: str, role: str) -> Column:
        column = found.get(folded(name))
        if column is None or (exact and column.name != name):
            raise no_column(name, (column.name for column in columns), label, f"{role} of {model}")
        return column

    for feature in spec.features:
        for name in feature.columns:
            column = find(name, "a feature")
            if column.kind not in feature.family.accepts and column.type != '"NULL"':
                raise InputError(
                    f"column {column.name!r} of {label} is {column.type}, which {model} cannot take "
                    f"for a {feature.family.name} feature; cast it"
                )
    if training:
        target = find(spec.target, "the target")
        if not _is_same_label(target.type, spec.target_type):
            raise InputError(
                f"column {target.name!r} of {label} is {target.type}, but the classes of {model} are {spec.target_type}; "
                "cast it"
            )
        is_there = spec.weight is not None and spec.half_life is None  # that of a half-life is computed (learning/half_life.py)
        weight = find(str(spec.weight), "the weight") if is_there else None
        if weight is not None and not weight.is_number:
            raise InputError(f"weight column {weight.name!r} of {label} is {weight.type}; weights must be numbers")
    return found


def spec_for_recount(spec: Spec, columns: Sequence[Column], label: str, model: str, *, exact: bool) -> Spec:
    """The spec for counting other rows, whose columns may have other types than those of the fit.

    The arguments are those of `check_source`, which is asked as for training.
    """
    found = check_source(spec, columns, label, model, training=True, exact=exact)
    features = tuple(
        replace(feature, floating=any(found[folded(name)].kind == "float" for name in feature.columns))
        for feature in spec.features
    )
    return replace(spec, features=features)


def training_checks(spec: Spec, columns: Sequence[Column]) -> list[Check]:
    """The rules that the rows of a training source must obey."""
    kinds = {folded(column.name): column.kind for column in columns}
    aged = spec.half_life
    weight = spec.weight if aged is None else aged.weight
    found = [Check("weight", weight, RULES["weight"])] if weight else []
    found += [Check("time", aged.at, RULES["time"])] if aged else []
    for feature in spec.features:
        message = {
            rule: text.replace("{family}", feature.family.name).replace("{units}", feature.family.units)
            for rule, text in RULES.items()
        }
        missing = ["missing"] if feature.family.nulls == "error" else []
        found += [
            Check(rule, column, message[rule])
            for column in feature.columns
            for rule in [*feature.family.rules.get(kinds[folded(column)], ()), *missing]
        ]
    return found
