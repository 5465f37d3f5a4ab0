"""The columns of categories with parents, whose values have codes by which their scores are found (listed_pairs.sql)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from nbsql.spec.spec import Feature


@dataclass(frozen=True)
class CodedColumn:
    """A column whose values have codes: the labels, a missing value, an unknown one, and then values that no parent has."""

    number: int  # from 1
    name: str
    feature: Feature  # one that reads it
    edges: Sequence[float] | None  # between its bins, if it is cut
    labels: Sequence[str]

    @property
    def unknown(self) -> int:
        """The code of an unknown value, after that of a missing one."""
        return len(self.labels) + 1


@dataclass(frozen=True)
class CodedFeature:
    """A feature: its column and its parents, whose codes are the digits of a number, the last one first."""

    feature: Feature
    child: CodedColumn
    parents: Sequence[CodedColumn]
    missing: Sequence[bool]  # whether a missing value of a parent is one of its values

    @property
    def strides(self) -> list[int]:
        """What the code of each parent is multiplied by."""
        sizes = [parent.unknown + 1 for parent in self.parents]
        return [prod(sizes[place + 1 :]) for place in range(len(sizes))]

    @property
    def size(self) -> int:
        """What the code of the column itself is multiplied by."""
        return parent_combinations(self.feature)


def parent_combinations(feature: Feature) -> int:
    """The number of combinations of the codes of its parents."""
    family: Any = feature.family
    return prod(len(_labels(parent)) + 2 for parent in family.all_parents)


def coded_features(features: Iterable[Feature]) -> list[CodedFeature]:
    """The features with numbered columns: those of the same name, bins and values are one."""
    columns: dict[tuple[Any, ...], CodedColumn] = {}

    def numbered(feature: Feature, name: str, edges: Sequence[float] | None, labels: Sequence[str]) -> CodedColumn:
        return columns.setdefault((name, edges, tuple(labels)), CodedColumn(len(columns) + 1, name, feature, edges, labels))

    families: list[tuple[Feature, Any]] = [(feature, feature.family) for feature in features]
    parents = [[numbered(of, each.column, each.edges, _labels(each)) for each in family.all_parents] for of, family in families]
    found = []
    for (feature, family), its_parents in zip(families, parents, strict=True):
        same = [each for each in columns.values() if (each.name, each.edges) == (feature.column, family.edges)]
        labels = () if family.edges is None else family.labels
        child = same[0] if same else numbered(feature, feature.column, family.edges, labels)
        missing = [family.has_missing(parent) for parent in family.all_parents]
        found.append(CodedFeature(feature, child, its_parents, missing))
    return found


def _labels(parent: Any) -> Sequence[str]:
    """The values of a category once each; the stretches between edges, of which two may belong to one bin, as they are."""
    return parent.labels if parent.edges is not None else list(dict.fromkeys(parent.labels))
