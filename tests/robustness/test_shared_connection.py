"""The connection is the user's: what they last did with it does not get in the way of an answer."""

import gc

import pandas as pd
import pytest

import nbsql

DAYS = "SELECT * FROM (VALUES ('rain', 'yes'), ('rain', 'yes'), ('sun', 'no')) AS t(outlook, play)"


@pytest.mark.parametrize(
    "answer",
    [
        lambda query: query.fetchall(),
        lambda query: query.relation.fetchall(),
        lambda query: [tuple(row.values()) for row in query.arrow().to_pylist()],
        lambda query: query.pl().rows(),
        lambda query: list(query.df().itertuples(index=False, name=None)),
    ],
    ids=["fetchall", "relation", "arrow", "pl", "df"],
)
def test_an_unread_result_of_the_user_does_not_get_in_the_way(con, answer):
    query = nbsql.fit(con, DAYS, target="play", alpha=0).predict("SELECT 'rain' AS outlook")
    assert con.execute("FROM range(10)").fetchone() == (0,)
    assert answer(query) == [("rain", "yes", 1.0)]


@pytest.mark.parametrize("kind", ["frame", "relation", "array", "rows"])
def test_an_unread_result_does_not_keep_a_source_in_memory_from_being_read(con, kind):
    model = nbsql.fit(con, DAYS, target="play", alpha=0)
    frame = pd.DataFrame({"outlook": ["rain"]})
    sources = {"frame": frame, "relation": con.sql("SELECT 'rain' AS outlook"), "rows": [{"outlook": "rain"}]}
    sources["array"] = {"outlook": frame["outlook"].to_numpy()}
    assert con.execute("FROM range(10)").fetchone() == (0,)
    assert model.predict(sources[kind]).fetchall() == [("rain", "yes", 1.0)]


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_a_relation_outlives_its_query_of_a_frame(con):
    frame = pd.DataFrame({"x": ["a", "b"] * 4, "y": [1, 2] * 4})
    model = nbsql.fit(con, frame, target="y")
    found = model.predict(model.predict(frame, columns=["x"]).limit(4), columns=["x"]).relation
    chosen = found.project("x")
    gc.collect()
    assert len(found.fetchall()) == len(chosen.fetchall()) == 4
