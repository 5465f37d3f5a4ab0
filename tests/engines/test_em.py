"""Rows without a class: every engine shares them out as DuckDB does."""

import pytest
from engines.places import assert_same_rows

import nbsql

COLUMNS = {
    "id": "INTEGER", "y": "VARCHAR", "v": "VARCHAR", "x": "DOUBLE PRECISION", "events": "INTEGER", "words": "VARCHAR",
    "w": "DOUBLE PRECISION",
}  # fmt: skip
CASES = {
    "all kinds": {"exclude": ["w"], "families": {"events": "poisson", "words": "text"}, "slice_by": "events % 2"},
    "weights": {"features": ["v", "x"], "weight": "w"},
}

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.mark.parametrize("case", CASES)
def test_soft_counts_agree(both, case):
    rows = [
        (
            i,
            "abc"[i % 3] if i % 4 == 0 else None,
            None if i % 11 == 0 else f"v{(i % 3 + i * 7 % 4) % 5}",
            None if i % 13 == 0 else i % 3 * 2 + i * 29 % 17 / 10,
            i % 3 + i * 5 % 4,
            f"one w{i % 3} w{i * 5 % 7}",
            i * 3 % 5 / 2,
        )
        for i in range(80)
    ]
    for place in both:
        place.table("t", COLUMNS, rows)
    method = nbsql.EM(weight=0.5, iterations=2)
    models = [nbsql.fit(place.con, "t", target="y", id="id", name="m", method=method, **CASES[case]) for place in both]
    cells = [place.run("SELECT slice, class, feature, value, n, mean, m2, batch FROM m.statistics") for place in both]
    assert_same_rows(*(sorted(each, key=lambda row: tuple(map(repr, [*row[:4], row[7]]))) for each in cells))
    ledgers = [[row[:4] for row in model.batches.fetchall()] for model in models]
    assert ledgers[0] == ledgers[1]
    assert_same_rows(*(sorted(model.predict_proba("t").fetchall(), key=repr) for model in models))
