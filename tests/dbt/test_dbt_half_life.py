"""Rows that count less the older they are, counted and read by dbt: as a fit of the same half-life."""

import pytest
from support.dbt_projects import OF_ROWS, Project, equal, needs_dbt, read, server

import nbsql

pytestmark = needs_dbt

ROWS = """
  SELECT i AS id, DATE '2026-06-01' + CAST(floor(i / 3.0) AS INTEGER) AS day,
    CASE WHEN i % 3 = 0 THEN 'spam' ELSE 'ham' END AS label, CAST(1 + i % 2 AS DOUBLE PRECISION) AS w,
    'v' || CAST(i % 4 AS VARCHAR) AS v, i * 37 % 11 / CAST(4 AS DOUBLE PRECISION) AS size
  FROM generate_series(0, {}) AS t(i)
"""
# As on the page.
HISTORY = """
  {{ config(materialized='incremental', full_refresh=false) }}
  SELECT
    TIMESTAMP '{{ run_started_at.strftime("%Y-%m-%d %H:%M:%S") }}' AS run_at,
    (SELECT max(batch) FROM {{ ref('kept') }}) AS counted,
    metrics.*
  FROM {{ ref('metrics') }} AS metrics
"""
WORSE = "INSERT INTO history SELECT TIMESTAMP '2026-01-01 00:00:00', 'by hand', class, metric, 0.0 FROM metrics"
LIMITS = {"under": {"accuracy": 0.1}}
TESTS = {
    "history": [
        {"nbsql.nbsql_within": {"name": "newest_run", "arguments": {**LIMITS, "newest": "run_at"}}},
        {"nbsql.nbsql_within": {"name": "every_run", "arguments": LIMITS, "config": {"severity": "warn"}}},
    ]
}


@pytest.mark.nightly
@pytest.mark.parametrize("build", OF_ROWS)
def test_rows_age_in_dbt_as_in_a_fit_and_each_run_adds_to_a_history(build, tmp_path):
    models = {
        "kept": "{{ nbsql.statistics(source('raw', 'rows')) }}",
        "weighed": "{{ nbsql.class_priors(ref('kept')) }}",
        "likely": "{{ nbsql.feature_likelihoods(ref('kept')) }}",
        "scored": "{{ nbsql.probabilities(ref('kept'), source('raw', 'rows')) }}",
        "watched": "{{ nbsql.monitoring(ref('kept'), source('raw', 'rows')) }}",
    }
    models |= {"metrics": "{{ nbsql.evaluation(ref('kept'), source('raw', 'rows')) }}", "history": HISTORY}
    models |= {"bare": models["kept"], "bare_priors": "{{ nbsql.class_priors(ref('bare')) }}"}
    options = {"target": "label", "exclude": ["id"], "prior": "smoothed"}
    meta = {"kept": {**options, "weight": {"half_life": "10 days", "at": "day", "weight": "w"}}}
    meta["bare"] = {**options, "weight": {"half_life": "10 days", "at": "day"}}
    with server(*build) as address:
        kept = {"kept": {"materialized": "incremental", "unique_key": "slice"}, "metrics": {"materialized": "table"}}
        project = Project(tmp_path, models, meta, kept, TESTS, address=address, version=build[1])
        runs = []
        for count in (59, 199):  # the second time the newest half-life is counted anew, and those after it
            with project.connect() as con:
                con.execute(f"CREATE TABLE IF NOT EXISTS rows AS {ROWS.format(0)}")
                con.execute("DELETE FROM rows")
                con.execute(f"INSERT INTO rows {ROWS.format(count)}")
            project.build()
            assert project.statuses()["newest_run"] == "pass"
            with project.connect() as con:
                runs.append(read(con, "SELECT class, metric, value FROM metrics")[1])
                con.execute(WORSE)
        assert project.statuses()["every_run"] == "warn"
        with project.connect() as con:
            _, history = read(con, "SELECT class, metric, value, run_at FROM history WHERE counted <> 'by hand'")
            assert len({row[-1] for row in history}) == 2
            equal([row[:-1] for row in history], runs[0] + runs[1])
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
