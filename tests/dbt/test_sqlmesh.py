"""The package in SQLMesh, which runs dbt projects by a Jinja of its own."""

import json
import os
import subprocess
from pathlib import Path

import duckdb
import pytest
from engines.servers import absent
from support import dbt_versions
from support.dbt_projects import Project, equal, needs_dbt, read

import nbsql

pytestmark = [*needs_dbt, pytest.mark.nightly]

ROWS = """
  CREATE TABLE rows AS SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'spam' ELSE 'ham' END AS label, i % 4 AS links,
    'v' || (i % 5) AS category, i % 2 = 0 AS flag, i * 37 % 11 / 4 AS size,
    CASE WHEN i % 3 = 0 THEN 'free prize ' ELSE 'lunch at ' END || (i % 7) AS message
  FROM generate_series(0, 59) AS t(i)
"""
MODELS = {
    "counted": "{{ nbsql.statistics(source('raw', 'rows')) }}",
    "likely": "{{ nbsql.feature_likelihoods(ref('counted')) }}",
    "scored": "{{ nbsql.predictions(ref('counted'), source('raw', 'rows')) }}",
    "explained": "{{ nbsql.explanation(ref('counted'), source('raw', 'rows')) }}",
}
CONFIG = """
from pathlib import Path
from sqlmesh.dbt.loader import sqlmesh_config
config = sqlmesh_config(Path(__file__).parent)
"""


def test_sqlmesh_counts_and_scores_as_python_does(tmp_path):
    if why := dbt_versions.missing("sqlmesh"):
        absent(why)
    meta = {"counted": {"target": "label", "id": "id", "families": {"message": "text", "links": "poisson"}}}
    project = Project(tmp_path, MODELS, meta, {name: {"materialized": "table"} for name in MODELS})
    settings = json.loads((tmp_path / "dbt_project.yml").read_text(encoding="utf-8"))
    settings["models"] = {"+start": "2026-01-01"}
    (tmp_path / "dbt_project.yml").write_text(json.dumps(settings), encoding="utf-8")
    (tmp_path / "config.py").write_text(CONFIG, encoding="utf-8")
    with duckdb.connect(str(project.database), config={"storage_compatibility_version": "v1.4.0"}) as con:
        con.execute(ROWS)  # in a file that the DuckDB of SQLMesh reads, which is another one
    command = Path(dbt_versions.python("sqlmesh") or "").with_name("sqlmesh")
    environment = {**os.environ, "SQLMESH__DISABLE_ANONYMIZED_ANALYTICS": "true"}
    done = subprocess.run(
        [command, "plan", "--auto-apply", "--no-prompts"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    with project.connect() as con:
        families = {"message": nbsql.Text(), "links": "poisson"}
        model = nbsql.fit(con, "rows", target="label", id="id", families=families)
        for name, query in {
            "likely": model.likelihoods,
            "scored": model.predict("rows"),
            "explained": model.explain("rows"),
        }.items():
            columns, rows = read(con, f"SELECT * FROM main.{name}")
            assert columns == query.columns, name
            equal(rows, query.fetchall(), name)
