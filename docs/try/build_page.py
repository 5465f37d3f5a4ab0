"""Build the page that tries nbsql in a browser: docs/try/build_page.py [FOLDER].

The folder is docs/try/built/try by default. It needs npm, which fetches DuckDB-Wasm and
esbuild into a temporary folder. The page itself fetches nothing from another site.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

from nbsql.engines.duckdb.engine import DuckDB
from nbsql.library.demo import load_flights
from nbsql.rendering.renderer import macro_path

HERE = Path(__file__).resolve().parent


def build(folder: Path, work: Path) -> None:
    """Write the page, its scripts, the SQL and the flights to a folder.

    `work` is an empty folder for npm.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "page.js"):
        shutil.copy(HERE / name, work)
    bundle = [
        "page.js",
        "--bundle",
        "--minify",
        "--format=esm",
        "--log-level=warning",
        f"--outfile={folder.resolve() / 'page.js'}",
    ]
    for command in (
        ["npm", "install", "--no-audit", "--no-fund", "--silent"],
        ["npx", "esbuild", *bundle],
    ):
        subprocess.run(command, cwd=work, check=True)
    duckdb_files = work / "node_modules" / "@duckdb" / "duckdb-wasm" / "dist"
    shutil.copy(duckdb_files / "duckdb-eh.wasm", folder / "duckdb.wasm")
    shutil.copy(
        duckdb_files / "duckdb-browser-eh.worker.js", folder / "duckdb.worker.js"
    )
    for name in ("index.html", "page.css", "roles.sql"):
        shutil.copy(HERE / name, folder)
    shutil.copy(macro_path() / "ad_hoc.sql", folder)
    with duckdb.connect() as con:
        load_flights(DuckDB(con))
        con.sql("FROM departures").write_csv(str(folder / "flights.csv"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        build(
            Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "built" / "try",
            Path(work),
        )
