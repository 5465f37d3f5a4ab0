"""What these tests share: the database of each file's fixture `made`, copied for a test into a folder of its own."""

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def shop(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A copy of the database in the current folder, on a wide terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return str(shutil.copy(made, "shop.duckdb"))
