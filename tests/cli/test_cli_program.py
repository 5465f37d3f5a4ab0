"""The command as a program of its own: processes, locks, signals, and what it loads."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest
from support.program import wait_for_work

import nbsql

ROOT = Path(__file__).parents[2]


def fill(con):
    """A database with the table golf and the model spell."""
    con.execute("CREATE TABLE golf AS SELECT i % 3 AS wind, i % 2 = 0 AS play FROM range(14) AS t(i)")
    nbsql.fit(con, "golf", target="play", name="spell")


def program(*arguments, folder):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "nbsql", *arguments], cwd=folder, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
    )  # fmt: skip


@pytest.mark.slow
def test_a_whole_session_of_processes(shop, tmp_path):
    with program("predict", shop, "spell", "golf", "--format", "csv", folder=tmp_path) as process:
        out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert len(out.splitlines()) == 15
    with program("predict", shop, "spell", "nothing", folder=tmp_path) as process:
        out, err = process.communicate()
    assert (process.returncode, out) == (1, "")
    assert err.startswith("error: no table or view 'nothing'")
    with program("--version", folder=tmp_path) as process:
        assert process.communicate()[0] == f"nbsql, version {nbsql.__version__}\n"


@pytest.mark.slow
def test_two_processes_read_one_database(shop, tmp_path):
    with duckdb.connect(shop, read_only=True), program("list", shop, folder=tmp_path) as process:
        out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert "spell" in out


@pytest.mark.few
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
@pytest.mark.parametrize(
    "arguments", [("ad-hoc",), ("predict", "shop.duckdb", "spell", "golf", "--csv"), ("list", "shop.duckdb")]
)
def test_standard_output_on_a_full_disk_is_one_line(shop, arguments):
    command, environment = [sys.executable, "-m", "nbsql", *arguments], {**os.environ, "PYTHONPATH": str(ROOT)}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.stderr == "error: cannot write to standard output: no space is left on its disk\n"
    assert done.returncode == 1


@pytest.mark.slow
def test_a_locked_database_is_one_line(shop, tmp_path):
    with duckdb.connect(shop), program("list", shop, folder=tmp_path) as process:
        _, err = process.communicate()
    assert process.returncode == 1
    line = r"error: 'shop\.duckdb' is locked by (another process|\S+ \(PID \d+\)); close it there first, or open .* in both\n"
    assert re.fullmatch(line, err)


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux tells which files a process has open")
@pytest.mark.parametrize("database", ["shop.duckdb", "new.duckdb"])
def test_an_interrupted_fit_leaves_everything_as_it_was(shop, tmp_path, database):
    endless = "SELECT i % 3 AS y, i * 0.5 AS x FROM range(100000000000) AS t(i)"
    with program("fit", database, endless, "--target", "y", "--name", "spell", "--replace", folder=tmp_path) as process:
        while not _has_open(process.pid, tmp_path / database):
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        wait_for_work(process, 0.3)  # into the scan; whenever the signal comes, the outcome is the same
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (130, "", "error: interrupted; nothing is half-written\n")
    assert Path("new.duckdb").exists() is False
    assert nbsql.load(shop, "spell").target == "play"


@pytest.mark.slow
@pytest.mark.parametrize("later", [0.0, 0.02])
def test_an_interrupt_while_a_new_file_is_opened_leaves_none(tmp_path, later):
    file, endless = tmp_path / "new.duckdb", "SELECT i % 3 AS y, i * 0.5 AS x FROM range(100000000000) AS t(i)"
    with program("fit", "new.duckdb", endless, "--target", "y", "--name", "spell", folder=tmp_path) as process:
        while not file.exists():
            assert process.poll() is None, process.communicate()
        time.sleep(later)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (130, "", "error: interrupted; nothing is half-written\n")
    assert not file.exists()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux tells which files a process has open")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_file_that_is_not_written_to_its_end_is_removed(shop, tmp_path, sent):
    endless = "SELECT i % 3 AS wind FROM range(100000000000) AS t(i)"
    with program("predict", shop, "spell", endless, "--output", "scored.csv", folder=tmp_path) as process:
        while not any(_has_open(process.pid, file) for file in tmp_path.glob(".nbsql-*.csv")):
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.send_signal(sent)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (130, "", "error: interrupted; nothing is half-written\n")
    assert [file.name for file in tmp_path.iterdir()] == ["shop.duckdb"]


def _has_open(process, file):
    links = Path(f"/proc/{process}/fd").iterdir()
    return any(link.exists() and link.resolve() == file.resolve() for link in links)


def test_importing_the_library_imports_nothing_heavy_beside_duckdb():
    heavy = {"click", "rich", "jinja2", "sqlglot", "nbsql.cli", "nbsql.report"}
    code = f"import sys, nbsql; sys.exit(bool({heavy} & set(sys.modules)))"
    assert (
        subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False).returncode == 0
    )


@pytest.mark.parametrize(("option", "unneeded"), [("--help", "rich"), ("--version", "nbsql.cli.commands")])
def test_an_option_of_the_program_does_not_load_what_it_does_not_need(option, unneeded):
    code = f"import sys\nfrom nbsql.cli import main\ntry: main([{option!r}])\nexcept SystemExit: "
    code += f"sys.exit({unneeded!r} in sys.modules)"
    finished = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=False
    )
    assert (finished.returncode, finished.stderr) == (0, b"")


def test_nothing_else_in_the_package_prints():
    modules = [path for path in (ROOT / "nbsql").rglob("*.py") if not {"cli", "__main__.py"} & {*path.parts}]
    assert len(modules) > 10
    assert {
        path.name for path in modules if re.search(r"^\s*(print|sys\.stdout\.write)\(", path.read_text(), re.MULTILINE)
    } == {"query.py", "base.py"}  # Query.show and Model.show
