"""The rows that a model scores or counts, and the dimensions with which a statement joins them, as plain data."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from nbsql.spec.join import Dimension


@dataclass(frozen=True)
class Joining:
    """The join of a statement with a dimension (sql/macros/counting/joins.sql)."""

    place: int  # the number of the join, from 1
    dimension: Dimension  # the dimension, with the columns that are read
    relation: Markup  # the relation of the dimension
    # For every column of the key, an expression over the source or an earlier dimension, and the column that it equals.
    pairs: tuple[tuple[Markup, str], ...]
    # Whether it has few enough rows to be scored before the join (nbsql/plan/joins.py).
    is_scored_by_key: bool = False
    # The model of the features that are scored on the dimension (a Context, for macros); None if there are none.
    scored_model: object | None = None
    joined_columns: tuple[tuple[str, str], ...] | None = None  # the columns that are joined as such; None for all

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a column of the dimension and its name in the joined source."""
        return self.dimension.columns

    @property
    def passed_columns(self) -> tuple[tuple[str, str], ...]:
        """The pairs whose columns the joined source contains."""
        return self.columns if self.joined_columns is None else self.joined_columns


@dataclass(frozen=True)
class Rows:
    """Rows that a model scores or counts."""

    relation: Markup  # the relation of the rows
    columns: Sequence[str] = ()  # their columns, for engines without a keyword for all columns except some
    joins: Sequence[Joining] = ()  # the joins that the statement has to make
    keeps_order: bool = False  # whether the result has the order of the rows
    # The columns that the result contains beside those that a verb adds; None for all.
    passed_columns: Sequence[str] | None = None
    added: Sequence[str] = ()  # columns that it derives, and that the result contains only if they are named


@dataclass(frozen=True)
class Judgeable(Rows):
    """Rows on which a model is evaluated."""

    weight: str | None = None  # the name of the column of weights
    as_text: bool = False  # whether labels are compared as text
    by: Sequence[tuple[str, bool]] = ()  # the columns whose values define slices: the name, and whether it is a text
