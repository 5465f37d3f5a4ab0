"""What all tests share: a database and what is in it, the two forms of scoring, and the folder of the real data."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from elsewhere import Elsewhere, opened
from hypothesis import settings

import nbsql.context

# No test asserts wall-clock time, and a busy machine is no reason to fail.
settings.register_profile("nbsql", deadline=None)
settings.load_profile("nbsql")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the files of tests/golden anew")


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    """A fresh database in memory."""
    with duckdb.connect() as connection:
        yield connection


@pytest.fixture
def state(con: duckdb.DuckDBPyConnection) -> Callable[[], list[tuple[Any, ...]]]:
    """Every schema, table, view and macro there is, temporary ones too, with the number of rows of the tables."""
    sql = """SELECT 'schema', database_name, schema_name, '', 0 FROM duckdb_schemas()
        UNION ALL SELECT 'table', database_name, schema_name, table_name, estimated_size FROM duckdb_tables()
        UNION ALL SELECT 'view', database_name, schema_name, view_name, 0 FROM duckdb_views() WHERE NOT internal
        UNION ALL SELECT 'macro', database_name, schema_name, function_name, 0 FROM duckdb_functions() WHERE NOT internal"""
    return lambda: sorted(con.execute(sql).fetchall())


@pytest.fixture
def refused(
    con: duckdb.DuckDBPyConnection, state: Callable[[], list[tuple[Any, ...]]]
) -> Callable[[type[Exception], str], AbstractContextManager[None]]:
    """A block that must raise this very line, and leave the database, and the caller's transaction, as they were."""

    @contextmanager
    def block(kind: type[Exception], message: str) -> Iterator[None]:
        con.execute("BEGIN")
        con.execute("CREATE TABLE canary AS SELECT 1 AS alive")
        before = state()
        with pytest.raises(kind) as caught:
            yield
        assert str(caught.value) == message
        assert "\n" not in message
        assert state() == before
        con.execute("COMMIT")
        con.execute("DROP TABLE canary")

    return block


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


# The limits of nbsql/context.py that bring every model, whatever its size, into one form of scoring.
FORMS: dict[str, dict[str, int]] = {
    "wide": {"STAR_JOINS": 10**9, "WIDE_CLASSES": 10**9, "WIDE_TERMS": 10**9},
    "blocks": {"STAR_JOINS": 0, "FEW_VALUES": -1, "BLOCK_JOINS": 2, "WIDE_CLASSES": 10**9, "WIDE_TERMS": 10**9},
    "listed": {"STAR_JOINS": 0, "FEW_VALUES": 10**9, "WIDE_CLASSES": 10**9, "WIDE_TERMS": 10**9},
    "long": {"WIDE_CLASSES": 0},
    "long, listed": {"STAR_JOINS": 0, "FEW_VALUES": 4, "WIDE_CLASSES": 0},
}


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Fit and score in each of the forms in turn."""
    for name, limit in FORMS[request.param].items():
        monkeypatch.setattr(nbsql.context, name, limit)
    return str(request.param)


@pytest.fixture
def likelihood() -> Callable[..., float]:
    """P(value | class) of a feature, as the relation `likelihoods` has it."""

    def read(model: nbsql.Model, label: Any, feature: str, value: str | None) -> float:
        rows = [row[3] for row in model.likelihoods if row[:3] == (label, feature, value)]
        assert len(rows) == 1, f"{len(rows)} likelihoods of {feature} = {value} in class {label}"
        return float(rows[0])

    return read


@pytest.fixture
def joint() -> Callable[..., list[dict[Any, float]]]:
    """ln p(x, c) by class, a dictionary a row."""

    def score(model: nbsql.Model, source: Any) -> list[dict[Any, float]]:
        rows = model.joint_log_likelihood(source).fetchall()
        labels = sorted(model.classes)
        return [dict(zip(labels, row[-len(labels) :], strict=True)) for row in rows]

    return score


@pytest.fixture(scope="module", params=["sqlite", "clickhouse", "duckdb"])
def elsewhere(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Elsewhere]:
    """Each engine that runs what is written for others, in turn."""
    engine = opened(request.param, tmp_path_factory.mktemp("elsewhere"))
    yield engine
    engine.close()
