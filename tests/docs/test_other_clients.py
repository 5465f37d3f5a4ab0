"""The page on other clients: Node asks a model that Python has made."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import nbsql

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "other-clients.md"
INBOX = [
    ("ham", "lunch on friday?", 1, False),
    ("ham", "minutes of the meeting", 3, True),
    ("ham", "your invoice for may", 2, True),
    ("spam", "you won a free prize", 9, False),
    ("spam", "free pills, claim your prize", 12, True),
]


@pytest.mark.slow
def test_node_asks_a_model_as_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not shutil.which("npm"):
        assert not os.environ.get("CI"), "CI needs npm"
        pytest.skip("npm is not installed")
    monkeypatch.chdir(tmp_path)
    rows = [dict(zip(("label", "message", "links", "attachment"), row, strict=True)) for row in INBOX]
    families = {"message": nbsql.Text(), "links": "poisson"}
    with nbsql.fit("shop.duckdb", rows, target="label", name="spam", families=families) as model:
        expected = [
            model.predict_one({"message": "a free lunch", "links": 0, "attachment": False}),
            model.predict_one({"message": "it's your prize, claim it", "links": 8, "attachment": True}),
        ]
    found = re.search(r"^```js\n(.*?)^```\n\n```output\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None
    program, shown = found.groups()
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "@duckdb/node-api"], check=True)  # noqa: S607
    Path("ask.mjs").write_text(program, encoding="utf-8")
    printed = subprocess.run(["node", "ask.mjs"], check=True, capture_output=True, text=True).stdout  # noqa: S607
    assert printed == shown
    assert shown == "".join(
        f"{{ prediction: '{one['prediction']}', probability: {one['probability']:.4f} }}\n" for one in expected
    )
