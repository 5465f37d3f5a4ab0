"""The steps of Newton's method.

A scan returns one row for each pair of terms, however many rows it read and whichever engine summed them. So the equations
are solved in a small in-memory database by one macro (sql/macros/learning/logistic/step.sql).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from nbsql.engines.duckdb.engine import DuckDB


@dataclass(frozen=True)
class Step:
    """The Newton step at a point."""

    point: Sequence[float]  # the unknowns, one number each
    objective: float  # the objective to minimise, at the point
    worst_loss: float  # the largest loss of a row
    n: float  # the weight of all rows
    direction: Sequence[float]  # the change that a full step subtracts from the point; None where the Hessian is singular
    decrease: float  # twice the decrease of the objective by a full step, as its curvature predicts it
    largest_change: float  # the largest change of an unknown
    collinear: int  # 0, or the number of the first unknown that is a linear combination of those before it

    def next(self, fraction: float) -> list[float]:
        """The point reached by a fraction of the step."""
        return [x - fraction * d for x, d in zip(self.point, self.direction, strict=True)]


class Newton:
    """An in-memory database that solves the steps of one search, the `Problem` that the macros render.

    The scales are the number and the scale of each term.
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
        """The relation of the rows that a scan returned (`logistic_sums`); it replaces a relation of the same name."""
        return self._load(name, "logistic_sums_as_parameters", list(zip(*sums, strict=True)))

    def step(self, point: Sequence[float], sums: Markup, products: Markup) -> Step:
        """The step at a point, from the relation of the sums there and that of the products of the terms there or near it."""
        rows = self.engine.query_macro("logistic_step", self.problem, sums, products, point, self.terms, self.penalty)
        return Step(point, *rows[0])

    def _load(self, name: str, query: str, columns: Sequence[Sequence[Any]]) -> Markup:
        renderer = self.engine.renderer
        relation = renderer.dialect.ident(name)
        self.engine.query_macro("drop_if_exists", relation)
        create = renderer.statement("create_table_as", relation, renderer.fragment(query), temporary=False)
        self.engine.prepare(create)([list(column) for column in columns])
        return relation
