"""A private PostgreSQL server, from the binaries that are installed, on a port of the loopback that was free."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

LEAST_VERSION = 15


def binaries() -> Path | None:
    """The folder with initdb and pg_ctl of the newest PostgreSQL that is installed, or None."""
    found = [Path(path).parent for path in filter(None, [shutil.which("initdb")])]
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
    settings = f"-F -p {port} -k {home} -c listen_addresses=127.0.0.1 -c max_connections=30 -c shared_buffers=32MB"
    control = [folder / "pg_ctl", "-D", data, "-w", "-l", home / "log"]
    try:
        subprocess.run([*control, "-o", settings, "start"], **options)
        yield f"postgresql://nbsql@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], **{**options, "check": False})
        shutil.rmtree(home, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
