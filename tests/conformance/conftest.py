"""The engines, each with a database of its own for a test."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pytest
from conformance.places import ENGINES, Place
from conformance.servers import absent, binaries, postgres
from conformance.servers import spark as spark_session

_numbers = itertools.count(1)

# A statement takes Spark longer than a database, however few the rows. These tests of it are always run, the others where the
# slow ones are.
_QUICK = (
    "test_models_agree[spark-inferred]",
    "test_models_agree[spark-missing as a category]",
    "test_texts_agree[spark-words-weight]",
    "test_evaluations_agree[spark-texts-weight]",
    "test_changes_agree[spark]",
    "test_an_engine_does_it_or_says_that_it_cannot[spark-predict_one]",
    "test_an_engine_does_it_or_says_that_it_cannot[spark-Query.dataframe]",
)


# Spark plans these for half a minute a case or more. CI runs the cases named here; `pytest -m long` the others.
_CASES_IN_CI = {
    "test_bins_are_cut_where_the_classes_differ": (),
    "test_calibrations_agree": ("[1-spark-platt-weight", "[0-spark-isotonic-None"),
    "test_calibrations_by_it_agree": (),
    "test_a_model_comes_back_from_a_file": ("options0",),
    "test_a_model_of_joins_is_that_of_the_joined_table": ("[0-",),
    "test_collinear_columns_are_named_and_shrinkage_is_the_cure": (),
    "test_drift_agrees": ("dates",),
    "test_far_and_huge_numbers_agree": (),
    "test_evaluations_agree": ("numbers-None", "texts-weight"),
    "test_folds_of_a_column_agree": ("weights", "the best features"),
    "test_folds_of_them_agree": ("a row each-lda", "lda-a row each"),
    "test_folds_that_leave_a_column_without_any_variance_agree": (),
    "test_folds_that_are_dealt_are_even_and_come_again": ("inbox]",),
    "test_matrices_agree": ("lda by Ledoit and Wolf",),
    "test_models_change_and_are_judged_alike": (),
    "test_rows_left_out_agree": ("a backoff", "rates", "shared variance"),
    "test_rows_with_gaps_left_out_agree": ("weight",),
    "test_segments_agree": ("categories",),
    "test_settings_by_it_agree": (),
    "test_slices_agree": ("dates",),
    "test_slices_stay_when_a_model_changes": ("dates",),
    "test_sweeps_agree": (),
    "test_uses_of_them_agree": ("with the numbers of a shared matrix", "how likely rows are"),
    "test_what_columns_tell_together_agrees": ("qda",),
    "test_weights_agree": ("missing as a category",),
    "test_large_classes_settle_on_a_sample_first": (),
    "test_mixtures_agree": ("some classes-",),
    "test_products_a_block_agree": (),
    "test_what_has_no_weights": (),
    "test_a_logistic_model_comes_back_from_a_file": (),
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests on Spark share one session, and so one worker."""
    for item in items:
        engines = {value for value in getattr(getattr(item, "callspec", None), "params", {}).values() if isinstance(value, str)}
        if "spark" in engines or "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("spark"))
            if "spark" in engines and item.name not in _QUICK:
                item.add_marker("slow")
                cases = _CASES_IN_CI.get(getattr(item, "originalname", ""))
                if cases is not None and not any(case in item.name for case in cases):
                    item.add_marker("long")


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


@pytest.fixture(scope="session")
def spark_home() -> Iterator[Any]:
    """A session of Spark, which all tests of it share: starting one takes as long as some of them."""
    # Statements are run once and have few rows: to compile each takes longer than to interpret it (test_spark.py compiles).
    settings = {"codegen.factoryMode": "NO_CODEGEN", "codegen.wholeStage": "false", "adaptive.enabled": "false"}
    with spark_session(**{f"spark.sql.{name}": value for name, value in settings.items()}) as session:
        yield session


@pytest.fixture
def spark(spark_home: Any) -> Iterator[Any]:
    """The session, in a new database."""
    name = f"shop_{next(_numbers)}"
    spark_home.sql(f"CREATE SCHEMA {name}")
    spark_home.sql(f"USE {name}")
    yield spark_home
    spark_home.sql("USE default")
    for (schema,) in spark_home.sql("SHOW SCHEMAS").collect():
        if schema != "default":
            spark_home.sql(f"DROP SCHEMA `{schema}` CASCADE")
    for _, view, is_temporary in spark_home.sql("SHOW VIEWS").collect():
        if is_temporary:
            spark_home.catalog.dropTempView(view)


@pytest.fixture
def connect(request: pytest.FixtureRequest) -> Iterator[Callable[[str], Place]]:
    """Makes a place of an engine, by name."""
    opened = []

    def make(engine: str) -> Place:
        if engine == "postgres":
            return Place(engine, request.getfixturevalue("pg"))
        if engine == "spark":
            return Place(engine, request.getfixturevalue("spark"))
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
