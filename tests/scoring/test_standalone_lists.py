"""The standalone scorer of pairs and lists of categories, run by the engines of other dialects."""

import pytest
from scoring.test_standalone import LIKELIHOODS, agree, rows

import nbsql


def learnt(first, last):
    """Rows of three classes and five columns that depend on each other, with gaps."""
    h = [f"CAST(hash(i * 10 + {n}) % 1009 AS INTEGER)" for n in range(8)]
    return f"""SELECT ['x', 'x', 'z', 'w'][1 + {h[0]} % 4] AS y,
        CASE WHEN {h[1]} % 9 > 0 THEN 'it''s ' || {h[2]} % 3 END AS a,
        CASE WHEN {h[3]} % 8 > 0 THEN ({h[2]} + {h[4]} % 5 // 4) % 3 = 0 END AS b,
        CASE WHEN {h[5]} % 7 > 0 THEN {h[0]} % 4 * 1.5e0 + {h[6]} % 3 END AS c,
        {h[7]} % 4 + {h[0]} % 2 AS d,
        ['', 'Case', 'case', 'back\\'][1 + ({h[2]} + {h[6]} % 2) % 4] AS e
        FROM range({first}, {last}) AS t(i)"""


FAMILIES = {"b": "categorical", "c": nbsql.Binned(by=[2, 4.5], nulls="category"), "d": "categorical"}

NEW = f"""({learnt(200, 260)}) UNION ALL FROM (VALUES (NULL, NULL, NULL, NULL, NULL, NULL),
    (NULL, 'new', NULL, -100, NULL, 'CASE'), (NULL, 'it''s 1', TRUE, 'nan', 77, 'case'),
    (NULL, NULL, FALSE, 4.5e0, NULL, NULL), (NULL, 'it''s 2', FALSE, 4.5e0, 99, 'Case'))"""
GAPS = {"nulls": "category", "unseen": "smooth"}
MATRIX = {"cd": nbsql.MultivariateGaussian(["c", "d"], shared=False)}
INTERACTIONS = {
    "a": nbsql.Conditional("e", shrinkage=3),
    "d": nbsql.Conditional("c", parent_edges=[2, 4.5], further=["a", "b"]),
    "e": nbsql.Conditional("b", nulls="category", parent_nulls="skip"),
    "c": nbsql.Conditional("d", edges=[1, 5], unseen="smooth"),
}


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
@pytest.mark.parametrize(
    ("joined", "options"),
    [
        (False, {"method": nbsql.TAN()}),
        (True, {"method": nbsql.TAN(), **GAPS}),
        (False, {"method": nbsql.KDB(k=2)}),
        (True, {"method": nbsql.KDB(k=3), **GAPS}),
        (False, {"method": nbsql.Weighted(pairs=4, penalty=1)}),
        (False, {"method": nbsql.Weighted(parents=1, penalty=10)}),
        (False, {"method": nbsql.Weighted(penalty=1), "families": MATRIX}),
        (True, {"method": "joint"}),
        (False, {"method": nbsql.JointBayes(backoff="naive"), "families": FAMILIES}),
        (True, {"families": {"ae": nbsql.Joint(["a", "e", "b"], alpha=0.5), "c": "gaussian"}, **GAPS}),
        (False, {"method": nbsql.AODE(), "families": FAMILIES}),
        (True, {"method": nbsql.AODE(least=40), "families": FAMILIES, **GAPS}),
        (False, {"method": nbsql.AODE(), "families": FAMILIES, "alpha": 0}),
        (True, {"method": nbsql.AODE(shrinkage=3), "families": FAMILIES, "alpha": 0.5}),
        (False, {"method": nbsql.AODE(least=1000), "families": FAMILIES}),
        (False, {"families": INTERACTIONS}),
        (True, {"families": INTERACTIONS, "alpha": 0}),
    ],
)
def test_pairs_and_lists_of_categories(con, elsewhere, layout, options, joined):
    layout(case_values=0 if joined else 10_000)
    rows(con, learnt(0, 200), "learnt")
    model = nbsql.fit(con, "learnt", target="y", id="id", **options)
    rows(con, NEW)
    agree(con, elsewhere, model, ["predict", *LIKELIHOODS[: 2 if model.state.spec.has_weights else 3]])


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_more_combinations_than_a_double_can_number_are_refused(con):
    columns = ", ".join(f"(i * {j + 3} + i // 7) % 53 AS c{j}" for j in range(10))
    rows(con, f"SELECT i % 2 AS y, {columns} FROM range(100) AS t(i)")
    model = nbsql.fit(con, "new", target="y", id="id", method="joint")
    with pytest.raises(nbsql.NotSupportedError) as caught:
        model.sql("predict", "new", dialect="sqlite")
    assert str(caught.value) == (
        "'joint' combines columns of so many values that a double cannot number their combinations, as a query in another "
        "dialect does; fit it without some, or score on DuckDB with inline=True"
    )
