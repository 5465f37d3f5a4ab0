"""Families are chosen as on DuckDB, by folds of a column."""

import random

import pytest
from engines.places import LACKS

import nbsql

pytestmark = pytest.mark.filterwarnings("ignore::nbsql.NbsqlWarning")


@pytest.mark.nightly
@pytest.mark.parametrize("weight", [None, "w"])
def test_families_are_chosen_alike(both, weight):
    chance = random.Random(5)  # noqa: S311
    rows = []
    for i in range(240):
        label = "Ab"[i % 2]
        words = " ".join(chance.choices(["offer", "free", "lunch"] if i % 2 else ["lunch", "monday", "free"], k=3))
        amount = chance.lognormvariate(i % 2, 1)
        rows.append((i, label, amount, chance.randrange(4 + 3 * (i % 2)) if i % 9 else None, words, "xyz"[i % 3], 1 + i % 2))
    types = {"id": "INTEGER", "y": "VARCHAR", "x": "DOUBLE PRECISION", "k": "INTEGER", "body": "VARCHAR", "fold": "VARCHAR",
             "w": "INTEGER"}  # fmt: skip
    for place in both:
        place.table("t", types, rows)
    if "auto" in LACKS[both[0].engine]:
        with pytest.raises(nbsql.NotSupportedError, match="auto is not available"):
            nbsql.auto(both[0].con, "t", target="y")
        return
    options = {"target": "y", "id": "id", "fold": "fold", "weight": weight}
    if weight is None:
        options["exclude"] = ["w"]
    found = [nbsql.auto(place.con, "t", **options) for place in both]
    assert found[0].families.keys() == found[1].families.keys()
    assert [(each.exclude, each.calibrated, each.rows) for each in found[:1]] == [
        (each.exclude, each.calibrated, each.rows) for each in found[1:]
    ]
    for name in ("ranking", "tried"):
        ours, theirs = (sorted(_rounded(row) for row in getattr(each, name).fetchall()) for each in found)
        assert [row for row in ours if "weighted" not in str(row[0])] == [
            row for row in theirs if "weighted" not in str(row[0])
        ]
    losses = [{row[1]: row[2] for row in each.ranking.fetchall() if "weighted" in row[1]} for each in found]
    assert [*losses[0]]
    assert losses[0] == pytest.approx(losses[1], rel=0.2)  # weights are learnt in folds by the engine's hash
    assert found[0].best().families.keys() == found[1].best().families.keys()


def _rounded(row):
    """A row without its rank, which equal losses may change, and with numbers of eight digits."""
    return tuple(round(value, 8) + 0.0 if isinstance(value, float) else str(value) for value in row if type(value) is not int)


@pytest.mark.nightly
def test_flags_of_one_category_are_taken_alike(both):
    types = {"y": "VARCHAR", "amount": "INTEGER", "day_early": "BOOLEAN", "day_noon": "BOOLEAN", "day_late": "BOOLEAN"}
    rows = [("ab"[i % 5 == 2 or i % 7 == 0], i % 11, i % 5 < 2, i % 5 == 2, i % 5 > 2) for i in range(240)]
    for place in both:
        place.table("t", types, rows)
    if "auto" in LACKS[both[0].engine]:
        return  # it is refused, as above
    found = [nbsql.auto(place.con, "t", target="y", methods=["naive"]) for place in both]
    assert [[*each.derive] for each in found] == [["day"], ["day"]]
    scores = [sorted(each.best().predict_proba("t", columns=[]).fetchall()) for each in found]
    assert [row[1] for row in scores[0]] == pytest.approx([row[1] for row in scores[1]], abs=1e-9)
