"""The house: its rooms, the order of their imports, and no circle."""

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STRUCTURE = runpy.run_path(str(ROOT / "tests" / "benchmarks" / "structure.py"))


@pytest.mark.slow
def test_there_are_at_most_20_rooms_and_no_circle_of_files_or_rooms():
    files = STRUCTURE["imports"](ROOT / "nbsql")
    rooms = STRUCTURE["rooms"](files)
    assert STRUCTURE["circles"](files) == []
    assert STRUCTURE["circles"](rooms) == []
    assert len(rooms) <= 20


def test_a_circle_is_found_and_so_are_floors():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}
    assert STRUCTURE["circles"](graph) == [["b", "c"]]
    assert STRUCTURE["floors"](graph) == {"a": 2, "b": 1, "c": 1, "d": 1}


def test_private_reads_and_questions_to_a_family_are_counted(tmp_path):
    here = tmp_path / "nbsql"
    here.mkdir()
    (here / "__init__.py").write_text("class Hidden:\n    _own = 1\n")
    asking = ["isinstance(x, Text)", "family.name == 'text'", "KINDS[x.family.name]", "getattr(family, 'beta', 1)"]
    others = ["isinstance(x, str)", "x.name == 'text'", "getattr(x, 'beta', 1)", "self._own", "x._of_a_library"]
    (here / "other.py").write_text("\n".join(["from nbsql.family import Text", "x._own", *asking, *others]))
    assert STRUCTURE["private_reads"](here) == ["other.py:2 x._own"]
    assert STRUCTURE["family_questions"](here) == [f"other.py:{line} {text}" for line, text in enumerate(asking, start=3)]


def test_the_page_on_the_architecture_names_files_that_are_there():
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.(?:py|sql))`", page)
    assert len(named) > 20
    assert [name for name in named if not ((ROOT / name).is_file() or (ROOT / "nbsql" / name).is_file())] == []


def test_the_top_level_is_the_users():
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("this is no clone, whose files git could list")
    listed = subprocess.run([git, "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    tops = {name.partition("/")[0] for name in listed if not name.startswith(".")}
    assert tops == {"CHANGELOG.md", "LICENSE", "README.md", "docs", "examples", "nbsql", "pyproject.toml", "sql", "tests"}


def test_at_the_top_are_folders_but_for_what_everybody_needs():
    tops = {path.name for path in (ROOT / "nbsql").iterdir() if path.is_file()}
    assert tops == {"__init__.py", "__main__.py", "errors.py", "py.typed", "version.py", "warn.py"}
    assert [path.name for path in (ROOT / "sql" / "macros").iterdir() if path.is_file()] == []


def test_imports_go_one_way():
    linter = shutil.which("lint-imports", path=str(Path(sys.executable).parent))
    assert linter is not None, "install import-linter: pip install '.[test]'"
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_an_extra_brings_is_imported_where_it_is_used_alone():
    extras = ["altair", "dbt", "numpy", "pandas", "polars", "psycopg", "py4j", "pyarrow", "pyspark", "vl_convert"]
    program = f"import sys; sys.modules.update(dict.fromkeys({extras!r})); import nbsql, nbsql.cli"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
