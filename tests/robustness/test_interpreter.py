"""How Python itself is run: without docstrings, or with the package in an archive."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import nbsql

pytestmark = pytest.mark.slow


def run(folder, *words, **variables):
    env = {"PATH": "/usr/bin:/bin", **variables}
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_the_command_line_works_without_docstrings(tmp_path):
    """From which it has its options and their texts: containers set PYTHONOPTIMIZE=2."""
    file = tmp_path / "golf.duckdb"
    found = run(tmp_path, "-OO", "-m", "nbsql", "evaluate", "--help")
    assert (found.returncode, found.stderr) == (0, "")
    assert "--folds" in found.stdout
    code = f"""import duckdb; duckdb.connect({str(file)!r}).execute(
        'CREATE TABLE t AS SELECT i % 2 AS y, hash(i) % 7 AS x FROM range(90) AS r(i)')"""
    assert run(tmp_path, "-c", code).returncode == 0
    found = run(tmp_path, "-OO", "-m", "nbsql", "fit", file, "t", "--target", "y", "--name", "m")
    assert (found.returncode, nbsql.models(str(file))) == (0, ["m"])


def test_an_archive_is_refused_with_the_cure(tmp_path):
    archive, package = tmp_path / "nbsql.zip", Path(nbsql.__file__).parent
    with zipfile.ZipFile(archive, "w") as written:
        for file in package.rglob("*.py"):
            written.write(file, file.relative_to(package.parent))
    code = "import duckdb, nbsql; nbsql.fit(duckdb.connect(), 'SELECT 1 AS y', target='y')"
    found = run(tmp_path, "-c", code, PYTHONPATH=str(archive))
    assert found.stderr.splitlines()[-1] == (
        f"nbsql.errors.NotSupportedError: the SQL of nbsql is not in {archive / 'nbsql'}: an archive does not do; "
        "install nbsql with pip, or unpack it"
    )


def test_where_there_is_no_output_nothing_is_shown(con, monkeypatch):
    con.execute("CREATE TABLE t AS SELECT i % 2 AS y, i % 5 AS x FROM range(20) AS r(i)")
    model = nbsql.fit(con, "t", target="y")
    monkeypatch.setattr(sys, "stdout", None)  # as in a service of Windows, or by pythonw
    model.show()
    model.predict("t").show()
