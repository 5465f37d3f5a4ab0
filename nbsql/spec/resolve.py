"""Resolves the arguments of a fit into a spec: finds the columns, chooses the families, and refuses impossible requests."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from nbsql.errors import InputError, listed, no_column
from nbsql.family import INFERRED, Conditional, Family, Nulls, all_named, weighted
from nbsql.family.checks import choice
from nbsql.rendering.dialect import folded
from nbsql.spec.capabilities import check
from nbsql.spec.column import Column
from nbsql.spec.components import Components
from nbsql.spec.dependence import AODE, KDB, TAN
from nbsql.spec.derived import parts_for_columns, with_all_parts
from nbsql.spec.estimating import check_estimating, estimated, prior_of
from nbsql.spec.half_life import PERIOD, WEIGHT, WEIGHT_NOW, HalfLife
from nbsql.spec.join import check_joins
from nbsql.spec.method import EM, VIEWS, Clusters, Discriminant, Logistic, Mixture, NaiveBayes, Weighted, weights_of
from nbsql.spec.options import Counting, Infer, Options
from nbsql.spec.spec import NO_TARGET, Feature, Spec
from nbsql.spec.traits import check_features


class Columns:
    """The columns of a source, found without regard to case."""

    def __init__(self, columns: Sequence[Column], source: str) -> None:
        self.all = columns
        self.source = source

    def find(self, name: Any) -> Column:
        if not isinstance(name, str):
            # pandas names columns 0, 1, 2 by default, or by tuples; a Series has a name.
            text = name[0] if isinstance(name, list) and len(name) == 1 else getattr(name, "name", None)
            text = str(name) if isinstance(name, (int, tuple)) else text
            cure = f"; write {text!r}" if isinstance(text, str) else ""
            shown = repr(name) if isinstance(name, (int, float, tuple, list)) or name is None else f"a {type(name).__name__}"
            raise InputError(f"a column's name must be text, not {shown}{cure}")
        found = [c for c in self.all if c.name == name] or [c for c in self.all if c.name.lower() == name.lower()]
        if not found and set(name) & set("*?"):
            raise InputError(f"no column {name!r} in {self.source}; only families takes patterns, so list the columns by name")
        if not found:
            parts = {part for c in self.all for part in c.parts or ()}
            raise no_column(name, (c.name for c in self.all if c.name not in parts), self.source)
        if len(found) > 1:
            raise InputError(f"column {name!r} is ambiguous in {self.source}: {listed(c.name for c in found)}; rename one")
        return found[0]

    def find_all(self, names: Any, argument: str) -> list[Column]:
        if isinstance(names, str):
            names = [names]
        elif names is None:
            names = []
        elif isinstance(names, Mapping) or not isinstance(names, Iterable):
            raise InputError(f"⟨{argument}⟩ must be a column or a list of columns, not {names!r}")
        found = [self.find(name) for name in names]
        twice = {c.name for c in found if sum(other.name == c.name for other in found) > 1}
        if twice:
            raise InputError(f"⟨{argument}⟩ names {min(twice)!r} twice; name it once")
        return found


def resolve(columns: Sequence[Column], options: Options, source: str) -> Spec:
    """The spec of a model of `source` with these columns.

    Raises InputError if a column is unknown, ambiguous or of a type without a family, or if an option is wrong.
    """
    known = Columns(columns, source)
    target = known.find(options.target)
    if target.kind in ("tokens", "token counts", "other"):
        raise InputError(f"target column {target.name!r} is {target.type}; a class is one scalar value: cast it, to text say")
    ids = known.find_all(options.id, "id")
    half_life = options.weight if isinstance(options.weight, HalfLife) else None
    weight = known.find(WEIGHT if half_life else options.weight) if options.weight is not None else None
    if weight is not None and not weight.is_number:
        raise InputError(f"weight column {weight.name!r} is {weight.type}; weights must be numbers")
    aged = known.find_all(half_life.columns, "a half-life") if half_life else []
    for role, column in [("weight", weight), *(("id", column) for column in ids), *(("time or weight", c) for c in aged)]:
        if column is not None and column.name == target.name:
            raise InputError(f"column {column.name!r} cannot be both the target and the {role}")
    choice(options.nulls, Nulls, "nulls")
    choice(options.infer, Infer, "infer")
    check_estimating(options)
    reserved = {target.name, *(c.name for c in (*ids, *aged)), *([weight.name] if weight else [])}
    reserved |= {WEIGHT, PERIOD, WEIGHT_NOW} if weight is not None and weight.name in (WEIGHT, WEIGHT_NOW) else set()
    counted = _features(known, options, reserved)
    unsmoothed = [key for key in options.classifier.unsmoothed if key not in options.families]
    features = estimated(counted, options, nulls=options.nulls, unsmoothed=unsmoothed)
    _check_backoff(features)
    segments = options.segments
    spec = Spec(
        target=target.name,
        target_type=target.label_type,
        id=tuple(c.name for c in ids),
        weight=weight.name if weight else None,
        half_life=half_life and replace(half_life, **dict(zip(("at", "weight"), (c.name for c in aged), strict=False))),
        slice_by=options.slice_by,
        segment_by=None if segments is None else segments.by,
        segment_shrinkage=0.0 if segments is None else segments.shrinkage,
        components=_components(options, features),
        features=features,
        prior=prior_of(options),
        logistic=method if isinstance(method := options.classifier, Logistic) else None,
        weighted=weights_of(method, has_target=target.name != NO_TARGET),
        dependence=method if isinstance(method, (TAN, KDB, AODE)) else None,
        em=method if isinstance(method, EM) else None,
        clusters=method if isinstance(method, Clusters) else None,
        defaults={
            "alpha": options.pseudo_count,
            "nulls": options.nulls,
            "unseen": options.unseen,
            **({"estimate": options.estimate} if options.estimate else {}),
        },
    )
    _check_together(spec)
    _check_used(spec, options)
    return spec if half_life is None else replace(spec, slice_by=PERIOD)


def _check_used(spec: Spec, options: Options) -> None:
    """Raise InputError if alpha or the prior was given, and nothing in the model depends on it."""
    is_smoothed = any(each.family.smoothed for each in spec.features) or spec.prior.kind == "smoothed"
    if options.alpha is not None and spec.logistic is not None:
        raise InputError(
            "⟨method='logistic'⟩ learns weights, which alpha does not smooth; leave out ⟨alpha⟩, or set their penalty"
        )
    if options.alpha is not None and isinstance(options.classifier, Discriminant) and not is_smoothed:
        raise InputError(
            f"⟨method={options.classifier.name!r}⟩ has no feature and no prior that alpha smooths; leave out ⟨alpha⟩"
        )
    if spec.prior.kind != "empirical" and spec.features and all(each.family.complement for each in spec.features):
        raise InputError("a complement is scored without the prior, and no other feature is there; leave out ⟨prior⟩")


def _check_together(spec: Spec) -> None:
    """Raise InputError unless the options can be combined."""
    asked: dict[str, object] = {"slice_by": spec.slice_by, "segment_by": spec.segment_by, "half_life": spec.half_life}
    asked |= {"prior": spec.prior.kind != "empirical" or None, "untargeted": True if not spec.has_target else None}
    for use, value in asked.items():
        if value is not None:
            check(spec, use)
    if not spec.has_target and isinstance(spec.dependence, KDB) and spec.dependence.k is None:
        raise InputError("without a target no classes say how many parents are best; say it: ⟨method=nbsql.KDB(k=2)⟩")
    if not spec.has_target:
        check_features(spec.features, "target=None")
    if spec.segment_by is not None:
        check_features(spec.features, "segment_by")
    if spec.is_soft:
        check_features(spec.features, "method='em'" if spec.em is not None else "method='clusters'")
    if spec.components is not None:
        check_features(spec.features, "components")
        if not spec.components.numbers:
            raise InputError("components need a number among the features, by which rows are near to each other")
    if spec.weighted is not None:
        check_features(spec.features, "per='class and feature'" if spec.weighted.is_by_class else "method='weighted'")
    if spec.logistic is not None:
        _check_weights(spec.features)


def _check_weights(features: Sequence[Feature]) -> None:
    """Raise InputError unless every feature can have weights."""
    for feature in features:
        if feature.family.unseen == "smooth":
            raise InputError(
                f"⟨unseen='smooth'⟩ of {feature.name!r} is of likelihoods, and ⟨method='logistic'⟩ has weights; leave it out"
            )
        if weighted(feature.family) is None:
            takes = "numbers, categories, booleans and count columns"
            raise InputError(
                f"⟨method='logistic'⟩ takes {takes}, and {feature.name!r} is {feature.family.name}; "
                f"leave it out with ⟨exclude=[{feature.column!r}]⟩"
            )


def _components(options: Counting, features: Sequence[Feature]) -> Components | None:
    """The components that the options request; None if no class is split."""
    method = options.classifier
    if not isinstance(method, Mixture) or method.components == 1:
        return None
    return Components(method.components, tuple(feature.column for feature in features if feature.is_number))


def _check_backoff(features: Sequence[Feature]) -> None:
    """Raise InputError if a missing value is a category: a backoff reads NULL wherever the joint value is known."""
    backed = {column for feature in features if feature.family.backoff for column in feature.columns}
    for feature in features:
        if feature.column in backed and not feature.family.over_columns and feature.family.nulls == "category":
            raise InputError(
                f"⟨backoff='naive'⟩ needs ⟨nulls='skip'⟩ for {feature.name!r}, whose missing values are a category"
            )


def looks_at_values(options: Counting) -> bool:
    """Whether families are inferred from the values of columns, too: other methods have families of their own."""
    return options.infer == "values" and isinstance(options.classifier, NaiveBayes)


def _features(known: Columns, options: Counting, reserved: set[str]) -> list[Feature]:
    """The features in the order of the source; a feature over several columns takes the place of its first column."""
    excluded = {c.name for c in known.find_all(options.exclude, "exclude")}
    chosen = _chosen(known, options, reserved, excluded)
    method = options.classifier
    # The method adds pairs again, if the families are those of a fitted model.
    families = all_named(options.families, method.added)
    plain = {column.name for column in known.all}
    viewed = {f"{name} {words}" for name in plain for words in VIEWS} - plain  # as the families of a fitted model name them
    views = {key: families.pop(key) for key in [*families] if key in viewed}
    groups = {key: _group(known, key, families.pop(key), reserved) for key in [*families] if families[key].over_columns}
    # Those in place of their columns: a matrix is one more feature of numbers that have weights.
    alone = {key: each for key, each in groups.items() if each.family.kind != "matrix" or not isinstance(method, Weighted)}
    grouped = {name for group in alone.values() for name in group.columns if not group.family.backoff}
    named = with_all_parts(known.all, chosen)
    singles = _by_column(known, families, [c for c in named if c.name not in grouped])
    for name in singles:
        if name in reserved:
            raise InputError(f"⟨families⟩ names {name!r}, which is the target, the weight or an id; leave it out")
        if name in excluded:
            raise InputError(f"⟨families⟩ names {name!r}, which is excluded; take it out of one of them")
        if name not in {c.name for c in named}:
            raise InputError(f"⟨families⟩ names {name!r}, which is not among the features; add it to ⟨features⟩")
        if singles[name].cell == "part" and not any(name in (column.parts or ()) for column in known.all):
            _accept(singles[name], known.find(name))
    chosen, singles = parts_for_columns(known.all, chosen, singles, reserved | excluded)
    group_of: dict[str, str] = {}
    for key, group in alone.items():
        for name in group.columns:
            if name in group_of or (name in singles and not group.family.backoff):
                raise InputError(f"column {name!r} is in {key!r} and has another family too; leave it in one")
            group_of[name] = key
    looks = {c.name: c.look for c in chosen if c.look is not None and c.name not in singles and looks_at_values(options)}
    chosen = [c for c in chosen if c.name not in looks or looks[c.name].family is not None or c.name in group_of]
    free = [column for column in chosen if column.name not in group_of and column.name not in singles]
    own = method.families(free, nulls=options.nulls)
    for key, taken in own.items():
        if not taken.over_columns:
            singles[key] = taken
            continue
        if key in groups:
            raise InputError(f"⟨families⟩ has a key {key!r}, which ⟨method={method.name!r}⟩ takes; give it another")
        groups[key] = _group(known, key, taken, reserved)
        group_of |= dict.fromkeys(groups[key].columns, key)
    features, without_family = dict[str, Feature](), list[Column]()
    for column in chosen:
        if column.name in group_of:
            key = group_of[column.name]
            features.setdefault(f"group {key}", groups[key])
            if not groups[key].family.backoff:
                continue
        if column.name in singles or column.inferred_kind in INFERRED:
            look = looks.get(column.name)
            family: Any = singles.get(column.name) or (look and look.family) or _inferred(column.inferred_kind)
            members = [column]
            if family.parent:
                members += _parents(known, family, column, reserved)
                whole = [member.name for member in members if member.kind == "integer"]
                family = family.renamed([member.name for member in members[1:]], whole)
            for member in members:
                _accept(family, member)
            marks = {"whole": column.kind == "integer", "is_inferred": column.name not in singles}
            features[f"column {column.name}"] = _feature(
                column.name, family, members, "" if look is None else look.why, **marks
            )
            others = method.other_views(family, is_own=column.name in own)
            for words in VIEWS:
                if view := views.get(f"{column.name} {words}") or others.get(words):
                    features[f"column {column.name} {words}"] = _feature(f"{column.name} {words}", view, members, "", **marks)
        else:
            without_family.append(column)
    for key, group in groups.items():
        features.setdefault(f"group {key}", group)
    if without_family:
        raise InputError(_no_family(without_family))
    for name, count in Counter(feature.name for feature in features.values()).items():
        if count > 1:
            raise InputError(f"two features are named {name!r}; give the family over several columns another key")
    return list(features.values())


@cache
def _inferred(kind: str) -> Family:
    """The family of columns of a kind, which all of them share."""
    return INFERRED[kind]()


def _parents(known: Columns, family: Conditional, column: Column, reserved: set[str]) -> list[Column]:
    found: list[Column] = []
    for parent in map(known.find, family.parent_names):
        _not_reserved(parent, reserved)
        if parent == column:
            raise InputError(f"column {column.name!r} cannot be its own parent; name another")
        if parent in found:
            raise InputError(f"column {parent.name!r} is twice a parent of {column.name!r}; name it once")
        found.append(parent)
    return found


def _by_column(known: Columns, families: Mapping[Any, Family], features: Sequence[Column]) -> dict[str, Family]:
    """The families by column, from names and patterns such as "soil_*"; a column's own name takes precedence.

    A pattern may match any of `features`.
    """
    names = [column.name.lower() for column in known.all]
    patterns = [key for key in families if isinstance(key, str) and set(key) & set("*?") and key.lower() not in names]
    plain = [key for key in families if key not in patterns]
    exact = {column.name: families[key] for key, column in zip(plain, known.find_all(plain, "families"), strict=True)}
    found: dict[str, str] = {}
    for pattern in patterns:
        wanted = re.compile(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."), re.IGNORECASE | re.DOTALL)
        matched = [column.name for column in features if wanted.fullmatch(column.name)]
        if not matched:
            shown = listed(each.name for each in features)
            raise InputError(f"⟨families⟩ has {pattern!r}, which no feature matches; they are {shown}")
        for name in matched:
            other = found.setdefault(name, pattern)
            if name not in exact and families[other] != families[pattern]:
                raise InputError(f"column {name!r} matches {other!r} and {pattern!r} of families; give it by its name")
    return {**{name: families[pattern] for name, pattern in found.items()}, **exact}


def _chosen(known: Columns, options: Counting, reserved: set[str], excluded: set[str]) -> list[Column]:
    """The columns that become features."""
    if options.features is None:
        told = {_plain(options.segments and options.segments.by)}  # it does not vary within a segment
        told |= {
            folded(name) for join in check_joins(options.joins) for name, _ in join.pairs
        }  # the key of a dimension carries no information about a new row
        left_out = {c.name for c in known.all if c.name in reserved | excluded or folded(c.name) in told}
        left_out |= {part for c in known.all if c.name in left_out for part in c.parts or ()}
        return [c for c in known.all if c.name not in left_out]
    chosen = [c for c in known.find_all(options.features, "features") if c.name not in excluded]
    for column in chosen:
        _not_reserved(column, reserved)
    return chosen


def _plain(expression: Any) -> str | None:
    """The folded name of the column, if the expression is a column and nothing else."""
    if not isinstance(expression, str):
        return None
    name = expression.strip()
    return folded(name[1:-1].replace('""', '"') if len(name) > 1 and name[0] == name[-1] == '"' else name)


def _not_reserved(column: Column, reserved: set[str]) -> None:
    if column.name in reserved:
        raise InputError(f"column {column.name!r} is the target, the weight or an id; leave it out of the features")


def _group(known: Columns, key: str, family: Any, reserved: set[str]) -> Feature:
    """A feature over several columns, with the names that the catalogue has."""
    members = known.find_all(family.columns, repr(key))
    if not members:
        words = family.cell == "column" and any(column.name == key for column in known.all)
        raise InputError(
            f"family {family.name!r} of {key!r} needs at least one column: ⟨nbsql.{type(family).__name__}(['w1', 'w2'])⟩"
            + "; for the words of a text, write 'text'" * words
        )
    for column in members:
        _not_reserved(column, reserved)
        _accept(family, column)
    if isinstance(alpha := family.alpha, Mapping):
        alpha = {known.find(name).name: value for name, value in alpha.items()}
    integers = [column.name for column in members if column.kind == "integer"]
    return _feature(key, replace(family.of([column.name for column in members], integers), alpha=alpha), members)


def _no_family(columns: Sequence[Column]) -> str:
    first, *others = columns
    more = f" (and neither have {listed(c.name for c in others)})" if others else ""
    cast = f"cast it, to {'numeric' if first.type == 'money' else 'text'} say"
    cure = f"⟨families={{{first.name!r}: 'categorical'}}⟩" if first.kind == "temporal" else cast
    without = f"⟨exclude={[each.name for each in columns]}⟩, or {cure}"
    return f"column {first.name!r} is {first.type}, which has no family{more}; leave it out with {without}"


def _feature(name: str, family: Family, members: Sequence[Column], why: str = "", **marks: Any) -> Feature:
    """The feature of these columns, whose number is not known yet."""
    columns, types = tuple(column.name for column in members), tuple(column.type for column in members)
    floating = any(column.kind == "float" for column in members)
    return Feature(name, family, columns, 0, floating, types=types, why=why, **marks)


def _accept(family: Family, column: Column) -> None:
    if column.kind not in family.accepts:
        raise InputError(
            f"column {column.name!r} is {column.type}, which family {family.name!r} does not take "
            f"(it takes {', '.join(family.accepts)} columns); cast it, or choose another family"
        )
