"""What several models of one source share: each feature is counted once, however many of them have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nbsql.spec.spec import Feature, Spec


class SharedFeatures:
    """The features of several specs of one source, those that are counted alike only once.

    Args:
        specs: of the same source, target and weight.
    """

    def __init__(self, specs: Sequence[Spec]) -> None:
        found: dict[str, Feature] = {}
        names: set[str] = set()
        for feature in (feature for spec in specs for feature in spec.features):
            key = _counting_key(feature)
            if key not in found:
                name, attempt = feature.name, 1
                while name in names:  # another family of the same column has it
                    attempt += 1
                    name = f"{feature.name} ({attempt})"
                names.add(name)
                found[key] = replace(feature, name=name, index=len(found) + 1)
        self._names = {key: feature.name for key, feature in found.items()}
        self.spec = replace(specs[0], features=tuple(found.values()))

    def names(self, spec: Spec) -> list[tuple[str, str]]:
        """A pair a feature of one of the specs: its name among the cells, and its own."""
        return [(self._names[_counting_key(feature)], feature.name) for feature in spec.features]

    def with_answer(self, spec: Spec, known: Spec) -> Spec:
        """One of the specs with what has been asked of the columns, as `known`, the shared spec, has it."""
        families = {feature.name: feature.family for feature in known.features}

        def with_answer(feature: Feature) -> Feature:
            if feature.family.question is None:
                return feature
            name = self._names[_counting_key(feature)]
            found = replace(feature, family=replace(feature.family, **families[name].counting))
            self._names[_counting_key(found)] = name
            return found

        return replace(spec, features=tuple(map(with_answer, spec.features)))


def _counting_key(feature: Feature) -> str:
    """Features of one such text have the same cells."""
    return repr((feature.columns, feature.family.name, feature.family.counting))
