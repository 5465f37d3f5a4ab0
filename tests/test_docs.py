"""The README and the docstrings say what is true: every block runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import nbsql

README = Path(__file__).parents[1] / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_block_of_the_readme_runs_in_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    names: dict[str, object] = {}
    ran = []
    for language, block in BLOCK.findall(README.read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(block, "README.md", "exec"), names)  # noqa: S102
        elif language == "sql":
            with duckdb.connect("shop.duckdb") as con:
                for statement in con.extract_statements(block):
                    assert con.execute(statement).fetchall(), statement.query
        elif language == "sh" and "pip install" not in block:
            result = subprocess.run(["bash", "-euc", block], capture_output=True, text=True, env=environment, check=False)  # noqa: S607
            assert result.returncode == 0, result.stderr
        ran.append(language)
    assert {"python", "sql", "sh"} <= set(ran)
    assert "spam" in capsys.readouterr().out


def test_the_example_of_the_first_screen_is_twelve_lines_at_most():
    first = next(block for language, block in BLOCK.findall(README.read_text(encoding="utf-8")) if language == "python")
    assert len(first.splitlines()) <= 12


def modules():
    return [name for _, name, _ in pkgutil.walk_packages(nbsql.__path__, "nbsql.") if not name.endswith("__main__")]


@pytest.mark.parametrize("name", modules())
def test_the_examples_in_docstrings_run(name):
    if name.startswith("nbsql.engines.postgres"):
        pytest.importorskip("psycopg")
    if name.startswith("nbsql.engines.spark"):
        pytest.importorskip("pyspark")
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", nbsql.__all__)
def test_every_public_name_has_a_docstring_and_is_in_the_readme(name):
    thing = getattr(nbsql, name)
    if name == "__version__":
        return
    assert inspect.getdoc(thing)
    if inspect.isclass(thing):
        for attribute, member in vars(thing).items():
            if not attribute.startswith("_") and (callable(member) or isinstance(member, property)):
                assert inspect.getdoc(member) or inspect.getdoc(getattr(thing, attribute)), f"{name}.{attribute}"
