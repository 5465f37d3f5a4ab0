"""What these tests share: a database of what the function `fill` of a file adds to it, copied for each test."""

import shutil

import duckdb
import pytest


@pytest.fixture(scope="module")
def made(request, tmp_path_factory):
    """The database of the tests of a file."""
    path = tmp_path_factory.mktemp("made") / "shop.duckdb"
    with duckdb.connect(path) as con:
        request.module.fill(con)
    return path


@pytest.fixture
def shop(made, tmp_path, monkeypatch):
    """A copy of the database in the current folder, on a wide terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return str(shutil.copy(made, "shop.duckdb"))
