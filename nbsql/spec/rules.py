"""The columns that a source must have for a model, and the rules that training rows must obey."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from nbsql.errors import FrameLabel, InputError, header_hint, index_hint, listed, no_column
from nbsql.family import NUMBERS
from nbsql.family.calendar import OF_TIMES
from nbsql.rendering.dialect import Dialect, folded, plain_name
from nbsql.spec.column import INTEGER, NO_TYPE, Column, value_kind
from nbsql.spec.derived import Derived
from nbsql.spec.spec import Check, Feature, Spec

RULES = {
    "negative": "{n} of column {column} are negative; {family} {units} must be at least 0",
    "positive": "{n} of column {column} are 0 or negative; {family} {units} must be above 0",
    "inside": "{n} of column {column} are not between 0 and 1; {family} {units} must be above 0 and below 1",
    "whole": "{n} of column {column} are not whole; {family} {units} must be whole numbers",
    "binary": "{n} of column {column} are neither 0 nor 1; {family} takes a BOOLEAN or 0/1 column",
    "negative_counts": "{n} of column {column} hold a negative count; counts must be at least 0",
    "missing": "{n} of column {column} are NULL, and ⟨nulls='error'⟩; fill them, or use ⟨nulls='skip'⟩",
    "time": "{n} of column {column} are NULL or infinite, by which rows age; fill them, or leave such rows out",
    "weight": "{n} of the weight column {column} are negative, NULL or not finite; weights must be at least 0",
}


# Whole numbers are the same labels in every integer type; these are the bits of each.
_BITS = {
    "TINYINT": 8,
    "BYTE": 8,
    "SMALLINT": 16,
    "SHORT": 16,
    "INTEGER": 32,
    "INT": 32,
    "BIGINT": 64,
    "LONG": 64,
    "HUGEINT": 128,
}


def label_type(one: str, other: str) -> str | None:
    """The type of labels of two types, which is the wider of two integer types; None if they are not the same labels.

    >>> label_type("TINYINT", "INTEGER"), label_type("VARCHAR", "TEXT"), label_type("DOUBLE", "INTEGER")
    ('INTEGER', 'VARCHAR', None)
    """
    if one == other or value_kind(one) == value_kind(other) == "text":
        return one
    if not {one.upper(), other.upper()} <= set(_BITS):
        return None
    return max(one, other, key=lambda kind: _BITS[kind.upper()])


def check_range(spec: Spec, labels: Iterable[Any], label: str, model: str) -> None:
    """Raise InputError if a whole number is a class of `label`, and the type of the classes of `model` cannot hold it."""
    bits = _BITS.get(spec.target_type.upper())
    if bits is None:
        return
    for value in labels:
        if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            raise InputError(
                f"{label} has the class {value}, which {spec.target_type}, the type of the classes of {model}, cannot hold; "
                "fit these rows as a model of their own, and merge the two"
            )


def are_written_alike(one: str, other: str) -> bool:
    """Whether equal values of two types are the same text in a model."""
    kinds = value_kind(one), value_kind(other)
    whole = all(INTEGER.fullmatch(kind) for kind in (one, other))
    return one == other or None in kinds or (kinds[0] == kinds[1] and (whole or kinds[0] in ("text", "boolean")))


def is_learnt(feature: Feature, name: str, column: Column) -> bool:
    """Whether the values of a column may be those of a feature's column of that name.

    Values of another type may be equal, such as 1 and 1.0, but those of another kind are not.
    """
    if column.type in NO_TYPE:
        return True
    if column.kind not in feature.family.accepts:
        return False
    learnt = dict(zip(feature.columns, feature.types, strict=False)).get(name, "")
    return not feature.is_category or value_kind(learnt) in (None, column.value_kind)


def learnt_columns(spec: Spec) -> list[tuple[str, list[str], str]]:
    """The columns of features with the kinds of values that each may have, and the word for what the model has learnt there.

    Those whose values may be of any kind, and bags of tokens, are left out.
    """
    found: dict[str, tuple[str, list[str], str]] = {}
    for feature in spec.features:
        accepts = ["number" if kind in NUMBERS else kind for kind in feature.family.accepts]
        for name, learnt in zip(feature.columns, feature.types, strict=False):
            kind = value_kind(learnt)
            if feature.is_category and kind is not None:
                found[name] = (name, [kind], "text" if kind == "text" else learnt)
            elif not feature.is_category and not {"tokens", "token counts"} & {*accepts}:
                found.setdefault(name, (name, sorted({*accepts}), f"a {accepts[-1]}"))
    return list(found.values())


def learnt_times(spec: Spec) -> list[tuple[str, list[str], str]]:
    """The columns of dates and times whose parts a model has learnt, as `learnt_columns` has those of features."""
    made = {folded(each.name) for each in spec.derived}
    found: dict[str, tuple[str, list[str], str]] = {}
    for each in spec.derived:
        for name, learnt in each.reads if each.part is not None and not each.read_names & made else ():
            kinds = _kinds_with_same_parts(learnt)
            if kinds == ["date"] and each.part in OF_TIMES:  # which a day has not
                kinds = ["timestamp"]
            found[name] = (name, kinds, learnt) if each.part in OF_TIMES else found.get(name, (name, kinds, learnt))
    return list(found.values())


def learnt_texts(spec: Spec, derived: Iterable[Derived]) -> list[tuple[str, list[str], str]]:
    """The columns that some derived ones read as texts, as `learnt_columns` has those of features.

    An expression reads a number or a date as it is written. A column that is but without the words for a missing value has the
    values that the model has learnt, or is the text of these.
    """
    own = {column[0]: column for column in (*learnt_columns(spec), _learnt_label(spec))}
    made: set[str] = set()
    found: dict[str, tuple[str, list[str], str]] = {}
    for each in derived:
        for name, kind in each.reads:
            if value_kind(kind) == "text" and folded(name) not in made:
                kinds, learnt = own[name][1:] if each.words and name in own else (["number", "date"], "text")
                found.setdefault(name, (name, ["text", *(other for other in kinds if other != "text")], learnt))
        made.add(folded(each.name))
    return list(found.values())


def checked_columns(spec: Spec, derived: Iterable[Derived]) -> list[tuple[str, list[str], str]]:
    """Those of `learnt_columns` and `learnt_times` that a source has, and the texts that some derived columns read."""
    made = {name for dimension in spec.joins for name in dimension.names} | {each.name for each in spec.derived}
    own = [column for column in (*learnt_columns(spec), *learnt_times(spec)) if column[0] not in made]
    return [*own, *(column for column in learnt_texts(spec, derived) if column[0] not in {name for name, *_ in own})]


def _learnt_label(spec: Spec) -> tuple[str, list[str], str]:
    """The column of the class, as `learnt_columns` has those of the features."""
    kind = value_kind(spec.target_type) or "number"
    return spec.target, [kind], "text" if kind == "text" else spec.target_type


def checked_label(spec: Spec) -> list[tuple[str, list[str], str]]:
    """The column of the class, as `learnt_columns` has those of the features; none if it is derived."""
    return [] if spec.target in {each.name for each in spec.derived} else [_learnt_label(spec)]


def _kinds_with_same_parts(learnt: str) -> list[str]:
    """The kinds of values whose parts are those of a type of dates or times. Polars has all times of day in nanoseconds."""
    kind = value_kind(learnt) or ""
    return ["time", "time_ns"] if kind in ("time", "time_ns") else [kind]


def is_learnt_time(each: Derived, column: Column) -> bool:
    """Whether a column has the dates or times from which a model has learnt a part."""
    ((_, learnt),) = each.reads
    is_alike = column.kind == "temporal" and value_kind(column.type) in _kinds_with_same_parts(learnt)
    return is_alike and not (each.part in OF_TIMES and column.type.lower().startswith("date"))


def _wrong_type(feature: Feature, name: str, column: Column, label: str, model: str) -> InputError:
    """The error for a column whose values are not those of a feature."""
    what = f"column {column.name!r} of {label} is {column.type}"
    if column.kind not in feature.family.accepts:
        return InputError(
            f"{what}, which {model} cannot take for a {feature.family.name} feature; {_cast(feature, name, column, label)}"
        )
    learnt = feature.types[feature.columns.index(name)]
    whole = "to whole numbers and then " if (column.kind, value_kind(learnt)) == ("float", "text") else ""
    shown = "text" if value_kind(learnt) == "text" else learnt
    return InputError(f"{what}, and {model} has learnt {shown} there; read it as {shown}, or cast it {whole}to {shown}")


def _cast(feature: Feature, name: str, column: Column, label: str) -> str:
    """What to do about a column of another type; for a file, whose types were guessed, the source that casts it."""
    if not re.fullmatch(r".*\.(?:csv|tsv|json|jsonl|ndjson)(?:\.gz|\.zst)?", label, re.IGNORECASE):
        return f"cast it to {feature.types[feature.columns.index(name)]}" if feature.types else "cast it"
    written, path = (text.replace('"', r"\"") for text in (plain_name(Dialect("duckdb"), name), label.replace("'", "''")))
    # DuckDB 2.0 hands a cast alone on to the reader, which fails.
    value, quote = (f"trim({written})" if column.kind == "text" else written), '"'
    cast = f"TRY_CAST({value} AS {feature.types[feature.columns.index(name)]}) AS {written}"
    return f"cast it, with NULL for the values that are none: {quote}SELECT * REPLACE ({cast}) FROM '{path}'{quote}"


def check_source(
    spec: Spec, columns: Sequence[Column], label: str, model: str, *, exact: bool, training: bool = False
) -> dict[str, Column]:
    """The columns of a source by folded name, checked against those that a model reads; messages have `label` and `model`.

    With `exact` the case of names must match; for `training` the source must also have the target and the weight. Raises
    InputError if a column is missing, or of a type that its family does not take.
    """
    found = {folded(column.name): column for column in columns}
    derived = {folded(each.name) for each in spec.derived}
    given = [column.name for name, column in found.items() if name not in derived]

    def get(name: str) -> Column | None:
        column = found.get(folded(name))
        return None if column is None or (exact and column.name != name) else column

    def find(name: str, role: str) -> Column:
        if (column := get(name)) is None:
            raise no_column(name, given, label, f"{role} of {model}")
        return column

    if missing := [name for feature in spec.features for name in feature.columns if get(name) is None]:
        raise no_features(missing, given, label, model)
    features = [(feature, name, find(name, "a feature")) for feature in spec.features for name in feature.columns]
    for feature, name, column in features:
        if not is_learnt(feature, name, column):
            raise _wrong_type(feature, name, column, label, model)
    if training:
        target = find(spec.target, "the target")
        if label_type(target.type, spec.target_type) is None:
            is_alike = target.value_kind == value_kind(spec.target_type)  # but some value is none of that type
            cure = f"round its values to {spec.target_type}, or fit anew with all rows" if is_alike else "cast it"
            raise InputError(
                f"column {target.name!r} of {label} is {target.type}, but the classes of {model} are {spec.target_type}; {cure}"
            )
        is_there = spec.weight is not None and spec.half_life is None  # that of a half-life is computed (learning/half_life.py)
        weight = find(str(spec.weight), "the weight") if is_there else None
        if weight is not None and not weight.is_number:
            raise InputError(f"weight column {weight.name!r} of {label} is {weight.type}; weights must be numbers")
    return found


def no_features(missing: Sequence[str], names: Sequence[str], label: str, model: str) -> InputError:
    """The InputError for a source that lacks features of a model, with the source that has them as missing values."""
    fact: object = no_column(missing[0], names, label, f"a feature of {model}")
    if len(missing) > 1:
        fact = f"no columns {listed(missing)} in {label}, features of {model}; its columns are {listed(names)}"
    if hint := index_hint(missing, label) or header_hint(missing, names, label):
        return InputError(f"{str(fact).removesuffix(hint)}{hint}")
    added = ", ".join(f"NULL AS {plain_name(Dialect('duckdb'), name)}" for name in missing)
    source = label if re.fullmatch(r"\w+", label) else f"'{label}'" if "." in label and " " not in label else "..."
    them = "it is not known there, add it" if len(missing) == 1 else "they are not known there, add them"
    cure = " If" if str(fact).endswith("?") else "; if"
    is_frame = isinstance(label, FrameLabel) or label == "the rows"
    return InputError(f"{fact}{cure} {them}{' with None' if is_frame else f': SELECT *, {added} FROM {source}'}")


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


def _cure(feature: Feature) -> str:
    """What to do about a value that breaks a rule, where the family was inferred from the values of the fit."""
    family = "categorical" if feature.family.cell == "boolean" else "gaussian"
    return f'; fit anew with ⟨families={{"{feature.name}": "{family}"}}⟩' if feature.why else ""


def training_checks(spec: Spec, columns: Sequence[Column]) -> list[Check]:
    """The rules that the rows of a training source must obey."""
    kinds = {folded(column.name): column.kind for column in columns}
    aged = spec.half_life
    weight = spec.weight if aged is None else aged.weight
    found = [Check("weight", weight, RULES["weight"])] if weight else []
    found += [Check("time", aged.at, RULES["time"])] if aged else []
    for feature in spec.features:
        message = {
            rule: text.replace("{family}", feature.family.name).replace("{units}", feature.family.units) + _cure(feature)
            for rule, text in RULES.items()
        }
        missing = ["missing"] if feature.family.nulls == "error" else []
        found += [
            Check(rule, column, message[rule])
            for column in feature.columns
            for rule in [*feature.family.rules.get(kinds[folded(column)], ()), *missing]
        ]
    return found
