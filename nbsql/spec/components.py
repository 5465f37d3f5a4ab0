"""Classes split into components: what is asked for, and what a model keeps of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ClassSplit:
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

    requested: int | Mapping[Any, int]
    numbers: tuple[str, ...]
    splits: tuple[ClassSplit, ...] = ()

    @property
    def max_count(self) -> int:
        """Of the components of a class."""
        return max((len(split.centres) for split in self.splits), default=1)

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        splits = [{"class": split.label, "scales": split.scales, "centres": split.centres} for split in self.splits]
        return {"asked": self.requested, "numbers": self.numbers, "splits": splits}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Components:
        """What `to_dict` wrote."""
        splits = (
            ClassSplit(each["class"], tuple(each["scales"]), tuple(map(tuple, each["centres"]))) for each in data["splits"]
        )
        return cls(data["asked"], tuple(data["numbers"]), tuple(splits))
