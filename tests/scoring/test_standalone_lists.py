"""The standalone scorer of features over several categories, run by the engines of other dialects."""

from collections.abc import Callable
from typing import Any

import duckdb
import pytest
from scoring.test_standalone import agree, rows
from scoring.test_standalone_pairs import FAMILIES, learnt
from support.elsewhere import Elsewhere

import nbsql

Connection = duckdb.DuckDBPyConnection

NEW = f"""({learnt(200, 260)}) UNION ALL FROM (VALUES (NULL, NULL, NULL, NULL, NULL, NULL),
    (NULL, 'new', NULL, -100, NULL, 'CASE'), (NULL, 'it''s 1', TRUE, 'nan', 77, 'case'),
    (NULL, NULL, FALSE, 4.5e0, NULL, NULL), (NULL, 'it''s 2', FALSE, 4.5e0, 99, 'Case'))"""
GAPS = {"nulls": "category", "unseen": "smooth"}
INTERACTIONS = {
    "a": nbsql.Conditional("e", shrinkage=3),
    "d": nbsql.Conditional("c", parent_edges=[2, 4.5], further=["a", "b"]),
    "e": nbsql.Conditional("b", nulls="category", parent_nulls="skip"),
    "c": nbsql.Conditional("d", edges=[1, 5], unseen="smooth"),
}


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
        (True, {"method": "joint"}),
        (False, {"method": nbsql.JointBayes(backoff="naive"), "families": FAMILIES}),
        (True, {"families": {"ae": nbsql.Joint(["a", "e", "b"], alpha=0.5), "c": "gaussian"}, **GAPS}),
        (False, {"families": INTERACTIONS}),
        (True, {"families": INTERACTIONS, "alpha": 0}),
    ],
)
def test_lists_of_categories(
    con: Connection, elsewhere: Elsewhere, layout: Callable[..., None], options: dict[str, Any], joined: bool
) -> None:
    layout(case_values=0 if joined else 10_000)
    rows(con, learnt(0, 200), "learnt")
    model = nbsql.fit(con, "learnt", target="y", id="id", **options)
    rows(con, NEW)
    verbs = ["predict_proba", "joint_log_likelihood", "log_evidence"]
    agree(con, elsewhere, model, verbs[: 2 if model.state.spec.has_weights else 3])


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_more_combinations_than_a_double_can_number_are_refused(con: Connection) -> None:
    columns = ", ".join(f"(i * {j + 3} + i // 7) % 53 AS c{j}" for j in range(10))
    rows(con, f"SELECT i % 2 AS y, {columns} FROM range(100) AS t(i)")
    model = nbsql.fit(con, "new", target="y", id="id", method="joint")
    with pytest.raises(nbsql.NotSupportedError) as caught:
        model.sql("predict", "new", dialect="sqlite")
    assert str(caught.value) == (
        "'joint' combines columns of so many values that a double cannot number their combinations, as a query in another "
        "dialect does; fit it without some, or score on DuckDB with inline=True"
    )
