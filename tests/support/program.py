"""The program `nbsql` in a process that has imported it, and is forked for each command: the import takes longer than most.

That the program itself starts, and with what, is held by tests/cli/test_cli_program.py and the pages of their own.
"""

import gc
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import nbsql

# What a shell finds as `nbsql`: it sends its streams, and what it was called with, and exits as the command does.
_CALLER = """#!{python} -IS
import json, os, socket, sys
place = socket.socket(socket.AF_UNIX)
place.connect({address!r})
socket.send_fds(place, [b"!"], [0, 1, 2])
with place.makefile("rwb") as file:
    file.write(json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode() + b"\\n")
    file.flush()
    sys.exit(int(file.readline()))
"""


@contextmanager
def forked_program(folder: Path) -> Iterator[Path]:
    """The folder, which is short and empty, with a program `nbsql` for the first place of a PATH; where nothing can fork,
    with none.
    """
    if not hasattr(os, "fork"):
        yield folder
        return
    address = str(folder / "socket")
    program = folder / "nbsql"
    program.write_text(_CALLER.format(python=sys.executable, address=address), encoding="utf-8")
    program.chmod(0o755)
    paths = [str(Path(__file__).parents[1]), str(Path(nbsql.__file__).parents[1])]
    script = f"import sys; sys.path += {paths!r}; from support.program import serve; serve({address!r})"
    # In its own folder: Python would find modules in that of this process, the checkout say, before the installed ones.
    server = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=folder)
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        yield folder
    finally:
        server.terminate()
        server.communicate()


def serve(address: str) -> None:
    """Answer callers until the process is ended."""
    import nbsql.cli.commands  # with DuckDB and all else that every command imports
    from nbsql.rendering.renderer import Renderer

    for module in ("console", "table", "text"):  # which most commands print with
        import_module(f"rich.{module}")
    Renderer("duckdb")
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as place:
        place.bind(address)
        place.listen()
        os.write(1, b"ready\n")
        while True:
            caller, _ = place.accept()
            if os.fork() == 0:
                place.close()
                _answer(caller, nbsql.cli.main)
                os._exit(0)
            caller.close()
            while _ended():
                pass


def _ended() -> bool:
    """Whether a process that answers has ended, and is no more."""
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


def _answer(caller: socket.socket, main: Any) -> None:
    """Run the command of a caller, and tell it the exit code."""
    _, streams, _, _ = socket.recv_fds(caller, 1, 3)
    with caller.makefile("rwb") as file:
        arguments, folder, environment = json.loads(file.readline())
        process = os.fork()
        if process == 0:
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
                os.close(stream)
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(environment)
            sys.argv = arguments
            main()  # which exits
        for stream in streams:
            os.close(stream)
        _, status = os.waitpid(process, 0)
        file.write(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def wait_for_work(process: subprocess.Popen[str], seconds: float) -> None:
    """Wait until a running process has spent so many more seconds of a processor, however busy the machine is."""

    def spent() -> float:
        fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    begun = spent()
    while spent() < begun + seconds:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
