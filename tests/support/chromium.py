"""A page in headless Chromium, which reaches no network: what is in it once its scripts have run, and what they said."""

import html
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pytest

_PROBE = """
<script>
(async () => {
  while (!document.body.dataset.drawn) await new Promise((done) => setTimeout(done, 20));
  const view = (id) => document.getElementById(id).view;
  const rows = (id, column) => Object.values(view(id)._runtime.data).map((table) => table.values.value)
    .find((table) => table && table.length && column in table[0])?.map((row) => ({...row}));
  const choose = async (id, place, index) => {
    const input = document.querySelectorAll(`#${id} .vega-bind select, #${id} .vega-bind input`)[place];
    if (input.tagName === "SELECT") input.selectedIndex = index; else input.value = index;
    input.dispatchEvent(new Event(input.tagName === "SELECT" ? "change" : "input"));
    await new Promise((done) => setTimeout(done, 100));
    await view(id).runAsync();
  };
  const found = await (async () => { PROGRAM })();
  const place = document.createElement("pre");
  place.id = "found";
  place.textContent = JSON.stringify(found);
  document.body.append(place);
})();
</script>
"""


def chromium() -> str:
    """The program; a test that lacks it is skipped, and fails in continuous integration."""
    found = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
    if found is None:
        reason = "no Chromium is installed, in which the tests could open a page"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


class Tab:
    """A page in a Chromium that is spoken to by pipes (the DevTools protocol): keys that are pressed in it are a user's."""

    def __init__(self, to: BinaryIO, back: BinaryIO) -> None:
        self._to, self._back = to, back
        self._session: dict[str, str] = {}
        self._number = 0

    def open(self, page: Path | str, width: int | None = None) -> None:
        """Show a page, of a file or an address, on a screen of that width if one is given, and wait until all is drawn."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = {"sessionId": self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}
        if width is not None:
            self.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=True)
        self.call("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        self.wait()

    def wait(self) -> None:
        """Wait until all of the page is drawn."""
        deadline = time.monotonic() + 120
        while self.run("document.body?.dataset.drawn") != "yes":
            assert time.monotonic() < deadline, "the charts of the page are not drawn"
            time.sleep(0.05)

    def run(self, expression: str) -> Any:
        """The value of an expression of JavaScript."""
        found = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        return found["result"].get("value")

    def press(self, key: str) -> None:
        """Press and release a key."""
        code = {"Tab": 9, "Enter": 13, "ArrowRight": 39, "ArrowDown": 40}[key]
        event = {"key": key, "code": key, "windowsVirtualKeyCode": code} | ({"text": "\r"} if key == "Enter" else {})
        self.call("Input.dispatchKeyEvent", type="keyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def call(self, method: str, **parameters: Any) -> Any:
        """What a method of the protocol returns."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters, **self._session}
        self._to.write(json.dumps(message).encode() + b"\0")
        self._to.flush()
        while True:
            read = bytearray()
            while (character := self._back.read(1)) != b"\0":
                assert character, f"Chromium ended before it answered {method}"
                read += character
            answer = json.loads(read)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]


@contextmanager
def tab(page: Path | str, folder: Path, width: int | None = None) -> Iterator[Tab]:
    """A page in which keys can be pressed."""
    (there, to), (back, here) = os.pipe(), os.pipe()
    command = [
        chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'chromium of keys'}",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--remote-debugging-pipe", "--force-prefers-reduced-motion",
    ]  # fmt: skip
    pipes = f'exec "$@" 3<&{there} 4>&{here}'  # where Chromium looks for them
    shell = ["/bin/bash", "-c", pipes, "bash", *command]
    started = subprocess.Popen(shell, pass_fds=(there, here), stderr=subprocess.DEVNULL)
    os.close(there)
    os.close(here)
    try:
        with os.fdopen(to, "wb") as sent, os.fdopen(back, "rb") as received:
            opened_tab = Tab(sent, received)
            opened_tab.open(page, width)
            yield opened_tab
            opened_tab._session = {}
            opened_tab.call("Browser.close")
    finally:
        started.terminate()
        started.wait(timeout=60)


def opened(page: Path, folder: Path, program: str) -> tuple[Any, list[str]]:
    """What a program in the page returns once all is drawn, and which errors the console has."""
    probed = folder / f"probed {page.name}"
    probed.write_text(page.read_text(encoding="utf-8") + _PROBE.replace("PROGRAM", program), encoding="utf-8")
    command = [
        chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={folder / 'chromium'}", "--enable-logging=stderr", "--virtual-time-budget=60000", "--dump-dom",
        probed.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    found = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    # Vega-Lite warns where it shares what a chart repeats, such as an axis; what is no warning is an error.
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line and '"WARN ' not in line]
    assert found is not None, "\n".join(said) or done.stderr[-2000:]
    return json.loads(html.unescape(found[1])), said
