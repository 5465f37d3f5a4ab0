"""Classes split into components: what is asked for, and what a model keeps of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nbsql.errors import InputError, ModelError

if TYPE_CHECKING:
    from nbsql.spec import Feature, Options, Spec

_NUMBERS = ("integer", "float", "decimal")


@dataclass(frozen=True)
class Split:
    """The components of one class, as the fit found them.

    Args:
        label: the class, as the engine casts it to text.
        scales: the standard deviation of each number in the class; 0 where it does not vary, and then it is no matter.
        centres: the components, the first being number 1: a number a column.
    """

    label: str
    scales: tuple[float, ...]
    centres: tuple[tuple[float, ...], ...]

    @property
    def weights(self) -> list[float]:
        """What a squared difference of each number is multiplied with in a distance."""
        return [1 / (scale * scale) if scale > 1e-150 else 0.0 for scale in self.scales]


@dataclass(frozen=True)
class Components:
    """How the classes of a model are split.

    Args:
        asked: how many components, of every class, or of those that are named.
        numbers: the columns by which rows are near to each other.
        splits: the classes of more than one component.
    """

    asked: int | Mapping[Any, int]
    numbers: tuple[str, ...]
    splits: tuple[Split, ...] = ()

    @property
    def most(self) -> int:
        """Of the components of a class."""
        return max((len(split.centres) for split in self.splits), default=1)

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        splits = [{"class": split.label, "scales": split.scales, "centres": split.centres} for split in self.splits]
        return {"asked": self.asked, "numbers": self.numbers, "splits": splits}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Components:
        """What `to_dict` wrote."""
        splits = (Split(each["class"], tuple(each["scales"]), tuple(map(tuple, each["centres"]))) for each in data["splits"])
        return cls(data["asked"], tuple(data["numbers"]), tuple(splits))


def asked_components(options: Options, features: Sequence[Feature]) -> Components | None:
    """What the options ask for; None where no class is to be split.

    Raises:
        InputError: a number of components is none, or there is something that classes with components do not go with.
    """
    asked = options.components
    if asked is None:
        return None
    for label, count in asked.items() if isinstance(asked, Mapping) else [(None, asked)]:
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            of = "" if label is None else f" of class {label!r}"
            raise InputError(f"components{of} must be a whole number of at least 1, not {count!r}")
    if asked == 1:
        return None
    if options.method == "logistic":
        raise InputError(
            "method='logistic' has one line between two classes, and no components; leave out components or the method"
        )
    for argument, given in (("slice_by", options.slice_by), ("segment_by", options.segment_by)):
        if given is not None:
            raise InputError(f"a model has components, or it has slices or segments; leave out components or {argument}")
    for feature in features:
        family = feature.family
        if family.name == "multivariate_gaussian" or family.backs_off:
            what = f"{family.name} with a backoff" if family.backs_off else family.name
            raise InputError(f"components does not take {feature.name!r}, which is {what}; choose another family")
        if family.kept is not None:
            raise InputError(f"components does not take {feature.name!r}, which is {family.name} with best; leave that out")
        if family.complement:
            raise InputError(f"components does not take {feature.name!r}, which is a complement; choose another family")
    numbers = tuple(feature.column for feature in features if is_number(feature))
    if not numbers:
        raise InputError("components need a number among the features, by which rows are near to each other")
    return Components(asked, numbers)


def is_number(feature: Feature) -> bool:
    """Whether a feature is a column of numbers, whatever their distribution."""
    return feature.family.accepts == _NUMBERS and not feature.family.over_columns


def refuse_components(spec: Spec, title: str, what: str) -> None:
    """Raise ModelError if the classes of the model have components, where something takes whole classes."""
    if spec.components is not None:
        raise ModelError(f"{title} has classes of several components, and {what} takes whole ones; fit it without components")


def check_components(spec: Spec, title: str) -> None:
    """Raise ModelError unless the classes of the model have components."""
    if spec.components is None:
        raise ModelError(f"{title} has no components; fit it with components=2, say")
