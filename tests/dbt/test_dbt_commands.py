"""What dbt does beside run: it compiles what is not there yet, builds without rows, defers, and takes snapshots."""

import json
import re
import shutil

import pytest
from support.dbt_projects import BUILDS, Project, equal, needs_dbt, read, server

import nbsql

pytestmark = needs_dbt

ROWS = """
  {{ config(materialized='table') }} SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'spam' ELSE 'ham' END AS label, i % 4 AS links,
    i % 2 AS day, CASE WHEN i % 3 = 0 THEN 'free prize ' ELSE 'lunch at ' END || (i % 7) AS message,
    CAST('x' AS VARCHAR(9)) AS prediction, 1.5 AS margin
  FROM generate_series(0, 59) AS t(i)
"""
STATISTICS = "{{ config(materialized='table') }} {{ nbsql.statistics(ref('mails')) }}"
COSTLY = "by='expected cost', costs={'ham': {'spam': 2}}, columns=[]"
MODELS = {
    "mails": ROWS,
    "counted": STATISTICS,
    "categories": STATISTICS,
    "priors": "{{ nbsql.class_priors(ref('counted')) }}",
    "cells": "{{ nbsql.with_cell(nbsql.feature_likelihoods(ref('counted'))) }}",
    "scored": "{{ nbsql.predictions(ref('counted'), ref('mails'), columns=['label', 'id']) }}",
    "probable": "{{ nbsql.probabilities(ref('counted'), ref('mails'), columns='id') }}",
    "joint": "{{ nbsql.joint_log_likelihoods(ref('counted'), ref('mails'), columns=[]) }}",
    "evident": "{{ nbsql.evidence(ref('counted'), ref('mails')) }}",
    "explained": "{{ nbsql.explanation(ref('counted'), ref('mails')) }}",
    "judged": "{{ nbsql.evaluation(ref('counted'), ref('mails')) }}",
    "intervals": "{{ nbsql.evaluation(ref('counted'), ref('mails'), 'intervals') }}",
    "sliced": "{{ nbsql.evaluation(ref('counted'), ref('mails'), 'slices', by='day') }}",
    "queue": "{{ nbsql.review_queue(ref('counted'), ref('mails'), columns=['id']) }}",
    "costly": f"{{{{ nbsql.review_queue(ref('counted'), ref('mails'), {COSTLY}) }}}}",
    "watched": "{{ nbsql.monitoring(ref('counted'), ref('mails'), by='day') }}",
    "card": "{{ nbsql.scorecard(ref('categories'), target='spam') }}",
}
COUNTED = {"target": "label", "id": "id", "exclude": ["day", "prediction", "margin"]}
META = {
    "counted": {**COUNTED, "families": {"message": "text", "links": "poisson"}},
    "categories": {"target": "label", "features": ["links"], "families": {"links": "categorical"}},
}
SNAPSHOT = """
{% snapshot kept %}{{ config(unique_key='cell', strategy='check', check_cols=['likelihood'], target_schema=target.schema) }}
SELECT * FROM {{ ref('cells') }}{% endsnapshot %}
"""

# Two versions of a model, the scores of the second one beside those of the first, as their contract says, and which is better.
VERSIONS = {
    "rated_v1": STATISTICS,
    "rated_v2": STATISTICS,
    "shadow": """
      SELECT CAST(used.id AS INTEGER) AS id, used.prediction, beside.prediction AS shadow
      FROM ({{ nbsql.predictions(ref('rated', v=1), ref('mails'), columns='id') }}) AS used
      JOIN ({{ nbsql.predictions(ref('rated', v=2), ref('mails'), columns='id') }}) AS beside ON beside.id = used.id
    """,
    "gained": "{{ nbsql.comparison(ref('rated', v=2), ref('rated', v=1), ref('mails')) }}",
}
RATED = {v: {"target": "label", "features": features} for v, features in ((1, ["links"]), (2, ["links", "message"]))}
CONTRACTED = {"id": "integer", "prediction": "text", "shadow": "text"}
VERSIONED = {
    "models": [
        {"name": "rated", "versions": [{"v": v, "config": {"meta": {"nbsql": meta}}} for v, meta in RATED.items()]},
        {
            "name": "shadow",
            "config": {"contract": {"enforced": True}, "materialized": "table"},
            "columns": [{"name": name, "data_type": kind} for name, kind in CONTRACTED.items()],
        },
    ]
}

KEYS = ["position", "code", "customer_id"]
OF_Y = {"target": "y", "id": "id"}


def generic_tests(version):
    def test(name, own, **arguments):
        return {f"nbsql.{name}": {"name": own, **(arguments if version == "1.8" else {"arguments": arguments})}}

    return {
        "counted": [test("nbsql_statistics_not_negative", "positive"), test("nbsql_drift_below", "drift", maximum=0.5)],
        "scored": [test("nbsql_accuracy_at_least", "accurate", target="label", minimum=0.5)],
        "watched": [test("nbsql_within", "watched_within", under={"accuracy": 0.5})],
        "judged": [
            test("nbsql_within", "judged_within", under={"accuracy": 0.5}, over={"brier": 0.5}),
            test("nbsql_within", "spam_within", under={"recall": 0.1}, label="spam"),
            test("nbsql_within", "spam_beyond", under={"recall": 1.5}, label="spam"),
            test("nbsql_within", "of_no_class", under={"recall": 0.1}, label="spm"),
        ],
        "intervals": [test("nbsql_within", "beyond", under={"accuracy": 1.5})],
    }


@pytest.mark.nightly
@pytest.mark.parametrize("build", BUILDS)
def test_a_new_target_compiles_builds_without_rows_defers_and_keeps_snapshots(build, tmp_path):
    _, version = build
    with server(*build) as address:
        project = Project(tmp_path, MODELS, META, {}, generic_tests(version), address=address, version=version)
        profiles = json.loads((tmp_path / "profiles.yml").read_text(encoding="utf-8"))
        outputs = profiles["project"]["outputs"]
        outputs["new"] = {**outputs["dev"], "schema": "new"}
        (tmp_path / "profiles.yml").write_text(json.dumps(profiles), encoding="utf-8")
        for name, sql in VERSIONS.items():
            (tmp_path / "models" / f"{name}.sql").write_text(sql, encoding="utf-8")
        project.write("models/versions.yml", VERSIONED)
        (tmp_path / "snapshots").mkdir()
        (tmp_path / "snapshots" / "kept.sql").write_text(SNAPSHOT, encoding="utf-8")

        # Nothing is there yet, and then no row is.
        succeeds(project, "compile")
        compiled = (tmp_path / "target" / "compiled" / "project" / "models" / "scored.sql").read_text(encoding="utf-8")
        assert compiled.strip().startswith("/* nbsql: counted is not there yet; build it, then compile again */ SELECT")
        if version != "2.0":
            succeeds(project, "docs", "generate")  # dbt 2.0.0a4 has no such command
        # dbt 2.0.0a4 makes a statement of a snapshot on PostgreSQL that is none.
        succeeds(project, "build", "--empty", "--exclude", *(["kept"] if address and version == "2.0" else ["no_model"]))
        with project.connect() as con:
            assert read(con, "SELECT * FROM scored") == (["label", "id", "prediction", "probability"], [])
            assert read(con, "SELECT * FROM counted")[1] == []
        succeeds(project, "compile")

        # What is there is as in Python, where a column of the source has the name of one that is added.
        project.dbt("build")
        failed = {name for name, status in project.statuses().items() if status not in ("success", "pass")}
        assert failed == {"beyond", "spam_beyond", "of_no_class"}
        assert project.messages()["of_no_class"].startswith(
            "nbsql: label of 'nbsql_within' must be one of 'ham', 'spam', not spm"
        )
        with project.connect() as con:
            model = nbsql.fit(con, "mails", **COUNTED, families={"message": nbsql.Text(), "links": "poisson"})
            for name, query in {
                "scored": model.predict("mails", columns=["label", "id"]),
                "probable": model.predict_proba("mails", columns=["id"]),
                "joint": model.joint_log_likelihood("mails", columns=[]),
                "queue": model.review("mails", columns=["id"]),
            }.items():
                columns, rows = read(con, f"SELECT * FROM {name}")
                assert columns == query.columns, name
                equal(rows, query.fetchall(), name)

            first, second = (nbsql.fit(con, "mails", **options) for options in RATED.values())
            scored = zip(*(model.predict("mails", columns=["id"]).fetchall() for model in (first, second)), strict=True)
            equal(read(con, "SELECT * FROM shadow")[1], [(*used[:2], beside[1]) for used, beside in scored])
            equal(read(con, "SELECT * FROM gained")[1], second.compare(first, "mails").fetchall())

        # A snapshot finds each cell again, those without a value, too.
        succeeds(project, "snapshot")
        with project.connect() as con:
            (count,) = read(con, "SELECT count(*) FROM cells")[1][0]
            assert read(con, "SELECT count(*), count(DISTINCT cell) FROM kept")[1] == [(count, count)]
            keys = read(con, "SELECT cell FROM cells WHERE class = 'ham' AND (feature = 'links' OR value = 'lunch')")[1]
        assert sorted(keys) == [("3:ham 5:links -",), ("3:ham 7:message 5:lunch",)]

        # In another schema scores read the statistics of this one, and what these learnt from.
        if address and version == "2.0":
            return  # dbt 2.0.0a4 does not defer on PostgreSQL
        shutil.copytree(tmp_path / "target", tmp_path / "state")
        (tmp_path / "models" / "rated_v2.sql").write_text(f"{STATISTICS} -- of all", encoding="utf-8")
        listed = project.dbt(
            "ls", "--select", "state:modified+", "--state", str(tmp_path / "state"), "--resource-type", "model"
        )
        assert set(re.findall(r"project\.(\S+)", listed.stdout)) == {"rated.v2", "shadow", "gained"}, listed.stdout
        deferred = ("--target", "new", "--defer", "--state", str(tmp_path / "state"), "--select")
        succeeds(project, "run", *deferred, "priors", "scored", "judged", "card")
        succeeds(project, "test", *deferred, "drift")
        with project.connect() as con:
            own = "main" if address is None else "public"
            equal(read(con, "SELECT * FROM new.scored")[1], read(con, f"SELECT * FROM {own}.scored")[1])


@pytest.mark.look
@pytest.mark.parametrize("build", BUILDS)
def test_a_run_logs_the_advice_of_a_look_at_the_values_as_python_has_it_and_idle_options(build, tmp_path):
    texts = "SELECT i + 5000 AS position, 'it is number ' || i || ' of them' AS note, 'K' || i || '-9' AS code, "
    texts += "i % 7 AS links, 'c' || (i % 150) AS customer_id, 1900 + i AS year, 0.5 * (i % 90) AS price, "
    texts += "'a b c d ' || (i % 9) AS few, i % 2 AS half, (i % 97 + 1) / 99.0 AS part, (i % 2) * (i % 41) * 1.5 AS spent, "
    texts += "CASE WHEN i % 3 = 0 THEN 'spam' ELSE 'ham' END AS label FROM generate_series(0, 199) AS t(i)"
    statistics = "{{ nbsql.statistics(ref('notes')) }}"
    models = {"notes": texts, "plain": statistics, "named": statistics, "told": statistics, "idle": statistics}
    told_numbers = {"half": "bernoulli", "part": "beta", "spent": "zero_inflated"}
    told = {"exclude": ["position", "code"], "families": {"note": "text", "customer_id": "categorical", **told_numbers}}
    meta = {"plain": {"target": "label"}, "named": {"target": "label", "features": ["note", "code"]}}
    meta["told"] = {"target": "label", **told}
    numbers = {"links": {"family": "poisson", "alpha": 3}, "price": {"family": "gaussian", "smoothing": 0.1, "floor": 0.1}}
    idle = {"features": [*numbers], "families": numbers, "alpha": 2, "nulls": "category", "unseen": "smooth"}
    meta["idle"] = {"target": "label", **idle}
    with server(*build) as address:
        project = Project(tmp_path, models, meta, address=address, version=build[1])
        done = project.dbt("build", "--empty")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "by a look" not in done.stdout
        done = project.dbt("build")
        assert done.returncode == 0, done.stdout + done.stderr
        with project.connect() as con, pytest.warns(nbsql.NbsqlWarning, match="by a look") as warned:
            nbsql.fit_sql(con, "notes", target="label")
    start = "follow from the types; by a look at the values they would be"
    said = sorted(line[line.index("families of") :].strip() for line in done.stdout.splitlines() if start in line)
    of_numbers = "'half': bernoulli, 'part': beta, 'spent': zero_inflated"
    of_named = f"families of 'named' {start} families: {{'note': text}}"
    assert said == [of_named, f"families of 'plain' {start} families: {{'note': text, {of_numbers}}}, exclude: {KEYS}"]
    (line,) = {str(each.message) for each in warned if start in str(each.message)}
    lines = sorted({found[1] for found in re.finditer(r"nbsql: (\S+ of .* changes nothing.*)", done.stdout)})
    of_model = [
        f"{option} of 'idle' changes nothing, as no feature uses it; leave it out" for option in ("alpha", "nulls", "unseen")
    ]
    of_features = [f"{each} in 'idle' changes nothing; leave it out" for each in ("alpha of 'links'", "floor of 'price'")]
    assert lines == sorted([*of_model, *of_features])
    as_python = {"note": "text", **told_numbers}
    assert line == f"families {start} families={json.dumps(as_python)}, exclude={json.dumps(KEYS)}"


def succeeds(project, *command):
    done = project.dbt(*command)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_seed_is_counted_alike_in_the_run_that_makes_it_and_in_the_next(tmp_path):
    """There dbt 2 has other names for its types than the database."""
    with server("duckdb", "2.0"):
        families = {"size": "categorical", "at": {"family": "calendar", "parts": ["hour"]}}
        models = {"kept": "{{ nbsql.statistics(ref('seeded')) }}"}
        config = {"kept": {"materialized": "incremental", "unique_key": "slice"}}
        project = Project(
            tmp_path, models, {"kept": {"target": "grade", "slice_by": "n", "families": families}}, config, version="2.0"
        )
        rows = "".join(f"{i % 3 == 0},{i % 5 + 0.5},2026-01-01 {i % 7:02}:30:00,t{i % 4},{i % 2}\n" for i in range(60))
        (tmp_path / "seeds").mkdir()
        (tmp_path / "seeds" / "seeded.csv").write_text(f"grade,size,at,word,n\n{rows}", encoding="utf-8")
        for command in ("build", "run"):  # which would refuse another type of a category
            succeeds(project, command)
            with project.connect() as con:
                fitted = nbsql.fit(con, "seeded", target="grade", exclude=["at", "n"], families={"size": "categorical"})
                cells = "SELECT feature, value, sum(n) FROM {} WHERE feature IN ('size', 'word') GROUP BY ALL"
                counted = con.execute(cells.format("kept")).fetchall()
                equal(counted, con.sql(cells.format(f"({fitted.statistics.sql})")).fetchall())


def test_the_columns_of_a_snapshot_are_no_features_and_rows_with_a_newer_version_are_told(tmp_path):
    with server("duckdb", "2.0"):
        rows = "{{ config(materialized='table') }} SELECT i AS id, i % 3 = 0 AS y, "
        rows += "i % 4 + i % 2 * {{ var('more', 0) }} AS links FROM generate_series(0, 99) AS t(i)"
        models = {"rows": rows, "scored": "{{ nbsql.predictions(ref('counted'), ref('rows')) }}"}
        models["counted"] = "{{ config(materialized='table') }} {{ nbsql.statistics(ref('versions')) }}"
        models["newest"] = models["counted"].replace("')) }}", "'), where='dbt_valid_to IS NULL') }}")
        project = Project(tmp_path, models, dict.fromkeys(("counted", "newest"), OF_Y), version="2.0")
        (tmp_path / "snapshots").mkdir()
        (tmp_path / "snapshots" / "versions.sql").write_text(
            "{% snapshot versions %}{{ config(unique_key='id', strategy='check', check_cols='all', target_schema='main') }}"
            "SELECT * FROM {{ ref('rows') }}{% endsnapshot %}"
        )
        done = [project.dbt("build"), project.dbt("build", "--vars", "{more: 1}")]
        assert [each.returncode for each in done] == [0, 0], done[1].stdout
        said = [line for each in done for line in each.stdout.splitlines() if line.startswith("nbsql: ")]
        assert said == [
            "nbsql: 'counted' counts 50 rows of a snapshot that have since changed, beside their newer versions; "
            "where='dbt_valid_to IS NULL' counts the newest version of each alone"
        ]
        with project.connect() as con:
            cells = "SELECT feature, sum(n) FROM {} GROUP BY ALL"
            equal(read(con, cells.format("counted"))[1], [(None, 150.0), ("links", 150.0)])
            equal(read(con, cells.format("newest"))[1], [(None, 100.0), ("links", 100.0)])


@pytest.mark.nightly
def test_a_source_of_dbt_duckdb_is_a_file(tmp_path):
    """It is found where source() finds it, by the scores, too, which ask for the columns that were counted."""
    models = {
        "counted": "{{ nbsql.statistics(source('files', 'mails')) }}",
        "scored": "{{ nbsql.predictions(ref('counted'), source('files', 'mails'), columns='id') }}",
    }
    models = {name: "{{ config(materialized='table') }} " + sql for name, sql in models.items()}
    project = Project(tmp_path, models, {"counted": OF_Y})
    file = {"external_location": str(tmp_path / "{name}.parquet")}
    project.write("models/files.yml", {"sources": [{"name": "files", "config": {"meta": file}, "tables": [{"name": "mails"}]}]})
    mails = str(tmp_path / "mails.parquet")
    with project.connect() as con:
        con.execute(f"COPY (SELECT i AS id, i % 3 = 0 AS y, i % 4 AS links FROM range(100) AS t(i)) TO '{mails}'")
    project.build()
    with project.connect() as con:
        expected = nbsql.fit(con, mails, target="y", id="id").predict(mails, columns=["id"])
        equal(read(con, "SELECT * FROM scored")[1], expected.fetchall())
