"""Features shared by several specs of one source: each is counted once, however many specs have it."""

from collections.abc import Sequence
from dataclasses import replace

from nbsql.spec.spec import Feature, Spec


class SharedFeatures:
    """The features of several specs of one source, target and weight; features with the same cells are merged."""

    def __init__(self, specs: Sequence[Spec]) -> None:
        features: dict[str, Feature] = {}
        names: set[str] = set()
        for feature in (feature for spec in specs for feature in spec.features):
            key = _counting_key(feature)
            if key not in features:
                name, attempt = feature.name, 1
                while name in names:  # taken by another family of the same column
                    attempt += 1
                    name = f"{feature.name} ({attempt})"
                names.add(name)
                features[key] = replace(feature, name=name, index=len(features) + 1)
        self._names = {key: feature.name for key, feature in features.items()}
        self.spec = replace(specs[0], features=tuple(features.values()))

    def names(self, spec: Spec) -> list[tuple[str, str]]:
        """A pair for each feature of one of the specs: its name in the cells, and its own name."""
        return [(self._names[_counting_key(feature)], feature.name) for feature in spec.features]

    def with_fitted(self, spec: Spec, known: Spec) -> Spec:
        """One of the specs, with what was found out about the columns for the shared spec `known`."""
        families = {feature.name: feature.family for feature in known.features}

        def with_fitted(feature: Feature) -> Feature:
            if feature.family.fit_query is None:
                return feature
            name = self._names[_counting_key(feature)]
            answered = replace(feature, family=replace(feature.family, **families[name].counting_options))
            self._names[_counting_key(answered)] = name
            return answered

        return replace(spec, features=tuple(map(with_fitted, spec.features)))


def _counting_key(feature: Feature) -> str:
    """A text that is equal for features with the same cells."""
    return repr((feature.columns, feature.family.name, feature.family.counting_options))
