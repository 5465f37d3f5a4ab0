"""Run one of the benchmarks by its name, or list them: python tests/benchmarks [NAME [OPTION ...]]."""

import ast
import runpy
import sys
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = {path.stem: path for path in sorted(HERE.glob("[!_]*.py")) if '\nif __name__ == "__main__"' in path.read_text()}
del SCRIPTS["worker"]  # a process of `run`


def main() -> None:
    _, *arguments = sys.argv
    if not arguments or arguments[0] not in SCRIPTS:
        for name, path in SCRIPTS.items():
            print(f"{name:16}{(ast.get_docstring(ast.parse(path.read_text())) or '').splitlines()[0]}")
        raise SystemExit(f"no benchmark {arguments[0]!r}" if arguments else 0)
    sys.argv = [str(SCRIPTS[arguments[0]]), *arguments[1:]]
    runpy.run_path(sys.argv[0], run_name="__main__")


main()
