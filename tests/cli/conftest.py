"""What these tests share: a database of what the function `fill` of a file adds to it, copied for each test."""

import shutil
from pathlib import Path

import duckdb
import pytest


@pytest.fixture(scope="module")
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of the tests of a file."""
    path = tmp_path_factory.mktemp("made") / "shop.duckdb"
    with duckdb.connect(path) as con:
        request.module.fill(con)
    return path


@pytest.fixture
def shop(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A copy of the database in the current folder, on a wide terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return str(shutil.copy(made, "shop.duckdb"))
