"""The features of a fit: the columns that they read, and the family of each."""

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from nbsql.errors import InputError, listed
from nbsql.family import INFERRED, Conditional, Family, all_named
from nbsql.rendering.dialect import folded
from nbsql.spec.column import Column, Columns, Look
from nbsql.spec.derived import parts_for_columns, with_all_parts
from nbsql.spec.join import check_joins
from nbsql.spec.method import VIEWS, NaiveBayes, Weighted
from nbsql.spec.options import Counting
from nbsql.spec.spec import Feature


def looks_at_values(options: Counting) -> bool:
    """Whether families are inferred from the values of columns, too: other methods have families of their own."""
    return options.infer == "values" and isinstance(options.classifier, NaiveBayes)


@dataclass(frozen=True)
class _Families:
    """The families that the columns of a fit are given, by the user or by the method."""

    by_column: Mapping[str, Family]
    groups: Mapping[str, Feature]  # the features over several columns, by their keys
    group_of: Mapping[str, str]  # the key of the group in whose place a column is, by the column's name
    views: Mapping[str, Family]  # of further features of a column, by the names of these features
    looks: Mapping[str, Look]  # what the values say of other columns
    own: Container[str]  # the columns whose family is the method's


def resolve_features(known: Columns, options: Counting, reserved: set[str]) -> list[Feature]:
    """The features in the order of the source; a feature over several columns takes the place of its first column.

    `reserved` are the columns that have another part in the fit. Raises InputError if a family does not take its columns, if it
    is given to a column that is no feature, or if two of them claim the same column.
    """
    chosen, families = _chosen_families(known, options, reserved)
    features, without_family = dict[str, Feature](), list[Column]()
    for column in chosen:
        if column.name in families.group_of:
            key = families.group_of[column.name]
            features.setdefault(f"group {key}", families.groups[key])
            if not families.groups[key].family.backoff:
                continue
        look = families.looks.get(column.name)
        family: Any = families.by_column.get(column.name) or (look and look.family) or _inferred(column.inferred_kind)
        if family is None:
            without_family.append(column)
            continue
        family, members = _with_parents(known, family, column, reserved)
        marks: dict[str, Any] = {"whole": column.kind == "integer", "is_inferred": column.name not in families.by_column}
        why = "" if look is None else look.why
        features[f"column {column.name}"] = _feature(column.name, family, members, why=why, **marks)
        others = options.classifier.other_views(family, is_own=column.name in families.own)
        for words in VIEWS:
            name = f"{column.name} {words}"
            if view := families.views.get(name) or others.get(words):
                features[f"column {name}"] = _feature(name, view, members, **marks)
    for key, group in families.groups.items():
        features.setdefault(f"group {key}", group)
    if without_family:
        raise InputError(_no_family(without_family))
    for name, count in Counter(feature.name for feature in features.values()).items():
        if count > 1:
            raise InputError(f"two features are named {name!r}; give the family over several columns another key")
    return list(features.values())


def _chosen_families(known: Columns, options: Counting, reserved: set[str]) -> tuple[list[Column], _Families]:
    """The columns that become features, and their families but for those that follow from types."""
    method = options.classifier
    excluded = {column.name for column in known.find_all(options.exclude, "exclude")}
    chosen = _chosen(known, options, reserved, excluded)
    families = all_named(options.families, method.added)  # those of a fitted model have pairs, which the method adds again
    views = _pop_views(known, families)
    groups = {key: _group(known, key, families.pop(key), reserved) for key in [*families] if families[key].over_columns}
    # Those in place of their columns: a matrix is one more feature of numbers that have weights.
    instead = {k: each for k, each in groups.items() if each.family.kind != "matrix" or not isinstance(method, Weighted)}
    grouped = {name for group in instead.values() for name in group.columns if not group.family.backoff}
    named = with_all_parts(known.all, chosen)
    by_column = _by_column(known, families, [column for column in named if column.name not in grouped])
    _check_named(known, by_column, {column.name for column in named}, reserved, excluded)
    chosen, by_column = parts_for_columns(known.all, chosen, by_column, reserved | excluded)
    group_of = _group_of_columns(instead, by_column)
    looks = {c.name: c.look for c in chosen if c.look is not None and c.name not in by_column and looks_at_values(options)}
    chosen = [c for c in chosen if c.name not in looks or looks[c.name].family is not None or c.name in group_of]
    own = method.families([c for c in chosen if c.name not in group_of and c.name not in by_column], nulls=options.nulls)
    for key, family in own.items():
        if not family.over_columns:
            by_column[key] = family
            continue
        if key in groups:
            raise InputError(f"⟨families⟩ has a key {key!r}, which ⟨method={method.name!r}⟩ takes; give it another")
        groups[key] = _group(known, key, family, reserved)
        group_of |= dict.fromkeys(groups[key].columns, key)
    return chosen, _Families(by_column, groups, group_of, views, looks, own)


def _pop_views(known: Columns, families: dict[Any, Family]) -> dict[str, Family]:
    """The families of further features of a column, which those of a fitted model name; they are taken out of `families`."""
    plain = {column.name for column in known.all}
    viewed = {f"{name} {words}" for name in plain for words in VIEWS} - plain
    return {key: families.pop(key) for key in [*families] if key in viewed}


def _check_named(
    known: Columns, families: Mapping[str, Family], features: set[str], reserved: set[str], excluded: set[str]
) -> None:
    """Raise InputError if a column that a family is given to is no feature, or of another type."""
    for name, family in families.items():
        if name in reserved:
            raise InputError(f"⟨families⟩ names {name!r}, which is the target, the weight or an id; leave it out")
        if name in excluded:
            raise InputError(f"⟨families⟩ names {name!r}, which is excluded; take it out of one of them")
        if name not in features:
            raise InputError(f"⟨families⟩ names {name!r}, which is not among the features; add it to ⟨features⟩")
        if family.cell == "part" and not any(name in (column.parts or ()) for column in known.all):
            _accept(family, known.find(name))


def _group_of_columns(groups: Mapping[str, Feature], by_column: Mapping[str, Family]) -> dict[str, str]:
    """The key of the feature over several columns that each of them is in. Raises InputError if it has two families."""
    group_of: dict[str, str] = {}
    for key, group in groups.items():
        for name in group.columns:
            if name in group_of or (name in by_column and not group.family.backoff):
                raise InputError(f"column {name!r} is in {key!r} and has another family too; leave it in one")
            group_of[name] = key
    return group_of


@cache
def _inferred(kind: str) -> Family | None:
    """The family of columns of a kind, which all of them share; None if it has none."""
    return INFERRED[kind]() if kind in INFERRED else None


def _with_parents(known: Columns, family: Any, column: Column, reserved: set[str]) -> tuple[Family, list[Column]]:
    """The family with the names of its parents as the catalogue has them, and the columns that it reads."""
    if not family.parent:
        _accept(family, column)
        return family, [column]
    members = [column, *_parents(known, family, column, reserved)]
    integers = [member.name for member in members if member.kind == "integer"]
    family = family.renamed([member.name for member in members[1:]], integers)
    for member in members:
        _accept(family, member)
    return family, members


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
