"""A DuckDB shell, of the package duckdb-cli: what is asked there, no Python helps."""

import csv
import importlib.util
import io
import subprocess
from pathlib import Path

from engines.servers import absent


def asked(path: Path, *commands: str) -> list[dict[str, str]]:
    """The rows of the last of some commands in a shell of a database file, by column, as text."""
    package = importlib.util.find_spec("duckdb_cli")
    if package is None or package.origin is None:
        absent("no DuckDB shell is installed: pip install duckdb-cli")
    assert package is not None
    assert package.origin is not None
    listed = [part for command in commands for part in ("-c", command)]
    shell = [str(Path(package.origin).parent / "duckdb"), "-no-init", "-bail", "-csv", str(path), *listed]
    done = subprocess.run(shell, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))
