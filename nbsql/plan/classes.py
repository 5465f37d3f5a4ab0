"""The classes of a model as columns of a result: their numbers, in the order of their labels, and names."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nbsql.errors import InputError


@dataclass(frozen=True)
class ClassColumn:
    """A class in the columns of a result: its number, and the names of its probability and joint log-likelihood columns."""

    number: int
    label: str
    probability: str
    joint: str
    members: tuple[int, ...] = ()  # the numbers of its components, if classes have any (sql/macros/estimating/mixture.sql)


def scored_class_count(classes: Sequence[ClassColumn]) -> int:
    """The number of scored classes; if classes have components, each component is scored as a class."""
    return sum(len(column.members) or 1 for column in classes)


def class_columns(classes: Iterable[tuple[Any, ...]]) -> list[ClassColumn]:
    """The columns of classes by number, from the rows of `class_order`. Names differ even if case is ignored."""
    columns: list[ClassColumn] = []
    taken: set[str] = set()
    classes = sorted(classes)
    members = _members({row[0]: row[2] for row in classes if len(row) > 2})
    for number, label, *_ in classes:
        name, attempt = label, 1
        while name.lower() in taken:
            attempt += 1
            name = f"{label}_{attempt}"
        taken.add(name.lower())
        columns.append(
            ClassColumn(number, label, f"probability_{name}", f"joint_log_likelihood_{name}", tuple(members.get(number, ())))
        )
    return columns


def check_told_apart(classes: Iterable[ClassColumn], target_type: str, title: str) -> None:
    """Raise InputError if times that are classes differ only by nanoseconds, for which Python has one value (see count.py)."""
    seen: dict[tuple[str, str], str] = {}
    for label in (column.label for column in classes) if target_type.upper().endswith("_NS") else ():
        seconds, _, fraction = label.partition(".")
        if (other := seen.setdefault((seconds, fraction[:6].rstrip("0")), label)) != label:
            raise InputError(
                f"classes {other!r} and {label!r} of {title} would differ only by nanoseconds, which Python does not tell "
                "apart; fit it anew with a class that is text"
            )


def _members(components: Mapping[int, int]) -> dict[int, list[int]]:
    """The numbers of the components of each class; the first component of a class has the number of the class."""
    places = range(1, max(components.values(), default=0) + 1)
    numbered = [number for place in places for number in sorted(components) if components[number] >= place]
    return {number: [member for member, of in enumerate(numbered, start=1) if of == number] for number in components}
