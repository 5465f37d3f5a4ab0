"""Columns that dbt derives are those that a fit derives."""

import pytest
from support.dbt_projects import OF_ROWS, Project, needs_dbt, read, server

import nbsql

pytestmark = needs_dbt

ROWS = """
  SELECT i AS id, CASE WHEN i * 7 % 3 = 0 THEN 'sold' ELSE 'kept' END AS label, i % 8 AS part,
    '$' || CAST(i * 7 % 3 * 2 + i % 13 AS VARCHAR) || '.50' AS price, 1 + i % 5 AS pages
  FROM generate_series(0, 119) AS t(i)
"""
DERIVE = {
    "price": "CAST(replace(price, '$', '') AS DOUBLE PRECISION)",
    "per_page": "price / pages",
    "class": "upper(label)",
    "half": "part % 2",
}


@pytest.mark.parametrize("build", OF_ROWS)
def test_dbt_derives_as_a_fit_does(build, tmp_path):
    options = {"target": "class", "id": "id", "exclude": ["label", "part", "half"], "derive": DERIVE}
    unlabelled = "SELECT id, price, pages, part FROM {{ source('raw', 'rows') }}"
    models = {
        "kept": "{{ nbsql.statistics(source('raw', 'rows')) }}",
        "sliced": "{{ nbsql.statistics(source('raw', 'rows')) }}",
        "later": unlabelled,
        "likely": "{{ nbsql.feature_likelihoods(ref('kept')) }}",
        "scored": "{{ nbsql.probabilities(ref('kept'), ref('later')) }}",
        "explained": "{{ nbsql.explanation(ref('kept'), ref('later'), where='id < 9') }}",
        "judged": "{{ nbsql.evaluation(ref('kept'), source('raw', 'rows'), by='half', table='slices') }}",
        "watched": "{{ nbsql.monitoring(ref('kept'), source('raw', 'rows')) }}",
        "unwatched": "{{ nbsql.monitoring(ref('kept'), ref('later')) }}",
        "queue": "{{ nbsql.review_queue(ref('kept'), ref('later'), n=5) }}",
    }
    meta = {"kept": options, "sliced": {**options, "slice_by": "half"}}
    with server(*build) as address:
        project = Project(tmp_path, models, meta, {"sliced": {"materialized": "table"}}, address=address, version=build[1])
        with project.connect() as con:
            con.execute(f"CREATE TABLE rows AS {ROWS}")
        project.build()
        with project.connect() as con:
            model = nbsql.fit(con, "rows", **options)
            names, found = read(con, "SELECT * FROM scored")
            assert names[:5] == ["id", "price", "pages", "part", "prediction"]
            answers = {row[0]: row[4:] for row in found}
            for row in model.predict_proba("later").fetchall():
                assert answers[row[0]][0] == row[4]
                assert answers[row[0]][1:] == pytest.approx(row[5:], rel=1e-9)
            assert len(answers) == 120
            for name, query in (
                ("likely", model.likelihoods),
                ("explained", model.explain("SELECT * FROM later WHERE id < 9")),
                ("judged", model.evaluate("rows", by="half").slices),
                ("watched", model.monitor("rows")),
                ("unwatched", model.monitor("later")),
                ("queue", model.review("later", n=5)),
            ):
                rows = read(con, f"SELECT * FROM {name}")[1]
                assert len(rows) == len(query.fetchall()) > 0, name
            assert {row[0] for row in read(con, "SELECT DISTINCT slice FROM sliced")[1]} == {"0", "1"}
            assert {row[0] for row in read(con, "SELECT DISTINCT feature FROM explained")[1]} == {
                None,
                "price",
                "pages",
                "per_page",
            }


@pytest.mark.parametrize("build", OF_ROWS)
def test_dbt_reads_words_for_a_missing_value_as_a_fit_does(build, tmp_path):
    options = {"target": "label", "id": "id", "missing": ["NA", "?"]}
    models = {
        "kept": "{{ nbsql.statistics(source('raw', 'rows')) }}",
        "scored": "{{ nbsql.probabilities(ref('kept'), source('raw', 'rows')) }}",
    }
    rows = "CASE WHEN i % 5 = 0 THEN 'NA' ELSE CAST(i % 7 AS VARCHAR) END AS age, "
    rows += "CASE WHEN i % 3 = 0 THEN '?' WHEN i % 4 = 0 THEN 'y' ELSE 'x' END AS city"
    with server(*build) as address:
        project = Project(tmp_path, models, {"kept": options}, address=address, version=build[1])
        with project.connect() as con:
            con.execute(f"CREATE TABLE rows AS SELECT i AS id, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END AS label, {rows} "
                        "FROM generate_series(0, 89) AS t(i)")  # fmt: skip
        project.build()
        with project.connect() as con:
            model = nbsql.fit(con, "rows", **options)
            assert model.families["age"].name == "gaussian"
            found = {row[0]: row[-2:] for row in read(con, "SELECT * FROM scored")[1]}
            for row in model.predict_proba("rows").fetchall():
                assert found[row[0]] == pytest.approx(row[-2:], rel=1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize("build", OF_ROWS)
def test_what_dbt_refuses_to_derive(build, tmp_path):
    models = {
        "kept": "{{ nbsql.statistics(source('raw', 'rows')) }}",
        "poor": "SELECT id, price FROM {{ source('raw', 'rows') }}",
        "scored": "{{ nbsql.predictions(ref('kept'), ref('poor')) }}",
    }
    meta = {"kept": {"target": "label", "exclude": ["id"], "derive": DERIVE}}
    with server(*build) as address:
        project = Project(tmp_path, models, meta, address=address, version=build[1])
        with project.connect() as con:
            con.execute(f"CREATE TABLE rows AS {ROWS}")
        assert project.dbt("build").returncode == 1
    assert project.messages()["scored"].startswith(
        "nbsql: no column 'pages' in poor, from which 'kept' derives 'per_page'; its"
    )


@pytest.mark.nightly
@pytest.mark.parametrize("build", OF_ROWS)
def test_dbt_takes_the_parts_of_dates_as_a_fit_does(build, tmp_path):
    families = {
        "called": {"family": "calendar", "parts": ["weekday", "hour"], "nulls": "category"},
        "sent": {"family": "calendar", "parts": ["hour"], "zone": "Europe/Berlin"},
    }
    options = {"target": "label", "id": "id", "families": families}
    models = {
        "kept": "{{ nbsql.statistics(source('raw', 'rows')) }}",
        "scored": "{{ nbsql.probabilities(ref('kept'), source('raw', 'rows')) }}",
        "explained": "{{ nbsql.explanation(ref('kept'), source('raw', 'rows')) }}",
        "wrong": "SELECT id, label, \"from\", called, CAST(called AS TIMESTAMP) AS sent FROM {{ source('raw', 'rows') }}",
        "refused": "{{ nbsql.probabilities(ref('kept'), ref('wrong')) }}",
        "no_hour": "{{ nbsql.statistics(source('raw', 'rows')) }}",
    }
    meta = {"kept": options, "no_hour": {**options, "families": {"from": {"family": "calendar", "parts": ["hour"]}}}}
    rows = """
      SELECT CAST(i AS INTEGER) AS id, CASE WHEN i * 7 % 24 > 17 OR i % 11 = 0 THEN 'missed' ELSE 'taken' END AS label,
        CAST(CAST('2025-10-20 00:00:00' AS TIMESTAMP) + i * INTERVAL '7 hours' AS DATE) AS "from",
        CASE WHEN i % 13 > 0 THEN CAST('2025-10-20 00:00:00' AS TIMESTAMP) + i * INTERVAL '7 hours' END AS called,
        CAST('2025-10-20 00:00:00+00' AS TIMESTAMP WITH TIME ZONE) + i * INTERVAL '7 hours' AS sent
      FROM generate_series(0, 399) AS t(i)
    """
    with server(*build) as address:
        project = Project(tmp_path, models, meta, address=address, version=build[1])
        with project.connect() as con:
            con.execute(f"CREATE TABLE rows AS {rows}")
        assert project.dbt("build").returncode == 1
        said = project.messages()
        assert (
            "and 'kept' has learnt timestamp with time zone there, of which 'hour of sent' is a part" in said["refused"].lower()
        )
        assert "'from' of 'no_hour' is date, which has no hour; leave it out of parts" in said["no_hour"].lower()
        with project.connect() as con:
            calendars = {
                "called": nbsql.Calendar(["weekday", "hour"], nulls="category"),
                "sent": nbsql.Calendar(["hour"], zone="Europe/Berlin"),
                "from": nbsql.Calendar(["year", "month", "day", "weekday"]),  # as dbt takes all parts of a type
            }
            model = nbsql.fit(con, "rows", **{**options, "families": calendars})
            found = {row[0]: row[-2:] for row in read(con, "SELECT * FROM scored")[1]}
            for row in model.predict_proba("rows").fetchall():
                assert found[row[0]] == pytest.approx(row[-2:], rel=1e-9)
            explained = {row[0] for row in read(con, "SELECT DISTINCT feature FROM explained")[1]}
            assert explained == {None, *model.families}
