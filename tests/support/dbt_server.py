"""A process that has imported dbt, and is forked for each of its commands: the import takes longer than many a command.

A line of its input is a command, as JSON: the arguments, the folder, the environment, and the file for what is printed. A line
of its output is the exit code.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys


def main() -> None:
    from dbt.cli.main import cli

    for adapter in ("duckdb", "postgres"):
        if importlib.util.find_spec(f"dbt.adapters.{adapter}") is not None:
            importlib.import_module(f"dbt.adapters.{adapter}")
    for line in iter(sys.stdin.readline, ""):
        command = json.loads(line)
        process = os.fork()
        if process == 0:
            os.chdir(command["folder"])
            os.environ.clear()
            os.environ.update(command["environment"])
            for stream, path in (sys.stdout, command["out"]), (sys.stderr, command["err"]):
                file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(file, stream.fileno())
            sys.argv = ["dbt", *command["arguments"]]
            cli()  # which exits
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
