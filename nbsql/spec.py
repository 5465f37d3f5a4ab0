"""What to model: the user's arguments, held against the columns of the source."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from nbsql import family as family_module
from nbsql.errors import InputError, ModelError, listed, suggestion
from nbsql.family import INFERRED, Family, Nulls, Unseen, choice, named, non_negative

FORMAT = 1  # of the JSON text in the table `spec`


@dataclass(frozen=True)
class Column:
    """A column of a source.

    Args:
        name: as the catalogue spells it.
        type: as the engine writes it.
        kind: what nbsql makes of the type: "text", "boolean", "integer", "float", "decimal", "temporal", "tokens",
            "token counts" or "other".
    """

    name: str
    type: str
    kind: str


@dataclass(frozen=True)
class Feature:
    """One feature of a model: a column, or the columns of a family over several.

    Args:
        name: the column, or the key under which the family was given.
        index: from 1, in the source's order; numbers the parameters in the model's tables.
        floating: whether a column may hold NaN or infinities.
    """

    name: str
    family: Family
    columns: tuple[str, ...]
    index: int
    floating: bool

    @property
    def column(self) -> str:
        return self.columns[0]

    @property
    def parts(self) -> int:
        """How many rows a class the feature has in an explanation."""
        return len(self.columns) if self.family.over_columns else 1


@dataclass(frozen=True)
class Check:
    """A rule that training rows must keep, and what to say of those that do not."""

    rule: str
    column: str
    message: str


@dataclass(frozen=True)
class Prior:
    """The prior of the classes: "empirical", "uniform", "smoothed" (with alpha) or "given" (label as text, probability)."""

    kind: Literal["empirical", "uniform", "smoothed", "given"]
    alpha: float = 0.0
    given: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Spec:
    """A model as asked for, complete: nothing in it is left to a default."""

    target: str
    features: tuple[Feature, ...]
    prior: Prior
    id: tuple[str, ...] = ()
    weight: str | None = None
    target_type: str = ""
    defaults: dict[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The columns that training reads, each once."""
        wanted = [self.target, *([self.weight] if self.weight else []), *(c for f in self.features for c in f.columns)]
        return list(dict.fromkeys(wanted))

    def to_json(self) -> str:
        """The text of the table `spec`."""
        return json.dumps(
            {
                "format": FORMAT,
                "target": self.target,
                "target_type": self.target_type,
                "id": self.id,
                "weight": self.weight,
                "prior": {"kind": self.prior.kind, "alpha": self.prior.alpha, "given": self.prior.given},
                "features": [
                    {"name": f.name, "columns": f.columns, "floating": f.floating, **f.family.to_dict()} for f in self.features
                ],
                "defaults": self.defaults,
            },
            ensure_ascii=False,
            indent=2,
        )

    @classmethod
    def from_json(cls, text: str, model: str) -> Spec:
        """The spec that `to_json` wrote.

        Raises:
            ModelError: the text is damaged, or of a newer version of nbsql.
        """
        try:
            data = json.loads(text)
            if data["format"] > FORMAT:
                raise ModelError(f"model {model!r} was written by a newer nbsql; upgrade nbsql to read it")
            features = []
            for index, entry in enumerate(data["features"], start=1):
                options = dict(entry)
                name, columns, floating = options.pop("name"), tuple(options.pop("columns")), options.pop("floating")
                features.append(Feature(name, family_module.from_dict(options), columns, index, floating))
            prior = data["prior"]
            return cls(
                target=data["target"],
                target_type=data["target_type"],
                id=tuple(data["id"]),
                weight=data["weight"],
                features=tuple(features),
                prior=Prior(prior["kind"], prior["alpha"], tuple((label, p) for label, p in prior["given"])),
                defaults=data["defaults"],
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ModelError(f"the spec of model {model!r} is damaged ({error}); fit it again with replace=True") from None


@dataclass(frozen=True)
class Options:
    """The keyword arguments of `nbsql.fit` that say what to model; that function's docstring explains them."""

    target: str
    features: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    families: Mapping[str, str | Family] = field(default_factory=dict)
    id: str | Sequence[str] = ()
    weight: str | None = None
    alpha: float = 1.0
    prior: str | Mapping[Any, float] = "empirical"
    prior_alpha: float | None = None
    nulls: Nulls = "skip"
    unseen: Unseen = "skip"


class _Columns:
    """The columns of a source, found without regard to case."""

    def __init__(self, columns: Sequence[Column], source: str) -> None:
        self.all = columns
        self.source = source

    def find(self, name: Any) -> Column:
        if not isinstance(name, str):
            raise InputError(f"a column's name must be text, not {name!r}")
        found = [c for c in self.all if c.name == name] or [c for c in self.all if c.name.lower() == name.lower()]
        if not found:
            names = [c.name for c in self.all]
            hint = suggestion(name, names) or f"; its columns are {listed(names)}"
            raise InputError(f"no column {name!r} in {self.source}{hint}")
        if len(found) > 1:
            raise InputError(f"column {name!r} is ambiguous in {self.source}: {listed(c.name for c in found)}; rename one")
        return found[0]

    def find_all(self, names: str | Iterable[str], argument: str) -> list[Column]:
        if isinstance(names, str):
            names = [names]
        found = [self.find(name) for name in names]
        twice = {c.name for c in found if sum(other.name == c.name for other in found) > 1}
        if twice:
            raise InputError(f"{argument} names {min(twice)!r} twice; name it once")
        return found


def resolve(columns: Sequence[Column], options: Options, source: str) -> Spec:
    """The spec of a model of `source` with these columns.

    Raises:
        InputError: a column is unknown, ambiguous or of a type without a family, or an option is wrong.
    """
    known = _Columns(columns, source)
    target = known.find(options.target)
    ids = known.find_all(options.id, "id")
    weight = known.find(options.weight) if options.weight is not None else None
    if weight is not None and weight.kind not in ("integer", "float", "decimal"):
        raise InputError(f"weight column {weight.name!r} is {weight.type}; weights must be numbers")
    for role, column in [("weight", weight), *(("id", column) for column in ids)]:
        if column is not None and column.name == target.name:
            raise InputError(f"column {column.name!r} cannot be both the target and the {role}")
    choice(options.nulls, Nulls, "nulls")
    choice(options.unseen, Unseen, "unseen")
    defaults = {"alpha": non_negative(options.alpha, "alpha"), "nulls": options.nulls, "unseen": options.unseen}
    reserved = {target.name, *(c.name for c in ids), *([weight.name] if weight else [])}
    features = tuple(
        replace(feature, family=feature.family.with_defaults(**defaults), index=index)
        for index, feature in enumerate(_features(known, options, reserved), start=1)
    )
    return Spec(
        target=target.name,
        target_type=target.type,
        id=tuple(c.name for c in ids),
        weight=weight.name if weight else None,
        features=features,
        prior=_prior(options),
        defaults=defaults,
    )


def _features(known: _Columns, options: Options, reserved: set[str]) -> list[Feature]:
    excluded = {c.name for c in known.find_all(options.exclude, "exclude")}
    if options.features is None:
        chosen = [c for c in known.all if c.name not in reserved | excluded]
        explicit = False
    else:
        chosen = [c for c in known.find_all(options.features, "features") if c.name not in excluded]
        explicit = True
        for column in chosen:
            if column.name in reserved:
                raise InputError(f"column {column.name!r} is the target, the weight or an id, and cannot be a feature too")
    families = {key: named(value) for key, value in options.families.items()}
    groups = {key: value for key, value in families.items() if value.over_columns}
    overrides = {known.find(key).name: value for key, value in families.items() if not value.over_columns}
    for name in overrides:
        if name in reserved:
            raise InputError(f"families names {name!r}, which is the target, the weight or an id; leave it out")
        if name in excluded:
            raise InputError(f"families names {name!r}, which is excluded; take it out of one of them")
        if explicit and name not in {c.name for c in chosen}:
            raise InputError(f"families names {name!r}, which is not among the features; add it to features")
    grouped: dict[str, Feature] = {}
    taken: dict[str, str] = {}
    for key, group in groups.items():
        members = known.find_all(getattr(group, "columns", ()), f"{key!r}")
        if len(members) < 2:
            raise InputError(f"family {group.name!r} of {key!r} needs at least two count columns: nbsql.Multinomial(['w1', 'w2'])")
        for column in members:
            if column.name in reserved:
                raise InputError(f"column {column.name!r} is the target, the weight or an id, and cannot be a feature too")
            if column.name in taken or column.name in overrides:
                raise InputError(f"column {column.name!r} is in {key!r} and has another family too; leave it in one")
            _accept(group, column)
            taken[column.name] = key
        spelled = {c.lower(): member.name for c, member in zip(getattr(group, "columns", ()), members, strict=True)}
        grouped[key] = Feature(key, _respelled(group, spelled), tuple(c.name for c in members), 0, _floating(members))
    result: list[Feature] = []
    problems: list[Column] = []
    for column in chosen:
        if column.name in taken:
            group_feature = grouped.pop(taken[column.name], None)
            if group_feature is not None:
                result.append(group_feature)
        elif column.name in overrides:
            _accept(overrides[column.name], column)
            result.append(Feature(column.name, overrides[column.name], (column.name,), 0, _floating([column])))
        elif column.kind in INFERRED:
            result.append(Feature(column.name, INFERRED[column.kind](), (column.name,), 0, _floating([column])))
        else:
            problems.append(column)
    result.extend(grouped.values())
    if problems:
        first = problems[0]
        others = f" (and neither have {listed(c.name for c in problems[1:])})" if problems[1:] else ""
        cure = f"exclude=[{', '.join(repr(c.name) for c in problems)}]"
        include = f", or families={{{first.name!r}: 'categorical'}}" if first.kind == "temporal" else ""
        raise InputError(f"column {first.name!r} is {first.type}, which has no family{others}; leave it out with {cure}{include}")
    names = [feature.name for feature in result]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two features are named {name!r}; give the family over several columns another key")
    return result


def _respelled(group: Family, spelled: Mapping[str, str]) -> Family:
    """A family over several columns with the columns as the catalogue spells them."""
    changes: dict[str, Any] = {"columns": tuple(spelled.values())}
    alpha = group.alpha
    if isinstance(alpha, Mapping):
        changes["alpha"] = {spelled[column.lower()]: value for column, value in alpha.items()}
    return replace(group, **changes)


def _floating(columns: Sequence[Column]) -> bool:
    return any(column.kind == "float" for column in columns)


def _accept(family: Family, column: Column) -> None:
    if column.kind not in family.accepts:
        raise InputError(
            f"column {column.name!r} is {column.type}, which family {family.name!r} does not take "
            f"(it takes {', '.join(family.accepts)} columns); cast it, or choose another family"
        )


def _prior(options: Options) -> Prior:
    prior = options.prior
    if isinstance(prior, Mapping):
        probabilities = {label: non_negative(p, f"the prior of {label!r}") for label, p in prior.items()}
        if abs(sum(probabilities.values()) - 1) > 1e-9:
            raise InputError(f"the priors sum to {sum(probabilities.values()):.6g}; they must sum to 1")
        return Prior("given", given=tuple(probabilities.items()))  # labels as given; `fit` holds them against the classes
    choice(prior, Literal["empirical", "uniform", "smoothed"], "prior")
    alpha = options.alpha if options.prior_alpha is None else options.prior_alpha
    return Prior(prior, alpha=non_negative(alpha, "prior_alpha") if prior == "smoothed" else 0.0)  # type: ignore[arg-type]


def checks(spec: Spec, columns: Sequence[Column]) -> list[Check]:
    """The rules that the rows of a training source must keep."""
    kinds = {column.name: column.kind for column in columns}
    says = {
        "negative": "{n} of column {c!r} are negative; {f} counts must be at least 0",
        "whole": "{n} of column {c!r} are no whole numbers; {f} counts must be",
        "binary": "{n} of column {c!r} are neither 0 nor 1; {f} takes a BOOLEAN or 0/1 column",
        "negative_counts": "{n} of column {c!r} hold a negative count; counts must be at least 0",
        "missing": "{n} of column {c!r} are NULL, and nulls='error'; fill them, or use nulls='skip'",
    }
    found = []
    if spec.weight:
        message = f"{{n}} of the weight column {spec.weight!r} are negative, NULL or not finite; weights must be at least 0"
        found.append(Check("weight", spec.weight, message))
    for feature in spec.features:
        for column in feature.columns:
            rules = [*feature.family.rules.get(kinds[column], ()), *(["missing"] if feature.family.nulls == "error" else [])]
            for rule in rules:
                found.append(Check(rule, column, says[rule].replace("{c!r}", repr(column)).replace("{f}", feature.family.name)))
    return found
