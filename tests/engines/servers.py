"""Engines of the tests' own: a PostgreSQL server, from the binaries that are installed, and Spark; on the loopback alone."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

LEAST_VERSION = 15
# A virtual machine that lives for a few tests does not earn back what compiling its code twice costs. That of all cases on
# Spark does: it spends a fifth less.
SHORT_LIVED = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
JAVA = "-XX:+UseSerialGC" if os.environ.get("CI") == "true" else SHORT_LIVED


def binaries() -> Path | None:
    """The folder with initdb and postgres of the newest PostgreSQL that is installed, or None."""
    found = [Path(path).resolve().parent for path in filter(None, [shutil.which("initdb")])]
    for pattern in (
        "/usr/lib/postgresql/*/bin",
        "/usr/pgsql-*/bin",
        "/opt/homebrew/opt/postgresql@*/bin",
        "/usr/local/pgsql/bin",
    ):
        found += [path for path in Path("/").glob(pattern[1:]) if (path / "initdb").exists()]
    versions = {path: _version(path) for path in found}
    new = [path for path, version in versions.items() if version >= LEAST_VERSION]
    return max(new, key=versions.__getitem__, default=None)


def _version(folder: Path) -> int:
    said = subprocess.run([folder / "initdb", "--version"], check=True, capture_output=True, text=True).stdout
    return int(said.split()[2].split(".")[0])


def absent(reason: str) -> None:
    """Skip where a user has no such engine; in CI every engine is there."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """The address of a new server, which is stopped and deleted in the end.

    Labels are ordered by the rules of a language in it, as in many a database, and not by their bytes.
    """
    home = Path(tempfile.mkdtemp(prefix="nbsql"))
    options: dict[str, Any] = {"cwd": "/", "check": True, "stdout": subprocess.DEVNULL}
    if os.geteuid() == 0:  # which PostgreSQL refuses to run as
        user = pwd.getpwnam("postgres").pw_name
        shutil.chown(home, user)
        options |= {"user": user, "extra_groups": []}
    data, port = home / "data", _free_port()
    collation = ["--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en"]
    subprocess.run(
        [folder / "initdb", "-D", data, "-U", "nbsql", "-A", "trust", "-E", "UTF8", "--no-sync", *collation], **options
    )
    command: list[str | Path] = [folder / "postgres", "-D", data, "-F", "-p", str(port), "-k", home]
    for setting in (
        "listen_addresses=127.0.0.1",
        "max_connections=200",  # of which dbt 2 opens one a model
        "shared_buffers=32MB",
        "full_page_writes=off",
        "wal_level=minimal",
        "max_wal_senders=0",
        "autovacuum=off",
        "jit=off",  # which compiles what has few rows
    ):
        command += ["-c", setting]
    with (home / "log").open("wb") as log:  # it is a child of this process, so that what it spends is counted with the tests
        server = subprocess.Popen(command, **{name: options[name] for name in options.keys() - {"check", "stdout"}}, stderr=log)
    try:
        said, deadline = data / "postmaster.pid", time.monotonic() + 60
        while not said.exists() or "ready" not in said.read_text():
            if server.poll() is not None or time.monotonic() > deadline:
                pytest.fail("PostgreSQL does not start: " + (home / "log").read_text(errors="replace")[-2000:])
            time.sleep(0.05)
        yield f"postgresql://nbsql@127.0.0.1:{port}/postgres"
    finally:
        server.send_signal(signal.SIGQUIT)  # at once: nobody wants its data
        server.wait(timeout=60)
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def spark(master: str = "local[2]", **settings: str) -> Iterator[Any]:
    """A session of Spark on the loopback, whose tables are in a folder of its own; there is one at a time in a process."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        absent("pyspark is not installed: pip install '.[spark]' to test on Spark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        absent("no Java is installed, which Spark runs on")
    home = Path(tempfile.mkdtemp(prefix="nbsql"))
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "4g",
        "spark.buffer.pageSize": "1m",  # each sort, aggregate and broadcast takes one, of 64 MB by default, and clears it
        "spark.sql.ui.retainedExecutions": "10",  # a thousand plans, kept for a page that nobody opens, fill the memory
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.local.dir": str(home),
        # What is compiled has 48 MB by default, which Spark fills, so that it is thrown away again; plans are short-lived; and
        # loading classes collects everything, four times, before the first of 256 MB is full.
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={home} {JAVA} "
        "-XX:ReservedCodeCacheSize=240m -XX:MetaspaceSize=256m -Xms1536m -Xmn768m",
        "spark.executor.extraJavaOptions": JAVA,
        "spark.log.level": "ERROR",
        **settings,
    }
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    remote = os.environ.get("NBSQL_SPARK") == "connect"  # a server of Spark Connect is started, and asked
    builder = (SparkSession.builder.remote(master) if remote else SparkSession.builder.master(master)).appName("nbsql")
    port = str(_free_port())
    for name, value in {**options, **({"spark.connect.grpc.binding.port": port} if remote else {})}.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():  # a server takes most options when it starts, and no session may set them later
        warnings.simplefilter("ignore" if remote else "default")
        if remote:  # pyspark looks for it at a port that another may have
            from pyspark.sql.connect.client import DefaultChannelBuilder

            DefaultChannelBuilder.default_port = staticmethod(lambda: int(port))
        session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def private_postgres() -> Iterator[str]:
    """The address of a private PostgreSQL server; where none can be started, the test is skipped, or fails in CI."""
    folder = binaries()
    if folder is None:
        absent("no PostgreSQL 15 or later is installed, whose server the tests could start")
    assert folder is not None
    with postgres(folder) as address:
        yield address


@contextmanager
def cluster(workers: int, memory: str = "600m") -> Iterator[str]:
    """The address of the master of a new standalone cluster of Spark, with workers of one core; stopped in the end."""
    try:
        import pyspark
    except ImportError:
        absent("pyspark is not installed: pip install '.[spark]' to test on Spark")
    home = Path(tempfile.mkdtemp(prefix="nbsql"))
    start = Path(pyspark.__file__).parent / "bin" / "spark-class"
    environment = {
        **os.environ,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED,
        "SPARK_LOCAL_DIRS": str(home),
        "SPARK_WORKER_DIR": str(home / "work"),
        "PYSPARK_PYTHON": sys.executable,
    }
    port = _free_port()
    master = f"spark://127.0.0.1:{port}"
    started: list[subprocess.Popen[bytes]] = []

    def launch(name: str, *arguments: str) -> None:
        with (home / f"{name}.log").open("wb") as log:
            command = [str(start), *arguments]
            started.append(subprocess.Popen(command, env=environment, cwd=home, stdout=log, stderr=subprocess.STDOUT))

    try:
        where = ["--host", "127.0.0.1", "--webui-port", "0"]
        launch("master", "org.apache.spark.deploy.master.Master", *where, "--port", str(port))
        for number in range(workers):
            of = ["--cores", "1", "--memory", memory, master]
            launch(f"worker{number}", "org.apache.spark.deploy.worker.Worker", *where, *of)
        deadline = time.monotonic() + 300
        while (home / "master.log").read_text(errors="replace").count("Registering worker") < workers:
            broken = next((process for process in started if process.poll() is not None), None)
            if broken is not None or time.monotonic() > deadline:
                pytest.fail("the cluster does not start: " + (home / "master.log").read_text(errors="replace")[-2000:])
            time.sleep(0.2)
        yield master
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(timeout=60)
        shutil.rmtree(home, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
