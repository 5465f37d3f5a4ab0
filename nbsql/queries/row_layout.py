"""What the statement that scores a single row reads of it: its columns, and the numbers that one expression scores."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from markupsafe import Markup

from nbsql.plan.derived import Layer
from nbsql.spec.spec import Feature


@dataclass(frozen=True)
class Item:
    """A number of the row: its column, and its parameters in the model's tables."""

    column: str
    parameters: tuple[Markup, ...]


@dataclass(frozen=True)
class Group:
    """Numbers that are scored by the same expression."""

    stand_in: Feature  # a feature of the column nbsql_given that stands for each of them
    term: Markup  # the expression, for the stand-in
    parameters: tuple[Markup, ...]  # the parameters of the stand-in
    items: tuple[Item, ...]  # the numbers
    # The numbers of the model, as texts of lists by class and item: the classes, and each parameter.
    numbers: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        return self.stand_in.family.name


@dataclass(frozen=True)
class Row:
    """The value of `row` in sql/macros/scoring/one_row.sql."""

    columns: list[tuple[str, Markup]]
    groups: list[Group] = field(default_factory=list)
    levels: list[Feature] = field(default_factory=list)
    bags: list[Feature] = field(default_factory=list)
    numbers: tuple[str, str] | None = None  # the classes and their log priors, as texts of lists
    layers: Sequence[Layer] = ()  # of the columns that the model derives from these
    derived: Collection[str] = ()  # the columns of features that the layers derive

    @cached_property
    def parameters(self) -> dict[str, tuple[int, Markup]]:
        """The position, from 1, and the type of the parameter of each column."""
        return {name: (place, kind) for place, (name, kind) in enumerate(self.columns, start=1)}

    @property
    def looked_up(self) -> list[str]:
        """The columns of the features whose values are looked up, each once."""
        return list(dict.fromkeys(name for feature in (*self.levels, *self.bags) for name in feature.columns))

    @property
    def class_count(self) -> int:
        """The number of classes, if the numbers of the model are written into the statement."""
        return self.numbers[0].count(",") + 1 if self.numbers is not None else 0

    @property
    def listed(self) -> bool:
        """Whether the numbers of the model are written into the statement."""
        return self.numbers is not None
