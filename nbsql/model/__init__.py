"""A fitted model, and all that can be asked of it."""

from __future__ import annotations

from nbsql.model.base import planned, updated_at
from nbsql.model.deriving import Deriving
from nbsql.model.judging import Judging
from nbsql.model.learning import Learning
from nbsql.model.scoring import Scoring


class Model(Scoring, Judging, Learning, Deriving):
    """A fitted model: the statistics in the database, and the queries on them.

    Made by `nbsql.fit` and `nbsql.load`.
    """


__all__ = ["Model", "planned", "updated_at"]
