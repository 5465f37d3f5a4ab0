"""The rows that a model scores or counts, and the dimensions with which a statement joins them, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from nbsql.spec.join import Dimension


@dataclass(frozen=True)
class Joining:
    """The join of a statement with a dimension (sql/macros/counting/joins.sql).

    Args:
        place: the number of the join, from 1.
        dimension: the dimension, with the columns that are read.
        relation: the relation of the dimension.
        pairs: for every column of the key, an expression over the source or an earlier dimension, and the column of the
            dimension that it equals.
        is_scored_by_key: whether it has few enough rows to be scored before the join (nbsql/plan/dimension_scores.py).
        scored_model: the model of the features that are scored on the dimension (a Context, for macros); None if there are
            none.
        joined_columns: the columns that are joined as such; None for all.
    """

    place: int
    dimension: Dimension
    relation: Markup
    pairs: tuple[tuple[Markup, str], ...]
    is_scored_by_key: bool = False
    scored_model: object | None = None
    joined_columns: tuple[tuple[str, str], ...] | None = None

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
    """Rows that a model scores or counts.

    Attributes:
        relation: the relation of the rows.
        columns: their columns, for engines without a keyword for all columns except some.
        joins: the joins that the statement has to make.
        keeps_order: whether the result has the order of the rows.
        passed_columns: the columns that the result contains beside those that a verb adds; None for all.
    """

    relation: Markup
    columns: Sequence[str] = ()
    joins: Sequence[Joining] = ()
    keeps_order: bool = False
    passed_columns: Sequence[str] | None = None


@dataclass(frozen=True)
class Judgeable(Rows):
    """Rows on which a model is evaluated.

    Attributes:
        weight: the name of the column of weights.
        as_text: whether labels are compared as text.
        by: the columns whose values define slices: the name, and whether it is a text.
    """

    weight: str | None = None
    as_text: bool = False
    by: Sequence[tuple[str, bool]] = ()
