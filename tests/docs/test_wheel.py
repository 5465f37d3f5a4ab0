"""The built wheel works by itself, in an empty environment away from the checkout."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from support import dbt_versions

from nbsql.rendering.sources import macro_files

ROOT = Path(__file__).parents[2]

SCRIPT = """
import duckdb, nbsql
con = duckdb.connect("shop.duckdb")
con.execute("CREATE TABLE golf AS FROM (VALUES ('sun', 'no'), ('rain', 'yes'), ('rain', 'yes')) AS t(sky, play)").fetchall()
nbsql.fit(con, "golf", target="play", name="tennis")
print(con.execute("SELECT prediction FROM tennis.predict('golf') ORDER BY sky").fetchall())
print(nbsql.__file__)
"""


def run(*command, cwd):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, env=environment, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.nightly  # CI installs the wheel and runs its demonstration first of all
def test_the_wheel_fits_and_predicts_in_an_empty_environment(tmp_path):
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, ROOT, cwd=tmp_path)
    wheel = next(tmp_path.glob("nbsql-*.whl"))
    names = zipfile.ZipFile(wheel).namelist()
    assert "nbsql/sql/macros/scoring/score.sql" in names
    assert "nbsql/sql/dbt_project.yml" in names
    assert "nbsql/sql/.dbtignore" in names
    assert "nbsql/data/flights.parquet" in names
    assert "nbsql/docs/reference/families.md" in names
    assert "nbsql/py.typed" in names
    assert all(name.startswith(("nbsql/", "nbsql-")) for name in names)
    assert {path.relative_to(ROOT / "sql").as_posix() for path in macro_files(ROOT / "sql")} == {
        name.removeprefix("nbsql/sql/") for name in names if name.startswith("nbsql/sql/") and name.endswith((".sql", ".txt"))
    } - {"extension/CMakeLists.txt"}
    environment = tmp_path / "environment"
    dbt_versions.environment(environment, str(wheel))
    python = environment / "bin" / "python"
    run(python, "-m", "pip", "check", cwd=tmp_path)
    answer, where = run(python, "-c", SCRIPT, cwd=tmp_path).splitlines()
    assert answer == "[('yes',), ('yes',), ('no',)]"
    assert where.startswith(str(environment))
    assert "nbsql" in run(environment / "bin" / "nbsql", "--version", cwd=tmp_path)
    assert "# Families" in run(environment / "bin" / "nbsql", "help", "families", cwd=tmp_path)
    package = Path(run(environment / "bin" / "nbsql", "dbt-path", cwd=tmp_path).strip())
    assert (package / "dbt_project.yml").is_file()
    assert package.is_relative_to(environment)
