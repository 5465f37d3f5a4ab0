"""Repositories for others: the package with dbt_project.yml at its root, as the dbt hub wants it, and DuckDB's extension."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from nbsql.dbt.package import shipped
from nbsql.dbt.schema import SCHEMA
from nbsql.errors import InputError
from nbsql.rendering.renderer import macro_path
from nbsql.version import __version__

_BESIDE = ("dbt_project.yml", str(SCHEMA))
_RELATIVE_LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)[^)]*\)")


def fill_mirror(folder: Path) -> list[Path]:
    """Copy the package into a folder, remove all other files except those of git, and return the copied files.

    Raises InputError unless the folder is empty, or an earlier mirror, which may be a git repository.
    """
    project = checkout()
    emptied(folder, "dbt_project.yml", "name: nbsql\n")
    described = [path.relative_to(macro_path()) for path in (macro_path() / "dbt").glob("*.yml")]
    files = sorted([*map(Path, _BESIDE), *described, *shipped()])
    for path in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(macro_path() / path, folder / path)
    shutil.copyfile(project / "LICENSE", folder / "LICENSE")
    shutil.copyfile(macro_path() / "dbt" / "README.md", folder / "README.md")
    changes = (project / "CHANGELOG.md").read_text(encoding="utf-8")
    (folder / "CHANGELOG.md").write_text(_RELATIVE_LINK.sub(r"\1", changes), encoding="utf-8")  # to pages that are not there
    example, tests = project / "examples" / "dbt_project", folder / "integration_tests"
    shutil.copytree(example, tests, ignore=shutil.ignore_patterns("target", "logs", "dbt_packages", "*.duckdb*", "*.yml.lock"))
    packages = tests / "packages.yml"
    packages.write_text("packages:\n  - local: ../\n", encoding="utf-8")
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)


def emptied(folder: Path, file: str, start: str, keep: Sequence[str] = ()) -> None:
    """Remove all files of a folder but those of git and those to `keep`.

    Raises InputError unless the folder is empty, or filled before: a file of this name then starts so.
    """
    found = [path for path in folder.iterdir() if path.name not in (".git", *keep)] if folder.is_dir() else []
    marker = folder / file
    if found and not (marker.is_file() and marker.read_text(encoding="utf-8").startswith(start)):
        raise InputError(f"{folder} is neither empty nor filled by this command before; name another folder")
    for path in found:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def checkout() -> Path:
    """The folder of the project: that of the macros or, of an installation, the current one.

    Raises InputError if neither is, since what is published beside the macros is not installed.
    """
    for folder in (macro_path().parent, Path.cwd()):
        if (folder / "LICENSE").is_file() and (folder / "sql" / "dbt_project.yml").is_file():
            return folder
    raise InputError("this copies the licence, the example and the changes of nbsql; run it in the folder of a clone")


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
