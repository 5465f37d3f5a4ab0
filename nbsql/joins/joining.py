"""Sources that are joined with dimension tables, and how a statement joins them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from markupsafe import Markup

from nbsql.engines.engine import Engine
from nbsql.engines.source import Source
from nbsql.errors import InputError
from nbsql.joins.join import Dimension
from nbsql.render import Renderer

if TYPE_CHECKING:
    from nbsql.context import Context


@dataclass(frozen=True)
class Joining:
    """A dimension as a statement joins it (sql/macros/joins.sql).

    Args:
        place: its number among the joins, from 1.
        dimension: which, with the columns that are read.
        relation: where it is.
        pairs: for every column of the key, an expression over the source, or over a dimension before, and the column of the
            dimension that it equals.
        by_key: whether its rows are few enough to be scored before they are joined (nbsql/joins/partial.py).
        scored: what the macros know of the model, of the features by which they are; None: of none.
        kept: the columns that are joined by themselves; None: all.
    """

    place: int
    dimension: Dimension
    relation: Markup
    pairs: tuple[tuple[Markup, str], ...]
    by_key: bool = False
    scored: Context | None = None
    kept: tuple[tuple[str, str], ...] | None = None

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a column of the dimension and its name in the joined source."""
        return self.dimension.columns

    @property
    def passed(self) -> tuple[tuple[str, str], ...]:
        """Those of them that the joined source has."""
        return self.columns if self.kept is None else self.kept


class Joined(Source):
    """A source and the dimensions that it is joined with: itself a source, whose rows are joined as they are read."""

    def __init__(self, engine: Engine, facts: Source, joins: Sequence[Joining]) -> None:
        relation = engine.renderer.fragment("joined", facts.relation, joins)
        super().__init__(relation, facts.label, engine.columns(relation), is_frame=facts.is_frame, release=facts.release)
        self._facts = facts
        self.joins = joins

    @property
    def facts(self) -> Source:
        return self._facts


def joinings(
    renderer: Renderer, dimensions: Iterable[tuple[Dimension, Markup]], keys: Mapping[str, str] | None = None
) -> list[Joining]:
    """Dimensions as a statement joins them.

    Args:
        renderer: of the engine.
        dimensions: and where they are, in the order in which they are joined.
        keys: names that columns of the source have in the statement, where they are others.
    """
    ident, word = renderer.dialect.ident, renderer.dialect.word
    brought: dict[str, int] = {}
    found = []
    for number, (dimension, relation) in enumerate(dimensions, start=1):
        pairs = []
        for key, column in dimension.on:
            place = word(f"dimension_{brought[key]}") if key in brought else word("source")
            pairs.append((Markup(".").join([place, ident((keys or {}).get(key, key))]), column))
        found.append(Joining(number, dimension, relation, tuple(pairs)))
        brought |= dict.fromkeys(dimension.names, number)
    return found


def narrowed(renderer: Renderer, joins: Sequence[Joining], columns: set[str], keys: Mapping[str, str]) -> list[Joining]:
    """The joins that bring some columns, with no others; `keys` as for `joinings`."""
    wanted = set(columns)
    found: list[tuple[Dimension, Markup]] = []
    for joining in reversed(joins):
        kept = tuple(pair for pair in joining.columns if pair[1] in wanted)
        if kept:
            wanted |= {key for key, _ in joining.dimension.on}
            found.insert(0, (replace(joining.dimension, columns=kept), joining.relation))
    return joinings(renderer, found, keys)


def refuse_repeated(engine: Engine, joining: Joining) -> None:
    """Raise InputError if a dimension has a key twice."""
    columns = [column for _, column in joining.pairs]
    for *key, rows in engine.ask("repeated_key", joining.relation, columns):
        said = ", ".join(f"{column!r} {value!r}" for column, value in zip(columns, key, strict=True))
        raise InputError(
            f"{joining.dimension.title} has {rows} rows of {said}, and a join takes one row a key; make a view with one a key"
        )
