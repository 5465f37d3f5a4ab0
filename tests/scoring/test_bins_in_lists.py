"""Numbers in bins find their scores by their edges, without the label of a bin (sql/macros/scoring/listed.sql)."""

import math

import pytest
from support.listed import assert_scored_as_one_row

import nbsql

ROWS = """SELECT
    i AS id, CASE i % 3 WHEN 0 THEN 'red' WHEN 1 THEN 'green' ELSE 'blue' END AS y,
    CASE WHEN i % 11 = 0 THEN -999 WHEN i % 7 > 0 THEN i * 17 % 40 + i % 3 END AS age,
    CASE WHEN i % 8 = 1 THEN 'NaN' WHEN i % 8 = 2 THEN 'inf' ELSE i * 13 % 10 / 4 END::DOUBLE AS size,
    (i * 7 % 30 + i % 3)::DECIMAL(5, 2) AS price, 'k' || i * 5 % 4 AS kind, i * 31 % 100 / 7 AS x
    FROM range(400) AS rows(i)"""
COLUMNS = ["age", "size", "price", "kind", "x"]
CLASSES = ["blue", "green", "red"]
FAMILIES = {
    "age": nbsql.Binned(by=[10, 20, 30], special=[-999]),
    "size": nbsql.Binned(by=[0.5, 1.5], nulls="category"),
    "price": nbsql.Binned(by=[5, 12, 25]),
}


@pytest.fixture
def con(con):
    con.execute(f"CREATE TABLE t AS {ROWS}")
    return con


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*the weights were learnt from")
@pytest.mark.parametrize("options", [{}, {"alpha": 0}, {"method": nbsql.Weighted(penalty=1)}], ids=["", "alpha", "weighted"])
def test_they_are_scored_as_one_row_is_by_the_labels(con, options):
    """`predict_one` joins each value with its likelihood, by the label of the bin."""
    model = nbsql.fit(con, "FROM t WHERE id < 300", target="y", features=COLUMNS, families=FAMILIES, **options)
    for _ in range(2):
        assert_scored_as_one_row(con, model, "t", COLUMNS, name="nbsql_found_3", step=9)
        model.update("FROM t WHERE id >= 300")


def test_their_terms_are_the_likelihoods_of_the_table(con):
    families = {name: FAMILIES[name] for name in ("age", "price")}
    model = nbsql.fit(con, "t", target="y", features=["age", "price"], families=families)
    log = {(label, feature, value): row[1] for label, feature, value, *row in model.likelihoods.fetchall()}
    prior = {label: math.log(share) for label, _, share, *_ in model.priors.fetchall()}
    joint = model.joint_log_likelihood({"age": [-999, 20.0, None], "price": [3, 25, 1e9]}).fetchall()
    bins = [("-999", "(-inf, 5)"), ("[20, 30)", "[25, inf)"), (None, "[25, inf)")]
    for row, (age, price) in zip(joint, bins, strict=True):
        expected = [prior[k] + log.get((k, "age", age), 0) + log[k, "price", price] for k in CLASSES]
        assert row[2:] == pytest.approx(expected, rel=1e-12)
