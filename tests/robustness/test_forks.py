"""A process that was forked from another and uses its connection, as those of multiprocessing.Pool do on Linux."""

import os

import duckdb
import pytest
from support.forks import answer_of_a_fork

import nbsql

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork"),
    pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning"),  # a test has few threads, which wait
]
# DuckDB's own threads are not there in a fork, which would wait for a lock that one of them held at that moment.
ALONE = {"threads": 1}
ROWS = "SELECT i % 2 AS y, i % 3 = 0 AS x FROM range(12) AS t(i)"


@pytest.mark.slow
def test_a_fork_does_not_write_the_file_of_another_process(tmp_path):
    """Its updates would be lost, and what both write could not be opened again."""
    with duckdb.connect(tmp_path / "a.duckdb", config=ALONE) as con:
        model = nbsql.fit(con, ROWS, target="y", name="m")
        said = (
            "this process was forked from the one that has the database open, which would lose what is written here; "
            "write there, or close it there and open it here"
        )
        query = model.predict(ROWS)
        for act in (lambda: model.update(ROWS), lambda: nbsql.fit(con, ROWS, target="y"), lambda: query.create_table("new")):
            assert answer_of_a_fork(act) == said
        assert answer_of_a_fork(lambda: len(model.predict(ROWS).fetchall())) == "12"
        model.update(ROWS)
        assert model.priors.fetchall()[0][1] == 12.0
    with duckdb.connect(tmp_path / "a.duckdb", read_only=True, config=ALONE) as con:
        nbsql.load(con, "m")
        assert answer_of_a_fork(lambda: nbsql.fit(con, ROWS, target="y").name) == "None"


def test_a_fork_has_a_copy_of_a_database_in_memory():
    with duckdb.connect(config=ALONE) as con:
        model = nbsql.fit(con, ROWS, target="y", name="m")
        assert answer_of_a_fork(lambda: (model.update(ROWS), model.priors.fetchall()[0][1])) == "(None, 12.0)"
        assert model.priors.fetchall()[0][1] == 6.0
