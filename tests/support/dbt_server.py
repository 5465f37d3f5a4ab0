"""A process that has imported dbt, and is forked for each of its commands: the import takes longer than many a command.

dbt compiles how it reads and writes each class when an object of it first is: so it parses a project of one model before, too,
which spares every command half a second.

A line of its input is a command, as JSON: the arguments, the folder, the environment, and the file for what is printed. A line
of its output is the exit code.
"""

import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path


def profile() -> dict[str, object]:
    """Of an adapter that is there."""
    if importlib.util.find_spec("dbt.adapters.duckdb") is not None:
        return {"type": "duckdb", "path": ":memory:"}
    return {
        "type": "sqlite",
        "database": "d",
        "schema": "main",
        "schemas_and_paths": {"main": ":memory:"},
        "schema_directory": ".",
    }


def parse_a_project() -> None:
    from dbt.cli.main import dbtRunner

    model = {"name": "model", "data_tests": ["nothing"], "config": {"meta": {"nbsql": {}}}}
    source = {"name": "raw", "schema": "main", "tables": [{"name": "rows"}]}
    files = {
        "dbt_project.yml": {"name": "project", "version": "1.0", "profile": "project"},
        "profiles.yml": {"project": {"target": "dev", "outputs": {"dev": profile()}}},
        "models/properties.yml": {"models": [model], "sources": [source]},
    }
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "models").mkdir()
        (Path(folder) / "tests" / "generic").mkdir(parents=True)
        for name, content in files.items():
            (Path(folder) / name).write_text(json.dumps(content), encoding="utf-8")
        (Path(folder) / "models" / "model.sql").write_text("SELECT * FROM {{ source('raw', 'rows') }}", encoding="utf-8")
        test = "{% test nothing(model) %}SELECT * FROM {{ model }}{% endtest %}"
        (Path(folder) / "tests" / "generic" / "nothing.sql").write_text(test, encoding="utf-8")
        os.environ.update(DO_NOT_TRACK="1", DBT_SEND_ANONYMOUS_USAGE_STATS="false")
        # The static parser starts threads, which are not there in a process that is forked, and are waited for in vain.
        options = ["--quiet", "--no-static-parser", "--no-partial-parse", "--project-dir", folder, "--profiles-dir", folder]
        assert dbtRunner().invoke(["parse", *options]).success
    tasks = Path("/proc/self/task")
    assert not tasks.exists() or len([*tasks.iterdir()]) == 1


def main() -> None:
    from dbt.cli.main import cli

    for adapter in ("duckdb", "postgres", "sqlite", "clickhouse", "trino"):
        if importlib.util.find_spec(f"dbt.adapters.{adapter}") is not None:
            importlib.import_module(f"dbt.adapters.{adapter}")
    parse_a_project()
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
