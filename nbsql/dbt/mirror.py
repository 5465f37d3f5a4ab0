"""The package as a separate repository with `dbt_project.yml` at its root, as the dbt hub requires."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
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
    emptied(folder, "dbt_project.yml", "name: nbsql\n")
    described = [path.relative_to(macro_path()) for path in (macro_path() / "dbt").glob("*.yml")]
    files = sorted([*map(Path, _BESIDE), *described, *shipped()])
    for path in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(macro_path() / path, folder / path)
    write_licence(folder)
    return [Path(_LICENCE), *files]


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


def write_licence(folder: Path) -> None:
    """Write the licence, which is beside the package in the repository, or in the metadata of an installation."""
    beside = macro_path().parent / _LICENCE
    text = beside.read_text(encoding="utf-8") if beside.is_file() else distribution("nbsql").read_text(f"licenses/{_LICENCE}")
    (folder / _LICENCE).write_text(str(text), encoding="utf-8")
