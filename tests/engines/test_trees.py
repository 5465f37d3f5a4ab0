"""Trees of categories: folds that are fitted one by one, as DuckDB has them."""

import pytest
from engines.places import assert_same_rows

import nbsql

COLUMNS = {"id": "INTEGER", "y": "VARCHAR", "a": "VARCHAR", "b": "INTEGER", "c": "VARCHAR", "part": "INTEGER"}
OPTIONS = {"target": "y", "families": {"b": "categorical"}}

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


def rows(*, gaps=False):
    found = []
    for i in range(90):
        label, a = i % 2, i // 2 % 3
        b, c = (a + label + (i * 7 % 10 > 7)) % 3, (a * 2 + label + (i * 11 % 13 > 10)) % 4
        values = (f"a{a}", b, f"c{c}")
        found.append((i, "jk"[label], *(None if gaps and (i + k) % 3 == 0 else v for k, v in enumerate(values)), i // 6 % 2))
    return found


@pytest.mark.parametrize("method", ["tan", nbsql.KDB(k=2, weighted=False), nbsql.EM(iterations=1)], ids=["tan", "kdb", "em"])
def test_folds_that_are_fitted_one_by_one_agree(both, method):
    learnt = [(*row[:1], row[1] if row[0] % 3 or not isinstance(method, nbsql.EM) else None, *row[2:]) for row in rows()]
    for place in both:
        place.table("t", COLUMNS, learnt)
    found = [nbsql.cross_validate(place.con, "t", method=method, exclude=["id"], fold="part", **OPTIONS) for place in both]
    assert_same_rows(*([tuple(row) for row in each.folds.fetchall()] for each in found))


@pytest.mark.parametrize("method", ["tan", nbsql.KDB(weighted=False), "aode"], ids=["tan", "kdb", "aode"])
def test_missing_values_that_are_a_category_are_searched(both, method):
    for place in both:
        place.table("t", COLUMNS, [row for row in rows(gaps=True) if row[1] is not None])
    models = [nbsql.fit(p.con, "t", method=method, exclude=["id", "part"], nulls="category", **OPTIONS) for p in both]
    assert models[0].families == models[1].families
    assert_same_rows(*(sorted(model.predict_proba("t", columns=["id"]).fetchall()) for model in models))
