"""Runs dbt on small projects that install the package from this checkout, and on the example, on each engine."""

import atexit
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import duckdb
import pytest
from engines.servers import absent, private_postgres
from support import dbt_versions

from nbsql.rendering.renderer import macro_path


def installed(*modules: str) -> bool:
    """Whether all these modules are there."""
    try:
        return all(importlib.util.find_spec(module) is not None for module in modules)
    except ModuleNotFoundError:
        return False


# .ci/run imports dbt before it runs the tests, so that they are skipped only where it is not meant to be.
needs_dbt = [
    pytest.mark.dbt,
    pytest.mark.skipif(not installed("dbt.adapters.duckdb"), reason="dbt is not installed: pip install '.[test]'"),
]

ENGINES = ("duckdb", "postgres")
Build = tuple[str, "str | None"]  # an engine, and a version of dbt; None: that of the tests


def _builds(by_day: Build, *by_night: Build) -> list[Any]:
    """Parameters of tests, or of a fixture."""
    night = [pytest.param(build, id="-".join(filter(None, build)), marks=pytest.mark.nightly) for build in by_night]
    return [pytest.param(by_day, id="-".join(filter(None, by_day))), *night]


# dbt 2 takes a second where the others take ten, and runs by day where it can: on DuckDB it reads no file that a newer DuckDB
# has made, so that the rows are a model of the project or are on PostgreSQL.
BUILDS = _builds(
    ("duckdb", "2.0"),
    *(("postgres", version) for version in (None, "2.0")),
    *(("duckdb", version) for version in (None, "1.8", "1.12")),
)
OF_ROWS = _builds(("postgres", "2.0"), *((engine, None) for engine in ENGINES))


@contextmanager
def server(engine: str, version: str | None = None) -> Iterator[str | None]:
    """The address of a private PostgreSQL server, or None for DuckDB, which has none; a version of dbt has to be there."""
    if why := version and dbt_versions.missing(version):
        absent(why)
    if engine == "duckdb":
        yield None
        return
    if not installed("dbt.adapters.postgres", "psycopg"):
        absent("dbt-postgres or psycopg is not installed: pip install '.[test]'")
    with private_postgres() as address:
        yield address


def output(address: str) -> dict[str, Any]:
    """The output of a profile for a PostgreSQL database."""
    parts = urlsplit(address)
    place = {"host": parts.hostname, "port": parts.port, "user": parts.username, "password": "secret", "dbname": parts.path[1:]}
    return {"type": "postgres", "schema": "public", "threads": 2, **place}


class Project:
    """A dbt project in a folder of its own, on a DuckDB file or a PostgreSQL database.

    Args:
        folder: an empty folder.
        address: of the PostgreSQL database; None: a DuckDB file in the folder.
        models: the SQL of each model, by name.
        meta: the options of the models of statistics, by name.
        config: more config of models, by name.
        tests: the generic tests of models, by name.
        version: of dbt; None: that of the tests.
        target: the output of the profile, for another adapter.
    """

    def __init__(
        self,
        folder: Path,
        models: Mapping[str, str],
        meta: Mapping[str, Any],
        config: Mapping[str, Any] | None = None,
        tests: Mapping[str, Sequence[Any]] | None = None,
        *,
        address: str | None = None,
        version: str | None = None,
        target: Mapping[str, Any] | None = None,
    ) -> None:
        self.folder = folder
        self.version = version
        self.address = address
        self.database = folder / "project.duckdb"
        (folder / "models").mkdir()
        for name, sql in models.items():
            (folder / "models" / f"{name}.sql").write_text(sql, encoding="utf-8")
        properties = [
            {
                "name": name,
                "config": {**(config or {}).get(name, {}), **({"meta": {"nbsql": meta[name]}} if name in meta else {})},
                "data_tests": list((tests or {}).get(name, ())),
            }
            for name in models
        ]
        target = target or (
            {"type": "duckdb", "path": str(self.database), "threads": 2} if address is None else output(address)
        )
        tables = {
            "name": "raw",
            "schema": target.get("schema", "main"),
            "tables": [{"name": name} for name in ("rows", "empty", "others")],
        }
        self.write("models/properties.yml", {"models": properties, "sources": [tables]})
        self.write("packages.yml", {"packages": [{"local": str(macro_path())}]})
        self.write("profiles.yml", {"project": {"target": "dev", "outputs": {"dev": target}}})
        flags = {"send_anonymous_usage_stats": False}
        self.write("dbt_project.yml", {"name": "project", "version": "1.0", "profile": "project", "flags": flags})
        # As `dbt deps` installs a local package, which the example runs (test_dbt_example.py).
        (folder / "dbt_packages").mkdir()
        (folder / "dbt_packages" / "nbsql").symlink_to(macro_path(), target_is_directory=True)

    def write(self, name: str, content: Any) -> None:
        (self.folder / name).write_text(json.dumps(content), encoding="utf-8")  # JSON is YAML

    def dbt(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return dbt(self.folder, *arguments, version=self.version)

    def build(self, *arguments: str) -> None:
        done = self.dbt("build", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr

    def configure(self, meta: Mapping[str, Any]) -> None:
        """Give models of statistics other options, by name."""
        properties = json.loads((self.folder / "models" / "properties.yml").read_text(encoding="utf-8"))
        for model in properties["models"]:
            if model["name"] in meta:
                model["config"]["meta"] = {"nbsql": meta[model["name"]]}
        self.write("models/properties.yml", properties)

    def _results(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads((self.folder / "target" / "run_results.json").read_text(encoding="utf-8"))[
            "results"
        ]
        return found

    def statuses(self) -> dict[str, str]:
        """How each node that ran last came out."""
        return {result["unique_id"].split(".")[2]: result["status"] for result in self._results()}

    def messages(self) -> dict[str, str]:
        """What dbt said of each node that it ran last: our line, or its first."""
        found: dict[str, str] = {}
        for result in self._results():
            lines = [line.strip() for line in (result["message"] or "").splitlines()]
            ours = [line[line.index("nbsql: ") :] for line in lines if "nbsql: " in line] or lines[:1]
            name = result["unique_id"].split(".")[2]
            found[name] = "".join(ours[:1]) or found.get(name, "")  # of a unit test, not of its skipped model
        return found

    @property
    def engine(self) -> str:
        return "duckdb" if self.address is None else "postgres"

    def connect(self) -> Any:
        """A connection of duckdb's or psycopg's to the database."""
        if self.address is None:
            return duckdb.connect(str(self.database))
        import psycopg

        return psycopg.connect(self.address, autocommit=True)

    def run(self, *statements: str) -> None:
        with self.connect() as con:
            for sql in statements:
                con.execute(sql)


def module_on(engine: str) -> ModuleType:
    """The file of the tests of the package on an engine, which has its project and what is executed and refused there."""
    file = Path(__file__).parents[1] / "dbt" / f"test_dbt_{engine}.py"
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


ALL = "source('raw', 'rows')"


def scores(model: str) -> dict[str, str]:
    """The calls by their names that engines without lists execute: of 'counted' and 'numbered', and of 'ordered' or `model`."""
    return {
        "priors": "class_priors(ref('counted'))",
        "likelihoods": "feature_likelihoods(ref('counted'))",
        "predict_proba": f"probabilities(ref('counted'), {ALL}, columns='id')",
        "joint_log_likelihood": f"joint_log_likelihoods(ref('{model}'), {ALL}, columns='id')",
        "log_evidence": f"evidence(ref('{model}'), {ALL}, columns='id')",
        "explain": f"explanation(ref('{model}'), {ALL})",
        "confusion": f"evaluation(ref('{model}'), {ALL}, table='confusion')",
        "scorecard": "scorecard(ref('ordered'), target='a')",
        "numbered_likelihoods": "feature_likelihoods(ref('numbered'))",
        "numbered_predict": f"predictions(ref('numbered'), {ALL}, columns='id')",
    }


def scores_in_python(counted: Any, model: Any, ordered: Any, numbered: Any, rows: str) -> dict[str, Any]:
    """The queries of the models in Python whose rows those of `scores` are."""
    return {
        "priors": counted.priors,
        "likelihoods": counted.likelihoods,
        "predict_proba": counted.predict_proba(rows, columns=["id"]),
        **{verb: getattr(model, verb)(rows, columns=["id"]) for verb in ("joint_log_likelihood", "log_evidence")},
        "explain": model.explain(rows),
        "confusion": model.evaluate(rows).confusion,
        "scorecard": ordered.scorecard(target="a").lines,
        "numbered_likelihoods": numbered.likelihoods,
        "numbered_predict": numbered.predict(rows, columns=["id"]),
    }


def read(con: Any, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names of the columns of a query, and its rows."""
    cursor = con.execute(sql)
    return [column[0] for column in cursor.description], cursor.fetchall()


def dbt(folder: Path, *arguments: str, version: str | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, as it keeps its database open for as long as it runs; forked where that can be.

    Args:
        folder: of the project.
        arguments: of dbt.
        version: of dbt, in an environment of its own; None: that of the tests.
        variables: of the environment.
    """
    quiet = {"DO_NOT_TRACK": "1", "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "DBT_USE_COLORS": "false"}
    environment = {**os.environ, **quiet, **variables}
    if "PYTHONPATH" not in variables:
        environment.pop("PYTHONPATH", None)
    arguments = (*arguments, "--project-dir", str(folder), "--profiles-dir", str(folder))
    python = sys.executable if version is None else dbt_versions.python(version)
    if python is None:
        command, of_version = dbt_versions.command(str(version))
        environment.update(of_version)
    elif hasattr(os, "fork") and "PYTHONPATH" not in variables:
        return _forked(python, folder, arguments, environment)
    else:
        command = [python, "-c", "from dbt.cli.main import cli; cli()"]
    return subprocess.run(
        [*command, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@cache
def _server(python: str) -> subprocess.Popen[str]:
    """One a worker and a Python, whose dbt it is, for as long as the worker lives."""
    # Not as a script, into whose folder Python would look: dbt takes a module whose name begins with dbt_ for a plugin.
    command = [python, "-c", Path(__file__).with_name("dbt_server.py").read_text(encoding="utf-8")]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(server.communicate)  # it ends with its input
    return server


def _forked(
    python: str, folder: Path, arguments: Sequence[str], environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    server = _server(python)
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.TemporaryDirectory() as files:
        out, err = Path(files) / "out", Path(files) / "err"
        command = {
            "arguments": arguments,
            "folder": str(folder),
            "environment": dict(environment),
            "out": str(out),
            "err": str(err),
        }
        print(json.dumps(command), file=server.stdin, flush=True)
        code = int(server.stdout.readline())
        return subprocess.CompletedProcess(list(arguments), code, out.read_text("utf-8"), err.read_text("utf-8"))


def equal(found: Iterable[Sequence[Any]], expected: Iterable[Sequence[Any]], what: str = "") -> None:
    """Whether two relations have the same rows, in any order, numbers to 1e-9; `what` they are."""
    ours, theirs = (sorted((tuple(row) for row in rows), key=_key) for rows in (found, expected))
    assert len(ours) == len(theirs), what
    for row, other in zip(ours, theirs, strict=True):
        assert len(row) == len(other), what
        for value, wanted in zip(row, other, strict=True):
            if isinstance(wanted, float) and isinstance(value, float):
                assert math.isclose(value, wanted, rel_tol=1e-9, abs_tol=1e-12) or value == wanted, (what, row, other)
            else:
                assert value == wanted, (what, row, other)


def _key(row: Sequence[Any]) -> list[tuple[bool, str]]:
    """Sorts rows by all but the last digits of their numbers."""
    return [(value is None, f"{value:.6g}" if isinstance(value, float) else str(value)) for value in row]
