"""The page of plain SQL as an extension of DuckDB: its files, and its tests, run on the macros that they hold."""

import re

import duckdb
import pytest
import yaml
from support.sqllogic import run

from nbsql.dbt.__main__ import main
from nbsql.rendering.renderer import macro_path
from nbsql.version import __version__


@pytest.fixture
def extension(tmp_path):
    main(["extension", str(tmp_path)])
    return tmp_path


@pytest.mark.slow
def test_the_extension_holds_the_page_and_passes_its_tests(extension):
    header = (extension / "src" / "include" / "nbsql_macros.hpp").read_text(encoding="utf-8")
    macros = re.findall(r'R"nbsql\((.*?)\)nbsql"', header, flags=re.DOTALL)
    page = (macro_path() / "ad_hoc.sql").read_text(encoding="utf-8")
    without_comments = re.sub(r"^--.*\n", "", page, flags=re.MULTILINE)
    assert "".join("".join(macros).split()) == "".join(without_comments.split())
    assert max(map(len, macros)) < 16_000  # the longest literal that each compiler takes
    with duckdb.connect() as con:
        for macro in macros:
            con.execute(macro)
        files = list((extension / "test" / "sql").glob("*.test"))
        assert sum(run(con, file) for file in files) >= 14


def test_the_extension_describes_itself_as_duckdb_wants(extension):
    described = yaml.safe_load((extension / "description.yml").read_text(encoding="utf-8"))
    assert set(described["extension"]) >= {"name", "description", "version", "language", "build", "license", "maintainers"}
    assert (described["extension"]["name"], described["extension"]["version"]) == ("nbsql", __version__)
    assert set(described["repo"]) == {"github", "ref"}
    with duckdb.connect() as con:
        con.execute((macro_path() / "ad_hoc.sql").read_text(encoding="utf-8"))
        con.execute(described["docs"]["hello_world"])


def test_the_extension_is_written_anew_and_nothing_of_others_is_removed(extension):
    (extension / "old.txt").write_text("an earlier file")
    for kept in (".git", "duckdb"):
        (extension / kept).mkdir()
    main(["extension", str(extension)])
    assert {path.name for path in extension.iterdir()} >= {".git", "duckdb", "LICENSE", "CMakeLists.txt", "Makefile"}
    assert not (extension / "old.txt").exists()
    (extension / "description.yml").write_text("extension:\n  name: another\n")
    with pytest.raises(SystemExit, match=r"is neither empty nor filled by this command before; name another folder$"):
        main(["extension", str(extension)])
