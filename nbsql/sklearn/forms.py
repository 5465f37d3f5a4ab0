"""The two forms in which an estimator is imported: counts, which can continue to learn, and weights."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nbsql.family import Family
from nbsql.family.checks import label
from nbsql.spec.spec import Feature, Prior


@dataclass
class Cells:
    """The cells of a model, each with its class, feature, value, n, mean and m2."""

    rows: list[tuple[Any, str | None, str | None, float, float | None, float | None]] = field(default_factory=list)

    def add(
        self,
        name: Any,
        feature: str | None,
        n: float,
        value: str | None = None,
        mean: float | None = None,
        m2: float | None = None,
    ) -> None:
        self.rows.append((name, feature, value, float(n), mean, m2))

    def columns(self) -> dict[str, list[Any]]:
        """The cells as columns that the engine reads as a source."""
        return _as_columns(("class", "feature", "value", "n", "mean", "m2"), self.rows)


@dataclass(frozen=True)
class EstimatorCounts:
    features: Sequence[Feature]
    prior: Prior
    cells: Cells
    classes: Sequence[Any]  # all labels, counted or not
    given: bool = False  # whether the cells are parameters of distributions, and not counts, so that the model cannot learn


@dataclass
class Weights:
    """An estimator as weights, a source of `nbsql.from_weights`."""

    classes: Sequence[Any]
    families: dict[str, Family] = field(default_factory=dict)  # those that cannot be inferred from the weights
    types: dict[str, str] = field(default_factory=dict)  # of the columns of categories
    # The weight and the mean for each class, feature, value and times.
    rows: dict[tuple[Any, str | None, str | None, str], list[float | None]] = field(default_factory=dict)

    def add(
        self, name: Any, feature: str | None, times: str, weight: float, *, value: str | None = None, mean: float | None = None
    ) -> None:
        """Add a weight to the sum of those with the same key."""
        row = self.rows.setdefault((name, feature, value, times), [0.0, mean])
        row[0] = (row[0] or 0.0) + float(weight)

    def columns(self) -> dict[str, list[Any]]:
        """The weights as columns that the engine reads as a source."""
        return _as_columns(
            ("class", "feature", "value", "times", "weight", "mean"), [(*key, *row) for key, row in self.rows.items()]
        )


def _as_columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


Form = EstimatorCounts | Weights


def text_of(value: Any) -> str | None:
    """The value of a category as text, as in the cells."""
    return None if value is None else label(value)


def labels_of(estimator: Any) -> list[Any]:
    """The classes of an estimator as plain Python values."""
    return [each.item() if hasattr(each, "item") else each for each in estimator.classes_]


def column_type(values: Iterable[Any]) -> str:
    kinds = {type(value) for value in values if value is not None}
    for kind, name in {bool: "BOOLEAN", int: "BIGINT"}.items():
        if kinds == {kind}:
            return name
    return "DOUBLE" if kinds and kinds <= {int, float} else "VARCHAR"


def feature_of(name: str, family: Family, index: int, columns: Sequence[str] | None = None, types: str = "DOUBLE") -> Feature:
    """A feature of a model that can continue to learn."""
    columns = tuple(columns or (name,))
    family = family.with_estimate("mean").with_defaults(alpha=1.0, nulls="skip", unseen="skip")
    return Feature(
        name, family, columns, index, floating=types == "DOUBLE", whole=types == "BIGINT", types=(types,) * len(columns)
    )


def prior_of(estimator: Any, labels: Sequence[Any]) -> Prior:
    """The prior of a naive Bayes class."""
    given = getattr(estimator, "class_prior", None)
    if given is None:
        given = getattr(estimator, "priors", None)
    if given is not None:
        return Prior("given", given=tuple((label(name), float(p)) for name, p in zip(labels, given, strict=True)))
    return Prior("empirical" if getattr(estimator, "fit_prior", True) else "uniform")


def by_feature(names: Sequence[str], numbers: Sequence[float]) -> float | Mapping[str, float]:
    """A single number if all are equal, or else the numbers by name."""
    return numbers[0] if len(set(numbers)) == 1 else dict(zip(names, numbers, strict=True))
