"""The steps of Newton's method.

What a scan finds is one row a pair of terms, however many rows it read and whichever engine summed them. So it is solved in a
small database of its own, by one macro (sql/macros/learning/logistic/step.sql).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from nbsql.engines.duckdb.engine import DuckDB


@dataclass(frozen=True)
class Step:
    """What Newton's method finds at a point.

    Args:
        point: the unknowns, a number each.
        objective: what is to be as small as possible, at the point.
        worst: the largest loss of a row.
        n: the weight of all rows.
        direction: what is taken from the point by a whole step, a number an unknown; None where the Hessian is singular.
        fall: twice what the objective loses by a whole step, as far as its curvature tells.
        biggest: the largest change of an unknown.
        collinear: 0, or the number of the first unknown that those before it make up.
    """

    point: Sequence[float]
    objective: float
    worst_loss: float
    n: float
    direction: Sequence[float]
    decrease: float
    largest_change: float
    collinear: int

    def next(self, fraction: float) -> list[float]:
        """The point to which a part of the step leads."""
        return [x - fraction * d for x, d in zip(self.point, self.direction, strict=True)]


class Newton:
    """A database in memory that solves the steps of one search.

    Args:
        problem: the search, as the macros know it.
        scales: the number and the scale of each term.
        penalty: of the squares of the weights.
    """

    def __init__(self, problem: Any, scales: Sequence[tuple[Any, ...]], penalty: float) -> None:
        self.engine = DuckDB(":memory:")
        self.problem = problem
        self.penalty = penalty
        self.terms = self._load("terms", "logistic_scales", [[term[k] for term in scales] for k in range(2)])

    def close(self) -> None:
        """Close the database."""
        self.engine.close()

    def load(self, name: str, sums: Sequence[tuple[Any, ...]]) -> Markup:
        """The relation of the rows that a scan found (`logistic_sums`); one of that name is replaced."""
        return self._load(name, "logistic_found", list(zip(*sums, strict=True)))

    def step(self, point: Sequence[float], sums: Markup, products: Markup) -> Step:
        """The step at a point.

        Args:
            point: the unknowns.
            sums: the relation of what was found there.
            products: the relation of what was found there or near it, with the products of the terms.
        """
        rows = self.engine.ask("logistic_step", self.problem, sums, products, point, self.terms, self.penalty)
        return Step(point, *rows[0])

    def _load(self, name: str, query: str, columns: Sequence[Sequence[Any]]) -> Markup:
        renderer = self.engine.renderer
        relation = renderer.dialect.ident(name)
        self.engine.ask("drop_if_exists", relation)
        create = renderer.statement("create_table_as", relation, renderer.fragment(query), temporary=False)
        self.engine.prepared(create)([list(column) for column in columns])
        return relation
