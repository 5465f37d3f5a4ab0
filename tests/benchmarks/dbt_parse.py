"""What the dbt package adds to `dbt parse`: seconds of a processor, of an empty project without the package and with it.

    python tests/benchmarks/dbt_parse.py [--runs 5] [folder of the package]

The project has one model, which calls nothing of the package. Each is parsed anew, without what dbt keeps of the last time, in
turns; the least of each is printed, since a busy machine only adds, and how many macros dbt has read of the package.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from nbsql.rendering.renderer import macro_path

PROFILE = {"shop": {"target": "dev", "outputs": {"dev": {"type": "duckdb", "path": ":memory:"}}}}
PARSE = ["parse", "--no-partial-parse", "--profiles-dir", "."]


def make_project(folder: Path, package: Path | None) -> Path:
    """An empty project, which has the package if there is one."""
    (folder / "models").mkdir(parents=True)
    (folder / "models" / "one.sql").write_text("SELECT 1 AS x\n")
    (folder / "dbt_project.yml").write_text("name: shop\nversion: '1.0'\nprofile: shop\nmodel-paths: [models]\n")
    (folder / "profiles.yml").write_text(json.dumps(PROFILE))
    if package is not None:
        (folder / "packages.yml").write_text(json.dumps({"packages": [{"local": str(package)}]}))
        run_dbt(folder, ["deps", "--profiles-dir", "."])
    return folder


def run_dbt(folder: Path, arguments: list[str]) -> float:
    """The seconds of a processor that a command of dbt takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "dbt.cli.main", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def count_macros(folder: Path) -> int:
    """The macros that dbt has read of the package."""
    manifest = json.loads((folder / "target" / "manifest.json").read_text(encoding="utf-8"))
    return sum(macro["package_name"] == "nbsql" for macro in manifest["macros"].values())


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("package", nargs="?", type=Path, default=macro_path())
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        projects = {
            "without": make_project(Path(name) / "without", None),
            "with": make_project(Path(name) / "with", arguments.package.resolve()),
        }
        taken: dict[str, list[float]] = {kind: [] for kind in projects}
        for _ in range(arguments.runs):
            for kind, folder in projects.items():
                taken[kind].append(run_dbt(folder, PARSE))
        without, with_it = (min(seconds) for seconds in taken.values())
        print(f"without the package {without:.2f} s, with it {with_it:.2f} s: {with_it - without:.2f} s more")
        print(f"{count_macros(projects['with'])} macros of the package")


if __name__ == "__main__":
    main()
