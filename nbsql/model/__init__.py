"""A fitted model and its methods."""

from __future__ import annotations

from nbsql.model.base import existing_plan, updated_at
from nbsql.model.learning import Learning
from nbsql.model.showing import Showing


class Model(Showing, Learning):
    """A fitted model: statistics in the database, and the queries on them.

    Models are returned by `nbsql.fit` and `nbsql.load`, among others. The examples of the methods go on from this one.

    >>> import duckdb, nbsql
    >>> data = "SELECT * FROM (VALUES ('sun', 'no'), ('sun', 'no'), ('rain', 'yes'), ('sun', 'yes')) AS t(sky, play)"
    >>> con = duckdb.connect()
    >>> model = nbsql.fit(con, data, target="play")
    >>> model.classes
    ['no', 'yes']
    >>> model.predict("SELECT 'rain' AS sky").fetchall()[0][1]
    'yes'
    >>> _ = con.execute("CREATE TABLE days AS SELECT i // 4 AS week, i % 3 AS wind, i % 2 AS play FROM range(24) AS t(i)")
    >>> by_week = nbsql.fit(con, "days", target="play", exclude=["week"], slice_by="week")
    """


__all__ = ["Model", "existing_plan", "updated_at"]
