"""Generates the JSON Schema of `meta.nbsql`, for editors, from the dataclasses of the options and families."""

import dataclasses
import json
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Union

from nbsql.family import FAMILIES, Family
from nbsql.family.facts import facts
from nbsql.spec.method import METHODS, Mixture
from nbsql.spec.options import Options, model_fields
from nbsql.spec.signature import described_arguments, texts_of_options

SCHEMA = Path("properties.schema.json")

_OFFERED = (
    "target", "id", "features", "exclude", "families", "weight", "alpha", "prior", "prior_alpha", "nulls", "unseen", "slice_by",
    "lookback", "classes", "derive", "missing",
)  # fmt: skip
# Options whose form in YAML differs from that in Python.
_OWN: dict[str, dict[str, Any]] = {
    "target": {"description": "The column that holds the class, of any scalar type. Rows where it is NULL are left out."},
    "alpha": {"description": "Pseudo-count of additive smoothing; 0 is the maximum-likelihood estimate.", "default": 1.0},
    "features": {"description": "The feature columns; without it, every column that has no other role."},
    "families": {
        "description": "Overrides of the inferred families, by column, or by a pattern of columns such as soil_*: a name, or a "
        "mapping with the family's options. A family over several columns is named by its key.",
        "additionalProperties": {"$ref": "#/$defs/family"},
    },
    "prior": {
        "anyOf": [
            {"enum": ["empirical", "uniform", "smoothed"]},
            {"type": "object", "additionalProperties": {"type": "number"}},
        ]
    },
    "prior_alpha": {
        "description": "Pseudo-count a class of prior: smoothed; without it, alpha.",
        "type": "number",
        "minimum": 0,
    },
    "classes": {
        "description": "The labels of the classes, in the order of the columns of probabilities; without it, they are asked of "
        "the statistics when a model is compiled.",
        "type": "array",
    },
    "weight": {
        "description": "Column of row weights, at least 0; or {half_life: 30 days, at: sent_at}, which halves what a row "
        "counts with every 30 days of its age, with weight: a column of weights beside.",
        "anyOf": [
            {"type": "string"},
            {
                "type": "object",
                "properties": {
                    "half_life": {"anyOf": [{"type": "string"}, {"type": "number", "exclusiveMinimum": 0}]},
                    "at": {"type": "string"},
                    "weight": {"type": "string"},
                },
                "required": ["half_life", "at"],
                "additionalProperties": False,
            },
        ],
    },
    "lookback": {
        "description": "How many of the newest slices an incremental run counts again, with unique_key: slice.",
        "type": "integer",
        "minimum": 0,
        "default": 1,
    },
}
_TEXTS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
_LENGTHS = {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 10}, {"type": "array", "items": {"type": "integer"}}]}
_OF_FAMILIES: dict[str, dict[str, Any]] = {
    "estimate": {"enum": ["mean", "mode"]},
    "stop_words": {"anyOf": [{"const": "english"}, {"type": "array", "items": {"type": "string"}}]},
    "normal_form": {"enum": ["C", None]},
    **dict.fromkeys(("ngrams", "characters"), _LENGTHS),
    "columns": {"type": "array", "items": {"type": "string"}, "minItems": 2},
    "by": {
        "description": "the edges between the bins, in ascending order.",
        "type": "array",
        "items": {"type": "number"},
        "minItems": 1,
        "maxItems": 999,
    },
}
_SHARED = tuple(item.name for item in dataclasses.fields(Family))
_PLAIN: dict[Any, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0},
    float: {"type": "number", "minimum": 0},
    str: {"type": "string"},
    Any: {},
}


def properties_schema() -> dict[str, Any]:
    """The schema of a dbt project's properties file, limited to nbsql's parts."""
    meta = _nested("nbsql", {"$ref": "#/$defs/nbsql"})
    model = {"properties": {"config": _nested("meta", meta), "meta": meta}}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "meta.nbsql in the properties of dbt models",
        "type": "object",
        "properties": {"models": {"type": "array", "items": model}},
        "$defs": {"nbsql": _options(), "family": _families(), **{name: _shared(name) for name in _SHARED}},
    }


def schema_json() -> str:
    """The text of the package's schema file."""
    return json.dumps(properties_schema(), indent=2) + "\n"


def default_options() -> dict[str, Any]:
    """The options that the package does, with their defaults: those of nbsql.fit, and two of its own."""
    defaults = {
        each.name: None if each.default is dataclasses.MISSING else each.default for each in dataclasses.fields(Options)
    }
    defaults |= {"families": {}, "derive": {}, "alpha": 1.0, "prior_alpha": None, "lookback": 1}
    return {name: defaults[name] for name in _OFFERED}


def refused_options() -> list[str]:
    """The options of nbsql.fit and its methods that the package does not do."""
    methods = [each.name for method in (*METHODS.values(), Mixture) for each in dataclasses.fields(method)]
    names = dict.fromkeys([*(each.name for each in model_fields()), *methods, "segment_shrinkage"])
    return [name for name in names if name not in _OFFERED]


def _nested(key: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {key: schema}}


def _options() -> dict[str, Any]:
    described, hints = _one_line(texts_of_options()), typing.get_type_hints(Options)
    found = {}
    for item in dataclasses.fields(Options):
        if item.name in _OFFERED and item.name != "classes":
            schema = _TEXTS if item.name in ("exclude", "features", "id") else _schema(hints[item.name])
            found[item.name] = {"description": described.get(item.name), **schema, **_OWN.get(item.name, {})}
    found |= {name: _OWN[name] for name in ("prior_alpha", "classes", "lookback")}
    return {"type": "object", "properties": found, "required": ["target"], "additionalProperties": False}


def _families() -> dict[str, Any]:
    mappings = []
    for name, of in facts().items():
        family = FAMILIES[name]
        hints = typing.get_type_hints(family)
        described = {key: text for base in reversed(family.__mro__) for key, text in _descriptions(base).items()}
        own: dict[str, Any] = {"family": {"const": name}}
        for option in [item.name for item in dataclasses.fields(Family)] + [*of["defaults"]]:
            schema = _OF_FAMILIES.get(option) or _schema(hints[option])
            if option == "alpha" and not family.alpha_by_value:
                schema = _PLAIN[float]
            if option == "event":
                schema = {"enum": of["choices"]["event"]}
            own[option] = {"description": described[option], **schema}
            if option in _SHARED and own[option] == _shared(option):
                own[option] = {"$ref": f"#/$defs/{option}"}
        required = ["family", *(option for option in ("columns", "by") if option in own)]
        mappings.append({"type": "object", "properties": own, "required": required, "additionalProperties": False})
    return {
        "anyOf": [{"enum": [name for name, of in facts().items() if not {"columns", "by"} & of["defaults"].keys()]}, *mappings]
    }


def _shared(option: str) -> dict[str, Any]:
    """The schema of an option that all families have."""
    schema = _PLAIN[float] if option == "alpha" else _OF_FAMILIES.get(option) or _schema(typing.get_type_hints(Family)[option])
    return {"description": _descriptions(Family)[option], **schema}


def _schema(hint: Any) -> dict[str, Any]:
    """The schema of a type, without None."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        found = [_schema(each) for each in arguments if each is not type(None)]
        return found[0] if len(found) == 1 else {"anyOf": found}
    if origin is Literal:
        return {"enum": list(arguments)}
    if dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        described = _descriptions(hint)
        own = {
            item.name: {"description": described[item.name], **_schema(hints[item.name])} for item in dataclasses.fields(hint)
        }
        own.get("mean", {}).pop("minimum", None)
        return {"type": "object", "properties": own, "additionalProperties": False}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(arguments[1])}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return {"type": "array", "items": _schema(arguments[0])}
    return dict(_PLAIN[hint])


def _descriptions(kind: Any) -> dict[str, str]:
    """The descriptions of the arguments in the docstring of a class, by name."""
    return _one_line(described_arguments(vars(kind).get("__doc__")))


def _one_line(texts: Mapping[str, str]) -> dict[str, str]:
    return {name: " ".join(text.split()) for name, text in texts.items()}
