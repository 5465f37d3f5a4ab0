"""A fitted model and its methods."""

from __future__ import annotations

from nbsql.model.base import existing_plan, updated_at
from nbsql.model.learning import Learning
from nbsql.model.showing import Showing


class Model(Showing, Learning):
    """A fitted model: statistics in the database, and the queries on them.

    Models are returned by `nbsql.fit` and `nbsql.load`, among others.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
    >>> model = nbsql.fit(duckdb.connect(), data, target="play")
    >>> model.classes
    ['no', 'yes']
    >>> model.predict("SELECT 'rain' AS sky").fetchall()[0][1]
    'yes'
    """


__all__ = ["Model", "existing_plan", "updated_at"]
