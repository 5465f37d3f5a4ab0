"""Spark Connect: a process has classic sessions or remote ones, so that these tests of Spark run in a process of their own."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from engines.servers import absent

from nbsql.rendering.renderer import Renderer

HERE = Path(__file__).parent
BY_DAY = ("test_spark.py::test_a_dataframe_is_a_source_and_an_answer",)
BY_NIGHT = (
    "test_agreement.py::test_models_agree[spark-weights]",
    "test_weighted.py::test_weights_are_those_of_duckdb_where_the_folds_are[spark-class and feature]",
)


@pytest.mark.spark
@pytest.mark.parametrize("tests", [BY_DAY, pytest.param(BY_NIGHT, marks=pytest.mark.nightly)], ids=["by day", "by night"])
def test_a_session_of_spark_connect_does_what_a_classic_one_does(tests):
    try:
        import grpc  # noqa: F401
    except ImportError:
        absent("pyspark has no Spark Connect: pip install 'pyspark[connect]'")
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *"-q -p no:cacheprovider -n 0 -m".split(), "", *(str(HERE / test) for test in tests)],
        capture_output=True,
        text=True,
        env={**os.environ, "NBSQL_SPARK": "connect"},
        check=False,
    )
    assert f"{len(tests)} passed" in result.stdout, result.stdout + result.stderr


def test_a_query_is_not_asked_for_as_a_table_because_the_server_would_log_a_trace():
    pytest.importorskip("pyspark")
    from nbsql.engines.spark.gateway import Connect
    from nbsql.engines.spark.sources import _table

    session = SimpleNamespace(catalog=SimpleNamespace(tableExists=lambda _: False))  # and without a method `table`
    engine = SimpleNamespace(session=session, gateway=Connect(session), renderer=Renderer("spark"))
    assert _table(engine, ["SELECT 1 AS x"], "SELECT 1 AS x") is None
