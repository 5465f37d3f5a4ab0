"""The components of classes: those requested, and those that a fit found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ClassSplit:
    """The components of one class, as the fit found them."""

    label: str  # the class, as the engine casts it to text
    # The standard deviation of each number in the class; 0 for a number that does not vary, which is ignored.
    scales: tuple[float, ...]
    # The centre of each component, the first being component number 1, with one number for each column.
    centres: tuple[tuple[float, ...], ...]

    @property
    def weights(self) -> list[float]:
        """The weights of the squared differences in a distance, one for each number."""
        return [1 / (scale * scale) if scale > 1e-150 else 0.0 for scale in self.scales]


@dataclass(frozen=True)
class Components:
    """The components of the classes of a model."""

    requested: int | Mapping[Any, int]  # the number of components of every class, or of the classes that are named
    numbers: tuple[str, ...]  # the columns that determine how near two rows are
    splits: tuple[ClassSplit, ...] = ()  # the classes of more than one component

    @property
    def max_count(self) -> int:
        """The largest number of components of any class."""
        return max((len(split.centres) for split in self.splits), default=1)

    def to_dict(self) -> dict[str, Any]:
        """The components as a dictionary for JSON."""
        splits = [{"class": split.label, "scales": split.scales, "centres": split.centres} for split in self.splits]
        return {"asked": self.requested, "numbers": self.numbers, "splits": splits}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Components:
        splits = (
            ClassSplit(each["class"], tuple(each["scales"]), tuple(map(tuple, each["centres"]))) for each in data["splits"]
        )
        return cls(data["asked"], tuple(data["numbers"]), tuple(splits))
