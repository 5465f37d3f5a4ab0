"""Seconds from an empty folder to the first prediction, by each tutorial: python tests/benchmarks/tutorials.py [PAGE ...].

What is installed beforehand, nbsql itself among it, is not counted: `pip` takes as long as the network does.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

PAGES = Path(__file__).parents[2] / "docs" / "tutorials"
BLOCK = re.compile(r"^```(\w+)(?: (\S+\.duckdb))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIRST = re.compile(r"predict\(|explain\(|evaluate\(|dbt build")


def run(language: str, file: str, block: str, names: dict[str, object]) -> None:
    if language == "python":
        exec(compile(block, "tutorial", "exec"), names)  # noqa: S102
    elif language == "sql":
        script = re.sub(r"^\.read (\S+)$", lambda read: Path(read[1]).read_text(encoding="utf-8"), block, flags=re.MULTILINE)
        with duckdb.connect(file) as con:
            con.execute(script).fetchall()
    elif language == "sh" and "pip install" not in block:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        subprocess.run(["bash", "-euc", block], check=True, capture_output=True, env={**os.environ, "PATH": path})  # noqa: S607


def main(*only: str) -> None:
    for page in sorted(path for path in PAGES.glob("*.md") if not only or path.stem in only):
        names: dict[str, object] = {}
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
            start, first = time.monotonic(), 0.0
            for language, file, block in BLOCK.findall(page.read_text(encoding="utf-8")):
                run(language, file, block, names)
                if not first and FIRST.search(block):
                    first = time.monotonic() - start
            whole = time.monotonic() - start
        print(f"{page.stem}: first prediction after {first:.1f} s, the whole page {whole:.1f} s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
