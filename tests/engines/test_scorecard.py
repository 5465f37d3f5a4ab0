"""A scorecard, its monotone bins and the points of rows are DuckDB's."""

import pytest
from engines.places import assert_same_rows

import nbsql

NUMBER = "DOUBLE PRECISION"
COLUMNS = {"id": "INTEGER", "y": "VARCHAR", "Sky's": "VARCHAR", "warm": "BOOLEAN", "x": NUMBER, "w": NUMBER}
ROWS = [
    (
        i,
        "bad" if (i * 7 + i // 9) % 5 < i // 25 else "good",
        [None, "it's", "back\\slash", "☃"][i * i % 11 % 4],
        None if i % 13 == 0 else i % 3 == 1,
        None if i % 17 == 0 else float(i // 4 + i % 3),
        i % 4 / 2,
    )
    for i in range(100)
]
FAMILIES = {
    "Sky's": nbsql.Categorical(nulls="category", unseen="smooth"),
    "x": nbsql.Binned(bins=8, monotone=True, special=[-1, 9]),
}


def order(row):
    """Texts are sorted by the collation of the database."""
    return repr(row[:3])


@pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")
def test_scorecards_agree(both):
    found = []
    for place in both:
        place.table("rows", COLUMNS, ROWS)
        model = nbsql.fit(place.con, "rows", target="y", id="id", weight="w", name="m", families=FAMILIES)
        card = model.scorecard(target="good")
        scored = card.score("rows", reasons=2)
        assert scored.columns == [*COLUMNS, "points", "reason_1", "reason_2"]
        points = sorted((row[0], row[-3]) for row in scored)
        odds = {row[0]: row[2] - row[1] for row in model.joint_log_likelihood("rows", columns=["id"])}
        expected = [card.offset + card.factor * odds[i] for i, _ in points]
        assert [value for _, value in points] == pytest.approx(expected, abs=1e-9)
        whole = model.scorecard(target="good", digits=1)
        bins = model.families["x"]
        found.append((bins.edges, card.lines.fetchall(), sorted(scored.fetchall()), whole.lines.fetchall()))
    assert len(found[0][0]) > 1
    assert found[0][0] == pytest.approx(found[1][0])
    for ours, theirs in zip(found[0][1:], found[1][1:], strict=True):
        assert_same_rows(sorted(ours, key=order), sorted(theirs, key=order))
