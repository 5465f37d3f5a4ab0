"""Rows that a model meets, and the dimensions that they are still to be joined with, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from nbsql.spec.join import Dimension


@dataclass(frozen=True)
class Joining:
    """A dimension as a statement joins it (sql/macros/counting/joins.sql).

    Args:
        place: its number among the joins, from 1.
        dimension: which, with the columns that are read.
        relation: where it is.
        pairs: for every column of the key, an expression over the source, or over a dimension before, and the column of the
            dimension that it equals.
        by_key: whether its rows are few enough to be scored before they are joined (nbsql/plan/dimension_scores.py).
        scored: what the macros know of the model, of the features by which they are (a Context, which only macros read);
            None: of none.
        kept: the columns that are joined by themselves; None: all.
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
        """Those of them that the joined source has."""
        return self.columns if self.joined_columns is None else self.joined_columns


@dataclass(frozen=True)
class Rows:
    """Rows that a model meets.

    Attributes:
        relation: where they are.
        columns: theirs, for an engine that has no word for all but some.
        joins: that they are still to be joined with.
        ordered: whether they are to come back in their order.
        passed: the columns that come back with what a verb adds; None: all.
    """

    relation: Markup
    columns: Sequence[str] = ()
    joins: Sequence[Joining] = ()
    keeps_order: bool = False
    passed_columns: Sequence[str] | None = None


@dataclass(frozen=True)
class Judgeable(Rows):
    """Rows that a model is judged on.

    Attributes:
        weight: the name of their weight.
        as_text: whether labels are compared as text.
        by: the columns by whose values they are sliced: the name, and whether it is a text.
    """

    weight: str | None = None
    as_text: bool = False
    by: Sequence[tuple[str, bool]] = ()
