"""The page on a new option adds one: its blocks, put into a copy of nbsql, make an option of every face."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = "SELECT i AS x, 'c' || i // 9 AS y FROM range(10) AS t(i)"
TRIED = f"""
import duckdb, inspect, nbsql
assert inspect.signature(nbsql.auto).parameters["min_class_rows"].default == 1
for verb in (nbsql.fit, nbsql.fit_sql):
    try:
        verb(duckdb.connect(), "{ROWS}", target="y", min_class_rows=2)
    except nbsql.InputError as error:
        print(error)
nbsql.fit(duckdb.connect(), "{ROWS}", target="y", min_class_rows=1)
"""


def added(text, block):
    """A text with the lines of a block that begin with +, at the place of the others."""
    lines = block.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if not line.startswith("+"))
    assert text.count(before) == 1, before
    return text.replace(before, "".join(line[1:] for line in lines))


@pytest.mark.slow
def test_the_page_on_a_new_option_adds_one(tmp_path):
    for folder in ("nbsql", "sql"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    page = (ROOT / "docs" / "explanation" / "adding-an-option.md").read_text(encoding="utf-8")
    for path, section in re.findall(r"^## The \w+: `(\S+)`\n(.*?)(?=^## )", page, re.MULTILINE | re.DOTALL):
        file = tmp_path / path
        for language, block in re.findall(r"^```(\w+)\n(.*?)^```\n", section, re.MULTILINE | re.DOTALL):
            text = block if language == "py" else added(file.read_text(encoding="utf-8"), block)
            file.write_text(text, encoding="utf-8")

    def ran(*words):
        found = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        return found.stdout + found.stderr

    assert ran("-m", "nbsql.spec") == ""
    assert "    min_class_rows: int\n" in (tmp_path / "nbsql" / "spec" / "keywords.py").read_text(encoding="utf-8")
    assert ran("-c", TRIED).splitlines() == [
        "fewer than 2 rows of 'y' are 'c1'; leave them out",
        "min_class_rows is checked as the rows are counted; fit the model, or leave it out",
    ]
    assert "--min-class-rows N" in ran("-m", "nbsql", "fit", "--help")
    command = ("-m", "nbsql", "fit", "a.duckdb", ROWS, "--target", "y", "--name", "m", "--min-class-rows", "2")
    assert ran(*command) == "error: fewer than 2 rows of 'y' are 'c1'; leave them out\n"
