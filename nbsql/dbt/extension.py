"""The page of plain SQL as an extension of DuckDB: a repository that DuckDB's build for community extensions takes."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from nbsql.dbt.mirror import checkout, emptied
from nbsql.rendering.renderer import macro_path
from nbsql.version import __version__

_MACRO = re.compile(r"^CREATE OR REPLACE MACRO .*?;$", re.DOTALL | re.MULTILINE)


def macros_header() -> str:
    """The macros as a C++ header. Each is a literal of its own, as compilers limit their lengths."""
    page = (macro_path() / "ad_hoc.sql").read_text(encoding="utf-8")
    literals = ",\n".join(f'R"nbsql({macro})nbsql"' for macro in _MACRO.findall(page))
    return (
        "#pragma once\n\n// Written by nbsql from ad_hoc.sql; change it there.\n\n"
        f'#define NBSQL_VERSION "{__version__}"\n\n'
        f"static const char *const NBSQL_MACROS[] = {{\n{literals}}};\n"
    )


def fill_extension(folder: Path) -> list[Path]:
    """Write the extension into a folder, remove all other files except those of git and its submodules, and return its files.

    Raises InputError unless the folder is empty, or an earlier extension, which may be a git repository.
    """
    licence = checkout() / "LICENSE"
    emptied(folder, "description.yml", "extension:\n  name: nbsql\n", keep=(".gitmodules", "duckdb", "extension-ci-tools"))
    shutil.copytree(macro_path() / "extension", folder, dirs_exist_ok=True)
    described = folder / "description.yml"
    described.write_text(described.read_text(encoding="utf-8").replace("VERSION", __version__), encoding="utf-8")
    (folder / "src" / "include" / "nbsql_macros.hpp").write_text(macros_header(), encoding="utf-8")
    shutil.copyfile(licence, folder / "LICENSE")
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
