"""Rows that count less the older they are, counted and read by dbt: as a fit of the same half-life."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.dbt_projects import ENGINES, Project, needs_dbt, read, server

import nbsql

pytestmark = needs_dbt

ROWS = """
  SELECT i AS id, DATE '2026-06-01' + CAST(floor(i / 3.0) AS INTEGER) AS day,
    CASE WHEN i % 3 = 0 THEN 'spam' ELSE 'ham' END AS label, CAST(1 + i % 2 AS DOUBLE PRECISION) AS w,
    'v' || CAST(i % 4 AS VARCHAR) AS v, i * 37 % 11 / CAST(4 AS DOUBLE PRECISION) AS size
  FROM generate_series(0, {}) AS t(i)
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_age_in_dbt_as_in_a_fit(engine: str, tmp_path: Path) -> None:
    models = {
        "kept": "{{ nbsql.statistics(source('raw', 'rows')) }}",
        "weighed": "{{ nbsql.class_priors(ref('kept')) }}",
        "likely": "{{ nbsql.feature_likelihoods(ref('kept')) }}",
        "scored": "{{ nbsql.probabilities(ref('kept'), source('raw', 'rows')) }}",
        "watched": "{{ nbsql.monitoring(ref('kept'), source('raw', 'rows')) }}",
    }
    models |= {"bare": models["kept"], "bare_priors": "{{ nbsql.class_priors(ref('bare')) }}"}
    options: dict[str, Any] = {"target": "label", "exclude": ["id"], "prior": "smoothed"}
    meta = {"kept": {**options, "weight": {"half_life": "10 days", "at": "day", "weight": "w"}}}
    meta["bare"] = {**options, "weight": {"half_life": "10 days", "at": "day"}}
    with server(engine) as address:
        project = Project(
            tmp_path, models, meta, {"kept": {"materialized": "incremental", "unique_key": "slice"}}, address=address
        )
        for count in (59, 199):  # the second time the newest half-life is counted anew, and those after it
            with project.connect() as con:
                con.execute(f"CREATE TABLE IF NOT EXISTS rows AS {ROWS.format(0)}")
                con.execute("DELETE FROM rows")
                con.execute(f"INSERT INTO rows {ROWS.format(count)}")
            project.build()
        with project.connect() as con:
            model = nbsql.fit(con, "rows", weight=nbsql.HalfLife("10 days", at="day", weight="w"), **options)
            bare = nbsql.fit(con, "rows", weight=nbsql.HalfLife("10 days", at="day"), **options)
            for name, query in (
                ("bare_priors", bare.priors),
                ("weighed", model.priors),
                ("likely", model.likelihoods),
                ("scored", model.predict_proba("rows")),
                ("watched", model.monitor("rows")),
            ):
                found, expected = (
                    sorted(rows, key=lambda row: repr([x for x in row if not isinstance(x, float)]))
                    for rows in (read(con, f"SELECT * FROM {name}")[1], query.fetchall())
                )
                assert len(found) == len(expected) > 0
                for row, other in zip(found, expected, strict=True):
                    assert [x for x in row if isinstance(x, float)] == pytest.approx([x for x in other if isinstance(x, float)])
