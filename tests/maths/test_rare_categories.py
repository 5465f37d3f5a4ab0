"""Categories of fewer rows than min_count are as if training had never seen them."""

import pytest
from support.inserted import insert

import nbsql

# red 12, blue 8, and four shades of 1, 2, 3 and 4 rows; one row has none.
SEEN = [("red", 12), ("blue", 8), ("rust", 1), ("teal", 2), ("lime", 3), ("plum", 4), (None, 1)]
# Values to score, and what they are to a model that never saw the rare ones.
NEW = {"'red'": "'red'", "'plum'": "'plum'", "'lime'": "'new'", "'rust'": "'new'", "'new'": "'new'", "NULL": "NULL"}


@pytest.fixture
def shades(con):
    con.execute("CREATE TABLE shades (i INTEGER, y VARCHAR, x VARCHAR)")
    rows = [x for x, times in SEEN for _ in range(times)]
    insert(con, "shades", [(i, "aab"[i % 3], x) for i, x in enumerate(rows)])
    return con


@pytest.mark.few
@pytest.mark.parametrize(("method", "unseen"), [("naive", "skip"), ("naive", "smooth"), ("logistic", "skip")])
def test_a_rare_category_counts_as_one_never_seen(shades, joint, method, unseen):
    options = {"target": "y", "exclude": ["i"], "method": method}
    kept = "'red', 'blue', 'plum'"
    model = nbsql.fit(shades, "shades", families={"x": nbsql.Categorical(min_count=4, unseen=unseen)}, **options)
    others = f"SELECT * REPLACE (CASE WHEN x IN ({kept}) THEN x END AS x) FROM shades"
    want = nbsql.fit(shades, others, families={"x": nbsql.Categorical(unseen=unseen)}, **options)
    for value, same in NEW.items():
        (near,) = joint(want, f"SELECT CAST({same} AS VARCHAR) AS x")
        near = pytest.approx(near, abs=1e-12 if method == "naive" else 1e-6)
        assert joint(model, f"SELECT CAST({value} AS VARCHAR) AS x") == [near]
    if method == "naive":
        assert {row[2] for row in model.likelihoods if row[2] is not None} == {"red", "blue", "plum"}
        assert [model.predict_one({"x": x})["probabilities"]["a"] for x in ("rust", "new")] == [
            pytest.approx(want.predict_one({"x": "other"})["probabilities"]["a"], abs=1e-12)
        ] * 2


def test_updates_decide_anew_which_categories_are_rare(shades):
    model = nbsql.fit(shades, "shades", target="y", exclude=["i"], families={"x": nbsql.Categorical(min_count=4)})

    def kept():
        return {row[2] for row in model.likelihoods if row[2] is not None}

    assert kept() == {"red", "blue", "plum"}
    model.update("SELECT 'a' AS y, 'lime' AS x", batch="more")
    assert kept() == {"red", "blue", "plum", "lime"}
    model.forget(batch="more")
    assert kept() == {"red", "blue", "plum"}
