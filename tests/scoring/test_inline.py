"""A query with the model in it gives the answers of the model, on a database that has no model."""

import math

import duckdb
import pandas as pd
import pytest
from scoring.test_linear import FAMILIES, relation, table
from support import algebra

import nbsql
from nbsql.plan import VERBS

MORE = {
    **FAMILIES,
    "sky": nbsql.Categorical(nulls="skip", unseen="skip"),
    "wind": nbsql.Gaussian(),
    "wait": nbsql.LogNormal(),
    "calls": nbsql.Gaussian(prior=nbsql.NormalInverseGamma()),
    "bag": nbsql.Tokens(event="complement", weight_norm=True),
    "note": nbsql.Text(tfidf=True, norm="l2"),
}


def answers(con, sql):
    return sorted(con.execute(sql).fetchall(), key=repr)


def elsewhere(con, model, verb, name="new"):
    """The answers of the frozen query on a fresh connection, which has the source and nothing else."""
    with duckdb.connect() as fresh:
        fresh.register("arrived", con.sql(f"FROM {name}").to_arrow_table())
        fresh.execute(f"CREATE TABLE {name} AS FROM arrived")
        return answers(fresh, model.sql(verb, name, inline=True))


def same(left, right):
    """Equal, floats to 1e-12."""
    assert len(left) == len(right)
    for one, other in zip(left, right, strict=True):
        assert len(one) == len(other)
        for x, y in zip(one, other, strict=True):
            if isinstance(x, float) and isinstance(y, float):
                assert x == y or (math.isnan(x) and math.isnan(y)) or math.isclose(x, y, rel_tol=1e-12, abs_tol=1e-12)
            else:
                assert x == y


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("families", [FAMILIES, MORE], ids=["linear", "others"])
@pytest.mark.usefixtures("form")
def test_every_verb_and_family(con, families):
    relation(con, "rows", table(1, 60, 3))
    relation(con, "scored_rows", table(2, 12, 3, unseen=True))
    con.execute("CREATE TABLE new AS SELECT row_number() OVER () AS id, * FROM scored_rows")
    source = "SELECT row_number() OVER () AS id, * FROM rows"
    model = nbsql.fit(con, source, target="y", id="id", families=families)
    for verb in VERBS:
        same(elsewhere(con, model, verb), answers(con, model.sql(verb, "new")))


def test_without_smoothing_infinite_weights_stay_so(con):
    con.execute("CREATE TABLE new AS FROM (VALUES ('a', 'u', 1), ('a', 'v', 0), ('b', 'w', 0)) AS rows(y, x, n)")
    model = nbsql.fit(con, "new", target="y", alpha=0, families={"n": "poisson"})
    found = elsewhere(con, model, "joint_log_likelihood")
    assert found == answers(con, model.sql("joint_log_likelihood", "new"))
    assert any(value == -math.inf for row in found for value in row)


def test_a_model_without_any_value_to_look_up(con):
    con.execute("CREATE TABLE new AS FROM (VALUES ('a', NULL::VARCHAR), ('a', NULL), ('b', NULL)) AS rows(y, x)")
    with pytest.warns(nbsql.NbsqlWarning, match="nothing but NULL in 'x'"):
        model = nbsql.fit(con, "new", target="y")
    con.execute("INSERT INTO new VALUES ('a', 'unknown')")
    for verb in VERBS:
        assert elsewhere(con, model, verb) == answers(con, model.sql(verb, "new"))


def test_a_model_of_priors(con):
    con.execute("CREATE TABLE new AS SELECT 'it''s' AS y, 1 AS x")
    with pytest.warns(nbsql.NbsqlWarning):
        model = nbsql.fit(con, "new", target="y", features=[])
    assert elsewhere(con, model, "predict") == [("it's", 1, "it's", 1.0)]


@pytest.mark.slow
def test_every_kind_of_column_in_one_model():
    rows = [
        ("a", True, 1.5, 2, 1, 0, ["a", "b"], "a b", "yes", 1),
        ("b", False, -2.5, 0, 0, 3, ["c"], "c c", "no", 2),
        (None, None, None, None, None, None, None, None, "maybe", 1),
    ]
    con = algebra.connect(new=rows)
    model = algebra.fit(con, "new", weight="times", exclude=[])
    for verb in VERBS:
        same(elsewhere(con, model, verb), answers(con, model.sql(verb, "new")))


def test_a_frame_cannot_be_read_elsewhere(con, refused):
    model = nbsql.fit(con, "SELECT unnest(['u', 'v']) AS x, unnest(['a', 'b']) AS y", target="y")
    line = "inline=True cannot read the DataFrame, which lives in this process; name a table, or give a SELECT"
    with refused(nbsql.InputError, line):
        model.sql("predict", pd.DataFrame({"x": ["u"]}), inline=True)


def test_a_joined_source_with_derived_columns_is_read_by_its_name(con):
    con.execute("CREATE TABLE shops AS SELECT i AS shop, 'region ' || i % 2 AS region FROM range(3) AS r(i)")
    con.execute("CREATE TABLE sales AS SELECT i % 3 AS shop, i % 4 AS n, i % 3 = i % 2 AS y FROM range(24) AS r(i)")
    options = {"joins": nbsql.Join("shops", "shop"), "features": ["region", "twice"], "derive": {"twice": "2 * n"}}
    model = nbsql.fit(con, "sales", target="y", **options)
    text = model.sql("predict_proba", "sales", inline=True)
    assert sorted(con.execute(text).fetchall()) == [
        pytest.approx(row) for row in sorted(model.predict_proba("sales").fetchall())
    ]
