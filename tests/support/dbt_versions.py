"""Other versions of dbt than the tests' own, in environments of their own: `python tests/support/dbt_versions.py FOLDER`.

Only those that are named after the folder are made, such as 2.0.

dbt 2 is no Python program, and gets its drivers from a network of its own; here they come from PyPI and npm: DuckDB's library
by a manifest in a folder that ADBC_DRIVER_PATH names, PostgreSQL's from where dbt caches what it has fetched.
"""

import os
import platform
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

FOLDER = "NBSQL_DBT_VERSIONS"  # the variable that names the folder
OLDEST = ("dbt-core==1.8.*", "dbt-duckdb==1.8.*")
# 1.12 needs a parser that is no wheel, and runs without it, by the dependencies of 1.11 and two more.
BEFORE_LAST = ("dbt-core==1.11.*", "dbt-duckdb==1.11.*", "dbt-postgres==1.11.*", "python-dotenv>=1.2", "metricflow<1.0")
LAST = ("dbt-core==1.12.*", "click>=8.3,<9")  # of dbt 1
# The extension is a package for DuckDB 1.5, which SQLMesh takes, and not yet for 2.0.
SQLMESH = ("sqlmesh==0.236.*", "dbt-core==1.11.*", "dbt-duckdb==1.11.*", "duckdb-extension-ducklake==1.5.*")
SQLITE = ("dbt-core==1.11.*", "dbt-sqlite==1.10.*")  # which takes an older dbt-adapters than the others
# chdb is ClickHouse in a process (clickhouse_server.py); dbt_server.py parses a project of DuckDB first.
CLICKHOUSE = ("dbt-core==1.11.*", "dbt-clickhouse==1.10.*", "chdb==4.4.*", "dbt-duckdb==1.11.*")
# What stands for warehouses: fakesnow and sqlglot write their SQL for DuckDB, and ZetaSQL is BigQuery's.
WAREHOUSES = (
    "dbt-core==1.11.*",
    "dbt-snowflake==1.12.*",
    "dbt-bigquery==1.12.*",
    "dbt-trino==1.11.*",
    "dbt-duckdb==1.11.*",
    "fakesnow[server]==0.12.*",
    "sqlglot[c]",
    "zetasql==0.1.*",
)
LAKE = "sqlmesh"  # the version whose DuckDB has the extension ducklake
NEWEST = "dbt-core==2.0.0a4"  # the last one that is a wheel; later ones fetch themselves from elsewhere as they are built
DUCKDB = "@duckdb/node-bindings-linux-x64@1.5.6-r.1"
POSTGRES = "adbc-driver-postgresql==1.13.0"
# Where dbt 2.0.0a4 looks for the driver before it fetches it.
_CACHED = "com.getdbt/adbc/x86_64-manylinux_2_17-linux-gnu/libadbc_driver_postgresql-0.21.0+dbt0.21.0.so"
_MANIFEST = """manifest_version = 1
name = "DuckDB"
[Driver]
entrypoint = "duckdb_adbc_init"
[Driver.shared]
linux_amd64 = "{}"
"""


ENVIRONMENTS = {
    "1.8": OLDEST,
    "1.12": BEFORE_LAST,
    "sqlmesh": SQLMESH,
    "sqlite": SQLITE,
    "clickhouse": CLICKHOUSE,
    "warehouses": WAREHOUSES,
    "2.0": (NEWEST,),
}


def install(folder: Path, *names: str) -> None:
    """The environments, in a folder that is made."""
    for name in names or ENVIRONMENTS:
        environment(folder / name, *ENVIRONMENTS[name])
        if name == "1.12":
            _pip(folder / name, "--no-deps", *LAST)
        elif name == "2.0":
            _drivers(folder / name)


def _drivers(newest: Path) -> None:
    """Those of dbt 2."""
    _pip(newest, "--no-deps", "--target", str(newest / "postgres"), POSTGRES)
    driver = newest / "cache" / _CACHED
    driver.parent.mkdir(parents=True, exist_ok=True)
    (newest / "postgres/adbc_driver_postgresql/libadbc_driver_postgresql.so").replace(driver)
    library = newest / "duckdb"
    library.mkdir(exist_ok=True)
    command = ["npm", "pack", "--silent", "--pack-destination", str(library), DUCKDB]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (packed,) = library.glob("*.tgz")
    with tarfile.open(packed) as archive, (library / "libduckdb.so").open("wb") as file:
        member = archive.extractfile("package/libduckdb.so")
        assert member is not None
        while block := member.read(1 << 20):
            file.write(block)
    packed.unlink()
    (library / "duckdb.toml").write_text(_MANIFEST.format(library / "libduckdb.so"), encoding="utf-8")


def environment(folder: Path, *requirements: str) -> None:
    """A new one with these packages."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    _pip(folder, *requirements)


def _pip(folder: Path, *arguments: str) -> None:
    """Install by uv where it is on the path and can, as it takes pip several times as long."""
    uv = shutil.which("uv")
    quick = [uv, "pip", "install", "--quiet", "--python", str(folder / "bin" / "python"), *arguments] if uv else ["false"]
    if subprocess.run(quick, check=False).returncode != 0:
        subprocess.run([str(folder / "bin" / "pip"), "install", "--quiet", *arguments], check=True)


def missing(version: str) -> str | None:
    """Why a version cannot be run, and the cure; None where it can."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return "the environments of other dbt versions are for Linux on x86-64"
    folder = os.environ.get(FOLDER)
    if folder is None or not (Path(folder) / version / "bin" / "dbt").exists():
        return f"dbt {version} is not installed: python tests/support/dbt_versions.py FOLDER, and {FOLDER}=FOLDER"
    return None


def python(version: str) -> str | None:
    """The Python that runs a version; None for dbt 2, which is no Python program."""
    return None if version == "2.0" else str(Path(os.environ[FOLDER]) / version / "bin" / "python")


def command(version: str) -> tuple[list[str], dict[str, str]]:
    """The command of a version of dbt 2, and its environment variables."""
    folder = Path(os.environ[FOLDER]) / version
    variables = {"ADBC_DRIVER_PATH": str(folder / "duckdb"), "XDG_CACHE_HOME": str(folder / "cache")}
    return [str(folder / "bin" / "dbt")], {**variables, "DBT_ALLOW_EXPERIMENTAL_ADAPTERS": "true"}


if __name__ == "__main__":
    install(Path(sys.argv[1]).absolute(), *sys.argv[2:])
