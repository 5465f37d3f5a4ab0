"""A thousand classes: a row a class is scored, and none of them kept."""

import math

import duckdb
import pytest

import nbsql

pytestmark = pytest.mark.filterwarnings("ignore:'label' has 1,000 classes")  # which are no quantity here


@pytest.fixture
def model(con):
    con.execute(
        "CREATE TABLE rows AS SELECT i % 1000 AS label, hash(i) % 1000 / 1000e0 + i % 1000 AS x FROM range(20000) AS t(i)"
    )
    return nbsql.fit(con, "rows", target="label")


@pytest.mark.slow
@pytest.mark.skipif(duckdb.__version__ < "2", reason="DuckDB before 2.0 plans the two readings of the terms with more memory")
def test_predictions_need_no_memory_for_every_class(con, model):
    con.execute("SET memory_limit = '120MB'")  # the joint log-likelihoods are 160 MB
    found = con.execute(f"SELECT count(*), count(prediction) FROM ({model.predict('rows').sql})").fetchall()
    con.execute("RESET memory_limit")
    assert found == [(20_000, 20_000)]


def test_they_are_those_of_the_joint_log_likelihoods(model):
    rows = "SELECT * FROM rows WHERE label % 100 = 7 AND x > label + 0.9"
    predicted = {row[:2]: row[2:] for row in model.predict(rows).fetchall()}
    scored = model.joint_log_likelihood(rows).fetchall()
    assert len(scored) == len(predicted) > 5
    for label, x, *joints in scored:
        highest = max(joints)
        prediction, probability = predicted[label, x]
        assert prediction == joints.index(highest)
        assert probability == pytest.approx(1 / sum(math.exp(joint - highest) for joint in joints), rel=1e-9)
