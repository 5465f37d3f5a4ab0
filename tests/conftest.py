"""What all tests share: a database, the two forms of scoring, and the folder of the real data."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import nbsql.plan


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """A fresh database in memory."""
    with duckdb.connect() as connection:
        yield connection


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of the real data sets, which do not all ship with the project."""
    folder = os.environ.get("NBSQL_DATA")
    if folder is None:
        reason = "set NBSQL_DATA to the folder of the data sets to run the tests on real data"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    path = Path(folder)
    assert path.is_dir(), f"NBSQL_DATA is no folder: {folder}"
    return path


@pytest.fixture(params=["wide", "long"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Fit and score in the wide form, then in the long one, whatever the size of the model."""
    limit = 10**9 if request.param == "wide" else 0
    for name in ("WIDE_LEVELS", "WIDE_CLASSES", "WIDE_TERMS"):
        monkeypatch.setattr(nbsql.plan, name, limit)
    return str(request.param)
