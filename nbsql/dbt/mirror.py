"""The package as a separate repository with `dbt_project.yml` at its root, as the dbt hub requires."""

from __future__ import annotations

import shutil
from importlib.metadata import distribution
from pathlib import Path

from nbsql.dbt.package import shipped
from nbsql.dbt.schema import SCHEMA
from nbsql.errors import InputError
from nbsql.rendering.renderer import macro_path

_LICENCE = "LICENSE"
_BESIDE = ("dbt_project.yml", "README.md", str(SCHEMA))


def fill_mirror(folder: Path) -> list[Path]:
    """Copy the package into a folder, remove all other files except those of git, and return the copied files.

    Raises InputError unless the folder is empty, or an earlier mirror, which may be a git repository.
    """
    found = [path for path in folder.iterdir() if path.name != ".git"] if folder.is_dir() else []
    project = folder / "dbt_project.yml"
    if found and not (project.is_file() and project.read_text(encoding="utf-8").startswith("name: nbsql\n")):
        raise InputError(f"{folder} is neither empty nor a mirror of the package; name another folder")
    for path in found:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    described = [path.relative_to(macro_path()) for path in (macro_path() / "dbt").glob("*.yml")]
    files = sorted([*map(Path, _BESIDE), *described, *shipped()])
    for path in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(macro_path() / path, folder / path)
    (folder / _LICENCE).write_text(_licence(), encoding="utf-8")
    return [Path(_LICENCE), *files]


def _licence() -> str:
    """The licence, which is beside the package in the repository, or in the metadata of an installation."""
    beside = macro_path().parent / _LICENCE
    if beside.is_file():
        return beside.read_text(encoding="utf-8")
    return str(distribution("nbsql").read_text(f"licenses/{_LICENCE}"))
