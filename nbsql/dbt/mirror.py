"""The package as a repository of its own, with `dbt_project.yml` at its root, where the dbt hub looks for it."""

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
    """The files of the package, copied into a folder, from which all others but git's own are removed.

    Args:
        folder: empty, or a mirror, which may be a git repository.

    Raises:
        InputError: the folder holds something else.
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
    """The licence, which stands beside the package in the repository, and among what pip knows of an installed one."""
    beside = macro_path().parent / _LICENCE
    if beside.is_file():
        return beside.read_text(encoding="utf-8")
    return str(distribution("nbsql").read_text(f"licenses/{_LICENCE}"))
