"""A page in headless Chromium, which reaches no network: what is in it once its scripts have run, and what they said."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

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
