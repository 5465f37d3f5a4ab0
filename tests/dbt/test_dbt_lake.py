"""The package in a DuckLake, which stores no collations: every table there is that of Python on a DuckDB file."""

import json
import subprocess
from pathlib import Path

import pytest
from engines.servers import absent
from support import dbt_versions
from support.dbt_projects import Project, dbt, equal, needs_dbt, read

import nbsql

pytestmark = [*needs_dbt, pytest.mark.nightly]

# Labels and values that differ only in case: they stay apart, though the session has the collation NOCASE.
ROWS = """
  SELECT i AS id, 'day ' || (i // 30) AS day, i % 4 AS links, i % 2 = 0 AS flag,
    CASE WHEN i % 3 = 0 THEN 'spam' WHEN i % 7 < 3 THEN 'HAM' ELSE 'ham' END AS label,
    chr(CAST(65 + i * 5 % 3 + i % 2 * 32 AS INTEGER)) AS category,
    CASE WHEN i % 3 = 0 THEN 'free prize ' ELSE 'lunch at ' END || (i % 7) AS message,
    CASE WHEN i % 9 > 0 THEN i * 37 % 11 / 4 + i % 3 END AS size
  FROM generate_series(0, 119) AS t(i) WHERE i < {{ var('rows', 120) }}
"""
ANSWERS = {
    "priors": "nbsql.class_priors(ref('kept'))",
    "likelihoods": "nbsql.feature_likelihoods(ref('kept'))",
    "predict": "nbsql.predictions(ref('kept'), ref('rows'))",
    "predict_proba": "nbsql.probabilities(ref('kept'), ref('rows'))",
    "joint_log_likelihood": "nbsql.joint_log_likelihoods(ref('kept'), ref('rows'))",
    "log_evidence": "nbsql.evidence(ref('kept'), ref('rows'))",
    "explain": "nbsql.explanation(ref('kept'), ref('rows'))",
    "review": "nbsql.review_queue(ref('kept'), ref('rows'), n=4, by='evidence')",
    "monitor": "nbsql.monitoring(ref('kept'), ref('rows'), by='day')",
    **{
        table: f"nbsql.evaluation(ref('kept'), ref('rows'), '{table}')"
        for table in ("metrics", "intervals", "confusion", "roc", "calibration")
    },
}
OPTIONS = {"target": "label", "id": "id", "exclude": ["day"]}
# Of the Python whose DuckDB has the extension: what is in the lake, as a file that the DuckDB of the tests reads.
COPY = """
import sys, duckdb
lake, file, extensions = sys.argv[1:]
con = duckdb.connect(config={"extension_directory": extensions})
con.execute(f"ATTACH 'ducklake:{lake}' AS lake; ATTACH '{file}' AS copied (STORAGE_VERSION 'v1.4.0')")
con.execute("COPY FROM DATABASE lake TO copied")
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project of which every model is a table in a lake, built of half the rows, and then of all."""
    if why := dbt_versions.missing(dbt_versions.LAKE):
        absent(why)
    packages = Path(dbt_versions.python(dbt_versions.LAKE) or "").parent.parent
    extension = next(packages.glob("lib/*/site-packages/duckdb_extension_ducklake/extensions/*/*"), None)
    if extension is None:
        pytest.skip(f"DuckDB's extension ducklake is not installed in {packages}: duckdb-extension-ducklake")
    folder = tmp_path_factory.mktemp("dbt")
    models = {"rows": ROWS, "kept": "{{ nbsql.statistics(ref('rows')) }}", "again": "{{ nbsql.statistics(ref('rows')) }}"}
    models |= {f"of_{name}": f"{{{{ {body} }}}}" for name, body in ANSWERS.items()}
    # A lake that keeps small tables in its catalogue has a column row_id of its own.
    models["of_explain"] = f"SELECT * RENAME (row_id AS position) FROM ({models['of_explain']}) AS explained"
    models["celled"] = "{{ nbsql.with_cell(nbsql.feature_likelihoods(ref('kept'))) }}"
    meta = {**OPTIONS, "slice_by": "day", "families": {"message": "text", "links": "poisson"}}
    config = {"kept": {"materialized": "incremental", "unique_key": "slice"}}
    tests = {
        "kept": [
            "nbsql.nbsql_statistics_not_negative",
            {"nbsql.nbsql_drift_below": {"name": "no_drift_at_all", "maximum": 0, "config": {"store_failures": True}}},
        ]
    }
    found = Project(folder, models, {"kept": meta, "again": meta}, config, tests, version=dbt_versions.LAKE)
    directory = folder / "extensions" / extension.parent.name / "linux_amd64"
    directory.mkdir(parents=True)
    (directory / extension.name).symlink_to(extension)
    lake = {
        "type": "duckdb", "path": f"ducklake:{folder / 'lake.ducklake'}", "threads": 1,
        "config_options": {"extension_directory": str(folder / "extensions")},
        "settings": {"default_collation": "{{ var('collation', '') }}"},
    }  # fmt: skip
    found.write("profiles.yml", {"project": {"target": "dev", "outputs": {"dev": lake}}})
    settings = json.loads((folder / "dbt_project.yml").read_text(encoding="utf-8"))
    found.write("dbt_project.yml", {**settings, "models": {"+materialized": "table"}})
    for rows in (70, 120):
        succeeds(found, "run", "--select", "rows", "kept", rows=rows)
    succeeds(found, "build", "--exclude", "kept", collation="NOCASE")
    return found


def run(project, *arguments, **variables):
    arguments = (*arguments, "--vars", json.dumps(variables))
    return dbt(project.folder, *arguments, version=dbt_versions.LAKE, PYTHONPATH="")  # not forked: this DuckDB starts threads


def succeeds(project, *arguments, **variables):
    done = run(project, *arguments, **variables)
    assert done.returncode == 0, done.stdout + done.stderr


def copied(project):
    file = project.folder / "copied.duckdb"
    command = [dbt_versions.python(dbt_versions.LAKE), "-c", COPY]
    arguments = [project.folder / "lake.ducklake", file, project.folder / "extensions"]
    if not file.exists():
        subprocess.run([*map(str, command + arguments)], check=True)
    project.database = file
    return project.connect()


def test_tables_in_a_lake_are_those_of_python(project):
    with copied(project) as con:
        model = nbsql.fit(con, "rows", **OPTIONS, slice_by="day", families={"message": nbsql.Text(), "links": "poisson"})
        for name in ("kept", "again"):
            _, cells = read(con, f"SELECT slice, class, feature, value, n, mean, m2 FROM {name}")
            equal(cells, [row[:7] for row in model.statistics], name)
        judged = model.evaluate("rows", by="category")
        for name in ANSWERS:
            columns, found = read(con, f"SELECT * FROM of_{name}")
            if name in ("priors", "likelihoods"):
                query = getattr(model, name)
            elif name == "review":
                query = model.review("rows", 4, by="evidence")
            elif name == "monitor":
                query = model.monitor("rows", by="day")
            elif hasattr(model, name):
                query = getattr(model, name)("rows")
            else:
                query = getattr(judged, name)
            assert columns == ["position" if column == "row_id" else column for column in query.columns], name
            equal(found, query.fetchall(), name)


def test_failures_of_a_test_are_stored_in_a_lake(project):
    run(project, "test")
    assert project.statuses() == {"nbsql_nbsql_statistics_not_negative_kept_": "pass", "no_drift_at_all": "fail"}


def test_slices_are_not_replaced_in_a_lake_by_a_comparison_without_regard_to_case(project):
    run(project, "run", "--select", "kept", collation="NOCASE")
    assert project.messages()["kept"] == (
        "nbsql: 'kept' replaces slices in a DuckLake, which stores no collations, so that the session's default_collation "
        "decides which slices are equal; leave it out of the profile, or unique_key out of the config"
    )
