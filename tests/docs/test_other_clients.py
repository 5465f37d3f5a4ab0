"""The page on other clients: Node, R and Java ask a model that Python has made."""

import os
import re
import shutil
import subprocess
import sys
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


PROGRAMS = {  # by the language of its block: the file, the program that runs it, and where it takes a library, its installation
    "js": ("ask.mjs", "node", ["npm", "install", "--silent", "--no-audit", "--no-fund", "@duckdb/node-api"]),
    "r": ("ask.R", "Rscript", None),
    "java": ("Ask.java", "java", None),
}


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("language", PROGRAMS)
def test_a_client_asks_a_model_as_the_page_shows(language, tmp_path, monkeypatch):
    file, program, install = PROGRAMS[language]
    for needed in filter(None, (program, install and install[0])):
        if not shutil.which(needed):
            assert not os.environ.get("CI"), f"CI needs {needed}"
            pytest.skip(f"{needed} is not installed")
    monkeypatch.chdir(tmp_path)
    rows = [dict(zip(("label", "message", "links", "attachment"), row, strict=True)) for row in INBOX]
    families = {"message": nbsql.Text(), "links": "poisson"}
    with nbsql.fit("shop.duckdb", rows, target="label", name="spam", families=families) as model:
        expected = [
            model.predict_one({"message": "a free lunch", "links": 0, "attachment": False}),
            model.predict_one({"message": "it's your prize, claim it", "links": 8, "attachment": True}),
        ]
    block = rf"^```{language}\n(.*?)^```\n\n```output\n(.*?)^```"
    found = re.search(block, PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if install:
        subprocess.run(install, check=True)
    Path(file).write_text(found[1], encoding="utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # where the shell of DuckDB is
    printed = subprocess.run(
        [program, file], check=True, capture_output=True, text=True, env={**os.environ, "PATH": path}
    ).stdout
    assert printed == found[2]
    answers = [(one["prediction"], f"{one['probability']:.4f}") for one in expected]
    assert re.findall(r"\b(ham|spam)\b\W+(?:probability\W+)?(0\.\d+)", printed) == answers
