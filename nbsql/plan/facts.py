"""The facts about a model that follow from its spec alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from markupsafe import Markup

from nbsql.family import Parameter, weighted
from nbsql.spec.spec import Feature, Spec


@dataclass(frozen=True)
class ExplanationPart:
    """A part of an explanation, with one row for each class: a feature, or a numbered column of a feature over several."""

    feature: Feature
    column: str
    number: int | None


@dataclass(frozen=True)
class ScoredParameter:
    """A parameter of a feature that scoring reads, and its position among all parameters, from 1."""

    feature: Feature
    parameter: Parameter
    position: int


@dataclass(frozen=True)
class Backoff:
    """A joint feature and the features of its columns, which read masked columns: NULL wherever the joint value is known."""

    feature: Feature
    masked: Sequence[tuple[Feature, str]]


@dataclass(frozen=True, eq=False)
class Facts:
    """The facts about a model that follow from its spec."""

    spec: Spec
    scoring: bool  # whether the classes are known, and the features are those of scoring

    @property
    def class_type(self) -> Markup:
        """The SQL of the target's type, as the engine wrote it; types from files have been checked (storage/file_checks.py)."""
        return Markup(self.spec.target_type)  # noqa: S704

    @property
    def is_logistic(self) -> bool:
        """Whether scoring uses learnt weights instead of likelihoods."""
        return self.spec.logistic is not None and self.scoring

    @property
    def has_weights(self) -> bool:
        """Whether scores have learnt weights, and so are no likelihoods."""
        return self.spec.has_weights and self.scoring

    @property
    def slice_by(self) -> bool:
        """Whether the cells are counted by slice, segment or component."""
        return self.spec.is_sliced

    @property
    def has_segments(self) -> bool:
        return self.spec.segment_by is not None

    @property
    def shrinkage(self) -> float:
        """The shrinkage of segments toward the whole."""
        return self.spec.segment_shrinkage

    @property
    def has_components(self) -> bool:
        return self.spec.components is not None

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        found = self.spec.features
        if self.is_logistic:
            found = tuple(replace(feature, family=weighted(feature.family) or feature.family) for feature in found)
        masked = {feature.index: name for backoff in self.backoffs for feature, name in backoff.masked}
        return tuple(
            replace(feature, columns=(masked[feature.index],), is_complete=False) if feature.index in masked else feature
            for feature in found
        )

    @cached_property
    def backoffs(self) -> list[Backoff]:
        alone = [feature for feature in self.spec.features if not feature.family.over_columns]
        return [
            Backoff(joint, [(each, f"nbsql_backoff_{each.index}") for each in alone if each.column in joint.columns])
            for joint in self.spec.features
            if self.scoring and joint.family.backoff
        ]

    @cached_property
    def parameters(self) -> list[ScoredParameter]:
        found = [(feature, parameter) for feature in self.features for parameter in feature.family.parameters]
        return [ScoredParameter(*pair, position) for position, pair in enumerate(found, start=1)]

    @cached_property
    def explanation_parts(self) -> list[ExplanationPart]:
        found: list[ExplanationPart] = []
        for feature in self.features:
            if feature.family.cell == "column":
                found += [ExplanationPart(feature, column, number) for number, column in enumerate(feature.columns, start=1)]
            elif feature.family.level or feature.family.has_parameter_term:
                found.append(ExplanationPart(feature, feature.column, None))
        return found
