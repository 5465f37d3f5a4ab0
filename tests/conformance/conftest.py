"""The engines, each with a database of its own for a test."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pytest
from conformance.places import ENGINES, Place
from conformance.servers import absent, binaries, postgres

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a private PostgreSQL server."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        absent("psycopg is not installed: pip install '.[postgres]' to test on PostgreSQL")
    folder = binaries()
    if folder is None:
        absent("no PostgreSQL 15 or later is installed, whose server the tests could start")
    assert folder is not None
    with postgres(folder) as address:
        yield address


@pytest.fixture
def address(server: str) -> Iterator[str]:
    """The address of a new database on the server."""
    import psycopg

    name = f"shop_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as con:
        con.execute(f"CREATE DATABASE {name}")
    yield server.replace("/postgres", f"/{name}")
    with psycopg.connect(server, autocommit=True) as con:
        con.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def pg(address: str) -> Iterator[Any]:
    """A connection of psycopg's to a new database."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as con:
        yield con


@pytest.fixture
def connect(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Place]]:
    """Makes a place of an engine, by name."""
    opened = []

    def make(engine: str) -> Place:
        if engine == "postgres":
            return Place(engine, request.getfixturevalue("pg"))
        opened.append(duckdb.connect())
        return Place(engine, opened[-1])

    yield make
    for con in opened:
        con.close()


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest, connect: Callable[[str], Place]) -> Place:
    """Each engine in turn."""
    return connect(request.param)


@pytest.fixture(params=[engine for engine in ENGINES if engine != "duckdb"])
def both(request: pytest.FixtureRequest, connect: Callable[[str], Place]) -> tuple[Place, Place]:
    """An engine, and DuckDB, with which it is to agree."""
    return connect(request.param), connect("duckdb")
